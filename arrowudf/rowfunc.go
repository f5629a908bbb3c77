package arrowudf

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/mask"
)

// rowFunc is an expression over several columns.
type rowFunc struct {
	prog    *mask.Program
	columns []rowColumn // by name in the expression
	result  arrow.DataType
	large   bool // 64-bit offsets in the result
}

// rowColumn is a column under one of its names.
type rowColumn struct {
	field  int
	name   string // of the field
	reader columnReader
	unread bool // of a type that no mask reads; the program does not look at it
}

func newRowFunc(e *mask.Expr, names []string, at []int, fields []arrow.Field, target int, o Options) (*rowFunc, error) {
	f := &rowFunc{}
	var cols []mask.Column
	anyLarge := o.Large
	for i, name := range names {
		field := fields[at[i]]
		c := rowColumn{field: at[i], name: field.Name}
		t := MaskType(field.Type)
		if c.unread = t.Kind == mask.Nested; !c.unread {
			var err error
			if c.reader, err = newColumnReader(field.Type); err != nil {
				return nil, fmt.Errorf("{%s}: %w", field.Name, err)
			}
			anyLarge = anyLarge || isLarge(c.reader.values.in)
		}
		f.columns, cols = append(f.columns, c), append(cols, mask.Column{Name: name, Type: t})
	}
	var err error
	if f.prog, err = mask.CompileColumns(e, cols, maskOptions(o)); err != nil {
		return nil, err
	}
	if target < 0 {
		target = at[0]
	}
	like := arrow.DataType(arrow.Null)
	if c, err := newColumnReader(fields[target].Type); err == nil {
		like = c.values.in
	}
	if t, ok := like.(*arrow.FixedSizeBinaryType); ok && t.ByteWidth == 0 {
		like = arrow.BinaryTypes.Binary // the rows put together have a length
	}
	if f.result, err = outType(f.prog.Out(), like, anyLarge); err != nil {
		return nil, err
	}
	f.large = isLarge(f.result) || o.Large
	return f, nil
}

func (f *rowFunc) eval(r *run, cols []arrow.ArrayData) (arrow.ArrayData, error) {
	in := make([]*mask.Vector, len(f.columns))
	rows := 0
	for i, c := range f.columns {
		rows = cols[c.field].Len()
		if c.unread {
			continue
		}
		var err error
		if in[i], err = c.reader.read(cols[c.field]); err != nil {
			return nil, fmt.Errorf("{%s}: %w", c.name, err)
		}
	}
	o := r.opts
	o.Large = f.large
	v, err := f.prog.EvalColumns(r.ctx, in, o)
	if err != nil {
		return nil, err
	}
	if v.Len != rows {
		return nil, fmt.Errorf("%w: %d rows in, %d out", mask.ErrInternal, rows, v.Len)
	}
	return wrap(v, f.result, &r.alloc)
}

// columnReader reads a column of any encoding as one value a row.
type columnReader struct {
	values plain       // only what view needs
	dict   *dictionary // of a dictionary-encoded column
	ends   *runEnd     // of a run-end encoded one
}

func newColumnReader(dt arrow.DataType) (c columnReader, err error) {
	dt = storage(dt)
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		k, ok := indexKinds[t.IndexType.ID()]
		if !ok {
			return c, fmt.Errorf("%w: dictionary with an index of %s", mask.ErrType, t.IndexType)
		}
		c.dict, dt = &dictionary{index: k}, t.ValueType
	case *arrow.RunEndEncodedType:
		k, ok := indexKinds[t.RunEnds().ID()]
		if !ok {
			return c, fmt.Errorf("%w: run ends of %s", mask.ErrType, t.RunEnds())
		}
		c.ends, dt = &runEnd{ends: k}, t.Encoded()
	}
	c.values.in = storage(dt)
	c.values.inMask, err = maskType(c.values.in)
	return c, err
}

// read views the values, or gathers those that an encoding refers to; values of
// variable width are not copied.
func (c *columnReader) read(d arrow.ArrayData) (*mask.Vector, error) {
	switch {
	case c.dict != nil:
		dict, ok := d.Dictionary().(*array.Data)
		if !ok || dict == nil {
			return nil, fmt.Errorf("%w: dictionary column without a dictionary", ErrArray)
		}
		values, err := c.values.view(dict)
		if err != nil {
			return nil, err
		}
		rows, used, err := c.dict.refer(d, values.Len)
		if err != nil {
			return nil, err
		}
		for i, place := range rows {
			rows[i] = used[place]
		}
		return gather(values, rows)
	case c.ends != nil:
		values, ends, err := c.ends.covered(d)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		in, err := c.values.view(values)
		if err != nil {
			return nil, err
		}
		if d.Len() > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %d run-end encoded rows to decode", mask.ErrTooLarge, d.Len())
		}
		rows := make([]int32, d.Len())
		begin := 0
		for k, end := range ends {
			for i := begin; i < int(end); i++ {
				rows[i] = int32(k)
			}
			begin = int(end)
		}
		return gather(in, rows)
	}
	return c.values.view(d)
}
