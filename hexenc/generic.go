package hexenc

import "encoding/binary"

// digits holds the two characters of every byte, the one of the upper half in
// the low byte, so that a little-endian store writes it first.
type digits [256]uint16

var lower, upper = makeDigits("0123456789abcdef"), makeDigits("0123456789ABCDEF")

func makeDigits(chars string) (d digits) {
	for b := range d {
		d[b] = uint16(chars[b>>4]) | uint16(chars[b&15])<<8
	}
	return d
}

// encodeGeneric takes four bytes to one store of eight characters; every digest
// width is a multiple of four.
func encodeGeneric(dst, src []byte, d *digits) {
	for len(src) >= 4 && len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst,
			uint64(d[src[0]])|uint64(d[src[1]])<<16|
				uint64(d[src[2]])<<32|uint64(d[src[3]])<<48)
		src, dst = src[4:], dst[8:]
	}
	for i, b := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], d[b])
	}
}
