package rival

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
)

// batchRows is how many rows a call of arrowmask gets; fewer where a column is
// short.
const batchRows = 1 << 16

// Expressions of the functions by the names that programs know them by.
var expressions = map[string]string{
	"md5":       "md5({col})",
	"sha1":      "sha1({col})",
	"sha256":    "sha2({col}, 256)",
	"sha512":    "sha2({col}, 512)",
	"mask_hash": "mask_hash({col})",
}

// Ours is arrowmask over a column: the public API, arrays in and arrays out, in
// memory that is used again, as the allocators of other engines do.
type Ours struct {
	ctx     context.Context
	threads int // goroutines that share the batches
	size    int // rows of a batch
	f       *arrowudf.Func
	batches []arrow.Array
}

// NewOurs compiles a function that every program knows by name, for so many
// goroutines that each take the next batch, as the threads of an engine do.
func NewOurs(ctx context.Context, c *Column, function string, threads int) (*Ours, error) {
	f, err := arrowudf.Compile(expressions[function], arrow.BinaryTypes.String, arrowudf.Options{Mem: &arrowudf.Recycler{}})
	if err != nil {
		return nil, err
	}
	size := min(batchRows, c.Rows())
	if c.Rows()%size != 0 {
		return nil, fmt.Errorf("%w: %d rows do not fill batches of %d", ErrColumn, c.Rows(), size)
	}
	return &Ours{ctx: ctx, threads: threads, size: size, f: f, batches: c.batches(size)}, nil
}

// Batches is how many batches the column has.
func (o *Ours) Batches() int { return len(o.batches) }

// Side works on n batches in a run, each time on the next ones, which its
// goroutines share.
func (o *Ours) Side(n int) rounds.Side {
	var next atomic.Int64
	return rounds.Side{Name: result.Ours, Units: float64(n * o.size), Run: rounds.Told(func() (time.Duration, error) {
		var left atomic.Int64
		left.Store(int64(n))
		errs := make([]error, o.threads)
		work := func(t int) {
			for errs[t] == nil && left.Add(-1) >= 0 {
				var out arrow.Array
				if out, errs[t] = o.f.Call(o.ctx, o.batches[int(next.Add(1))%len(o.batches)]); out != nil {
					out.Release()
				}
			}
		}
		start := time.Now()
		var done sync.WaitGroup
		for t := 1; t < o.threads; t++ {
			done.Go(func() { work(t) })
		}
		work(0)
		done.Wait()
		return time.Since(start), errors.Join(errs...)
	})}
}

// Digests are those of the first rows, one after the other.
func (o *Ours) Digests(rows int) ([]byte, error) {
	var all []byte
	for _, b := range o.batches {
		if rows == 0 {
			break
		}
		out, err := o.f.Call(o.ctx, b)
		if err != nil {
			return nil, err
		}
		text := out.Data().Buffers()[2].Bytes()
		n := min(rows, o.size)
		all = append(all, text[:len(text)/o.size*n]...)
		out.Release()
		rows -= n
	}
	return all, nil
}
