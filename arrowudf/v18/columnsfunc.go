package v18

import (
	"context"
	"fmt"
	"slices"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	arrow17 "github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
)

// ColumnsFunc is arrowudf.ColumnsFunc over v18 arrays. It is read-only and safe
// for any number of goroutines.
type ColumnsFunc struct {
	f      *arrowudf.ColumnsFunc
	fields []arrow18.Field
	types  []arrow17.DataType // of the fields
	out    arrow18.DataType
}

// CompileColumns checks expr against the columns of a table; see
// arrowudf.CompileColumns.
func CompileColumns(expr string, fields []arrow18.Field, target int, opts arrowudf.Options) (*ColumnsFunc, error) {
	e, err := mask.ParseColumns(expr)
	if err != nil {
		return nil, err
	}
	names := e.Columns()
	fn := &ColumnsFunc{fields: slices.Clone(fields), types: make([]arrow17.DataType, len(fields))}
	fields17 := make([]arrow17.Field, len(fields))
	lacking := make([]bool, len(fields))
	for i, f := range fields {
		fn.types[i] = arrow17.Null // nobody reads it
		if i == target || slices.Contains(names, f.Name) {
			if f.Type == nil {
				return nil, fmt.Errorf("{%s}: %w: no column type", f.Name, mask.ErrType)
			}
			if fn.types[i], lacking[i], err = standIn(f.Type); err != nil {
				return nil, fmt.Errorf("{%s}: %w", f.Name, err)
			}
		}
		fields17[i] = arrow17.Field{Name: f.Name, Type: fn.types[i], Nullable: f.Nullable}
	}
	if fn.f, err = arrowudf.CompileColumns(expr, fields17, target, opts); err != nil {
		return nil, err
	}
	like := target // whose type the result may have
	if target < 0 || fn.f.One() != nil {
		like = fn.f.Reads()[0]
	}
	if lacking[like] && arrow17.TypeEqual(fn.f.OutType(), fn.types[like]) {
		fn.out = storage(fields[like].Type) // all NULL
		return fn, nil
	}
	if fn.out, err = TypeFromV17(fn.f.OutType()); err != nil {
		return nil, err
	}
	return fn, nil
}

// Expr is the expression as it was given.
func (f *ColumnsFunc) Expr() string { return f.f.Expr() }

// Reads lists the numbers of the columns whose values f reads, each once, in
// the order in which the expression first names them.
func (f *ColumnsFunc) Reads() []int { return f.f.Reads() }

// One is the function over the one column that f reads; nil when f reads several.
func (f *ColumnsFunc) One() *Func {
	one := f.f.One()
	if one == nil {
		return nil
	}
	i := f.f.Reads()[0]
	return &Func{f: one, in: f.fields[i].Type, in17: f.types[i], out: f.out}
}

// OutType is the type of every result.
func (f *ColumnsFunc) OutType() arrow18.DataType { return f.out }

// Nullable reports whether the result may be NULL in a row where no column is.
func (f *ColumnsFunc) Nullable() bool { return f.f.Nullable() }

// Uses lists the digests that f computes, for reports.
func (f *ColumnsFunc) Uses() []mask.Use { return f.f.Uses() }

// Notes are warnings for a person, in plain words.
func (f *ColumnsFunc) Notes() []string { return f.f.Notes() }

// Call evaluates the columns of a table; see arrowudf.ColumnsFunc.Call.
func (f *ColumnsFunc) Call(ctx context.Context, cols []arrow18.Array) (arrow18.Array, error) {
	if len(cols) != len(f.fields) {
		return nil, fmt.Errorf("%w: %d columns for a function of %d", arrowudf.ErrArray, len(cols), len(f.fields))
	}
	data := make([]arrow17.ArrayData, len(cols))
	for _, i := range f.f.Reads() {
		if cols[i] == nil {
			continue // arrowudf says so
		}
		if dt := cols[i].DataType(); !sameType(dt, f.fields[i].Type) {
			return nil, fmt.Errorf("{%s}: %w: array of %s for a function of %s", f.fields[i].Name, arrowudf.ErrArray, dt, f.fields[i].Type)
		}
		data[i] = dataToV17(cols[i].Data(), f.types[i], false)
	}
	res, err := f.f.CallData(ctx, data)
	if err != nil {
		return nil, err
	}
	defer res.Release()
	out := dataFromV17(res, f.out)
	defer out.Release()
	return array18.MakeFromData(out), nil
}

// callBatch is Call with the columns of a batch, which may be longer than it.
func (f *ColumnsFunc) callBatch(ctx context.Context, batch arrow18.RecordBatch) (arrow18.Array, error) {
	cols := make([]arrow18.Array, batch.NumCols())
	for _, i := range f.f.Reads() {
		cols[i] = array18.NewSlice(batch.Column(i), 0, batch.NumRows())
		defer cols[i].Release()
	}
	return f.Call(ctx, cols)
}
