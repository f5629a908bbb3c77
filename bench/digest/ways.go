package digest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	simd "github.com/minio/sha256-simd"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// ErrOutput: a rival's digests are not ours.
var ErrOutput = errors.New("outputs differ")

// way is one way to hash a batch. The result is the digests one after the
// other, in fresh memory, and free gives it back; every way allocates its
// output, since a column goes in and a column comes out.
type way struct {
	name string
	hash func(*batch) (out []byte, free func(), err error)
}

// ways are all ways for a cell: arrowmask first, the kernels alone last.
func (c cell) ways(ctx context.Context, col *column) ([]way, error) {
	ours, err := c.arrowmask(ctx)
	if err != nil {
		return nil, err
	}
	all := []way{ours, c.goStd()}
	if c.alg == kernels.SHA256 {
		all = append(all, c.sha256SIMD())
	}
	bare, err := c.kernels(col)
	if err != nil {
		return nil, err
	}
	return append(all, bare), nil
}

func nothing() {}

// width is how many bytes a row's output has.
func (c cell) width() int {
	if c.raw {
		return c.alg.Size()
	}
	return 2 * c.alg.Size()
}

// arrowmask is the public API: an Arrow array in, an Arrow array out.
func (c cell) arrowmask(ctx context.Context) (way, error) {
	expr := c.alg.String() + "({col})"
	if c.raw {
		expr = fmt.Sprintf("digest({col}, '%s')", c.alg)
	}
	f, err := arrowudf.Compile(expr, arrow.BinaryTypes.String, arrowudf.Options{Threads: c.threads})
	if err != nil {
		return way{}, err
	}
	values := 2 // the buffer of the values
	if c.raw {
		values = 1
	}
	return way{result.Ours, func(b *batch) ([]byte, func(), error) {
		out, err := f.Call(ctx, b.array)
		if err != nil {
			return nil, nil, err
		}
		return out.Data().Buffers()[values].Bytes(), out.Release, nil
	}}, nil
}

// rowLoop is a way that hashes row after row, with the rows of a batch split
// evenly over the threads.
func (c cell) rowLoop(name string, loop func(out, data []byte, offsets []int32)) way {
	return way{name, func(b *batch) ([]byte, func(), error) {
		rows, w := len(b.offsets)-1, c.width()
		out := make([]byte, rows*w)
		var done sync.WaitGroup
		for t := 1; t < c.threads; t++ {
			lo, hi := rows*t/c.threads, rows*(t+1)/c.threads
			done.Go(func() { loop(out[lo*w:hi*w], b.data, b.offsets[lo:hi+1]) })
		}
		hi := rows / c.threads
		loop(out[:hi*w], b.data, b.offsets[:hi+1])
		done.Wait()
		return out, nothing, nil
	}}
}

// goStd is the standard library: one-shot functions and encoding/hex.
func (c cell) goStd() way {
	return c.rowLoop("go-std", func(out, data []byte, offsets []int32) {
		kernelbench.RowLoop(out, c.alg, c.raw, data, offsets)
	})
}

// sha256SIMD is the same by github.com/minio/sha256-simd.
func (c cell) sha256SIMD() way {
	return c.rowLoop("sha256-simd", func(out, data []byte, offsets []int32) {
		start := offsets[0]
		for _, end := range offsets[1:] {
			d := simd.Sum256(data[start:end])
			out, start = kernelbench.Put(out, d[:], c.raw), end
		}
	})
}

// kernels is what the public API stands on, without Arrow, without memory of
// its own and on as many threads: see kernelbench.Hasher.
func (c cell) kernels(col *column) (way, error) {
	b, err := kernels.Active(c.alg)
	if err != nil {
		return way{}, err
	}
	hashers := make([]kernelbench.Hasher, c.threads)
	for t := range hashers {
		hashers[t].Hash, hashers[t].Raw = kernels.New(b), c.raw
	}
	w := c.width()
	out := make([]byte, col.batch*w)
	return way{"kernels", func(b *batch) ([]byte, func(), error) {
		errs := make([]error, c.threads)
		var done sync.WaitGroup
		part := func(t int) {
			lo, hi := col.batch*t/c.threads, col.batch*(t+1)/c.threads
			errs[t] = hashers[t].Digest(out[lo*w:hi*w], &b.plain, lo, hi)
		}
		for t := 1; t < c.threads; t++ {
			done.Go(func() { part(t) })
		}
		part(0)
		done.Wait()
		return out, nothing, errors.Join(errs...)
	}}, nil
}

// compare runs all ways on every batch, before any time counts.
func compare(ways []way, col *column) error {
	for i := range col.batches {
		b := &col.batches[i]
		ours, free, err := ways[0].hash(b)
		if err != nil {
			return err
		}
		for _, w := range ways[1:] {
			out, freeOut, err := w.hash(b)
			if err != nil {
				return err
			}
			if !bytes.Equal(ours, out) {
				return fmt.Errorf("%w: %s, batch %d", ErrOutput, w.name, i)
			}
			freeOut()
		}
		free()
	}
	return nil
}

// least is how long a turn takes at least, about.
const least = 2 * time.Millisecond

// side runs one batch after the other, several in a turn where they are quick.
func (w way) side(col *column) (rounds.Side, error) {
	next := 0
	run := func() error {
		b := &col.batches[next%len(col.batches)]
		next++
		_, free, err := w.hash(b)
		if err != nil {
			return err
		}
		free()
		return nil
	}
	start := time.Now()
	if err := run(); err != nil {
		return rounds.Side{}, err
	}
	took := max(time.Since(start), 1)
	return rounds.Side{Name: w.name, Run: run, Turn: int(min(1+least/took, 8))}, nil
}
