package arrowudf

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

func TestDictionaryHoldsOnlyDistinctMaskedValues(t *testing.T) {
	str := arrow.BinaryTypes.String
	cells := []any{"Zoe", "Amy", nil, "Bob", "Amy", nil, "b", "x1"}
	in := released(t, dictOf(arrow.PrimitiveTypes.Int8, str, cells, func(i int) any { return fmt.Sprint("unused", i) }))
	out := eval(t, "mask({col})", in, Options{}).(*array.Dictionary)
	if dt := out.DataType().(*arrow.DictionaryType); dt.Ordered || dt.IndexType.ID() != arrow.INT8 {
		t.Errorf("type %s", dt)
	}
	// In the order in which rows show them, each once.
	sameCells(t, "dictionary", logical(out.Dictionary()), []any{"Xxx", "x", "xn"})
	sameCells(t, "rows", logical(out), []any{"Xxx", "Xxx", nil, "Xxx", "Xxx", nil, "x", "xn"})
	if out.NullN() != 2 || !out.IsNull(2) || !out.IsNull(5) {
		t.Errorf("%d NULLs in the index", out.NullN())
	}
	// An answer of NULL leaves an empty dictionary.
	out = eval(t, "mask_null({col})", in, Options{}).(*array.Dictionary)
	if out.NullN() != len(cells) || out.Dictionary().Len() != 0 {
		t.Errorf("mask_null: %d NULLs, %d values", out.NullN(), out.Dictionary().Len())
	}
	// An answer for NULL fills the NULL rows.
	out = eval(t, "'gone'", in, Options{}).(*array.Dictionary)
	if out.NullN() != 0 || out.Dictionary().Len() != 1 || cell(out, 2) != "gone" {
		t.Errorf("literal: %v of %v", logical(out), logical(out.Dictionary()))
	}
	// Numbers are merged as well.
	nums := released(t, dictOf(arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int32, []any{12, 34, nil, 5}, nil))
	out = eval(t, "mask({col})", nums, Options{}).(*array.Dictionary)
	sameCells(t, "numbers", logical(out.Dictionary()), []any{int64(11), int64(1)})
	sameCells(t, "number rows", logical(out), []any{int64(11), int64(11), nil, int64(1)})
}

func TestFullSmallIndexStillFits(t *testing.T) {
	var cells []any
	for i := range 128 {
		cells = append(cells, fmt.Sprint("v", i))
	}
	in := released(t, dictOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String, cells, nil))
	sameCells(t, "128 values", logical(eval(t, "md5({col})", in, Options{})), apply(oracles["md5({col})"], cells))
}

func TestRunsWithEqualMaskedValuesBecomeOne(t *testing.T) {
	in := released(t, runsOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String,
		[]any{"Zoe", "Zoe", "Amy", "b", nil, nil, "Bob"}))
	out := eval(t, "mask({col})", in, Options{}).(*array.RunEndEncoded)
	sameCells(t, "values", logical(out.Values()), []any{"Xxx", "x", nil, "Xxx"})
	sameCells(t, "ends", logical(out.RunEndsArr()), []any{int64(3), int64(4), int64(6), int64(7)})
	slice := released(t, array.NewSlice(in, 1, 6))
	out = eval(t, "mask({col})", slice, Options{}).(*array.RunEndEncoded)
	sameCells(t, "ends of the slice", logical(out.RunEndsArr()), []any{int64(2), int64(3), int64(5)})
	out = eval(t, "mask_null({col})", in, Options{}).(*array.RunEndEncoded)
	if out.Values().Len() != 1 || out.Values().NullN() != 1 {
		t.Errorf("mask_null: %d runs", out.Values().Len())
	}
}

