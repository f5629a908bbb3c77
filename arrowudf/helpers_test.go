package arrowudf

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

var ctx = context.Background()

// heap builds inputs; results come from checked allocators.
var heap = memory.NewGoAllocator()

// checked is an allocator that fails the test when anything is left at its end.
func checked(t testing.TB) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// released hands the array over to the end of the test.
func released[T interface{ Release() }](t testing.TB, x T) T {
	t.Cleanup(x.Release)
	return x
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// run compiles and calls expr with results in a checked allocator, and checks
// that the declared type is the produced one.
func eval(t testing.TB, expr string, arr arrow.Array, o Options) arrow.Array {
	t.Helper()
	if o.Mem == nil {
		o.Mem = checked(t)
	}
	f, err := Compile(expr, arr.DataType(), o)
	if err != nil {
		t.Fatalf("compile %s of %s: %v", expr, arr.DataType(), err)
	}
	out, err := f.Call(ctx, arr)
	if err != nil {
		t.Fatalf("%s of %s: %v", expr, arr.DataType(), err)
	}
	t.Cleanup(out.Release)
	if !arrow.TypeEqual(out.DataType(), f.OutType()) {
		t.Fatalf("%s of %s: declared %s, produced %s", expr, arr.DataType(), f.OutType(), out.DataType())
	}
	if out.Len() != arr.Len() {
		t.Fatalf("%s of %s: %d rows in, %d out", expr, arr.DataType(), arr.Len(), out.Len())
	}
	return out
}

// logical is what an array says, whatever its encoding: strings for text and
// bytes, int64 for numbers, nil for NULL. It reads through arrow's own
// accessors.
func logical(arr arrow.Array) []any {
	out := make([]any, arr.Len())
	for i := range out {
		out[i] = cell(arr, i)
	}
	return out
}

func cell(arr arrow.Array, i int) any {
	if arr.IsNull(i) {
		return nil
	}
	switch a := arr.(type) {
	case *array.Null:
		return nil
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.StringView:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.LargeBinary:
		return string(a.Value(i))
	case *array.BinaryView:
		return string(a.Value(i))
	case *array.FixedSizeBinary:
		return string(a.Value(i))
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Uint16:
		return int64(a.Value(i))
	case *array.Uint32:
		return int64(a.Value(i))
	case *array.Uint64:
		return int64(a.Value(i))
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Date64:
		return int64(a.Value(i))
	case *array.Dictionary:
		return cell(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return cell(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return cell(a.Storage(), i)
	}
	return arr.ValueStr(i)
}

func sameCells(t testing.TB, what string, got, want []any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s: row %d is %q, want %q", what, i, got[i], want[i])
		}
	}
}

// build makes a plain array of dt from strings (nil is NULL), or from numbers.
func build(mem memory.Allocator, dt arrow.DataType, cells []any) arrow.Array {
	b := array.NewBuilder(mem, dt)
	defer b.Release()
	for _, c := range cells {
		if c == nil {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.StringBuilder:
			b.Append(c.(string))
		case *array.LargeStringBuilder:
			b.Append(c.(string))
		case *array.StringViewBuilder:
			b.Append(c.(string))
		case *array.BinaryBuilder:
			b.Append([]byte(c.(string)))
		case *array.BinaryViewBuilder:
			b.Append([]byte(c.(string)))
		case *array.FixedSizeBinaryBuilder:
			b.Append([]byte(c.(string)))
		default:
			if err := b.AppendValueFromString(fmt.Sprint(c)); err != nil {
				panic(err)
			}
		}
	}
	return b.NewArray()
}

// dictOf encodes cells by hand: the dictionary has every distinct value, each
// preceded by a value that no row refers to, in reverse order, and a NULL that
// rows with an odd number refer to (the others are NULL in the index).
func dictOf(index, values arrow.DataType, cells []any, unused func(i int) any) *array.Dictionary {
	var dict []any
	place := map[any]int{}
	for i := len(cells) - 1; i >= 0; i-- {
		if c := cells[i]; c != nil {
			if _, ok := place[c]; !ok {
				if unused != nil {
					dict = append(dict, unused(len(dict)))
				}
				place[c] = len(dict)
				dict = append(dict, c)
			}
		}
	}
	nullAt := len(dict)
	dict = append(dict, nil)
	refs := make([]any, len(cells))
	for i, c := range cells {
		switch {
		case c != nil:
			refs[i] = place[c]
		case i%2 == 1:
			refs[i] = nullAt
		}
	}
	ix, dv := build(heap, index, refs), build(heap, values, dict)
	defer ix.Release()
	defer dv.Release()
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: index, ValueType: values, Ordered: true}, ix, dv)
}

// runsOf run-end encodes cells; equal neighbours share a run.
func runsOf(ends, values arrow.DataType, cells []any) *array.RunEndEncoded {
	var vs, es []any
	for i, c := range cells {
		if i > 0 && c == cells[i-1] {
			es[len(es)-1] = i + 1
			continue
		}
		vs, es = append(vs, c), append(es, i+1)
	}
	e, v := build(heap, ends, es), build(heap, values, vs)
	defer e.Release()
	defer v.Release()
	return array.NewRunEndEncodedArray(e, v, len(cells), 0)
}

// viewsOfMany makes a view array with one data buffer for each long value.
func viewsOfMany(dt arrow.DataType, cells []any) arrow.Array {
	views := make([]byte, 0, 16*len(cells))
	valid := make([]byte, (len(cells)+7)/8)
	bufs := []*memory.Buffer{memory.NewBufferBytes(valid), nil}
	nulls := 0
	for i, c := range cells {
		if c == nil { // whatever lies under NULL must not be followed
			views = append(views, "\xff\xff\xff\x7fgarbage-here"...)
			nulls++
			continue
		}
		setBit(valid, i, true)
		v := makeView([]byte(c.(string)), len(bufs)-2, 3)
		views = append(views, v[:]...)
		if len(c.(string)) > 12 {
			bufs = append(bufs, memory.NewBufferBytes([]byte("***"+c.(string)+"***")))
		}
	}
	bufs[1] = memory.NewBufferBytes(views)
	d := array.NewData(dt, len(cells), bufs, nil, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// tagType is an extension type over any storage.
type tagType struct{ arrow.ExtensionBase }

type tagArray struct{ array.ExtensionArrayBase }

func newTag(storage arrow.DataType) *tagType {
	return &tagType{arrow.ExtensionBase{Storage: storage}}
}

func (*tagType) ArrayType() reflect.Type { return reflect.TypeOf(tagArray{}) }
func (*tagType) ExtensionName() string   { return "arrowmask.test.tag" }
func (t *tagType) String() string        { return "tag<" + t.Storage.String() + ">" }
func (*tagType) Serialize() string       { return "" }
func (t *tagType) ExtensionEquals(o arrow.ExtensionType) bool {
	return o.ExtensionName() == t.ExtensionName() && arrow.TypeEqual(o.StorageType(), t.Storage)
}

func (t *tagType) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	return newTag(storage), nil
}

// buffersOf are all buffers of array data, at their full capacity.
func buffersOf(d arrow.ArrayData) [][]byte {
	var out [][]byte
	for _, b := range d.Buffers() {
		if b != nil {
			buf := b.Buf()
			out = append(out, buf[:cap(buf)])
			if p := b.Parent(); p != nil {
				buf = p.Buf()
				out = append(out, buf[:cap(buf)])
			}
		}
	}
	for _, c := range d.Children() {
		out = append(out, buffersOf(c)...)
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		out = append(out, buffersOf(dict)...)
	}
	return out
}
