package blake2b

import (
	"encoding/binary"
	"math/bits"

	"github.com/arrowmask/arrowmask/kernels"
)

// sumGeneric takes the rows in turn.
func sumGeneric(s *State, dst []byte, col *kernels.Column, lo, hi int) {
	for i := lo; i < hi; i++ {
		h := *s
		h.row(col.Row(i))
		for j, x := range h[:Size/8] {
			binary.LittleEndian.PutUint64(dst[(i-lo)*Size+8*j:], x)
		}
	}
}

// row brings the state to the end of a row.
func (s *State) row(row []byte) {
	var m [block / 8]uint64
	for done := uint64(0); ; row = row[block:] {
		if len(row) <= block {
			var last [block]byte
			copy(last[:], row)
			words(&m, last[:])
			s.compress(&m, done+uint64(len(row)), ^uint64(0))
			return
		}
		words(&m, row)
		done += block
		s.compress(&m, done, 0)
	}
}

func words(m *[block / 8]uint64, b []byte) {
	for i := range m {
		m[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// compress is the compression function: count is the bytes up to the end of the
// block, last all ones for the last block.
func (s *State) compress(m *[block / 8]uint64, count, last uint64) {
	v0, v1, v2, v3, v4, v5, v6, v7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	v8, v9, v10, v11, v12, v13, v14, v15 := iv[0], iv[1], iv[2], iv[3], iv[4]^count, iv[5], iv[6]^last, iv[7]
	for r := range sigma {
		o := &sigma[r]
		v0, v4, v8, v12 = mix(v0, v4, v8, v12, m[o[0]&15], m[o[1]&15])
		v1, v5, v9, v13 = mix(v1, v5, v9, v13, m[o[2]&15], m[o[3]&15])
		v2, v6, v10, v14 = mix(v2, v6, v10, v14, m[o[4]&15], m[o[5]&15])
		v3, v7, v11, v15 = mix(v3, v7, v11, v15, m[o[6]&15], m[o[7]&15])
		v0, v5, v10, v15 = mix(v0, v5, v10, v15, m[o[8]&15], m[o[9]&15])
		v1, v6, v11, v12 = mix(v1, v6, v11, v12, m[o[10]&15], m[o[11]&15])
		v2, v7, v8, v13 = mix(v2, v7, v8, v13, m[o[12]&15], m[o[13]&15])
		v3, v4, v9, v14 = mix(v3, v4, v9, v14, m[o[14]&15], m[o[15]&15])
	}
	s[0] ^= v0 ^ v8
	s[1] ^= v1 ^ v9
	s[2] ^= v2 ^ v10
	s[3] ^= v3 ^ v11
	s[4] ^= v4 ^ v12
	s[5] ^= v5 ^ v13
	s[6] ^= v6 ^ v14
	s[7] ^= v7 ^ v15
}

// mix is the function G.
func mix(a, b, c, d, x, y uint64) (uint64, uint64, uint64, uint64) {
	a += b + x
	d = bits.RotateLeft64(d^a, -32)
	c += d
	b = bits.RotateLeft64(b^c, -24)
	a += b + y
	d = bits.RotateLeft64(d^a, -16)
	c += d
	b = bits.RotateLeft64(b^c, -63)
	return a, b, c, d
}
