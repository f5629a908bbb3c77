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
	d := dataToV17(arr.Data(), dt, true)
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

// data17 is array data and its buffers in one piece of memory.
type data17 struct {
	data   array17.Data
	bufs   [3]*memory17.Buffer
	memory [3]memory17.Buffer
	keep   [3]keeper
}

// dataToV17 crosses array data that is of type dt, or of an extension type
// over it. The type is checked; dictionary and children follow from it. With
// keep the buffers of d stay retained until the result is released; without,
// the caller holds d for as long as the result is used.
func dataToV17(d arrow18.ArrayData, dt arrow17.DataType, keep bool) *array17.Data {
	out := &data17{}
	bufs, memory, keepers := out.bufs[:], out.memory[:], out.keep[:]
	if n := len(d.Buffers()); n > len(bufs) {
		bufs, memory, keepers = make([]*memory17.Buffer, n), make([]memory17.Buffer, n), make([]keeper, n)
	} else {
		bufs = bufs[:n:n]
	}
	for i, b := range d.Buffers() {
		switch {
		case b == nil:
			continue
		case keep:
			b.Retain()
			keepers[i].source = b
			memory[i] = *memory17.NewBufferWithAllocator(b.Bytes(), &keepers[i])
		default:
			memory[i].Reset(b.Bytes())
		}
		bufs[i] = &memory[i]
	}
	var children []arrow17.ArrayData
	if t, ok := dt.(*arrow17.RunEndEncodedType); ok && len(d.Children()) == 2 {
		for i, ct := range []arrow17.DataType{t.RunEnds(), t.Encoded()} {
			c := dataToV17(d.Children()[i], ct, keep)
			defer c.Release()
			children = append(children, c)
		}
	}
	out.data.Retain() // the first reference; Reset counts none
	out.data.Reset(dt, d.Len(), bufs, children, d.NullN(), d.Offset())
	for _, b := range bufs {
		if b != nil {
			b.Release() // the data has them now
		}
	}
	if t, ok := dt.(*arrow17.DictionaryType); ok {
		if dict, ok := d.Dictionary().(*array18.Data); ok && dict != nil {
			v := dataToV17(dict, t.ValueType, keep)
			defer v.Release()
			out.data.SetDictionary(v)
		}
	}
	return &out.data
}

// data18 is array data with what its buffers refer to in one piece of memory.
type data18 struct {
	data array18.Data
	bufs [3]*memory18.Buffer
	keep [3]keeper
}

// dataFromV17 is dataToV17 the other way, with the buffers of d retained.
func dataFromV17(d arrow17.ArrayData, dt arrow18.DataType) *array18.Data {
	out := &data18{}
	bufs, keepers := out.bufs[:], out.keep[:]
	if n := len(d.Buffers()); n > len(bufs) {
		bufs, keepers = make([]*memory18.Buffer, n), make([]keeper, n)
	} else {
		bufs = bufs[:n:n]
	}
	for i, b := range d.Buffers() {
		if b != nil {
			b.Retain()
			keepers[i].source = b
			bufs[i] = memory18.NewBufferWithAllocator(b.Bytes(), &keepers[i])
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
	out.data.Retain() // the first reference; Reset counts none
	out.data.Reset(dt, d.Len(), bufs, children, d.NullN(), d.Offset())
	for _, b := range bufs {
		if b != nil {
			b.Release() // the data has them now
		}
	}
	if t, ok := dt.(*arrow18.DictionaryType); ok {
		if dict, ok := d.Dictionary().(*array17.Data); ok && dict != nil {
			v := dataFromV17(dict, t.ValueType)
			defer v.Release()
			out.data.SetDictionary(v)
		}
	}
	return &out.data
}

// keeper is the allocator of a buffer that borrows the bytes of another
// version's buffer: freeing it releases that one. It fits both versions.
type keeper struct{ source interface{ Release() } }

// Allocate makes memory of its own.
func (k *keeper) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate copies: borrowed bytes are never resized in place.
func (k *keeper) Reallocate(size int, b []byte) []byte {
	out := make([]byte, size)
	copy(out, b)
	return out
}

// Free ends the loan.
func (k *keeper) Free([]byte) { k.source.Release() }
