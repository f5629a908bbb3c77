package asciimask

import "github.com/arrowmask/arrowmask/internal/cpu"

// Backend is one way to mask. Backends are values: tests and benchmarks name
// one and call it, nothing global is switched.
type Backend struct {
	Name string
	// Needs is every processor extension that the backend's code uses; Apply
	// must not be called on a machine that lacks one.
	Needs cpu.Set

	// apply is Apply for buffers of the same length.
	apply func(m *Mask, dst, src []byte) int
}

// Available reports whether this machine can run the backend.
func (b *Backend) Available() bool { return cpu.Features().Has(b.Needs) }

// Apply is Mask.Apply by this backend.
func (b *Backend) Apply(m *Mask, dst, src []byte) int {
	n := min(len(dst), len(src))
	return b.apply(m, dst[:n:n], src[:n:n])
}

// table holds the backends, best first; generic runs everywhere.
var table = append(assembly(), &Backend{Name: "generic", apply: applyGeneric})

// All lists the backends that were compiled in, best first, whether this
// machine can run them or not. The caller owns the slice.
func All() []*Backend { return append([]*Backend(nil), table...) }

// active is the best backend that this machine can run, chosen once.
var active = best(table, cpu.Features())

// Active is the backend behind Mask.Apply.
func Active() *Backend { return active }

func best(backends []*Backend, have cpu.Set) *Backend {
	for _, b := range backends {
		if have.Has(b.Needs) {
			return b
		}
	}
	return nil
}
