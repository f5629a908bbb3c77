package arrowudf

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// Options configure Compile and the functions built on it. The zero value is
// the safe dialect, no keys, the best backends, one goroutine and arrow's
// default allocator.
type Options struct {
	Dialect string           // "" is "safe"
	Keys    *mask.Keyring    // for hmac and mask_hmac
	Backend string           // forces a digest backend by name
	Threads int              // goroutines at most; 0 or 1: the caller's own
	Mem     memory.Allocator // of results; nil: memory.DefaultAllocator
	// Large makes text results LargeString and binary ones LargeBinary, so that
	// they may exceed 2 GiB. View types stay what they are and may exceed it
	// too. Without Large such a result is refused before it is allocated.
	Large bool
	// Limit lowers the 2^31-1 bytes that a result with 32-bit offsets may
	// have; for tests.
	Limit int64
}

// Func is a mask expression compiled for a column type. It is read-only and
// safe for any number of goroutines.
type Func struct {
	expr   string
	in     arrow.DataType
	node   node
	values *plain
	opts   Options
}

// Compile checks expr against a column type and chooses every function, rule
// and backend once. Errors are those of mask.Parse and mask.Compile; a nested
// type (list, struct, map, union) is an error that wraps mask.ErrType.
func Compile(expr string, in arrow.DataType, opts Options) (f *Func, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, recovered("compile", p)
		}
	}()
	if in == nil {
		return nil, fmt.Errorf("%w: no column type", mask.ErrType)
	}
	e, err := mask.Parse(expr)
	if err != nil {
		return nil, err
	}
	return newFunc(expr, e, in, opts)
}

// newFunc compiles an expression in which every name is that of one column.
func newFunc(expr string, e *mask.Expr, in arrow.DataType, opts Options) (*Func, error) {
	if opts.Mem == nil {
		opts.Mem = memory.DefaultAllocator
	}
	n, values, err := plan(e, in, opts)
	if err != nil {
		return nil, err
	}
	return &Func{expr: expr, in: in, node: n, values: values, opts: opts}, nil
}

// Expr is the expression as it was given.
func (f *Func) Expr() string { return f.expr }

// InType is the column type that f was compiled for.
func (f *Func) InType() arrow.DataType { return f.in }

// OutType is the type of every result.
func (f *Func) OutType() arrow.DataType { return f.node.out() }

// Nullable reports whether the result may be NULL where the column is not.
func (f *Func) Nullable() bool { return f.values.prog.Nullable() }

// Uses lists the digests that f computes, for reports.
func (f *Func) Uses() []mask.Use { return f.values.prog.Uses() }

// Notes are warnings for a person, in plain words.
func (f *Func) Notes() []string { return f.values.prog.Notes() }

// Call evaluates a column of type InType. The result has as many rows, is of
// type OutType, shares nothing with arr, and is the caller's to release. The
// context is polled while rows are worked on; then its error is returned.
func (f *Func) Call(ctx context.Context, arr arrow.Array) (arrow.Array, error) {
	d, err := f.call(ctx, arr.Data(), f.opts.Mem)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// CallData is Call on array data, for callers that hold no array: data from
// elsewhere need not pass the constructors of arrow's arrays first.
func (f *Func) CallData(ctx context.Context, d arrow.ArrayData) (arrow.ArrayData, error) {
	return f.call(ctx, d, f.opts.Mem)
}

// CallChunked evaluates every chunk by itself; the result has the same chunks.
func (f *Func) CallChunked(ctx context.Context, col *arrow.Chunked) (*arrow.Chunked, error) {
	chunks := make([]arrow.Array, 0, len(col.Chunks()))
	defer func() {
		for _, c := range chunks {
			c.Release()
		}
	}()
	for i, c := range col.Chunks() {
		out, err := f.Call(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
		chunks = append(chunks, out)
	}
	return arrow.NewChunked(f.OutType(), chunks), nil
}

// call evaluates array data with results in mem. Nothing that it allocated is
// left when it fails, whether by an error or a panic.
func (f *Func) call(ctx context.Context, d arrow.ArrayData, mem memory.Allocator) (out arrow.ArrayData, err error) {
	r := begin(ctx, f.opts, mem)
	defer r.end()
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, recovered(f.expr, p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !sameType(d.DataType(), f.in) {
		return nil, fmt.Errorf("%w: array of %s for a function of %s", ErrArray, d.DataType(), f.in)
	}
	return f.node.eval(r, d)
}
