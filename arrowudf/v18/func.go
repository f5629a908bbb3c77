package v18

import (
	"context"
	"fmt"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	arrow17 "github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
)

// Func is arrowudf.Func over v18 arrays. It is read-only and safe for any
// number of goroutines.
type Func struct {
	f    *arrowudf.Func
	in   arrow18.DataType
	out  arrow18.DataType
	in17 arrow17.DataType
}

// Compile checks expr against a column type; see arrowudf.Compile.
func Compile(expr string, in arrow18.DataType, opts arrowudf.Options) (*Func, error) {
	if in == nil {
		return nil, fmt.Errorf("%w: no column type", mask.ErrType)
	}
	in17, lacking, err := standIn(in)
	if err != nil {
		return nil, err
	}
	f, err := arrowudf.Compile(expr, in17, opts)
	if err != nil {
		return nil, err
	}
	fn := &Func{f: f, in: in, in17: in17}
	if lacking && arrow17.TypeEqual(f.OutType(), in17) {
		fn.out = storage(in) // all NULL
		return fn, nil
	}
	if fn.out, err = TypeFromV17(f.OutType()); err != nil {
		return nil, err
	}
	return fn, nil
}

// standIn is TypeToV17, but gives types that v17 lacks one of the same width
// that masks treat alike: they read neither decimals nor floats, and answer
// NULL.
func standIn(dt arrow18.DataType) (in17 arrow17.DataType, lacking bool, err error) {
	switch storage(dt).ID() {
	case arrow18.DECIMAL32:
		return arrow17.PrimitiveTypes.Float32, true, nil
	case arrow18.DECIMAL64:
		return arrow17.PrimitiveTypes.Float64, true, nil
	}
	in17, err = TypeToV17(dt)
	return in17, false, err
}

// Expr is the expression as it was given.
func (f *Func) Expr() string { return f.f.Expr() }

// InType is the column type that f was compiled for.
func (f *Func) InType() arrow18.DataType { return f.in }

// OutType is the type of every result.
func (f *Func) OutType() arrow18.DataType { return f.out }

// Nullable reports whether the result may be NULL where the column is not.
func (f *Func) Nullable() bool { return f.f.Nullable() }

// Uses lists the digests that f computes, for reports.
func (f *Func) Uses() []mask.Use { return f.f.Uses() }

// Notes are warnings for a person, in plain words.
func (f *Func) Notes() []string { return f.f.Notes() }

// Call evaluates a column of type InType; see arrowudf.Func.Call.
func (f *Func) Call(ctx context.Context, arr arrow18.Array) (arrow18.Array, error) {
	if !sameType(arr.DataType(), f.in) {
		return nil, fmt.Errorf("%w: array of %s for a function of %s", arrowudf.ErrArray, arr.DataType(), f.in)
	}
	res, err := f.f.CallData(ctx, dataToV17(arr.Data(), f.in17, false))
	if err != nil {
		return nil, err
	}
	defer res.Release()
	out := dataFromV17(res, f.out)
	defer out.Release()
	return array18.MakeFromData(out), nil
}

// CallChunked evaluates every chunk by itself; the result has the same chunks.
func (f *Func) CallChunked(ctx context.Context, col *arrow18.Chunked) (*arrow18.Chunked, error) {
	chunks := make([]arrow18.Array, 0, len(col.Chunks()))
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
	return arrow18.NewChunked(f.out, chunks), nil
}
