package arrowudf

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/arrowmask/arrowmask/mask"
)

// CallScalar evaluates one value of type InType. The result is on Go's heap.
func (f *Func) CallScalar(ctx context.Context, s scalar.Scalar) (out scalar.Scalar, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, recovered(f.expr, p)
		}
	}()
	// Scalars may alias the array that they were taken from, so nothing here may
	// come from an allocator that takes memory back.
	mem := memory.NewGoAllocator()
	in, err := scalarData(s, f.in, mem)
	if err != nil {
		return nil, err
	}
	defer in.Release()
	d, err := f.call(ctx, in, mem)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	arr := array.MakeFromData(d)
	defer arr.Release()
	return scalar.GetScalar(arr, 0)
}

// scalarData is array data of one row of type dt.
func scalarData(s scalar.Scalar, dt arrow.DataType, mem memory.Allocator) (arrow.ArrayData, error) {
	if !arrow.TypeEqual(s.DataType(), dt) {
		return nil, fmt.Errorf("%w: scalar of %s for a function of %s", ErrArray, s.DataType(), dt)
	}
	switch t := dt.(type) {
	case arrow.ExtensionType:
		inner := scalar.MakeNullScalar(t.StorageType())
		if ext, ok := s.(*scalar.Extension); ok && s.IsValid() {
			inner = ext.Value
		}
		d, err := scalarData(inner, t.StorageType(), mem)
		if err != nil {
			return nil, err
		}
		defer d.Release()
		out := array.NewData(dt, 1, d.Buffers(), d.Children(), d.NullN(), d.Offset())
		out.SetDictionary(d.Dictionary())
		return out, nil
	case *arrow.DictionaryType:
		return dictionaryScalar(s, t, mem)
	case *arrow.RunEndEncodedType:
		inner := scalar.MakeNullScalar(t.Encoded())
		if ree, ok := s.(*scalar.RunEndEncoded); ok && s.IsValid() {
			inner = ree.Value
		}
		values, err := scalarData(inner, t.Encoded(), mem)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		end := make([]byte, indexKinds[t.RunEnds().ID()].width)
		indexKinds[t.RunEnds().ID()].fill(end, func(int) uint64 { return 1 })
		ends := data(t.RunEnds(), 1, 0, []*memory.Buffer{nil, memory.NewBufferBytes(end)})
		defer ends.Release()
		return array.NewData(t, 1, []*memory.Buffer{nil}, []arrow.ArrayData{ends, values}, 0, 0), nil
	}
	if !s.IsValid() {
		return nullRow(dt)
	}
	if b, ok := s.(scalar.BinaryScalar); ok && dt.ID() != arrow.FIXED_SIZE_BINARY {
		return textRow(b.Data(), dt), nil
	}
	arr, err := scalar.MakeArrayFromScalar(s, 1, mem)
	if err != nil {
		return nil, fmt.Errorf("%w: scalar of %s", mask.ErrType, dt)
	}
	defer arr.Release()
	d := arr.Data()
	d.Retain()
	return d, nil
}

func dictionaryScalar(s scalar.Scalar, t *arrow.DictionaryType, mem memory.Allocator) (arrow.ArrayData, error) {
	ds, ok := s.(*scalar.Dictionary)
	if !ok || !s.IsValid() || ds.Value.Dict == nil {
		values, err := nullRow(storage(t.ValueType))
		if err != nil {
			return nil, err
		}
		defer values.Release()
		index, err := nullRow(t.IndexType)
		if err != nil {
			return nil, err
		}
		defer index.Release()
		return array.NewDataWithDictionary(t, 1, index.Buffers(), 1, 0, values.(*array.Data)), nil
	}
	index, err := scalar.MakeArrayFromScalar(ds.Value.Index, 1, mem)
	if err != nil {
		return nil, fmt.Errorf("%w: dictionary index of %s", mask.ErrType, t.IndexType)
	}
	defer index.Release()
	d := index.Data()
	return array.NewDataWithDictionary(t, 1, d.Buffers(), d.NullN(), 0, ds.Value.Dict.Data().(*array.Data)), nil
}

// textRow is one value of text or binary. (arrow's MakeArrayFromScalar writes
// 32-bit offsets for the large types too.)
func textRow(value []byte, dt arrow.DataType) arrow.ArrayData {
	offsets := bytesOf([]int32{0, int32(len(value))})
	if isLarge(dt) {
		offsets = bytesOf([]int64{0, int64(len(value))})
	}
	return data(dt, 1, 0, []*memory.Buffer{nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(value)})
}

// nullRow is one NULL of a plain type.
func nullRow(dt arrow.DataType) (arrow.ArrayData, error) {
	if _, err := maskType(dt); err != nil {
		return nil, err
	}
	valid := memory.NewBufferBytes([]byte{0})
	switch dt.ID() {
	case arrow.NULL:
		return data(dt, 1, 1, nil), nil
	case arrow.STRING, arrow.BINARY:
		return data(dt, 1, 1, []*memory.Buffer{valid, memory.NewBufferBytes(make([]byte, 8)), nil}), nil
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return data(dt, 1, 1, []*memory.Buffer{valid, memory.NewBufferBytes(make([]byte, 16)), nil}), nil
	}
	return data(dt, 1, 1, []*memory.Buffer{valid, memory.NewBufferBytes(make([]byte, storageBytes(dt, 1)))}), nil
}

// CallDatum evaluates an array, a chunked array or a scalar of type InType; the
// result is of the same sort. A record batch, a table or no datum at all is an
// error that wraps mask.ErrArgument.
func (f *Func) CallDatum(ctx context.Context, in compute.Datum) (compute.Datum, error) {
	switch d := in.(type) {
	case *compute.ArrayDatum:
		out, err := f.call(ctx, d.Value, f.opts.Mem)
		if err != nil {
			return nil, err
		}
		return &compute.ArrayDatum{Value: out}, nil
	case *compute.ChunkedDatum:
		out, err := f.CallChunked(ctx, d.Value)
		if err != nil {
			return nil, err
		}
		return &compute.ChunkedDatum{Value: out}, nil
	case *compute.ScalarDatum:
		out, err := f.CallScalar(ctx, d.Value)
		if err != nil {
			return nil, err
		}
		return &compute.ScalarDatum{Value: out}, nil
	}
	return nil, fmt.Errorf("%w: a column is needed, not %s", mask.ErrArgument, datumKind(in))
}

func datumKind(d compute.Datum) string {
	if d == nil {
		return "nothing"
	}
	return "a " + d.Kind().String()
}
