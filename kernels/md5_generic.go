package kernels

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// md5K is the table T of RFC 1321, section 3.4: T[i] is the integer part of
// 2^32 times abs(sin(i)), i in radians from 1.
var md5K = func() (k [64]uint32) {
	for i := range k {
		k[i] = uint32(math.Abs(math.Sin(float64(i+1))) * (1 << 32))
	}
	return k
}()

// md5Shift holds the rotations of the four rounds; each round repeats its four.
var md5Shift = [4][4]int{{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}

// md5Word is the word of the block that step i takes.
func md5Word(i int) int {
	switch i / 16 {
	case 0:
		return i
	case 1:
		return (5*i + 1) % 16
	case 2:
		return (3*i + 5) % 16
	default:
		return 7 * i % 16
	}
}

// md5Generic is RFC 1321, section 3.4: four rounds of sixteen steps over each
// block of sixteen little-endian words.
func md5Generic(h *[8]uint32, p []byte) {
	var x [16]uint32
	for ; len(p) >= 64; p = p[64:] {
		for i := range x {
			x[i] = binary.LittleEndian.Uint32(p[4*i:])
		}
		a, b, c, d := h[0], h[1], h[2], h[3]
		for i := range 64 {
			var f uint32
			switch i / 16 {
			case 0:
				f = b&c | ^b&d
			case 1:
				f = b&d | c&^d
			case 2:
				f = b ^ c ^ d
			default:
				f = c ^ (b | ^d)
			}
			sum := a + f + x[md5Word(i)] + md5K[i]
			a, d, c, b = d, c, b, b+bits.RotateLeft32(sum, md5Shift[i/16][i%4])
		}
		h[0] += a
		h[1] += b
		h[2] += c
		h[3] += d
	}
}
