package rival

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
)

// batchRows is how many rows a call of arrowmask gets.
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
// memory that is allocated for each.
type Ours struct {
	ctx     context.Context
	column  *Column
	f       *arrowudf.Func
	batches []arrow.Array
}

// NewOurs compiles a function that every program knows by name, to work on so
// many goroutines.
func NewOurs(ctx context.Context, c *Column, function string, threads int) (*Ours, error) {
	f, err := arrowudf.Compile(expressions[function], arrow.BinaryTypes.String, arrowudf.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	return &Ours{ctx: ctx, column: c, f: f, batches: c.batches(batchRows)}, nil
}

// Side works on all rows.
func (o *Ours) Side() Side {
	return Side{Name: result.Ours, Rows: o.column.Rows(), Run: func() (time.Duration, error) {
		start := time.Now()
		err := o.each(func(arrow.Array) {})
		return time.Since(start), err
	}}
}

// Digests are those of all rows, one after the other.
func (o *Ours) Digests() ([]byte, error) {
	all := make([]byte, 0, o.column.Rows()*128)
	err := o.each(func(out arrow.Array) { all = append(all, out.Data().Buffers()[2].Bytes()...) })
	return all, err
}

func (o *Ours) each(use func(arrow.Array)) error {
	for _, b := range o.batches {
		out, err := o.f.Call(o.ctx, b)
		if err != nil {
			return err
		}
		use(out)
		out.Release()
	}
	return nil
}
