package kernels

import (
	"encoding/binary"
	"math/bits"
)

// sha1K are the constants of FIPS 180-4, section 4.2.1, for twenty rounds each.
var sha1K = [4]uint32{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6}

// sha1Schedule is step 1 of FIPS 180-4, section 6.1.2, for the first block of p.
func sha1Schedule(w *[80]uint32, p []byte) {
	for t := range 16 {
		w[t] = binary.BigEndian.Uint32(p[4*t:])
	}
	for t := 16; t < 80; t++ {
		w[t] = bits.RotateLeft32(w[t-3]^w[t-8]^w[t-14]^w[t-16], 1)
	}
}

// sha1Generic is FIPS 180-4, section 6.1.2.
func sha1Generic(h *[8]uint32, p []byte) {
	var w [80]uint32
	for ; len(p) >= 64; p = p[64:] {
		// Step 1: the message schedule.
		sha1Schedule(&w, p)
		// Steps 2 and 3: eighty rounds, with the functions of section 4.1.1
		// and the constants of section 4.2.1.
		a, b, c, d, e := h[0], h[1], h[2], h[3], h[4]
		for t := range w {
			var f uint32
			switch t / 20 {
			case 0:
				f = b&c ^ ^b&d // Ch
			case 2:
				f = b&c ^ b&d ^ c&d // Maj
			default:
				f = b ^ c ^ d // Parity
			}
			sum := bits.RotateLeft32(a, 5) + f + e + sha1K[t/20] + w[t]
			a, b, c, d, e = sum, a, bits.RotateLeft32(b, 30), c, d
		}
		// Step 4.
		h[0] += a
		h[1] += b
		h[2] += c
		h[3] += d
		h[4] += e
	}
}
