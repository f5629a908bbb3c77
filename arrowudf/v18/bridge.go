package v18

import (
	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"
	arrow17 "github.com/apache/arrow/go/v17/arrow"
	array17 "github.com/apache/arrow/go/v17/arrow/array"
	memory17 "github.com/apache/arrow/go/v17/arrow/memory"
)

// ToV17 is arr in v17, over the same bytes: nothing is copied. Each buffer of
// arr stays retained until the last v17 array that uses it is released, so arr
// may be released at once. Slices keep their offset. Types as in TypeToV17.
func ToV17(arr arrow18.Array) (arrow17.Array, error) {
	dt, err := TypeToV17(arr.DataType())
	if err != nil {
		return nil, err
	}
	d := dataToV17(arr.Data(), dt)
	defer d.Release()
	return array17.MakeFromData(d), nil
}

// FromV17 is ToV17 the other way.
func FromV17(arr arrow17.Array) (arrow18.Array, error) {
	dt, err := TypeFromV17(arr.DataType())
	if err != nil {
		return nil, err
	}
	d := dataFromV17(arr.Data(), dt)
	defer d.Release()
	return array18.MakeFromData(d), nil
}

// dataToV17 crosses array data that is of type dt, or of an extension type
// over it. The type is checked; dictionary and children follow from it.
func dataToV17(d arrow18.ArrayData, dt arrow17.DataType) arrow17.ArrayData {
	bufs := make([]*memory17.Buffer, len(d.Buffers()))
	for i, b := range d.Buffers() {
		if b != nil {
			b.Retain()
			bufs[i] = memory17.NewBufferWithAllocator(b.Bytes(), keeper{b})
			defer bufs[i].Release()
		}
	}
	var children []arrow17.ArrayData
	if t, ok := dt.(*arrow17.RunEndEncodedType); ok && len(d.Children()) == 2 {
		for i, ct := range []arrow17.DataType{t.RunEnds(), t.Encoded()} {
			c := dataToV17(d.Children()[i], ct)
			defer c.Release()
			children = append(children, c)
		}
	}
	out := array17.NewData(dt, d.Len(), bufs, children, d.NullN(), d.Offset())
	if t, ok := dt.(*arrow17.DictionaryType); ok {
		if dict, ok := d.Dictionary().(*array18.Data); ok && dict != nil {
			v := dataToV17(dict, t.ValueType)
			defer v.Release()
			out.SetDictionary(v)
		}
	}
	return out
}

func dataFromV17(d arrow17.ArrayData, dt arrow18.DataType) arrow18.ArrayData {
	bufs := make([]*memory18.Buffer, len(d.Buffers()))
	for i, b := range d.Buffers() {
		if b != nil {
			b.Retain()
			bufs[i] = memory18.NewBufferWithAllocator(b.Bytes(), keeper{b})
			defer bufs[i].Release()
		}
	}
	var children []arrow18.ArrayData
	if t, ok := dt.(*arrow18.RunEndEncodedType); ok && len(d.Children()) == 2 {
		for i, ct := range []arrow18.DataType{t.RunEnds(), t.Encoded()} {
			c := dataFromV17(d.Children()[i], ct)
			defer c.Release()
			children = append(children, c)
		}
	}
	out := array18.NewData(dt, d.Len(), bufs, children, d.NullN(), d.Offset())
	if t, ok := dt.(*arrow18.DictionaryType); ok {
		if dict, ok := d.Dictionary().(*array17.Data); ok && dict != nil {
			v := dataFromV17(dict, t.ValueType)
			defer v.Release()
			out.SetDictionary(v)
		}
	}
	return out
}

// keeper is the allocator of a buffer that borrows the bytes of another
// version's buffer: freeing it releases that one. It fits both versions.
type keeper struct{ source interface{ Release() } }

// Allocate makes memory of its own.
func (k keeper) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate copies: borrowed bytes are never resized in place.
func (k keeper) Reallocate(size int, b []byte) []byte {
	out := make([]byte, size)
	copy(out, b)
	return out
}

// Free ends the loan.
func (k keeper) Free([]byte) { k.source.Release() }
