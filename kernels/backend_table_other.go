//go:build !amd64 || purego

package kernels

// assembly is the list of this architecture's own kernels for an algorithm,
// best first.
func assembly(Alg) []*Backend { return nil }