// Random columns, encodings, slices, thread counts and programs against the
// same rows as a plain column.
func TestRandomEncodings(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	exprs := []string{"sha256({col})", "mask({col})", "mask_show_first_n({col}, 1)", "md5(mask({col}))", "digest({col}, 'sha1')"}
	for range 60 {
		cells := make([]any, rng.IntN(1500))
		pool := 1 + rng.IntN(200)
		for i := range cells {
			if rng.IntN(6) > 0 {
				cells[i] = strings.Repeat("Aé1-", rng.IntN(5)) + fmt.Sprint(rng.IntN(pool))
			}
		}
		slices.SortFunc(cells[:len(cells)/2], func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		lo := rng.IntN(len(cells) + 1)
		hi := lo + rng.IntN(len(cells)-lo+1)
		dt := textTypes[rng.IntN(3)]
		expr := exprs[rng.IntN(len(exprs))]
		o := Options{Threads: rng.IntN(4), Large: rng.IntN(2) == 0}
		want := logical(eval(t, expr, released(t, build(heap, arrow.BinaryTypes.String, cells[lo:hi])), Options{}))
		ints := indexTypes[2+rng.IntN(2)]
		for name, whole := range map[string]arrow.Array{
			"plain":      build(heap, dt, cells),
			"garbage":    garbage(dt, cells),
			"dictionary": dictOf(ints, dt, cells, func(i int) any { return fmt.Sprint("unused ", i) }),
			"run ends":   runsOf(ints, dt, cells),
		} {
			slice := array.NewSlice(whole, int64(lo), int64(hi))
			out := eval(t, expr, slice, o)
			slice.Release()
			whole.Release()
			sameCells(t, fmt.Sprintf("%s of %s %s, rows %d to %d of %d", expr, name, dt, lo, hi, len(cells)), logical(out), want)
		}
	}
}

func TestWrapViewsCutsLargeResults(t *testing.T) {
	cells := []any{"short", "a value of 20 bytes.", nil, "another of 20 bytes.", "", "a third of  20 bytes", "and one value that is longer than the reach"}
	v := &mask.Vector{Type: mask.Type{Kind: mask.Text}, Len: len(cells), Layout: mask.LayoutOffsets64, Offsets64: []int64{0}, Valid: make([]byte, 1)}
	for i, c := range cells {
		if c != nil {
			v.Data = append(v.Data, c.(string)...)
			setBit(v.Valid, i, true)
		}
		v.Offsets64 = append(v.Offsets64, int64(len(v.Data)))
	}
	for _, tc := range []struct{ reach, buffers int }{{41, 3}, {20, 4}, {1 << 20, 1}} {
		mem := checked(t)
		a := &allocator{mem: mem}
		bufs := append([]*memory.Buffer{memory.NewBufferBytes(v.Valid)}, wrapViews(v, int64(tc.reach), a)...)
		a.close()
		if n := len(bufs) - 2; n != tc.buffers {
			t.Errorf("reach %d: %d data buffers, want %d", tc.reach, n, tc.buffers)
		}
		d := data(arrow.BinaryTypes.StringView, v.Len, 1, bufs)
		arr := array.MakeFromData(d)
		d.Release()
		sameCells(t, fmt.Sprint("reach ", tc.reach), logical(arr), cells)
		arr.Release()
	}
}

func TestGatherOfWideOffsets(t *testing.T) {
	arr := released(t, build(heap, arrow.BinaryTypes.LargeString, sample))
	v := must(vector(arr.Data(), arr.DataType(), mask.Type{Kind: mask.Text}))
	got := must(gather(v, []int32{11, -1, 0, 1, 12}))
	col := kernels.Views(got.Views, got.Buffers)
	for i, want := range []any{sample[11], nil, sample[0], nil, sample[12]} {
		if got.IsNull(i) != (want == nil) {
			t.Errorf("row %d: NULL is %v", i, got.IsNull(i))
		}
		if want != nil && string(col.Row(i)) != want {
			t.Errorf("row %d: %q", i, col.Row(i))
		}
	}
}

// Buffers from files or other languages need not be aligned.
func TestUnalignedBuffers(t *testing.T) {
	shift := func(b []byte) *memory.Buffer {
		out := make([]byte, len(b)+1)
		copy(out[1:], b)
		return memory.NewBufferBytes(out[1:])
	}
	for _, arr := range []arrow.Array{
		build(heap, arrow.BinaryTypes.String, sample),
		build(heap, arrow.BinaryTypes.LargeString, sample),
		build(heap, arrow.BinaryTypes.StringView, sample),
		build(heap, arrow.PrimitiveTypes.Int64, []any{1, nil, 300}),
		dictOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, sample, nil),
	} {
		want := logical(eval(t, "mask({col})", arr, Options{}))
		var bufs []*memory.Buffer
		for _, b := range arr.Data().Buffers() {
			if b != nil {
				b = shift(b.Bytes())
			}
			bufs = append(bufs, b)
		}
		d := array.NewData(arr.DataType(), arr.Len(), bufs, nil, arr.NullN(), 0)
		d.SetDictionary(arr.Data().Dictionary())
		f := must(Compile("mask({col})", arr.DataType(), Options{Mem: checked(t)}))
		out, err := f.CallData(ctx, d)
		if err != nil {
			t.Fatalf("%s: %v", arr.DataType(), err)
		}
		got := array.MakeFromData(out)
		sameCells(t, arr.DataType().String(), logical(got), want)
		got.Release()
		out.Release()
		d.Release()
		arr.Release()
	}
}

