package kernels_test

import (
	"sync"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/race"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestGoroutines: one Hash serves 1, 2 and 16 goroutines, and the digests do
// not depend on how many.
func TestGoroutines(t *testing.T) {
	var lengths []int
	for range 8 {
		lengths = append(lengths, append(upTo(70), boundaries...)...)
	}
	rows := messages(lengths...)
	key := message(32, 9)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		hashes := map[*kernels.Hash][]byte{kernels.New(b): want(b.Alg, nil, rows)}
		if b.Alg.SHA2() {
			hashes[hmacOf(t, b, key)] = want(b.Alg, key, rows)
		}
		size := b.Alg.Size()
		for h, expect := range hashes {
			for _, workers := range []int{1, 2, 16} {
				got := make([]byte, len(expect))
				col := offsets64(rows, 2)
				chunk := (len(rows) + workers - 1) / workers
				var wg sync.WaitGroup
				for lo := 0; lo < len(rows); lo += chunk {
					wg.Go(func() {
						hi := min(lo+chunk, len(rows))
						if err := h.Sum(got[lo*size:hi*size], &col, lo, hi); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				diff(t, h.String(), size, got, expect, rows)
			}
		}
	})
}

// TestB08InputReuse overwrites the input right after the return: the digests
// stay, and under the race detector nothing reads the input any more.
func TestB08InputReuse(t *testing.T) {
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		data := make([]byte, 191*17)
		offsets := make([]int32, 18)
		var got, expect []byte
		for n := 1; n <= 190; n += 7 {
			for i := range offsets {
				offsets[i] = int32(i * n)
			}
			copy(data, message(17*n, n))
			var rows [][]byte
			for i := range 17 {
				rows = append(rows, data[i*n:(i+1)*n])
			}
			expect = want(b.Alg, nil, rows)
			col := kernels.Offsets32(data, offsets)
			got = make([]byte, 17*size)
			done := make(chan struct{})
			if err := h.Sum(got, &col, 0, 17); err != nil {
				t.Fatal(err)
			}
			go func() {
				for i := range data {
					data[i] = 0xFF
				}
				clear(offsets)
				close(done)
			}()
			<-done
			diff(t, "after overwriting", size, got, expect, rows)
		}
	})
}

// TestNoAllocation: none per call in the steady state, for every layout,
// plain and keyed.
func TestNoAllocation(t *testing.T) {
	if race.Enabled {
		t.Skip("under the race detector pools drop values at random")
	}
	rows := messages(append(upTo(70), boundaries...)...)
	cols := layouts(rows)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		hashes := []*kernels.Hash{kernels.New(b)}
		if b.Alg.SHA2() {
			hashes = append(hashes, hmacOf(t, b, message(32, 3)))
		}
		for _, h := range hashes {
			dst := make([]byte, len(rows)*h.Size())
			for name, col := range cols {
				if n := testing.AllocsPerRun(50, func() { _ = h.Sum(dst, &col, 0, col.Len()) }); n != 0 {
					t.Errorf("%s, %s: %v allocations a call", h, name, n)
				}
			}
		}
	})
}
