// Package cpu is the one place that finds out what the processor and the
// operating system can do.
package cpu

import "strings"

// Set is a set of processor extensions. The zero Set is empty.
type Set uint64

// The extensions that a backend may ask for. SHA is the x86 one; ARMSHA1,
// ARMSHA2 and ARMSHA512 are those of arm64.
const (
	SSE2 Set = 1 << iota
	SSSE3
	SSE41
	SHA
	BMI1
	BMI2
	GFNI
	AVX
	AVX2
	AVX512F
	AVX512BW
	AVX512DQ
	AVX512VL
	AVX512VBMI
	AVX512VBMI2
	NEON
	ARMSHA1
	ARMSHA2
	ARMSHA512
	end
)

var names = []string{
	"sse2", "ssse3", "sse4.1", "sha", "bmi1", "bmi2", "gfni", "avx", "avx2",
	"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2",
	"neon", "armsha1", "armsha2", "armsha512",
}

// ymm and zmm are the extensions whose registers the operating system must
// save: without that their instructions fault or lose their contents.
const (
	ymm = AVX | AVX2
	zmm = AVX512F | AVX512BW | AVX512DQ | AVX512VL | AVX512VBMI | AVX512VBMI2
)

// Has reports whether s holds all of need.
func (s Set) Has(need Set) bool { return s&need == need }

// Missing is what need asks for and s lacks.
func (s Set) Missing(need Set) Set { return need &^ s }

// String names the extensions, separated by blanks, in a fixed order.
func (s Set) String() string {
	var have []string
	for i, name := range names {
		if s&(1<<i) != 0 {
			have = append(have, name)
		}
	}
	return strings.Join(have, " ")
}
