package cpu

import (
	"math/bits"
	"runtime"
	"strings"
	"testing"
)

// everything is what a recent processor lists.
const everything = SSE2 | SSSE3 | SSE41 | SHA | BMI1 | BMI2 | GFNI | ymm | zmm

// TestB02SavedStates: wide registers count only when the operating system saves
// them, and XGETBV is not executed when it would fault.
func TestB02SavedStates(t *testing.T) {
	const narrow = everything &^ (ymm | zmm)
	for _, c := range []struct {
		name    string
		listed  Set
		osxsave bool
		xcr0    uint64
		lazy    bool
		want    Set
		reads   int
	}{
		{name: "OSXSAVE=0", listed: everything, xcr0: 0xE7, want: narrow},
		{name: "XCR0=0x1", listed: everything, osxsave: true, xcr0: 0x1, want: narrow, reads: 1},
		{name: "XCR0=0x3", listed: everything, osxsave: true, xcr0: 0x3, want: narrow, reads: 1},
		{name: "XCR0=0x5: YMM without SSE", listed: everything, osxsave: true, xcr0: 0x5, want: narrow, reads: 1},
		{name: "XCR0=0x7", listed: everything, osxsave: true, xcr0: 0x7, want: narrow | ymm, reads: 1},
		{name: "XCR0=0x27: opmask only", listed: everything, osxsave: true, xcr0: 0x27, want: narrow | ymm, reads: 1},
		{name: "XCR0=0x67", listed: everything, osxsave: true, xcr0: 0x67, want: narrow | ymm, reads: 1},
		{name: "XCR0=0xE1: ZMM without YMM", listed: everything, osxsave: true, xcr0: 0xE1, want: narrow, reads: 1},
		{name: "XCR0=0xE7", listed: everything, osxsave: true, xcr0: 0xE7, want: everything, reads: 1},
		{name: "XCR0=0x602E7", listed: everything, osxsave: true, xcr0: 0x602E7, want: everything, reads: 1},
		{name: "macOS shows ZMM late", listed: everything, osxsave: true, xcr0: 0x7, lazy: true, want: everything, reads: 1},
		{name: "macOS without YMM", listed: everything, osxsave: true, xcr0: 0x3, lazy: true, want: narrow, reads: 1},
		{name: "nothing wide listed", listed: narrow, osxsave: true, xcr0: 0xE7, want: narrow},
		{name: "arm64", listed: NEON | ARMSHA2, want: NEON | ARMSHA2},
	} {
		t.Run(c.name, func(t *testing.T) {
			reads := 0
			got := decide(machine{
				listed: c.listed, osxsave: c.osxsave, lazyZMM: c.lazy,
				xgetbv: func() uint64 { reads++; return c.xcr0 },
			})
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if reads != c.reads {
				t.Errorf("XCR0 was read %d times, want %d", reads, c.reads)
			}
		})
	}
}

// TestB01NothingIsAdded: the decision never names an extension that the
// processor does not list, whatever the system saves.
func TestB01NothingIsAdded(t *testing.T) {
	for s := everything; s != 0; s &= s - 1 {
		off := s & -s
		got := decide(machine{listed: everything &^ off, osxsave: true, xgetbv: func() uint64 { return 0xE7 }})
		if got != everything&^off {
			t.Errorf("without %v: got %v", off, got)
		}
		if got.Has(everything) || got.Missing(everything) != off {
			t.Errorf("without %v: missing is %v", off, got.Missing(everything))
		}
	}
}

func TestNames(t *testing.T) {
	if n := bits.TrailingZeros64(uint64(end)); n != len(names) {
		t.Fatalf("%d extensions, %d names", n, len(names))
	}
	seen := map[string]bool{}
	for i := range names {
		name := Set(1 << i).String()
		if name == "" || seen[name] || strings.Contains(name, " ") {
			t.Errorf("bit %d: name %q", i, name)
		}
		seen[name] = true
	}
	if got := (AVX2 | SSE2).String(); got != "sse2 avx2" {
		t.Error(got)
	}
	if got := Set(0).String(); got != "" {
		t.Errorf("empty set: %q", got)
	}
}

// TestThisMachine: what every processor of the architecture has must be found.
func TestThisMachine(t *testing.T) {
	t.Logf("%s: %v", Name(), Features())
	baseline := map[string]Set{"amd64": SSE2, "arm64": NEON}[runtime.GOARCH]
	if !Features().Has(baseline) {
		t.Errorf("%v is missing", Features().Missing(baseline))
	}
	if Features()&^listed() != 0 {
		t.Errorf("%v are used and not listed", Features()&^listed())
	}
	if Name() == "" {
		t.Error("the processor has no name")
	}
}
