package cdata

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// heap stands in for malloc: blocks of Go memory that it keeps alive, that begin
// dirty, and that are poisoned when they are freed.
type heap struct {
	t      *testing.T
	blocks map[unsafe.Pointer][]uint64
	taken  int
	fail   int // the allocation that fails, from 1
}

func (h *heap) exporter() *Exporter {
	return &Exporter{
		Alloc: func(n int) unsafe.Pointer {
			if h.taken++; h.taken == h.fail {
				return nil
			}
			b := make([]uint64, n/8+1)
			for i := range b {
				b[i] = 0xAAAAAAAAAAAAAAAA
			}
			p := unsafe.Pointer(unsafe.SliceData(b))
			h.blocks[p] = b
			return p
		},
		Free: func(p unsafe.Pointer) {
			b, ok := h.blocks[p]
			if !ok {
				h.t.Fatal("freed what was not allocated, or twice")
			}
			for i := range b {
				b[i] = 0xDDDDDDDDDDDDDDDD
			}
			delete(h.blocks, p)
		},
		ReleaseSchema: 1, ReleaseArray: 2,
	}
}

func newHeap(t *testing.T) *heap {
	return &heap{t: t, blocks: map[unsafe.Pointer][]uint64{}}
}

// samples are columns of every type that crosses, as JSON.
func samples(t *testing.T) []arrow.Array {
	t.Helper()
	text := `["a", null, "", "a value longer than twelve bytes", "é"]`
	raw := `["YQ==", null, "", "YSB2YWx1ZSBsb25nZXIgdGhhbiB0d2VsdmUgYnl0ZXM="]`
	ints := `[1, null, 3, 0, 127]`
	field := arrow.Field{Name: "item", Type: arrow.BinaryTypes.String, Nullable: true}
	var out []arrow.Array
	for _, c := range []struct {
		dt   arrow.DataType
		json string
	}{
		{arrow.Null, `[null, null]`},
		{arrow.FixedWidthTypes.Boolean, `[true, null, false]`},
		{arrow.PrimitiveTypes.Int8, ints}, {arrow.PrimitiveTypes.Uint8, ints},
		{arrow.PrimitiveTypes.Int16, ints}, {arrow.PrimitiveTypes.Uint16, ints},
		{arrow.PrimitiveTypes.Int32, ints}, {arrow.PrimitiveTypes.Uint32, ints},
		{arrow.PrimitiveTypes.Int64, ints}, {arrow.PrimitiveTypes.Uint64, ints},
		{arrow.FixedWidthTypes.Float16, ints}, {arrow.PrimitiveTypes.Float32, ints}, {arrow.PrimitiveTypes.Float64, ints},
		{arrow.BinaryTypes.String, text}, {arrow.BinaryTypes.LargeString, text}, {arrow.BinaryTypes.StringView, text},
		{arrow.BinaryTypes.Binary, raw}, {arrow.BinaryTypes.LargeBinary, raw}, {arrow.BinaryTypes.BinaryView, raw},
		{&arrow.FixedSizeBinaryType{ByteWidth: 1}, `["YQ==", null]`},
		{arrow.FixedWidthTypes.Date32, ints}, {arrow.FixedWidthTypes.Date64, `[0, null]`},
		{arrow.FixedWidthTypes.Time32s, ints}, {arrow.FixedWidthTypes.Time64ns, ints},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Oslo"}, `[0, null]`},
		{arrow.FixedWidthTypes.Timestamp_s, `[0, null]`},
		{arrow.FixedWidthTypes.Duration_ms, ints},
		{arrow.FixedWidthTypes.MonthInterval, `[{"months": 1}, null]`},
		{arrow.FixedWidthTypes.DayTimeInterval, `[{"days": 1, "milliseconds": 2}, null]`},
		{arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 1, "days": 2, "nanoseconds": 3}, null]`},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["1.25", null]`},
		{&arrow.Decimal256Type{Precision: 50, Scale: 2}, `["1.25", null]`},
		{arrow.ListOfField(field), `[["a", null], null, [], ["b"]]`},
		{arrow.LargeListOfField(field), `[["a", null], null, [], ["b"]]`},
		{arrow.FixedSizeListOfField(2, field), `[["a", null], null, ["b", "c"]]`},
		{arrow.StructOf(field, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32}), `[{"item": "a", "n": 1}, null, {"item": null, "n": 3}]`},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "a", "value": 1}], null, []]`},
		{arrow.DenseUnionOf([]arrow.Field{field, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, []arrow.UnionTypeCode{4, 7}), `[[4, "a"], [7, 1], [4, null]]`},
		{arrow.SparseUnionOf([]arrow.Field{field, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, []arrow.UnionTypeCode{4, 7}), `[[4, "a"], [7, 1], [4, null]]`},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String, Ordered: true}, text},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}, text},
	} {
		arr, _, err := array.FromJSON(memory.DefaultAllocator, c.dt, strings.NewReader(c.json))
		if err != nil {
			t.Fatalf("%s: %v", c.dt, err)
		}
		empty := array.NewSlice(arr, 0, 0)
		out = append(out, arr, array.NewSlice(arr, 1, int64(arr.Len())), empty)
	}
	b := array.NewRunEndEncodedBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.String)
	b.Append(3)
	b.ValueBuilder().(*array.StringBuilder).Append("a")
	b.Append(2)
	b.ValueBuilder().(*array.StringBuilder).AppendNull()
	ree := b.NewArray()
	return append(out, ree, array.NewSlice(ree, 2, 5))
}

func name(arr arrow.Array) string {
	return fmt.Sprintf("%s, %d rows from %d", arr.DataType(), arr.Len(), arr.Data().Offset())
}

// TestRoundTrip sends columns of every type out and in again.
func TestRoundTrip(t *testing.T) {
	for _, arr := range samples(t) {
		t.Run(name(arr), func(t *testing.T) {
			h := newHeap(t)
			e := h.exporter()
			want := arrow.Field{Name: "c\u00e9", Type: arr.DataType(), Nullable: true, Metadata: arrow.NewMetadata([]string{"k", ""}, []string{"v", "w"})}
			var s Schema
			if err := e.Field(want, &s); err != nil {
				t.Fatal(err)
			}
			got, err := ImportField(&s)
			if err != nil {
				t.Fatal(err)
			}
			if !arrow.TypeEqual(got.Type, want.Type) || got.Name != want.Name || !got.Nullable || !got.Metadata.Equal(want.Metadata) {
				t.Errorf("field %v, want %v", got, want)
			}
			var a Array
			if err := e.Array(arr.Data(), &a); err != nil {
				t.Fatal(err)
			}
			d, err := ImportArray(&a, got.Type)
			if err != nil {
				t.Fatal(err)
			}
			if back := array.MakeFromData(d); !array.Equal(back, arr) {
				t.Errorf("came back as %v, was %v", back, arr)
			}
			e.DropArray(&a)
			e.DropSchema(&s)
			if a.Release != 0 || s.Release != 0 || len(h.blocks) != 0 {
				t.Errorf("%d blocks left", len(h.blocks))
			}
		})
	}
}

// TestB35NoMemory fails every allocation of an export in turn: nothing of it may
// be left, and the structure must say that it is released.
func TestB35NoMemory(t *testing.T) {
	for _, arr := range samples(t) {
		for fail := 1; ; fail++ {
			h := newHeap(t)
			h.fail = fail
			e := h.exporter()
			var a Array
			a.Release = 99
			err := e.Array(arr.Data(), &a)
			if err == nil {
				e.DropArray(&a)
			} else if !errors.Is(err, ErrMemory) || a.Release != 0 {
				t.Errorf("%s: allocation %d failed: %v, release %d", name(arr), fail, err, a.Release)
			}
			var s Schema
			s.Release = 99
			errS := e.Field(arrow.Field{Type: arr.DataType()}, &s)
			if errS == nil {
				e.DropSchema(&s)
			} else if !errors.Is(errS, ErrMemory) || s.Release != 0 {
				t.Errorf("%s: allocation %d failed: %v, release %d", name(arr), fail, errS, s.Release)
			}
			if len(h.blocks) != 0 {
				t.Fatalf("%s: allocation %d failed: %d blocks left", name(arr), fail, len(h.blocks))
			}
			if err == nil && errS == nil {
				break
			}
		}
	}
}

// TestB35LargeBuffers exports buffers that get blocks of their own: copies, and
// those that are given away as they are.
func TestB35LargeBuffers(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 5000 {
		b.Append(fmt.Sprintf("value %d", i))
	}
	arr := b.NewStringArray()
	for _, give := range []bool{false, true} {
		for fail := 1; ; fail++ {
			h := newHeap(t)
			h.fail = fail
			e := h.exporter()
			adopted := 0
			e.Adopt = func(buf []byte) bool {
				if give && adopted == 0 {
					// The block that the buffer is said to be.
					h.blocks[unsafe.Pointer(unsafe.SliceData(buf))] = nil
					adopted++
					return true
				}
				return false
			}
			var a Array
			err := e.Array(arr.Data(), &a)
			if err == nil {
				d, err := ImportArray(&a, arr.DataType())
				if err != nil || !array.Equal(array.MakeFromData(d), arr) {
					t.Errorf("came back otherwise: %v", err)
				}
				if give != (adopted == 1) || len(h.blocks) < 3 {
					t.Errorf("%d buffers given away, %d blocks", adopted, len(h.blocks))
				}
				e.DropArray(&a)
			} else if !errors.Is(err, ErrMemory) || a.Release != 0 {
				t.Errorf("allocation %d failed: %v, release %d", fail, err, a.Release)
			}
			if len(h.blocks) != 0 {
				t.Fatalf("%d blocks left", len(h.blocks))
			}
			if err == nil {
				break
			}
		}
	}
}

// TestB35Moved moves a column out of a table: the table's release leaves it
// alone, and it stays valid.
func TestB35Moved(t *testing.T) {
	h := newHeap(t)
	e := h.exporter()
	arr := samples(t)[0]
	var table, column Array
	places, err := e.Table(int64(arr.Len()), 2, &table)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		if err := e.Array(arr.Data(), p); err != nil {
			t.Fatal(err)
		}
	}
	Move(places[1], &column)
	e.DropArray(&table)
	if len(h.blocks) != 1 {
		t.Fatalf("%d blocks left, one was moved", len(h.blocks))
	}
	d, err := ImportArray(&column, arr.DataType())
	if err != nil || !array.Equal(array.MakeFromData(d), arr) {
		t.Errorf("moved column: %v", err)
	}
	e.DropArray(&column)
	if len(h.blocks) != 0 {
		t.Errorf("%d blocks left", len(h.blocks))
	}
}

func TestRefusedFormats(t *testing.T) {
	for _, format := range []string{
		"", "?", "uu", "w", "w:", "w:x", "w:-1", "w:99999999999", "d", "d:", "d:1", "d:0,0", "d:39,0", "d:10,2,64", "d:1,2,3,4", "ts", "ts:", "tsx:", "tss", "tdx",
		"+", "+l", "+s:", "+w:2", "+m", "+r", "+ud:0", "+us:0", "+us:200", "+us:a",
	} {
		var s Schema
		h := newHeap(t)
		e := h.exporter()
		if err := e.Field(arrow.Field{Type: arrow.Null}, &s); err != nil {
			t.Fatal(err)
		}
		text := append([]byte(format), 0)
		s.Format = uintptr(unsafe.Pointer(&text[0]))
		if f, err := ImportField(&s); !errors.Is(err, ErrType) {
			t.Errorf("%q: type %v, error %v", format, f.Type, err)
		}
		// The collector does not see an address that is kept as a number.
		text[0] = 0
	}
}

// TestB35Released refuses what was released or was never there.
func TestB35Released(t *testing.T) {
	if _, err := ImportField(nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := ImportField(&Schema{}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := ImportArray(nil, arrow.Null); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := ImportArray(&Array{}, arrow.Null); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := ImportSchema(&Schema{}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

// TestCycle ends where children lead back to their parent.
func TestCycle(t *testing.T) {
	s := &Schema{NChildren: 1, Release: 1}
	format, list := []byte("+l\x00"), []uintptr{uintptr(unsafe.Pointer(s))}
	s.Format, s.Children = uintptr(unsafe.Pointer(&format[0])), uintptr(unsafe.Pointer(&list[0]))
	if _, err := ImportField(s); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	format[0], list[0] = 0, 0
}
