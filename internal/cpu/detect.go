package cpu

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// fromCPUID maps the detector's feature numbers to ours.
var fromCPUID = []struct {
	id  cpuid.FeatureID
	set Set
}{
	{cpuid.SSE2, SSE2}, {cpuid.SSSE3, SSSE3}, {cpuid.SSE4, SSE41}, {cpuid.SHA, SHA},
	{cpuid.BMI1, BMI1}, {cpuid.BMI2, BMI2}, {cpuid.GFNI, GFNI},
	{cpuid.AVX, AVX}, {cpuid.AVX2, AVX2},
	{cpuid.AVX512F, AVX512F}, {cpuid.AVX512BW, AVX512BW}, {cpuid.AVX512DQ, AVX512DQ},
	{cpuid.AVX512VL, AVX512VL}, {cpuid.AVX512VBMI, AVX512VBMI}, {cpuid.AVX512VBMI2, AVX512VBMI2},
	{cpuid.ASIMD, NEON}, {cpuid.SHA1, ARMSHA1}, {cpuid.SHA2, ARMSHA2}, {cpuid.SHA512, ARMSHA512},
}

// machine is what decide needs to know; tests make one up.
type machine struct {
	listed  Set  // what the processor says it has
	osxsave bool // the operating system uses XSAVE, so XGETBV may be executed
	// xgetbv reads XCR0, the register states that the system saves. It must
	// not be called when osxsave is false: it would fault.
	xgetbv func() uint64
	// lazyZMM: macOS turns the AVX-512 states on in XCR0 only when a thread
	// first uses them, so their bits say nothing there; listed is trusted.
	lazyZMM bool
}

// States of XCR0 (Intel SDM volume 1, 13.3): SSE and AVX for the 256-bit
// registers; besides, opmask and both ZMM halves for AVX-512.
const (
	xcr0YMM = 0x06
	xcr0ZMM = 0xE0
)

// decide is the extensions that may be used: those that are listed, less those
// whose registers the operating system does not save.
func decide(m machine) Set {
	if m.listed&(ymm|zmm) == 0 {
		return m.listed
	}
	if !m.osxsave {
		return m.listed &^ (ymm | zmm)
	}
	xcr0 := m.xgetbv()
	switch {
	case xcr0&xcr0YMM != xcr0YMM:
		return m.listed &^ (ymm | zmm)
	case xcr0&xcr0ZMM != xcr0ZMM && !m.lazyZMM:
		return m.listed &^ zmm
	}
	return m.listed
}

// features is computed once, before any other package's variables.
var features = decide(machine{
	listed:  listed(),
	osxsave: cpuid.CPU.Supports(cpuid.OSXSAVE),
	xgetbv:  xgetbv,
	lazyZMM: runtime.GOOS == "darwin",
})

func listed() Set {
	var s Set
	for _, f := range fromCPUID {
		if cpuid.CPU.Supports(f.id) {
			s |= f.set
		}
	}
	return s
}

// Features is what this machine can run: processor and operating system
// together. It never changes.
func Features() Set { return features }

// Name is the processor's marketing name, or the architecture when it has none.
func Name() string {
	if cpuid.CPU.BrandName != "" {
		return cpuid.CPU.BrandName
	}
	return runtime.GOARCH
}
