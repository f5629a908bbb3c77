package kernels

import (
	"fmt"
	"sync"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// Backend is one way to compute one algorithm. Backends are values: tests and
// benchmarks name one and call it, nothing global is switched. They are
// read-only and shared by all goroutines.
type Backend struct {
	Alg  Alg
	Name string // "generic", "std", "sha256simd", ...
	// Needs is every processor extension that the backend's code uses.
	Needs cpu.Set
	// Lanes is how many messages one call works on side by side.
	Lanes int

	// refused says why the backend cannot be used for a reason that is not
	// the processor's; empty when there is none.
	refused string
	// sum writes the digests of rows lo to hi to dst, whose length is exact.
	// Arguments are checked. mac is nil for plain digests. Neither the
	// arguments nor anything they point at may be kept after the return.
	sum func(dst []byte, col *Column, lo, hi int, mac *macKey)
	// row is sum for one plain digest, where there is a shorter way; nil where
	// there is none.
	row func(dst, row []byte)
	// prepare turns an HMAC key into what sum needs; nil for prepareStates.
	prepare func(alg Alg, key []byte) (*macKey, error)
	// kernel is what sum schedules rows over; nil when it takes them in turn.
	kernel *laneKernel

	tested  sync.Once
	testErr error
}

// Available reports whether this machine can run the backend.
func (b *Backend) Available() bool { return b.Reason() == "" }

// Reason says why this machine cannot run the backend; empty when it can.
func (b *Backend) Reason() string { return b.reason(cpu.Features()) }

// reason is Reason on a machine with the given extensions.
func (b *Backend) reason(have cpu.Set) string {
	if b.refused != "" {
		return b.refused
	}
	if missing := have.Missing(b.Needs); missing != 0 {
		return "processor or operating system lacks " + missing.String()
	}
	return ""
}

// unsupported is the error for using a backend that cannot run; nil when it can.
func (b *Backend) unsupported(have cpu.Set) error {
	if r := b.reason(have); r != "" {
		return fmt.Errorf("%w: %s of %s: %s", ErrUnsupportedBackend, b.Name, b.Alg, r)
	}
	return nil
}

// All lists the algorithm's backends that were compiled in, best first,
// whether this machine can run them or not. The caller owns the slice.
func All(alg Alg) []*Backend {
	if alg >= numAlgs {
		return nil
	}
	return append([]*Backend(nil), table[alg]...)
}

// ByName finds a backend of an algorithm and, the first time, runs its
// self-test. The error wraps ErrUnknownAlg, ErrUnknownBackend,
// ErrUnsupportedBackend or ErrSelfTest.
func ByName(alg Alg, name string) (*Backend, error) {
	if alg >= numAlgs {
		return nil, fmt.Errorf("%w: %s", ErrUnknownAlg, alg)
	}
	b := find(table[alg], name)
	if b == nil {
		return nil, fmt.Errorf("%w: %s has no backend %q", ErrUnknownBackend, alg, name)
	}
	if err := b.unsupported(cpu.Features()); err != nil {
		return nil, err
	}
	if err := b.selfTest(); err != nil {
		return nil, err
	}
	return b, nil
}

func find(backends []*Backend, name string) *Backend {
	for _, b := range backends {
		if b.Name == name {
			return b
		}
	}
	return nil
}
