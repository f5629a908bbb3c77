package blake2b

import (
	"log"
	"sync"

	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/kernels"
)

// Backend is one way to compute. Backends are values: tests and benchmarks name
// one and call it, nothing global is switched.
type Backend struct {
	Name string
	// Needs is every processor extension that the backend's code uses; Sum must
	// not be called on a machine that lacks one.
	Needs cpu.Set

	// compress is the compression function over all lanes; nil for a backend
	// that takes the rows in turn.
	compress func(*lanes)

	tested sync.Once
	passed bool
}

// Available reports whether this machine can run the backend.
func (b *Backend) Available() bool { return cpu.Features().Has(b.Needs) }

// Sum writes the digests under s of the rows lo to hi of a column that was
// validated, one after the other. dst must hold them, must not overlap the
// column, and is not written beyond them. Nothing is allocated.
func (b *Backend) Sum(s *State, dst []byte, col *kernels.Column, lo, hi int) {
	dst = dst[:(hi-lo)*Size]
	if b.compress == nil || hi-lo == 1 {
		sumGeneric(s, dst, col, lo, hi)
		return
	}
	sumLanes(b.compress, s, dst, col, lo, hi)
}

// table holds the backends, best first; generic runs everywhere.
var table = append(assembly(), &Backend{Name: "generic"})

// All lists the backends that were compiled in, best first, whether this
// machine can run them or not. The caller owns the slice.
func All() []*Backend { return append([]*Backend(nil), table...) }

// Choose is the backend of that name, or generic where there is none, or none
// that this machine can run and that passes its self-test.
func Choose(name string) *Backend { return choose(table, name, log.Printf) }

func choose(backends []*Backend, name string, warn func(format string, v ...any)) *Backend {
	generic := backends[len(backends)-1]
	for _, b := range backends {
		if b.Name != name || b == generic || !b.Available() {
			continue
		}
		if b.selfTest(generic) {
			return b
		}
		warn("arrowmask: backend dropped: %s of blake2b: wrong digests in the self-test", b.Name)
	}
	return generic
}

// selfTest compares with the portable code, once: more rows than there are
// lanes, of up to three blocks.
func (b *Backend) selfTest(generic *Backend) bool {
	b.tested.Do(func() {
		const rows, longest = 2*width + 1, 3 * block
		var data [rows * longest]byte
		offsets := []int32{0}
		for i := range rows {
			offsets = append(offsets, offsets[i]+int32(i*longest/(rows-1)))
		}
		for i := range data {
			data[i] = byte(i)
		}
		col := kernels.Offsets32(data[:], offsets)
		var want, got [rows * Size]byte
		generic.Sum(&iv, want[:], &col, 0, rows)
		b.Sum(&iv, got[:], &col, 0, rows)
		b.passed = got == want
	})
	return b.passed
}
