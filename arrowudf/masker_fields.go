package arrowudf

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/internal/rowtake"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// fieldMask is a field within a nested column that has a mask: a function, or
// none, which is NULL in every place.
type fieldMask struct {
	name  string
	path  []int // children, from the column down
	fn    *Func
	shape *rowtake.Shape // of a nested field
	why   *policy.Reason
}

// bindField compiles the mask of a field within a column and adapts the
// column's type. Masks of one column follow each other.
func (m *Masker) bindField(c *policy.ColumnMask, column *arrow.Field) error {
	f := fieldMask{name: c.Name, path: c.Path, why: c.Why}
	dt, err := retype(storage(column.Type), c.Path, func(field *arrow.Field) (err error) {
		if MaskType(field.Type).Kind == mask.Nested {
			if f.shape, err = shapeOf(field.Type); err != nil {
				return err
			}
		}
		f.fn, err = m.compile(c.Mask, field)
		return err
	})
	if err != nil {
		return err
	}
	column.Type = dt
	if n := len(m.masked); n > 0 && m.masked[n-1].index == c.Index {
		m.masked[n-1].fields = append(m.masked[n-1].fields, f)
		return nil
	}
	m.masked = append(m.masked, maskedColumn{index: c.Index, why: c.Why, fields: []fieldMask{f}})
	return nil
}

// retype is a type with the field at the end of a path changed.
func retype(dt arrow.DataType, path []int, change func(*arrow.Field) error) (arrow.DataType, error) {
	at := path[0]
	inner := func(f arrow.Field) (arrow.Field, error) {
		f.Metadata = safeMetadata(f.Metadata)
		if len(path) == 1 {
			return f, change(&f)
		}
		t, err := retype(storage(f.Type), path[1:], change)
		f.Type = t
		return f, err
	}
	if t, ok := dt.(*arrow.StructType); ok && at < t.NumFields() {
		fields := append([]arrow.Field{}, t.Fields()...)
		f, err := inner(fields[at])
		fields[at] = f
		return arrow.StructOf(fields...), err
	}
	list, ok := dt.(arrow.ListLikeType)
	if !ok || dt.ID() == arrow.MAP || at != 0 {
		return dt, fmt.Errorf("%w: %w: a field within %s cannot be masked by itself; mask the whole column by NULL", policy.ErrClosed, mask.ErrType, dt)
	}
	f, err := inner(list.ElemField())
	switch t := list.(type) {
	case *arrow.ListType:
		return arrow.ListOfField(f), err
	case *arrow.LargeListType:
		return arrow.LargeListOfField(f), err
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), f), err
	case *arrow.ListViewType:
		return arrow.ListViewOfField(f), err
	case *arrow.LargeListViewType:
		return arrow.LargeListViewOfField(f), err
	}
	return dt, fmt.Errorf("%w: %w: a field within %s", policy.ErrClosed, mask.ErrType, dt)
}

// maskFields is the rows of runs of a column with its fields masked. The whole
// column is copied, so that its children hold these rows and no others.
func (m *Masker) maskFields(ctx context.Context, col arrow.Array, c *maskedColumn, runs []rowtake.Run) (arrow.Array, error) {
	r, err := rowtake.Take(m.shapes[c.index], rowsIn(col.Data()), runs, m.opts.Mem)
	if err != nil {
		return nil, rowsError(err)
	}
	d := rowsOut(r, storage(col.DataType()), m.opts.Mem)
	for i := range c.fields {
		f := &c.fields[i]
		next, err := replaceChild(d, m.out.Field(c.index).Type, f.path, func(child arrow.ArrayData) (arrow.ArrayData, error) {
			return m.maskField(ctx, f, child)
		})
		d.Release()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		d = next
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

func (m *Masker) maskField(ctx context.Context, f *fieldMask, child arrow.ArrayData) (arrow.ArrayData, error) {
	if f.fn != nil {
		return f.fn.CallData(ctx, child)
	}
	r, err := rowtake.Nulls(f.shape, child.Len(), m.opts.Mem)
	if err != nil {
		return nil, rowsError(err)
	}
	return rowsOut(r, child.DataType(), m.opts.Mem), nil
}

// replaceChild is array data of type dt in which the child at the end of a path
// is another one. The caller releases it.
func replaceChild(d arrow.ArrayData, dt arrow.DataType, path []int, replace func(arrow.ArrayData) (arrow.ArrayData, error)) (arrow.ArrayData, error) {
	if len(path) == 0 {
		return replace(d)
	}
	children := append([]arrow.ArrayData{}, d.Children()...)
	c, err := replaceChild(children[path[0]], childTypes(dt)[path[0]], path[1:], replace)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	children[path[0]] = c
	return array.NewData(dt, d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil
}
