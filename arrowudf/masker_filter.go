package arrowudf

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// RowFilter evaluates a policy's row filter over the columns of a table. Masker
// holds one; it is of use alone where only the rows are to be known. It is
// read-only and safe for any number of goroutines.
type RowFilter struct {
	rows  *policy.RowFilter
	names []string
	types []arrow.DataType // storage types
	kinds []mask.Type
}

// NewRowFilter compiles a filter for a table. typeOf gives the arrow type of a
// column; it is asked for those that the filter reads. A type that a filter
// cannot read (nested, or a dictionary of what is neither text, binary, an
// integer nor a date) is an error that wraps policy.ErrFilter.
func NewRowFilter(f *policy.Filter, t *policy.Table, typeOf func(column int) (arrow.DataType, error)) (*RowFilter, error) {
	rows, err := f.Compile(t)
	if err != nil {
		return nil, err
	}
	out := &RowFilter{rows: rows}
	for _, i := range rows.Columns() {
		c := t.Columns()[i]
		dt, err := typeOf(i)
		if err == nil {
			dt = storage(dt)
			err = filterable(dt, c.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: table %s: column %q: %w", policy.ErrFilter, t.Name(), c.Name, err)
		}
		out.names, out.types, out.kinds = append(out.names, c.Name), append(out.types, dt), append(out.kinds, c.Type)
	}
	return out, nil
}

// filterable reports whether rowVector can read a column.
func filterable(dt arrow.DataType, t mask.Type) error {
	if t.Kind == mask.Nested {
		return fmt.Errorf("%w: a filter cannot read %s", mask.ErrType, dt)
	}
	encoded := true
	switch e := dt.(type) {
	case *arrow.DictionaryType:
		if _, ok := indexKinds[e.IndexType.ID()]; !ok {
			return fmt.Errorf("%w: dictionary with an index of %s", mask.ErrType, e.IndexType)
		}
	case *arrow.RunEndEncodedType:
	default:
		encoded = false
	}
	// Of encoded columns the values are gathered, which masks need for the
	// kinds that they read only.
	if encoded && t.Kind != mask.Text && t.Kind != mask.Binary && t.Kind != mask.Null && valueWidth(t) == 0 {
		return fmt.Errorf("%w: a filter cannot read %s", mask.ErrType, dt)
	}
	return nil
}

// Columns are the indexes of the columns that Keep wants, in its order. The
// caller must not change them.
func (r *RowFilter) Columns() []int { return r.rows.Columns() }

// Keep finds the rows of a batch for which the filter is TRUE. in holds the
// columns that Columns lists, each of rows rows. Bit i of keep, least
// significant first, belongs to row i; keep must hold rows bits and is
// overwritten. Errors are those of policy.RowFilter.Eval, and ErrArray; keep is
// then of no use.
func (r *RowFilter) Keep(ctx context.Context, rows int, in []arrow.ArrayData, keep []byte) (kept int, err error) {
	defer func() {
		if p := recover(); p != nil {
			kept, err = 0, recovered("row filter", p)
		}
	}()
	if len(in) != len(r.types) {
		return 0, fmt.Errorf("%w: %d columns for a filter of %d", ErrArray, len(in), len(r.types))
	}
	vectors := make([]*mask.Vector, len(in))
	for i, d := range in {
		dt := storage(d.DataType())
		if !sameType(dt, r.types[i]) {
			return 0, fmt.Errorf("%w: column %q of %s in a filter of %s", ErrArray, r.names[i], dt, r.types[i])
		}
		if vectors[i], err = rowVector(d, dt, r.kinds[i]); err != nil {
			return 0, fmt.Errorf("column %q: %w", r.names[i], err)
		}
	}
	return r.rows.Eval(ctx, rows, vectors, keep)
}

// rowVector is vector with a value in every row, whatever the encoding, and
// with the values of the kinds that filters read and masks do not.
func rowVector(d arrow.ArrayData, dt arrow.DataType, t mask.Type) (*mask.Vector, error) {
	switch e := dt.(type) {
	case *arrow.DictionaryType:
		return dictionaryVector(d, e, t)
	case *arrow.RunEndEncodedType:
		return runVector(d, e, t)
	}
	v, err := vector(d, dt, t)
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case mask.Bool:
		v.Data, v.ValidOffset = buffer(d, 1), d.Offset()
	case mask.Float32:
		v.Data, err = fixedWindow(buffer(d, 1), d.Offset(), d.Len(), 4)
	case mask.Float64:
		v.Data, err = fixedWindow(buffer(d, 1), d.Offset(), d.Len(), 8)
	}
	return v, err
}

func dictionaryVector(d arrow.ArrayData, e *arrow.DictionaryType, t mask.Type) (*mask.Vector, error) {
	dict, ok := d.Dictionary().(*array.Data)
	if !ok || dict == nil {
		return nil, fmt.Errorf("%w: dictionary column without a dictionary", ErrArray)
	}
	values, err := vector(dict, storage(e.ValueType), t)
	if err != nil {
		return nil, err
	}
	n := &dictionary{index: indexKinds[e.IndexType.ID()]}
	refs, used, err := n.refer(d, values.Len)
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(refs))
	for i, r := range refs {
		rows[i] = used[r]
	}
	return gather(values, rows)
}

func runVector(d arrow.ArrayData, e *arrow.RunEndEncodedType, t mask.Type) (*mask.Vector, error) {
	if len(d.Children()) != 2 {
		return nil, fmt.Errorf("%w: run-end encoded column with %d children", ErrArray, len(d.Children()))
	}
	n := &runEnd{ends: indexKinds[e.RunEnds().ID()]}
	first, ends, err := n.runs(d)
	if err != nil {
		return nil, err
	}
	values, err := vector(d.Children()[1], storage(e.Encoded()), t)
	if err != nil {
		return nil, err
	}
	if first+len(ends) > values.Len {
		return nil, fmt.Errorf("%w: %d runs, %d values", ErrArray, first+len(ends), values.Len)
	}
	rows := make([]int32, 0, d.Len())
	for k, end := range ends {
		for uint64(len(rows)) < end {
			rows = append(rows, int32(first+k))
		}
	}
	return gather(values, rows)
}
