//go:build !purego

package blake2b

import "github.com/arrowmask/arrowmask/internal/cpu"

// assembly is the list of this architecture's own backends, best first.
func assembly() []*Backend {
	return []*Backend{
		{Name: "avx512", Needs: cpu.AVX | cpu.AVX512F, compress: func(l *lanes) { compressAVX512((*[wordsOfRow][width]uint64)(l), (*[8]uint64)(&iv)) }},
		{Name: "avx2", Needs: cpu.AVX | cpu.AVX2, compress: func(l *lanes) { compressAVX2((*[wordsOfRow][width]uint64)(l), (*[8]uint64)(&iv)) }},
	}
}
