package arrowudf

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/internal/rowtake"
	"github.com/arrowmask/arrowmask/mask"
)

// layouts of the types of variable width and the nested ones. What is left out
// here has a fixed width.
var rowLayouts = map[arrow.Type]rowtake.Layout{
	arrow.NULL: rowtake.Null, arrow.BOOL: rowtake.Bits,
	arrow.STRING: rowtake.Offsets32, arrow.BINARY: rowtake.Offsets32,
	arrow.LARGE_STRING: rowtake.Offsets64, arrow.LARGE_BINARY: rowtake.Offsets64,
	arrow.STRING_VIEW: rowtake.Views, arrow.BINARY_VIEW: rowtake.Views,
	arrow.LIST: rowtake.List32, arrow.MAP: rowtake.List32, arrow.LARGE_LIST: rowtake.List64,
	arrow.LIST_VIEW: rowtake.ListView32, arrow.LARGE_LIST_VIEW: rowtake.ListView64,
	arrow.FIXED_SIZE_LIST: rowtake.FixedList, arrow.STRUCT: rowtake.Struct,
	arrow.SPARSE_UNION: rowtake.SparseUnion, arrow.DENSE_UNION: rowtake.DenseUnion,
	arrow.DICTIONARY: rowtake.Dictionary, arrow.RUN_END_ENCODED: rowtake.RunEnds,
}

// shapeOf is the physical layout of a type, how deep it may be.
func shapeOf(dt arrow.DataType) (*rowtake.Shape, error) {
	dt = storage(dt)
	layout, ok := rowLayouts[dt.ID()]
	if !ok {
		w, ok := dt.(arrow.FixedWidthDataType)
		if !ok || w.BitWidth()%8 != 0 {
			return nil, fmt.Errorf("%w: rows of %s cannot be chosen", mask.ErrType, dt)
		}
		return &rowtake.Shape{Layout: rowtake.Fixed, Width: w.BitWidth() / 8}, nil
	}
	s := &rowtake.Shape{Layout: layout}
	for _, in := range childTypes(dt) {
		c, err := shapeOf(in)
		if err != nil {
			return nil, err
		}
		s.Children = append(s.Children, c)
	}
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		s.Width = t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	case *arrow.RunEndEncodedType:
		s.Width = s.Children[0].Width
	case *arrow.FixedSizeListType:
		s.Width = int(t.Len())
	case arrow.UnionType:
		s.Codes = t.TypeCodes()
	}
	return s, nil
}

// childTypes are the types of the children of array data, the dictionary among
// them.
func childTypes(dt arrow.DataType) []arrow.DataType {
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		return []arrow.DataType{t.ValueType}
	case *arrow.RunEndEncodedType:
		return []arrow.DataType{t.RunEnds(), t.Encoded()}
	case arrow.ListLikeType: // maps too: their child is the struct of key and value
		return []arrow.DataType{t.Elem()}
	case arrow.NestedType:
		var all []arrow.DataType
		for _, f := range t.Fields() {
			all = append(all, f.Type)
		}
		return all
	}
	return nil
}

// rowsIn views array data as what rowtake reads.
func rowsIn(d arrow.ArrayData) *rowtake.Data {
	out := &rowtake.Data{Len: d.Len(), Offset: d.Offset()}
	for i := range d.Buffers() {
		out.Buffers = append(out.Buffers, buffer(d, i))
	}
	for _, c := range d.Children() {
		out.Children = append(out.Children, rowsIn(c))
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		out.Children = append(out.Children, rowsIn(dict))
	}
	return out
}

// rowsOut makes array data of type dt out of rows; its buffers were allocated
// in mem. The caller releases the data.
func rowsOut(r *rowtake.Data, dt arrow.DataType, mem memory.Allocator) arrow.ArrayData {
	bufs := make([]*memory.Buffer, len(r.Buffers))
	for i, b := range r.Buffers {
		switch {
		case b != nil:
			bufs[i] = memory.NewBufferWithAllocator(b, mem)
		case i > 0:
			bufs[i] = memory.NewBufferBytes(nil)
		default:
			continue
		}
		defer bufs[i].Release()
	}
	types := childTypes(storage(dt))
	children := make([]arrow.ArrayData, 0, len(r.Children))
	for i, c := range r.Children {
		children = append(children, rowsOut(c, types[i], mem))
		defer children[i].Release()
	}
	if storage(dt).ID() == arrow.DICTIONARY {
		return array.NewDataWithDictionary(dt, r.Len, bufs, r.Nulls, 0, children[0].(*array.Data))
	}
	return array.NewData(dt, r.Len, bufs, children, r.Nulls, 0)
}

// rowsError says in this package's sentinels what rowtake says.
func rowsError(err error) error {
	if errors.Is(err, rowtake.ErrTooLarge) {
		return fmt.Errorf("%w: %v", mask.ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %v", ErrArray, err)
}

// takeRows is a new array of the rows of runs.
func takeRows(arr arrow.Array, s *rowtake.Shape, runs []rowtake.Run, mem memory.Allocator) (arrow.Array, error) {
	r, err := rowtake.Take(s, rowsIn(arr.Data()), runs, mem)
	if err != nil {
		return nil, rowsError(err)
	}
	d := rowsOut(r, arr.DataType(), mem)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// nullRows is a new array of n NULLs.
func nullRows(dt arrow.DataType, s *rowtake.Shape, n int, mem memory.Allocator) (arrow.Array, error) {
	r, err := rowtake.Nulls(s, n, mem)
	if err != nil {
		return nil, rowsError(err)
	}
	d := rowsOut(r, dt, mem)
	defer d.Release()
	return array.MakeFromData(d), nil
}