// Data that does not fit together is an error, whatever is wrong with it, and
// leaves nothing allocated.
func TestMalformedData(t *testing.T) {
	str := arrow.BinaryTypes.String
	buf := func(b []byte) *memory.Buffer { return memory.NewBufferBytes(b) }
	i32 := func(v ...int32) *memory.Buffer { return buf(bytesOf(v)) }
	plain := func(dt arrow.DataType, n, off int, bufs ...*memory.Buffer) arrow.ArrayData {
		return array.NewData(dt, n, bufs, nil, -1, off)
	}
	values := build(heap, str, []any{"a", "b"}).Data()
	dict := func(n int, dictionary arrow.ArrayData, bufs ...*memory.Buffer) arrow.ArrayData {
		d := array.NewData(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: str}, n, bufs, nil, -1, 0)
		if dictionary != nil {
			d.SetDictionary(dictionary)
		}
		return d
	}
	ree := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, str)
	runs := func(n, off int, ends ...int32) arrow.ArrayData {
		e := plain(arrow.PrimitiveTypes.Int32, len(ends), 0, nil, i32(ends...))
		return array.NewData(ree, n, []*memory.Buffer{nil}, []arrow.ArrayData{e, values}, 0, off)
	}
	view := makeView([]byte("a value that is longer"), 3, 0)
	for name, d := range map[string]arrow.ArrayData{
		"no offsets":               plain(str, 2, 0, nil, nil, nil),
		"few offsets":              plain(str, 2, 0, nil, i32(0, 1), buf([]byte("ab"))),
		"offset beyond":            plain(str, 1, 3, nil, i32(0, 1), buf([]byte("ab"))),
		"negative offset":          plain(str, 2, -1, nil, i32(0, 1, 2), buf([]byte("ab"))),
		"huge offset":              plain(str, 2, 1<<63-2, nil, i32(0, 1, 2), buf([]byte("ab"))),
		"negative length":          plain(str, -1, 0, nil, i32(0, 1, 2), buf([]byte("ab"))),
		"offsets decrease":         plain(str, 2, 0, nil, i32(0, 2, 1), buf([]byte("ab"))),
		"offsets leave the data":   plain(str, 2, 0, nil, i32(0, 1, 9), buf([]byte("ab"))),
		"no buffers":               plain(str, 2, 0),
		"short validity":           plain(str, 9, 0, buf([]byte{255}), i32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), nil),
		"short integers":           plain(arrow.PrimitiveTypes.Int64, 2, 0, nil, buf(make([]byte, 15))),
		"no integers":              plain(arrow.PrimitiveTypes.Int64, 2, 0, nil, nil),
		"no booleans":              plain(arrow.FixedWidthTypes.Boolean, 1<<40, 0, nil, nil),
		"short booleans":           plain(arrow.FixedWidthTypes.Boolean, 8, 1, nil, buf([]byte{0})),
		"short floats":             plain(arrow.PrimitiveTypes.Float64, 1<<40, 0, nil, buf(make([]byte, 80))),
		"view without its buffer":  plain(arrow.BinaryTypes.StringView, 1, 0, nil, buf(view[:])),
		"no dictionary":            dict(2, nil, nil, i32(0, 1)),
		"index too large":          dict(2, values, nil, i32(0, 2)),
		"negative index":           dict(2, values, nil, i32(0, -1)),
		"short indices":            dict(3, values, nil, i32(0, 1)),
		"dictionary of other type": dict(2, build(heap, arrow.PrimitiveTypes.Int32, []any{1, 2}).Data(), nil, i32(0, 1)),
		"dictionary offsets":       dict(1, plain(str, 2, 0, nil, i32(0, 5, 1), buf([]byte("ab"))), nil, i32(0)),
		"run ends repeat":          runs(2, 0, 1, 1),
		"run ends decrease":        runs(2, 0, 2, 1),
		"run end of zero":          runs(2, 0, 0, 2),
		"negative run end":         runs(2, 0, -1, 2),
		"runs end early":           runs(3, 0, 1, 2),
		"runs end before slice":    runs(2, 5, 1, 2),
		"more runs than values":    runs(3, 0, 1, 2, 3),
		"no children":              array.NewData(ree, 1, []*memory.Buffer{nil}, nil, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			f := must(Compile("mask({col})", d.DataType(), Options{Mem: checked(t)}))
			out, err := f.CallData(ctx, d)
			if out != nil || !errors.Is(err, ErrArray) && !errors.Is(err, mask.ErrVector) && !errors.Is(err, kernels.ErrColumn) {
				t.Errorf("%v, %v", out, err)
			}
		})
	}
}

