package digest

import (
	"context"
	"fmt"

	simd "github.com/minio/sha256-simd"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/column"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// way is a side by its name.
type way struct {
	name string
	hash column.Way
}

// Sides that are no rivals: arrowmask with fresh memory, and its kernels alone.
const (
	fresh = "fresh"
	bare  = "kernels"
)

// ways are all ways for a cell: arrowmask first, with memory that is used again;
// where it writes hex on one thread also its layers.
func (c cell) ways(ctx context.Context, batch int) ([]way, error) {
	api, err := c.API(ctx, &arrowudf.Recycler{})
	if err != nil {
		return nil, err
	}
	all := []way{{result.Ours, api}, {"go-std", c.Loop(func(out, data []byte, offsets []int32) {
		kernelbench.RowLoop(out, c.Alg, c.Raw, data, offsets)
	})}}
	if c.Alg == kernels.SHA256 {
		all = append(all, way{"sha256-simd", c.Loop(c.simd)})
	}
	if c.Threads > 1 || c.Raw {
		return all, nil
	}
	api, err = c.API(ctx, nil)
	if err != nil {
		return nil, err
	}
	kernels, err := c.Kernels(batch)
	if err != nil {
		return nil, err
	}
	return append(all, way{fresh, api}, way{bare, kernels}), nil
}

// simd is the row loop by github.com/minio/sha256-simd.
func (c cell) simd(out, data []byte, offsets []int32) {
	start := offsets[0]
	for _, end := range offsets[1:] {
		d := simd.Sum256(data[start:end])
		out, start = kernelbench.Put(out, d[:], c.Raw), end
	}
}

// compare runs all ways on every batch, before any time counts.
func compare(ways []way, batches []*column.Batch) error {
	for i, b := range batches {
		ours, free, err := ways[0].hash(b)
		if err != nil {
			return err
		}
		for _, w := range ways[1:] {
			out, freeOut, err := w.hash(b)
			if err != nil {
				return err
			}
			if err := rival.Compare(w.name, out, ours, b.Rows(), b.Rows()); err != nil {
				return fmt.Errorf("batch %d: %w", i, err)
			}
			freeOut()
		}
		free()
	}
	return nil
}

// side hashes one batch after the other.
func (w way) side(batches []*column.Batch) rounds.Side {
	next := 0
	return rounds.Side{Name: w.name, Units: float64(batches[0].Rows()), Run: rounds.Clocked(func() error {
		b := batches[next%len(batches)]
		next++
		_, free, err := w.hash(b)
		if err != nil {
			return err
		}
		free()
		return nil
	})}
}
