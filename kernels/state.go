package kernels

import "encoding/binary"

// state is a chaining value (FIPS 180-4, section 6: the H words). MD5 uses the
// first four of w32, SHA-1 five, SHA-224 and SHA-256 eight; the SHA-512 family
// uses w64.
type state struct {
	w32 [8]uint32
	w64 [8]uint64
}

// initial holds the chaining values before the first block: RFC 1321, section
// 3.3, and FIPS 180-4, section 5.3.
//
// The words of SHA-512 are the fractional parts of the square roots of the
// first eight primes, those of SHA-384 of the next eight; SHA-256 takes the
// upper halves of the former, SHA-224 the lower halves of the latter. Those of
// SHA-512/256 come from the generation function of section 5.3.6.
var initial = [numAlgs]state{
	MD5:    {w32: [8]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}},
	SHA1:   {w32: [8]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
	SHA224: {w32: halves(root384, 0)},
	SHA256: {w32: halves(root512, 32)},
	SHA384: {w64: root384},
	SHA512: {w64: root512},
	SHA512_256: {w64: [8]uint64{
		0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd,
		0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2,
	}},
}

var (
	root512 = [8]uint64{
		0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
		0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
	}
	root384 = [8]uint64{
		0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
		0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4,
	}
)

func halves(words [8]uint64, shift int) (h [8]uint32) {
	for i, w := range words {
		h[i] = uint32(w >> shift)
	}
	return h
}

// wide reports whether the algorithm works on 64-bit words.
func (a Alg) wide() bool { return a >= SHA384 }

// store writes the digest that a final chaining value stands for; dst has the
// digest's length. Shorter members of a family are cut from the left.
func (s *state) store(dst []byte, alg Alg) {
	switch {
	case alg == MD5: // RFC 1321 3.5: low-order byte first
		for i := range len(dst) / 4 {
			binary.LittleEndian.PutUint32(dst[4*i:], s.w32[i])
		}
	case alg.wide():
		for i := range len(dst) / 8 {
			binary.BigEndian.PutUint64(dst[8*i:], s.w64[i])
		}
	default:
		for i := range len(dst) / 4 {
			binary.BigEndian.PutUint32(dst[4*i:], s.w32[i])
		}
	}
}
