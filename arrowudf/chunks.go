package arrowudf

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"

	"github.com/arrowmask/arrowmask/mask"
)

// callColumns evaluates a call of a registered function over several columns;
// nil ones are arguments that are no column.
func callColumns(ctx context.Context, expr string, cols []compute.ArrayLikeDatum) (compute.Datum, error) {
	fields := make([]arrow.Field, len(cols))
	rows, chunked := int64(-1), false
	for i, c := range cols {
		fields[i].Name = argumentName(i)
		if c == nil {
			continue
		}
		if c.Kind() == compute.KindScalar {
			return nil, fmt.Errorf("%w: %s must be an array, as another argument is one", mask.ErrArgument, fields[i].Name)
		}
		fields[i].Type = c.Type()
		chunked = chunked || c.Kind() == compute.KindChunked
		if n := c.Len(); rows < 0 {
			rows = n
		} else if n != rows {
			return nil, fmt.Errorf("{%s}: %w: %d rows, the others have %d", fields[i].Name, ErrArray, n, rows)
		}
	}
	f, err := CompileColumns(expr, fields, 0, optionsOf(ctx))
	if err != nil {
		return nil, err
	}
	if chunked {
		out, err := f.callChunks(ctx, cols, rows)
		if err != nil {
			return nil, err
		}
		return &compute.ChunkedDatum{Value: out}, nil
	}
	in := make([]arrow.ArrayData, len(cols))
	for i, c := range cols {
		if a, ok := c.(*compute.ArrayDatum); ok {
			in[i] = a.Value
		}
	}
	out, err := f.CallData(ctx, in)
	if err != nil {
		return nil, err
	}
	return &compute.ArrayDatum{Value: out}, nil
}

// callChunks evaluates columns that are cut into chunks in different ways; the
// result is cut wherever one of them is. Each has rows rows.
func (f *ColumnsFunc) callChunks(ctx context.Context, cols []compute.ArrayLikeDatum, rows int64) (*arrow.Chunked, error) {
	chunks := make([][]arrow.Array, len(cols))
	for i, c := range cols {
		if c == nil {
			continue
		}
		if chunks[i] = c.Chunks(); c.Kind() == compute.KindArray { // that made an array, which is ours
			defer chunks[i][0].Release()
		}
	}
	var outs []arrow.Array
	defer func() {
		for _, o := range outs {
			o.Release()
		}
	}()
	in := make([]arrow.Array, len(chunks))
	at, begin := make([]int, len(chunks)), make([]int64, len(chunks)) // chunk in work of each column, rows of it that are done
	for done := int64(0); done < rows; {
		step := rows - done
		for i, c := range chunks {
			if c == nil {
				continue
			}
			for int64(c[at[i]].Len()) == begin[i] {
				at[i], begin[i] = at[i]+1, 0
			}
			step = min(step, int64(c[at[i]].Len())-begin[i])
		}
		for i, c := range chunks {
			if c != nil {
				in[i] = array.NewSlice(c[at[i]], begin[i], begin[i]+step)
				begin[i] += step
			}
		}
		out, err := f.Call(ctx, in)
		for _, a := range in {
			if a != nil {
				a.Release()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", len(outs), err)
		}
		outs, done = append(outs, out), done+step
	}
	return arrow.NewChunked(f.OutType(), outs), nil
}
