//go:build !amd64 || purego

package asciimask

// assembly is the list of this architecture's own backends, best first.
func assembly() []*Backend { return nil }
