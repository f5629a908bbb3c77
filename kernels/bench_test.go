package kernels_test

import (
	"fmt"
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

// BenchmarkDigest hashes 512 rows a call, the chunk that callers work in.
// Bytes are those of the input. backend=std is the row loop to compare with.
func BenchmarkDigest(b *testing.B) {
	for _, alg := range kernels.Algs() {
		for _, backend := range kernels.All(alg) {
			if !backend.Available() {
				continue
			}
			for _, n := range []int{8, 32, 64, 256, 4096} {
				name := fmt.Sprintf("alg=%s/backend=%s/len=%d/out=raw", alg, backend.Name, n)
				b.Run(name, func(b *testing.B) { benchmarkSum(b, kernels.New(backend), n) })
			}
		}
	}
}

// BenchmarkHMAC is BenchmarkDigest with a key of 32 bytes.
func BenchmarkHMAC(b *testing.B) {
	for _, alg := range []kernels.Alg{kernels.SHA256, kernels.SHA512} {
		for _, backend := range kernels.All(alg) {
			if !backend.Available() {
				continue
			}
			name := fmt.Sprintf("alg=%s/backend=%s/len=32/out=raw", alg, backend.Name)
			b.Run(name, func(b *testing.B) { benchmarkSum(b, hmacOf(b, backend, message(32, 1)), 32) })
		}
	}
}

func benchmarkSum(b *testing.B, h *kernels.Hash, n int) {
	const rows = 512
	lengths := make([]int, rows)
	for i := range lengths {
		lengths[i] = n
	}
	col := offsets32(messages(lengths...), 0)
	dst := make([]byte, rows*h.Size())
	b.SetBytes(int64(rows * n))
	b.ReportAllocs()
	for b.Loop() {
		if err := h.Sum(dst, &col, 0, rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
