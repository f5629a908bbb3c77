package asciimask

import "encoding/binary"

// tops are the top bits of eight bytes.
const tops = 0x8080808080808080

// applyGeneric looks the bytes up in the table, eight to a store.
func applyGeneric(m *Mask, dst, src []byte) int {
	t := &m.table
	n := 0
	for len(src)-n >= 8 && len(dst)-n >= 8 {
		w := binary.LittleEndian.Uint64(src[n:])
		if w&tops != 0 {
			break
		}
		binary.LittleEndian.PutUint64(dst[n:],
			uint64(t[byte(w)])|uint64(t[byte(w>>8)])<<8|uint64(t[byte(w>>16)])<<16|uint64(t[byte(w>>24)])<<24|
				uint64(t[byte(w>>32)])<<32|uint64(t[byte(w>>40)])<<40|uint64(t[byte(w>>48)])<<48|uint64(t[byte(w>>56)])<<56)
		n += 8
	}
	for n < len(src) && n < len(dst) && src[n] < 0x80 {
		dst[n] = t[src[n]]
		n++
	}
	return n
}
