package v18

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"strings"
	"testing"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"
	arrow17 "github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
)

var ctx = context.Background()

func checked(t testing.TB) *memory18.CheckedAllocator {
	mem := memory18.NewCheckedAllocator(memory18.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// poisoning overwrites memory when it is freed.
type poisoning struct{ memory18.Allocator }

func (p poisoning) Free(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
	p.Allocator.Free(b)
}

// sample is a column of every layout, with NULLs, in memory of mem.
func sample(mem memory18.Allocator, dt arrow18.DataType) arrow18.Array {
	const rows = 20
	switch t := dt.(type) {
	case *arrow18.DictionaryType:
		b := array18.NewBuilder(mem, dt).(*array18.BinaryDictionaryBuilder)
		defer b.Release()
		for i := range rows {
			if i%4 == 3 {
				b.AppendNull()
			} else if err := b.AppendString(fmt.Sprint("Value ", i/2)); err != nil {
				panic(err)
			}
		}
		return b.NewArray()
	case *arrow18.RunEndEncodedType:
		b := array18.NewRunEndEncodedBuilder(mem, t.RunEnds(), t.Encoded())
		defer b.Release()
		for i := range rows / 2 {
			if i%4 == 3 {
				b.AppendNull()
				b.ContinueRun(1)
			} else if err := b.AppendValueFromString(fmt.Sprint("Value ", i)); err != nil {
				panic(err)
			} else {
				b.ContinueRun(1)
			}
		}
		return b.NewArray()
	}
	b := array18.NewBuilder(mem, dt)
	defer b.Release()
	for i := range rows {
		switch b := b.(type) {
		case interface{ AppendString(string) }:
			if i%4 == 3 {
				b.(array18.Builder).AppendNull()
			} else {
				b.AppendString(fmt.Sprint("Value number ", i))
			}
		case interface{ Append(string) }:
			if i%4 == 3 {
				b.(array18.Builder).AppendNull()
			} else {
				b.Append(fmt.Sprint("Value number ", i))
			}
		default:
			if i%4 == 3 {
				b.AppendNull()
			} else {
				b.AppendEmptyValue()
			}
		}
	}
	return b.NewArray()
}

var crossing = []arrow18.DataType{
	arrow18.Null, arrow18.FixedWidthTypes.Boolean,
	arrow18.PrimitiveTypes.Int8, arrow18.PrimitiveTypes.Int16, arrow18.PrimitiveTypes.Int32, arrow18.PrimitiveTypes.Int64,
	arrow18.PrimitiveTypes.Uint8, arrow18.PrimitiveTypes.Uint16, arrow18.PrimitiveTypes.Uint32, arrow18.PrimitiveTypes.Uint64,
	arrow18.FixedWidthTypes.Float16, arrow18.PrimitiveTypes.Float32, arrow18.PrimitiveTypes.Float64,
	arrow18.FixedWidthTypes.Date32, arrow18.FixedWidthTypes.Date64,
	arrow18.FixedWidthTypes.Time32s, arrow18.FixedWidthTypes.Time32ms, arrow18.FixedWidthTypes.Time64us, arrow18.FixedWidthTypes.Time64ns,
	arrow18.FixedWidthTypes.Timestamp_s, arrow18.FixedWidthTypes.Timestamp_ns, &arrow18.TimestampType{Unit: arrow18.Microsecond, TimeZone: "Europe/Paris"},
	arrow18.FixedWidthTypes.Duration_s, arrow18.FixedWidthTypes.Duration_us,
	arrow18.FixedWidthTypes.MonthInterval, arrow18.FixedWidthTypes.DayTimeInterval, arrow18.FixedWidthTypes.MonthDayNanoInterval,
	&arrow18.Decimal128Type{Precision: 9, Scale: 2}, &arrow18.Decimal256Type{Precision: 50, Scale: 4},
	arrow18.BinaryTypes.String, arrow18.BinaryTypes.LargeString, arrow18.BinaryTypes.StringView,
	arrow18.BinaryTypes.Binary, arrow18.BinaryTypes.LargeBinary, arrow18.BinaryTypes.BinaryView,
	&arrow18.FixedSizeBinaryType{ByteWidth: 16},
	&arrow18.DictionaryType{IndexType: arrow18.PrimitiveTypes.Int8, ValueType: arrow18.BinaryTypes.String, Ordered: true},
	&arrow18.DictionaryType{IndexType: arrow18.PrimitiveTypes.Uint32, ValueType: arrow18.BinaryTypes.Binary},
	arrow18.RunEndEncodedOf(arrow18.PrimitiveTypes.Int32, arrow18.BinaryTypes.String),
	arrow18.RunEndEncodedOf(arrow18.PrimitiveTypes.Int16, arrow18.BinaryTypes.LargeString),
}

// Every array that v17 knows crosses there and back: equal, over the same
// bytes, alive after its source was released, and without a leak.
func TestArraysCrossBothWays(t *testing.T) {
	for _, dt := range crossing {
		t.Run(dt.String(), func(t *testing.T) {
			keep := sample(memory18.NewGoAllocator(), dt)
			defer keep.Release()
			mem := checked(t)
			for _, cut := range [][2]int64{{0, 20}, {3, 17}, {9, 9}} {
				whole := sample(poisoning{mem}, dt)
				src := array18.NewSlice(whole, cut[0], cut[1])
				whole.Release()
				over := must(ToV17(src))
				if dt.ID() != arrow18.NULL && len(src.Data().Buffers()) > 1 && src.Data().Buffers()[1] != nil && src.Data().Buffers()[1].Len() > 0 &&
					&over.Data().Buffers()[1].Bytes()[0] != &src.Data().Buffers()[1].Bytes()[0] {
					t.Error("values were copied")
				}
				if !strings.EqualFold(over.DataType().ID().String(), dt.ID().String()) {
					t.Errorf("%s became %s", dt, over.DataType())
				}
				src.Release() // the crossing keeps the bytes
				back := must(FromV17(over))
				over.Release()
				want := array18.NewSlice(keep, cut[0], cut[1])
				if !array18.Equal(back, want) || !arrow18.TypeEqual(back.DataType(), dt) {
					t.Errorf("rows %v came back as %v of %s, want %v", cut, back, back.DataType(), want)
				}
				want.Release()
				back.Release()
			}
		})
	}
}

// The source is released exactly when the last borrower is.
func TestCrossedBuffersLiveAsLongAsNeeded(t *testing.T) {
	mem := checked(t)
	src := sample(mem, arrow18.BinaryTypes.String)
	size := mem.CurrentAlloc()
	over := must(ToV17(src))
	src.Release()
	if mem.CurrentAlloc() != size {
		t.Fatalf("%d of %d bytes left while borrowed", mem.CurrentAlloc(), size)
	}
	over.Retain()
	over.Release()
	back := must(FromV17(over))
	over.Release()
	if mem.CurrentAlloc() != size {
		t.Fatalf("%d of %d bytes left while borrowed twice", mem.CurrentAlloc(), size)
	}
	back.Release()
	if mem.CurrentAlloc() != 0 {
		t.Fatalf("%d bytes left at the end", mem.CurrentAlloc())
	}
}

func TestTypesThatDoNotCross(t *testing.T) {
	for _, dt := range []arrow18.DataType{
		&arrow18.Decimal32Type{Precision: 5}, &arrow18.Decimal64Type{Precision: 12},
		arrow18.ListOf(arrow18.BinaryTypes.String), arrow18.StructOf(arrow18.Field{Name: "a", Type: arrow18.BinaryTypes.String}),
		&arrow18.DictionaryType{IndexType: arrow18.PrimitiveTypes.Int8, ValueType: arrow18.ListOf(arrow18.BinaryTypes.String)},
	} {
		if _, err := TypeToV17(dt); !errors.Is(err, mask.ErrType) {
			t.Errorf("%s: %v", dt, err)
		}
	}
	if _, err := TypeFromV17(arrow17.ListOf(arrow17.BinaryTypes.String)); !errors.Is(err, mask.ErrType) {
		t.Errorf("list of v17: %v", err)
	}
	list := array18.MakeArrayOfNull(memory18.NewGoAllocator(), arrow18.ListOf(arrow18.BinaryTypes.String), 2)
	defer list.Release()
	if _, err := ToV17(list); !errors.Is(err, mask.ErrType) {
		t.Errorf("list array: %v", err)
	}
}

func TestFuncOverEveryTextLayout(t *testing.T) {
	for _, dt := range crossing {
		plain := dt
		if d, ok := dt.(*arrow18.DictionaryType); ok {
			plain = d.ValueType
		}
		if r, ok := dt.(*arrow18.RunEndEncodedType); ok {
			plain = r.Encoded()
		}
		if !arrow18.IsBaseBinary(plain.ID()) && plain.ID() != arrow18.STRING_VIEW && plain.ID() != arrow18.BINARY_VIEW {
			continue
		}
		mem := checked(t)
		arr := sample(poisoning{mem}, dt)
		f := must(Compile("md5({col})", dt, arrowudf.Options{Mem: mem}))
		out, err := f.Call(ctx, arr)
		if err != nil {
			t.Fatalf("%s: %v", dt, err)
		}
		want := make([]string, arr.Len())
		for i := range want {
			if want[i] = text(arr, i); want[i] != "NULL" {
				want[i] = fmt.Sprintf("%x", md5.Sum([]byte(want[i])))
			}
		}
		arr.Release()
		if !arrow18.TypeEqual(out.DataType(), f.OutType()) {
			t.Errorf("%s: declared %s, produced %s", dt, f.OutType(), out.DataType())
		}
		for i := range want {
			if got := text(out, i); got != want[i] {
				t.Errorf("%s: row %d is %q, want %q", dt, i, got, want[i])
			}
		}
		out.Release()
	}
}

func text(arr arrow18.Array, i int) string {
	if arr.IsNull(i) {
		return "NULL"
	}
	switch a := arr.(type) {
	case *array18.Dictionary:
		return text(a.Dictionary(), a.GetValueIndex(i))
	case *array18.RunEndEncoded:
		return text(a.Values(), a.GetPhysicalIndex(i))
	case array18.ExtensionArray:
		return text(a.Storage(), i)
	case interface{ Value(int) string }:
		return a.Value(i)
	case interface{ Value(int) []byte }:
		return string(a.Value(i))
	}
	return arr.ValueStr(i)
}

func TestFuncOverTypesThatV17Lacks(t *testing.T) {
	for _, dt := range []arrow18.DataType{&arrow18.Decimal32Type{Precision: 5, Scale: 1}, &arrow18.Decimal64Type{Precision: 12}} {
		mem := checked(t)
		whole := sample(mem, dt)
		arr := array18.NewSlice(whole, 3, 12)
		whole.Release()
		f := must(Compile("mask({col})", dt, arrowudf.Options{Mem: mem}))
		out := must(f.Call(ctx, arr))
		if !arrow18.TypeEqual(out.DataType(), dt) || !arrow18.TypeEqual(f.OutType(), dt) || out.NullN() != arr.Len() || !f.Nullable() {
			t.Errorf("%s: %s, %d NULLs of %d", dt, out.DataType(), out.NullN(), arr.Len())
		}
		if n := out.Data().Buffers()[1].Len(); n != arr.Len()*dt.(arrow18.FixedWidthDataType).Bytes() {
			t.Errorf("%s: %d bytes of values", dt, n)
		}
		out.Release()
		f = must(Compile("'x'", dt, arrowudf.Options{Mem: mem}))
		out = must(f.Call(ctx, arr))
		if text(out, 0) != "x" || out.DataType().ID() != arrow18.STRING {
			t.Errorf("literal over %s: %v", dt, out)
		}
		out.Release()
		arr.Release()
		if _, err := Compile("md5({col})", dt, arrowudf.Options{}); !errors.Is(err, mask.ErrType) {
			t.Errorf("md5 of %s: %v", dt, err)
		}
	}
}

func TestFuncOverExtensions(t *testing.T) {
	mem := checked(t)
	b := extensions.NewUUIDBuilder(mem)
	defer b.Release()
	if err := b.AppendValueFromString("9c5b94b1-35ad-49bb-b118-8e8fc24abf80"); err != nil {
		t.Fatal(err)
	}
	b.AppendNull()
	arr := b.NewArray()
	defer arr.Release()
	f := must(Compile("hex({col})", arr.DataType(), arrowudf.Options{Mem: mem}))
	out := must(f.Call(ctx, arr))
	defer out.Release()
	if text(out, 0) != "9C5B94B135AD49BBB1188E8FC24ABF80" || !out.IsNull(1) {
		t.Errorf("%v", out)
	}
	f = must(Compile("mask_null({col})", arr.DataType(), arrowudf.Options{Mem: mem}))
	if f.OutType().ID() != arrow18.FIXED_SIZE_BINARY {
		t.Errorf("NULLs of a UUID column are %s", f.OutType())
	}
}

func TestFuncChunkedAndErrors(t *testing.T) {
	mem := checked(t)
	a := sample(mem, arrow18.BinaryTypes.String)
	defer a.Release()
	col := arrow18.NewChunked(a.DataType(), []arrow18.Array{a, a})
	defer col.Release()
	f := must(Compile("md5({col})", a.DataType(), arrowudf.Options{Mem: mem}))
	out := must(f.CallChunked(ctx, col))
	if out.Len() != 40 || len(out.Chunks()) != 2 || text(out.Chunk(1), 0) != fmt.Sprintf("%x", md5.Sum([]byte(text(a, 0)))) {
		t.Errorf("chunked: %v", out.Chunks())
	}
	out.Release()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.CallChunked(cancelled, col); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	other := sample(mem, arrow18.BinaryTypes.LargeString)
	defer other.Release()
	if _, err := f.Call(ctx, other); !errors.Is(err, arrowudf.ErrArray) {
		t.Errorf("another type: %v", err)
	}
	for _, dt := range []arrow18.DataType{nil, arrow18.ListOf(arrow18.BinaryTypes.String)} {
		if _, err := Compile("mask({col})", dt, arrowudf.Options{}); !errors.Is(err, mask.ErrType) {
			t.Errorf("%v: %v", dt, err)
		}
	}
}
