package kernels

import (
	"runtime"

	simd "github.com/minio/sha256-simd"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// newSimd is minio/sha256-simd, one message at a time: the fastest single
// stream for SHA-256 where the processor has SHA instructions. Without them
// the library has nothing of its own, so the backend is refused. It keeps no
// way to save a prepared state, so keyed rows take the std route.
func newSimd() *Backend {
	std := newStd(SHA256)
	b := &Backend{Alg: SHA256, Name: "sha256simd", Lanes: 1, prepare: prepareStd}
	switch runtime.GOARCH {
	case "amd64":
		b.Needs = cpu.SHA | cpu.SSSE3 | cpu.SSE41
	case "arm64":
		b.Needs = cpu.ARMSHA2
	default:
		b.refused = "minio/sha256-simd has no kernel for " + runtime.GOARCH
	}
	b.row = func(dst, row []byte) { *(*[32]byte)(dst) = simd.Sum256(row) }
	b.sum = func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		if mac != nil {
			std.sum(dst, col, lo, hi, mac)
			return
		}
		for i := lo; i < hi; i++ {
			b.row(dst, col.Row(i))
			dst = dst[32:]
		}
	}
	return b
}
