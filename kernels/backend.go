package kernels

import "fmt"

// Backend is one way to compute one algorithm. Backends are values: tests and
// benchmarks name one and call it, nothing global is switched.
type Backend struct {
	Alg  Alg
	Name string // "generic", "std", "sha256simd", ...
	// Lanes is how many messages one call works on side by side.
	Lanes int

	// sum writes the digests of rows lo to hi; arguments are checked.
	sum func(dst []byte, col *Column, lo, hi int, mac *macKey)
}

// macKey is a prepared HMAC key.
type macKey struct{ key []byte }

// All lists the algorithm's backends that were compiled in, best first,
// whether this machine can run them or not.
func All(alg Alg) []*Backend { return table[alg] }

// ByName finds a backend of an algorithm. The error wraps ErrUnknownBackend or
// ErrUnsupportedBackend.
func ByName(alg Alg, name string) (*Backend, error) {
	for _, b := range table[alg] {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: %s has no backend %q", ErrUnknownBackend, alg, name)
}

// Active is the backend that New callers should use for the algorithm: the
// one that ARROWMASK_BACKEND names, or the best that this machine can run and
// that passed its self-test. It is chosen once per process.
func Active(alg Alg) (*Backend, error) { return table[alg][0], nil }

// Reason says why this machine cannot run the backend; empty when it can.
func (b *Backend) Reason() string { return "" }

// NewHMAC binds a backend's algorithm to a key, for HMAC (RFC 2104, FIPS
// 198-1). The algorithm must be of the SHA-2 family. The key is copied.
func NewHMAC(b *Backend, key []byte) (*Hash, error) {
	if !b.Alg.SHA2() {
		return nil, fmt.Errorf("%w: HMAC is not offered over %s", ErrUnknownAlg, b.Alg)
	}
	return &Hash{alg: b.Alg, backend: b, mac: &macKey{key: append([]byte(nil), key...)}}, nil
}
