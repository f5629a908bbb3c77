//go:build !purego

package hexenc

import (
	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/internal/race"
)

// assembly is the list of this architecture's own encoders, best first.
func assembly() []*Backend {
	return []*Backend{
		{Name: "avx2", Needs: cpu.AVX | cpu.AVX2 | cpu.SSSE3 | cpu.SSE2, encode: encodeWide},
		{Name: "ssse3", Needs: cpu.SSSE3 | cpu.SSE2, encode: encodeNarrow},
	}
}

var lowerChars, upperChars = [16]byte([]byte("0123456789abcdef")), [16]byte([]byte("0123456789ABCDEF"))

// maxCall bounds the bytes that one call gets: an assembly function cannot be
// preempted, so it must return soon.
const maxCall = 64 << 10

// encodeWide encodes with AVX2, and the little that does not fill a register
// with SSSE3.
func encodeWide(dst, src []byte, d *digits) {
	if len(src) < 32 {
		encodeNarrow(dst, src, d)
		return
	}
	race.Read(src)
	race.Write(dst)
	for len(src) >= 32 {
		n := min(len(src), maxCall)
		encodeAVX2(&dst[0], &src[0], n, chars(d))
		dst, src = dst[2*n:], src[n:]
	}
	if len(src) > 0 {
		encodeNarrow(dst, src, d)
	}
}

// encodeNarrow encodes with SSSE3.
func encodeNarrow(dst, src []byte, d *digits) {
	race.Read(src)
	race.Write(dst)
	for len(src) >= 16 {
		n := min(len(src), maxCall)
		encodeSSSE3(&dst[0], &src[0], n, chars(d))
		dst, src = dst[2*n:], src[n:]
	}
	encodeGeneric(dst, src, d)
}

func chars(d *digits) *[16]byte {
	if d == &upper {
		return &upperChars
	}
	return &lowerChars
}
