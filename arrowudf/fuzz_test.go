package arrowudf

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// Buffers from outside may hold anything: the answer is a column of as many
// rows or an error, never a panic, a read outside the buffers or a leak.
func FuzzArrayData(f *testing.F) {
	str := arrow.BinaryTypes.String
	types := []arrow.DataType{
		str, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.StringView, &arrow.FixedSizeBinaryType{ByteWidth: 3},
		arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Boolean,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, str),
	}
	f.Add(uint8(0), 2, 0, []byte{3}, bytesOf([]int32{0, 1, 2}), []byte("ab"))
	f.Add(uint8(0), 1, 1, []byte{1}, bytesOf([]int32{0, 5, 2}), []byte("ab"))
	f.Add(uint8(1), 1, 0, []byte{}, bytesOf([]int64{0, 2}), []byte("ab"))
	f.Add(uint8(2), 1, 0, []byte{1}, []byte("\x0d\x00\x00\x00abcd\x00\x00\x00\x00\x01\x00\x00\x00"), []byte("-a value of 13"))
	f.Add(uint8(7), 3, 0, []byte{7}, []byte{0, 1, 255}, []byte("ab"))
	f.Add(uint8(8), 3, 1, []byte{7}, bytesOf([]int16{2, 4}), []byte("ab"))
	values := build(heap, str, []any{"Amy", nil, "Bob"})
	f.Fuzz(func(t *testing.T, kind uint8, n, off int, valid, first, second []byte) {
		dt := types[int(kind)%len(types)]
		bufs := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(first), memory.NewBufferBytes(second)}
		var children []arrow.ArrayData
		if dt.ID() == arrow.RUN_END_ENCODED {
			ends := array.NewData(arrow.PrimitiveTypes.Int16, len(first)/2, []*memory.Buffer{nil, bufs[1]}, nil, 0, 0)
			children = []arrow.ArrayData{ends, values.Data()}
		}
		d := array.NewData(dt, n, bufs, children, -1, off)
		if dt.ID() == arrow.DICTIONARY {
			d.SetDictionary(values.Data())
		}
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		defer mem.AssertSize(t, 0)
		fn := must(Compile("mask({col})", dt, Options{Mem: mem}))
		out, err := fn.CallData(ctx, d)
		if err != nil {
			if errors.Is(err, mask.ErrInternal) {
				t.Fatal(err)
			}
			return
		}
		defer out.Release()
		if out.Len() != n {
			t.Fatalf("%d rows became %d", n, out.Len())
		}
		arr := array.MakeFromData(out)
		logical(arr)
		arr.Release()
	})
}
