//go:build !amd64 || purego

package cpu

// xgetbv says that no wide registers are saved: builds without our amd64
// assembly have no use for them.
func xgetbv() uint64 { return 0 }
