//go:build !purego

package hexenc

import (
	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/internal/race"
)

// assembly is the list of this architecture's own encoders, best first.
func assembly() []*Backend {
	return []*Backend{
		{Name: "avx2", Needs: cpu.AVX | cpu.AVX2, encode: shuffle(encodeAVX2, 32)},
		{Name: "ssse3", Needs: cpu.SSSE3 | cpu.SSE2, encode: shuffle(encodeSSSE3, 16)},
	}
}

var lowerChars, upperChars = [16]byte([]byte("0123456789abcdef")), [16]byte([]byte("0123456789ABCDEF"))

// maxCall bounds the bytes that one call gets: an assembly function cannot be
// preempted, so it must return soon.
const maxCall = 64 << 10

// shuffle wraps an assembly encoder that takes at least width bytes.
func shuffle(f func(dst, src *byte, n int, chars *[16]byte), width int) func(dst, src []byte, d *digits) {
	return func(dst, src []byte, d *digits) {
		race.Read(src)
		race.Write(dst)
		chars := &lowerChars
		if d == &upper {
			chars = &upperChars
		}
		for len(src) >= width {
			n := min(len(src), maxCall)
			f(&dst[0], &src[0], n, chars)
			dst, src = dst[2*n:], src[n:]
		}
		encodeGeneric(dst, src, d)
	}
}
