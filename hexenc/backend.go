package hexenc

import "github.com/arrowmask/arrowmask/internal/cpu"

// Backend is one way to encode. Backends are values: tests and benchmarks name
// one and call it, nothing global is switched.
type Backend struct {
	Name string
	// Needs is every processor extension that the backend's code uses; the
	// methods must not be called on a machine that lacks one.
	Needs cpu.Set

	// encode writes len(src) bytes as text; len(dst) is exactly twice that.
	encode func(dst, src []byte, digits *digits)
}

// Available reports whether this machine can run the backend.
func (b *Backend) Available() bool { return b.Reason() == "" }

// Reason says why this machine cannot run the backend; empty when it can.
func (b *Backend) Reason() string { return b.reason(cpu.Features()) }

// reason is Reason on a machine with the given extensions.
func (b *Backend) reason(have cpu.Set) string {
	if missing := have.Missing(b.Needs); missing != 0 {
		return "processor or operating system lacks " + missing.String()
	}
	return ""
}

// Lower is the package's Lower by this backend.
func (b *Backend) Lower(dst, src []byte) { b.encode(exact(dst, src), src, &lower) }

// Upper is the package's Upper by this backend.
func (b *Backend) Upper(dst, src []byte) { b.encode(exact(dst, src), src, &upper) }

// exact cuts dst to the length of the text of src; room beyond the length of
// dst does not count.
func exact(dst, src []byte) []byte { return dst[:len(dst):len(dst)][:2*len(src)] }

// table holds the backends, best first; generic runs everywhere.
var table = append(assembly(), &Backend{Name: "generic", encode: encodeGeneric})

// All lists the backends that were compiled in, best first, whether this
// machine can run them or not. The caller owns the slice.
func All() []*Backend { return append([]*Backend(nil), table...) }
