package kernels

import (
	"encoding/binary"
	"math/bits"
)

// sha256Schedule is step 1 of FIPS 180-4, section 6.2.2, for the first block of p.
func sha256Schedule(w *[64]uint32, p []byte) {
	for t := range 16 {
		w[t] = binary.BigEndian.Uint32(p[4*t:])
	}
	for t := 16; t < 64; t++ {
		x, y := w[t-15], w[t-2]
		sigma0 := bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
		sigma1 := bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10
		w[t] = sigma1 + w[t-7] + sigma0 + w[t-16]
	}
}

// sha256Generic is FIPS 180-4, section 6.2.2, with the functions of section 4.1.2.
func sha256Generic(h *[8]uint32, p []byte) {
	var w [64]uint32
	for ; len(p) >= 64; p = p[64:] {
		// Step 1: the message schedule.
		sha256Schedule(&w, p)
		// Steps 2 and 3.
		a, b, c, d, e, f, g, hh := h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
		for t := range w {
			sum1 := bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)
			ch := e&f ^ ^e&g
			t1 := hh + sum1 + ch + k256[t] + w[t]
			sum0 := bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)
			maj := a&b ^ a&c ^ b&c
			t2 := sum0 + maj
			a, b, c, d, e, f, g, hh = t1+t2, a, b, c, d+t1, e, f, g
		}
		// Step 4.
		h[0] += a
		h[1] += b
		h[2] += c
		h[3] += d
		h[4] += e
		h[5] += f
		h[6] += g
		h[7] += hh
	}
}
