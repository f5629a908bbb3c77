package arrowudf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// ColumnsFunc is a mask expression over columns of a table, compiled for their
// types. It is read-only and safe for any number of goroutines.
type ColumnsFunc struct {
	expr   string
	fields []arrow.Field
	reads  []int // numbers of the fields, each once, in order of first use
	one    *Func // over the one column; nil when there are several
	rows   *rowFunc
	opts   Options
}

// CompileColumns is Compile for an expression that names columns of a table:
// hash_row({id}, {email}). fields are the columns. {col} is the one with the
// number target, which may also be named; a target of -1 makes {col} a name as
// any other. What names no column at all is computed for the target's type.
//
// An expression that reads one column keeps its encoding, as Compile does.
// Where it reads several, dictionaries and runs are decoded, and text and
// binary results have the layout of the target, or without one of the first
// column that it names, with 64-bit offsets when any of those has them.
//
// Errors are those of mask.ParseColumns and mask.CompileColumns; a name that no
// column has, or several, wraps mask.ErrColumn and lists the columns.
func CompileColumns(expr string, fields []arrow.Field, target int, opts Options) (f *ColumnsFunc, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, recovered("compile", p)
		}
	}()
	if target < -1 || target >= len(fields) {
		return nil, fmt.Errorf("%w: target %d of %d columns", mask.ErrArgument, target, len(fields))
	}
	e, err := mask.ParseColumns(expr)
	if err != nil {
		return nil, err
	}
	if opts.Mem == nil {
		opts.Mem = memory.DefaultAllocator
	}
	f = &ColumnsFunc{expr: expr, fields: slices.Clone(fields), opts: opts}
	names := e.Columns()
	at := make([]int, len(names)) // the field of each name
	for i, name := range names {
		if at[i], err = find(fields, target, name); err != nil {
			return nil, err
		}
		if fields[at[i]].Type == nil {
			return nil, fmt.Errorf("{%s}: %w: no column type", name, mask.ErrType)
		}
		if !slices.Contains(f.reads, at[i]) {
			f.reads = append(f.reads, at[i])
		}
	}
	if len(f.reads) == 0 {
		if target < 0 || fields[target].Type == nil {
			return nil, fmt.Errorf("%w: the expression names no column", mask.ErrArgument)
		}
		f.reads = []int{target}
	}
	if len(f.reads) == 1 {
		f.one, err = newFunc(expr, e, fields[f.reads[0]].Type, opts)
	} else {
		f.rows, err = newRowFunc(e, names, at, fields, target, opts)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// columnName is the name of the target in an expression.
const columnName = "col"

// find is the number of the field that a name in braces means.
func find(fields []arrow.Field, target int, name string) (int, error) {
	if name == columnName && target >= 0 {
		return target, nil
	}
	at := -1
	for i, f := range fields {
		if f.Name != name {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("{%s}: %w: there are several", name, mask.ErrColumn)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("{%s}: %w: the columns are %s", name, mask.ErrColumn, fieldList(fields))
	}
	return at, nil
}

// maxListed bounds how many column names an error lists.
const maxListed = 50

func fieldList(fields []arrow.Field) string {
	var names []string
	for i, f := range fields {
		if i == maxListed {
			names = append(names, fmt.Sprintf("and %d more", len(fields)-i))
			break
		}
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	return strings.Join(names, ", ")
}

// Expr is the expression as it was given.
func (f *ColumnsFunc) Expr() string { return f.expr }

// Reads lists the numbers of the columns whose values f reads, each once, in
// the order in which the expression first names them.
func (f *ColumnsFunc) Reads() []int { return slices.Clone(f.reads) }

// One is the function over the one column that f reads; nil when f reads several.
func (f *ColumnsFunc) One() *Func { return f.one }

// OutType is the type of every result.
func (f *ColumnsFunc) OutType() arrow.DataType {
	if f.one != nil {
		return f.one.OutType()
	}
	return f.rows.result
}

// Nullable reports whether the result may be NULL in a row where no column is.
func (f *ColumnsFunc) Nullable() bool { return f.program().Nullable() }

// Uses lists the digests that f computes, for reports.
func (f *ColumnsFunc) Uses() []mask.Use { return f.program().Uses() }

// Notes are warnings for a person, in plain words.
func (f *ColumnsFunc) Notes() []string { return f.program().Notes() }

func (f *ColumnsFunc) program() *mask.Program {
	if f.one != nil {
		return f.one.values.prog
	}
	return f.rows.prog
}

// Call evaluates the columns of a table, as many as f was compiled for and in
// that order; those that Reads does not list may be nil. The others have the
// types that f was compiled for, and as many rows as the result. The result is
// of type OutType, shares nothing with them, and is the caller's to release.
// Errors that one of several columns causes name it.
func (f *ColumnsFunc) Call(ctx context.Context, cols []arrow.Array) (arrow.Array, error) {
	data := make([]arrow.ArrayData, len(cols))
	for i, c := range cols {
		if c != nil {
			data[i] = c.Data()
		}
	}
	d, err := f.CallData(ctx, data)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// CallData is Call on array data.
func (f *ColumnsFunc) CallData(ctx context.Context, cols []arrow.ArrayData) (out arrow.ArrayData, err error) {
	r := begin(ctx, f.opts, f.opts.Mem)
	defer r.end()
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, recovered(f.expr, p)
		}
	}()
	if err := f.check(cols); err != nil {
		return nil, err
	}
	if f.one != nil {
		return f.one.call(ctx, cols[f.reads[0]], f.opts.Mem)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.rows.eval(r, cols)
}

// check holds the columns that are read against what f was compiled for.
func (f *ColumnsFunc) check(cols []arrow.ArrayData) error {
	if len(cols) != len(f.fields) {
		return fmt.Errorf("%w: %d columns for a function of %d", ErrArray, len(cols), len(f.fields))
	}
	for k, i := range f.reads {
		name, first := f.fields[i].Name, f.reads[0]
		switch d := cols[i]; {
		case d == nil:
			return fmt.Errorf("{%s}: %w: it is not there", name, ErrArray)
		case !sameType(d.DataType(), f.fields[i].Type):
			return fmt.Errorf("{%s}: %w: array of %s for a function of %s", name, ErrArray, d.DataType(), f.fields[i].Type)
		case k > 0 && d.Len() != cols[first].Len():
			return fmt.Errorf("{%s}: %w: %d rows, {%s} has %d", name, ErrArray, d.Len(), f.fields[first].Name, cols[first].Len())
		}
	}
	return nil
}
