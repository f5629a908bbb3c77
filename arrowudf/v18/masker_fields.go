package v18

import (
	"context"
	"fmt"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"

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
func (m *Masker) bindField(c *policy.ColumnMask, column *arrow18.Field) error {
	f := fieldMask{name: c.Name, path: c.Path, why: c.Why}
	dt, err := retype(storage(column.Type), c.Path, func(field *arrow18.Field) (err error) {
		if maskType(field.Type).Kind == mask.Nested {
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
func retype(dt arrow18.DataType, path []int, change func(*arrow18.Field) error) (arrow18.DataType, error) {
	at := path[0]
	inner := func(f arrow18.Field) (arrow18.Field, error) {
		f.Metadata = safeMetadata(f.Metadata)
		if len(path) == 1 {
			return f, change(&f)
		}
		t, err := retype(storage(f.Type), path[1:], change)
		f.Type = t
		return f, err
	}
	if t, ok := dt.(*arrow18.StructType); ok && at < t.NumFields() {
		fields := append([]arrow18.Field{}, t.Fields()...)
		f, err := inner(fields[at])
		fields[at] = f
		return arrow18.StructOf(fields...), err
	}
	list, ok := dt.(arrow18.ListLikeType)
	if !ok || dt.ID() == arrow18.MAP || at != 0 {
		return dt, fmt.Errorf("%w: %w: a field within %s cannot be masked by itself; mask the whole column by NULL", policy.ErrClosed, mask.ErrType, dt)
	}
	f, err := inner(list.ElemField())
	switch t := list.(type) {
	case *arrow18.ListType:
		return arrow18.ListOfField(f), err
	case *arrow18.LargeListType:
		return arrow18.LargeListOfField(f), err
	case *arrow18.FixedSizeListType:
		return arrow18.FixedSizeListOfField(t.Len(), f), err
	case *arrow18.ListViewType:
		return arrow18.ListViewOfField(f), err
	case *arrow18.LargeListViewType:
		return arrow18.LargeListViewOfField(f), err
	}
	return dt, fmt.Errorf("%w: %w: a field within %s", policy.ErrClosed, mask.ErrType, dt)
}

// maskFields is the rows of runs of a column with its fields masked. The whole
// column is copied, so that its children hold these rows and no others.
func (m *Masker) maskFields(ctx context.Context, col arrow18.Array, c *maskedColumn, runs []rowtake.Run) (arrow18.Array, error) {
	r, err := rowtake.Take(m.shapes[c.index], rowsIn(col.Data()), runs, m.opts.Mem)
	if err != nil {
		return nil, rowsError(err)
	}
	d := rowsOut(r, storage(col.DataType()), m.opts.Mem)
	for i := range c.fields {
		f := &c.fields[i]
		next, err := replaceChild(d, m.out.Field(c.index).Type, f.path, func(child arrow18.ArrayData) (arrow18.ArrayData, error) {
			return m.maskField(ctx, f, child)
		})
		d.Release()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		d = next
	}
	defer d.Release()
	return array18.MakeFromData(d), nil
}

func (m *Masker) maskField(ctx context.Context, f *fieldMask, child arrow18.ArrayData) (arrow18.ArrayData, error) {
	if f.fn != nil {
		arr := array18.MakeFromData(child)
		defer arr.Release()
		out, err := f.fn.Call(ctx, arr)
		if err != nil {
			return nil, err
		}
		defer out.Release()
		out.Data().Retain()
		return out.Data(), nil
	}
	r, err := rowtake.Nulls(f.shape, child.Len(), m.opts.Mem)
	if err != nil {
		return nil, rowsError(err)
	}
	return rowsOut(r, child.DataType(), m.opts.Mem), nil
}

// replaceChild is array data of type dt in which the child at the end of a path
// is another one. The caller releases it.
func replaceChild(d arrow18.ArrayData, dt arrow18.DataType, path []int, replace func(arrow18.ArrayData) (arrow18.ArrayData, error)) (arrow18.ArrayData, error) {
	if len(path) == 0 {
		return replace(d)
	}
	children := append([]arrow18.ArrayData{}, d.Children()...)
	c, err := replaceChild(children[path[0]], childTypes(dt)[path[0]], path[1:], replace)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	children[path[0]] = c
	return array18.NewData(dt, d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil
}
