package kernels

import "encoding/binary"

// maxBlock is the longest block of any algorithm, in bytes.
const maxBlock = 128

// pad writes the end of a message to buf: tail, the bytes after the last whole
// block, then a one bit, zeros, and the message's length in bits, so that one
// or two whole blocks come out. total is the message's length in bytes.
//
// FIPS 180-4, section 5.1: the length is a big-endian number of 64 bits, or of
// 128 for blocks of 128 bytes. RFC 1321, sections 3.1 and 3.2: the same for
// MD5 with the low-order byte first.
func (a Alg) pad(buf *[2 * maxBlock]byte, tail []byte, total uint64) []byte {
	block := a.BlockSize()
	lengthField := block / 8
	size := block
	if len(tail)+1+lengthField > block {
		size = 2 * block
	}
	p := buf[:size]
	n := copy(p, tail)
	p[n] = 0x80
	clear(p[n+1:])
	// A count of bytes fits 64 bits, so its count of bits fits 67.
	switch {
	case a == MD5:
		binary.LittleEndian.PutUint64(p[size-8:], total<<3)
	case lengthField == 16:
		binary.BigEndian.PutUint64(p[size-16:], total>>61)
		fallthrough
	default:
		binary.BigEndian.PutUint64(p[size-8:], total<<3)
	}
	return p
}
