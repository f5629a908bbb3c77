package kernels

import (
	"encoding/binary"
	"math/bits"
)

// sha512Schedule is step 1 of FIPS 180-4, section 6.4.2, for the first block of p.
func sha512Schedule(w *[80]uint64, p []byte) {
	for t := range 16 {
		w[t] = binary.BigEndian.Uint64(p[8*t:])
	}
	for t := 16; t < 80; t++ {
		x, y := w[t-15], w[t-2]
		sigma0 := bits.RotateLeft64(x, -1) ^ bits.RotateLeft64(x, -8) ^ x>>7
		sigma1 := bits.RotateLeft64(y, -19) ^ bits.RotateLeft64(y, -61) ^ y>>6
		w[t] = sigma1 + w[t-7] + sigma0 + w[t-16]
	}
}

// sha512Generic is FIPS 180-4, section 6.4.2, with the functions of section 4.1.3.
func sha512Generic(h *[8]uint64, p []byte) {
	var w [80]uint64
	for ; len(p) >= 128; p = p[128:] {
		// Step 1: the message schedule.
		sha512Schedule(&w, p)
		// Steps 2 and 3.
		a, b, c, d, e, f, g, hh := h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
		for t := range w {
			sum1 := bits.RotateLeft64(e, -14) ^ bits.RotateLeft64(e, -18) ^ bits.RotateLeft64(e, -41)
			ch := e&f ^ ^e&g
			t1 := hh + sum1 + ch + k512[t] + w[t]
			sum0 := bits.RotateLeft64(a, -28) ^ bits.RotateLeft64(a, -34) ^ bits.RotateLeft64(a, -39)
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
