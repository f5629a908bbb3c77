//go:build !amd64 || purego

package hexenc

// assembly is the list of this architecture's own encoders, best first.
func assembly() []*Backend { return nil }
