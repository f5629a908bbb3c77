//go:build amd64 && !purego

package cpu

import (
	"testing"

	xcpu "golang.org/x/sys/cpu"
)

// TestAgainstSecondDetector compares with golang.org/x/sys/cpu, which reads
// CPUID and XCR0 by itself.
func TestAgainstSecondDetector(t *testing.T) {
	for _, c := range []struct {
		set  Set
		have bool
	}{
		{SSE2, xcpu.X86.HasSSE2}, {SSSE3, xcpu.X86.HasSSSE3}, {SSE41, xcpu.X86.HasSSE41},
		{BMI1, xcpu.X86.HasBMI1}, {BMI2, xcpu.X86.HasBMI2},
		{AVX, xcpu.X86.HasAVX}, {AVX2, xcpu.X86.HasAVX2},
		{AVX512F, xcpu.X86.HasAVX512F}, {AVX512BW, xcpu.X86.HasAVX512BW}, {AVX512DQ, xcpu.X86.HasAVX512DQ},
		{AVX512VL, xcpu.X86.HasAVX512VL}, {AVX512VBMI, xcpu.X86.HasAVX512VBMI}, {AVX512VBMI2, xcpu.X86.HasAVX512VBMI2},
	} {
		if got := Features().Has(c.set); got != c.have {
			t.Errorf("%v: %v here, %v there", c.set, got, c.have)
		}
	}
}
