//go:build !purego

package asciimask

import (
	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/internal/race"
)

// assembly is the list of this architecture's own backends, best first.
func assembly() []*Backend {
	return []*Backend{
		{Name: "avx512", Needs: cpu.AVX | cpu.BMI1 | cpu.BMI2 | cpu.AVX512F | cpu.AVX512BW | cpu.AVX512VBMI, apply: applyAVX512},
		{Name: "avx2", Needs: cpu.AVX | cpu.AVX2, apply: applyAVX2},
	}
}

// maxCall bounds the bytes that one call gets: an assembly function cannot be
// preempted, so it must return soon.
const maxCall = 256 << 10

func applyAVX512(m *Mask, dst, src []byte) int {
	done := 0
	for done < len(src) {
		n := min(len(src)-done, maxCall)
		got := maskAVX512(&dst[done], &src[done], n, &m.table)
		if done += got; got < n {
			break
		}
	}
	annotate(dst, src, done)
	return done
}

// applyAVX2 leaves the block with the first byte that is not ASCII, and what
// does not fill a block, to the portable code.
func applyAVX2(m *Mask, dst, src []byte) int {
	done := 0
	for len(src)-done >= 32 {
		n := min(len(src)-done, maxCall)
		got := maskAVX2(&dst[done], &src[done], n, &m.and, &m.or)
		if done += got; got < n {
			break
		}
	}
	annotate(dst, src, done)
	return done + applyGeneric(m, dst[done:], src[done:])
}

// annotate tells the race detector what the assembly touched.
func annotate(dst, src []byte, n int) {
	race.Read(src[:min(n+1, len(src))])
	race.Write(dst[:n])
}