// What no mask could ever read may be whatever it is.
func TestTypesThatAreAnsweredWithNull(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal256Type{Precision: 40, Scale: 2},
		arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Duration_ms,
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
	} {
		b := array.NewBuilder(heap, dt)
		b.AppendEmptyValues(10)
		arr := released(t, b.NewArray())
		b.Release()
		for _, in := range []arrow.Array{arr, released(t, array.NewSlice(arr, 3, 9)), released(t, array.NewSlice(arr, 0, 0))} {
			for _, expr := range []string{"mask({col})", "mask_hash({col})", "mask_null({col})"} {
				out := eval(t, expr, in, Options{})
				if out.NullN() != in.Len() || !arrow.TypeEqual(out.DataType(), dt) {
					t.Errorf("%s of %s: %d NULLs of %d, %s", expr, dt, out.NullN(), in.Len(), out.DataType())
				}
				if in.Len() > 0 {
					throughIPC(t, out)
				}
			}
		}
	}
}

// Memory grows with buffers, not with rows.
func TestAllocationsDoNotGrowWithRows(t *testing.T) {
	count := func(n int, encode func([]any) arrow.Array) float64 {
		cells := make([]any, n)
		for i := range cells {
			cells[i] = fmt.Sprint("value ", i%100)
		}
		arr := encode(cells)
		defer arr.Release()
		f := must(Compile("sha256({col})", arr.DataType(), Options{}))
		return testing.AllocsPerRun(5, func() { must(f.Call(ctx, arr)).Release() })
	}
	for name, encode := range map[string]func([]any) arrow.Array{
		"plain":      func(c []any) arrow.Array { return build(heap, arrow.BinaryTypes.String, c) },
		"view":       func(c []any) arrow.Array { return build(heap, arrow.BinaryTypes.StringView, c) },
		"dictionary": func(c []any) arrow.Array { return dictOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, c, nil) },
	} {
		few, many := count(1000, encode), count(50000, encode)
		// Scratch comes from a pool that may lose some, a piece per 512 rows.
		if many > few+50000/200 {
			t.Errorf("%s: %v allocations for 1,000 rows, %v for 50,000", name, few, many)
		}
	}
}

func TestOneFuncFromManyGoroutines(t *testing.T) {
	mem := checked(t)
	arr := released(t, dictOf(arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.StringView, sample, nil))
	f := must(Compile("md5({col})", arr.DataType(), Options{Mem: mem, Threads: 2}))
	want := apply(oracles["md5({col})"], sample)
	done := make(chan bool)
	for range 8 {
		go func() {
			ok := true
			for range 20 {
				out := must(f.Call(ctx, arr))
				ok = ok && reflect.DeepEqual(logical(out), want)
				out.Release()
			}
			done <- ok
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("a goroutine saw another answer")
		}
	}
}
