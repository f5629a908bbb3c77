// Package column is what the suites hash: batches of rows as Arrow has them,
// and arrowmask's ways over a batch.
package column

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// Batch is an array of text and the buffers that it lies in. Its memory is
// Go's: there is nothing to release.
type Batch struct {
	Data    []byte
	Offsets []int32 // one more than rows
	Array   arrow.Array
	Plain   kernels.Column
}

// New makes rows of letters and digits; length draws the length of each. The
// same seed makes the same rows.
func New(rows int, seed uint64, length func(*rand.Rand) int) *Batch {
	data, offsets := kernelbench.Column(rows, seed, length)
	d := array.NewData(arrow.BinaryTypes.String, rows, []*memory.Buffer{
		nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(data),
	}, nil, 0, 0)
	return &Batch{Data: data, Offsets: offsets, Array: array.NewStringData(d), Plain: kernels.Offsets32(data, offsets)}
}

// Equal is the length of rows that are all as long.
func Equal(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }

// Rows is their number.
func (b *Batch) Rows() int { return len(b.Offsets) - 1 }

// Digest says what is computed of every row.
type Digest struct {
	Alg kernels.Alg
	Raw bool // as bytes; else as lower-case hex text
	// Threads that work on a batch together, at least 1.
	Threads int
}

// Width is how many bytes a row's output has.
func (d Digest) Width() int {
	if d.Raw {
		return d.Alg.Size()
	}
	return 2 * d.Alg.Size()
}

// Way is one way to hash a batch. out is the digests one after the other; free
// gives the memory back.
type Way func(*Batch) (out []byte, free func(), err error)

// API is arrowmask as a caller has it: an Arrow array in, an Arrow array out, in
// memory of mem; nil is arrow's default, which is fresh memory.
func (d Digest) API(ctx context.Context, mem memory.Allocator) (Way, error) {
	expr, values := d.Alg.String()+"({col})", 2 // the buffer of the values
	if d.Raw {
		expr, values = fmt.Sprintf("digest({col}, '%s')", d.Alg), 1
	}
	f, err := arrowudf.Compile(expr, arrow.BinaryTypes.String, arrowudf.Options{Threads: d.Threads, Mem: mem})
	if err != nil {
		return nil, err
	}
	return func(b *Batch) ([]byte, func(), error) {
		out, err := f.Call(ctx, b.Array)
		if err != nil {
			return nil, nil, err
		}
		return out.Data().Buffers()[values].Bytes(), out.Release, nil
	}, nil
}

// Loop is a loop over the rows, split evenly over the threads. A column goes in
// and a column comes out, into memory that is used again for the next batch.
func (d Digest) Loop(loop func(out, data []byte, offsets []int32)) Way {
	w := d.Width()
	var kept []byte
	return func(b *Batch) ([]byte, func(), error) {
		kept = slices.Grow(kept[:0], b.Rows()*w)
		out := kept[:b.Rows()*w]
		err := d.split(b.Rows(), func(_, lo, hi int) error {
			loop(out[lo*w:hi*w], b.Data, b.Offsets[lo:hi+1])
			return nil
		})
		return out, func() {}, err
	}
}

// Kernels is what the API stands on, without Arrow and with memory that is
// there already, for batches of up to so many rows.
func (d Digest) Kernels(rows int) (Way, error) {
	backend, err := kernels.Active(d.Alg)
	if err != nil {
		return nil, err
	}
	hashers := make([]kernelbench.Hasher, d.Threads)
	for t := range hashers {
		hashers[t].Hash, hashers[t].Raw = kernels.New(backend), d.Raw
	}
	w := d.Width()
	out := make([]byte, rows*w)
	return func(b *Batch) ([]byte, func(), error) {
		err := d.split(b.Rows(), func(t, lo, hi int) error {
			return hashers[t].Digest(out[lo*w:hi*w], &b.Plain, lo, hi)
		})
		return out[:b.Rows()*w], func() {}, err
	}, nil
}

// split gives every thread its part of the rows.
func (d Digest) split(rows int, part func(t, lo, hi int) error) error {
	if d.Threads <= 1 {
		return part(0, 0, rows)
	}
	errs := make([]error, d.Threads)
	var done sync.WaitGroup
	for t := range d.Threads {
		done.Go(func() { errs[t] = part(t, rows*t/d.Threads, rows*(t+1)/d.Threads) })
	}
	done.Wait()
	return errors.Join(errs...)
}
