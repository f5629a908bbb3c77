package v18

import (
	"errors"
	"fmt"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/internal/rowtake"
	"github.com/arrowmask/arrowmask/mask"
)

// layouts of the types of variable width and the nested ones. What is left out
// here has a fixed width.
var rowLayouts = map[arrow18.Type]rowtake.Layout{
	arrow18.NULL: rowtake.Null, arrow18.BOOL: rowtake.Bits,
	arrow18.STRING: rowtake.Offsets32, arrow18.BINARY: rowtake.Offsets32,
	arrow18.LARGE_STRING: rowtake.Offsets64, arrow18.LARGE_BINARY: rowtake.Offsets64,
	arrow18.STRING_VIEW: rowtake.Views, arrow18.BINARY_VIEW: rowtake.Views,
	arrow18.LIST: rowtake.List32, arrow18.MAP: rowtake.List32, arrow18.LARGE_LIST: rowtake.List64,
	arrow18.LIST_VIEW: rowtake.ListView32, arrow18.LARGE_LIST_VIEW: rowtake.ListView64,
	arrow18.FIXED_SIZE_LIST: rowtake.FixedList, arrow18.STRUCT: rowtake.Struct,
	arrow18.SPARSE_UNION: rowtake.SparseUnion, arrow18.DENSE_UNION: rowtake.DenseUnion,
	arrow18.DICTIONARY: rowtake.Dictionary, arrow18.RUN_END_ENCODED: rowtake.RunEnds,
}

// shapeOf is the physical layout of a type, how deep it may be.
func shapeOf(dt arrow18.DataType) (*rowtake.Shape, error) {
	dt = storage(dt)
	layout, ok := rowLayouts[dt.ID()]
	if !ok {
		w, ok := dt.(arrow18.FixedWidthDataType)
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
	case *arrow18.DictionaryType:
		s.Width = t.IndexType.(arrow18.FixedWidthDataType).BitWidth() / 8
	case *arrow18.RunEndEncodedType:
		s.Width = s.Children[0].Width
	case *arrow18.FixedSizeListType:
		s.Width = int(t.Len())
	case arrow18.UnionType:
		s.Codes = t.TypeCodes()
	}
	return s, nil
}

// childTypes are the types of the children of array data, the dictionary among
// them.
func childTypes(dt arrow18.DataType) []arrow18.DataType {
	switch t := dt.(type) {
	case *arrow18.DictionaryType:
		return []arrow18.DataType{t.ValueType}
	case *arrow18.RunEndEncodedType:
		return []arrow18.DataType{t.RunEnds(), t.Encoded()}
	case arrow18.ListLikeType: // maps too: their child is the struct of key and value
		return []arrow18.DataType{t.Elem()}
	case arrow18.NestedType:
		var all []arrow18.DataType
		for _, f := range t.Fields() {
			all = append(all, f.Type)
		}
		return all
	}
	return nil
}

// rowsIn views array data as what rowtake reads.
func rowsIn(d arrow18.ArrayData) *rowtake.Data {
	out := &rowtake.Data{Len: d.Len(), Offset: d.Offset()}
	for _, b := range d.Buffers() {
		if b == nil {
			out.Buffers = append(out.Buffers, nil)
			continue
		}
		out.Buffers = append(out.Buffers, b.Bytes())
	}
	for _, c := range d.Children() {
		out.Children = append(out.Children, rowsIn(c))
	}
	if dict, ok := d.Dictionary().(*array18.Data); ok && dict != nil {
		out.Children = append(out.Children, rowsIn(dict))
	}
	return out
}

// rowsOut makes array data of type dt out of rows; its buffers were allocated
// in mem. The caller releases the data.
func rowsOut(r *rowtake.Data, dt arrow18.DataType, mem memory18.Allocator) arrow18.ArrayData {
	bufs := make([]*memory18.Buffer, len(r.Buffers))
	for i, b := range r.Buffers {
		switch {
		case b != nil:
			bufs[i] = memory18.NewBufferWithAllocator(b, mem)
		case i > 0:
			bufs[i] = memory18.NewBufferBytes(nil)
		default:
			continue
		}
		defer bufs[i].Release()
	}
	types := childTypes(storage(dt))
	children := make([]arrow18.ArrayData, 0, len(r.Children))
	for i, c := range r.Children {
		children = append(children, rowsOut(c, types[i], mem))
		defer children[i].Release()
	}
	if storage(dt).ID() == arrow18.DICTIONARY {
		return array18.NewDataWithDictionary(dt, r.Len, bufs, r.Nulls, 0, children[0].(*array18.Data))
	}
	return array18.NewData(dt, r.Len, bufs, children, r.Nulls, 0)
}

// rowsError says in this package's sentinels what rowtake says.
func rowsError(err error) error {
	if errors.Is(err, rowtake.ErrTooLarge) {
		return fmt.Errorf("%w: %v", mask.ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %v", arrowudf.ErrArray, err)
}

// takeRows is a new array of the rows of runs.
func takeRows(arr arrow18.Array, s *rowtake.Shape, runs []rowtake.Run, mem memory18.Allocator) (arrow18.Array, error) {
	r, err := rowtake.Take(s, rowsIn(arr.Data()), runs, mem)
	if err != nil {
		return nil, rowsError(err)
	}
	d := rowsOut(r, arr.DataType(), mem)
	defer d.Release()
	return array18.MakeFromData(d), nil
}

// nullRows is a new array of n NULLs.
func nullRows(dt arrow18.DataType, s *rowtake.Shape, n int, mem memory18.Allocator) (arrow18.Array, error) {
	r, err := rowtake.Nulls(s, n, mem)
	if err != nil {
		return nil, rowsError(err)
	}
	d := rowsOut(r, dt, mem)
	defer d.Release()
	return array18.MakeFromData(d), nil
}
