package kernels_test

import (
	"fmt"
	"testing"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// BenchmarkDigest hashes batches of rows in the chunks that callers work in,
// to bytes or to hex text. Bytes are those of the input. backend=std is the
// standard library row by row, to compare with.
func BenchmarkDigest(b *testing.B) {
	for _, alg := range kernels.Algs() {
		for _, backend := range kernels.All(alg) {
			if !backend.Available() {
				continue
			}
			for _, n := range []int{8, 32, 64, 256, 4096} {
				for _, out := range []string{"raw", "hex"} {
					for _, rows := range []int{31, 4096} {
						name := fmt.Sprintf("alg=%s/backend=%s/len=%d/out=%s/rows=%d", alg, backend.Name, n, out, rows)
						b.Run(name, func(b *testing.B) { benchmarkSum(b, kernels.New(backend), n, rows, out == "hex") })
					}
				}
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
			name := fmt.Sprintf("alg=%s/backend=%s/len=32/out=raw/rows=512", alg, backend.Name)
			b.Run(name, func(b *testing.B) { benchmarkSum(b, hmacOf(b, backend, message(32, 1)), 32, 512, false) })
		}
	}
}

func benchmarkSum(b *testing.B, h *kernels.Hash, n, rows int, text bool) {
	const chunk = 512
	lengths := make([]int, rows)
	for i := range lengths {
		lengths[i] = n
	}
	col := offsets32(messages(lengths...), 0)
	dst, out := make([]byte, chunk*h.Size()), make([]byte, 2*rows*h.Size())
	b.SetBytes(int64(rows * n))
	b.ReportAllocs()
	for b.Loop() {
		for lo := 0; lo < rows; lo += chunk {
			hi := min(lo+chunk, rows)
			if err := h.Sum(dst, &col, lo, hi); err != nil {
				b.Fatal(err)
			}
			if text {
				hexenc.Lower(out[2*lo*h.Size():], dst[:(hi-lo)*h.Size()])
			}
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
