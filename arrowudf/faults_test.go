package arrowudf

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// poisoning overwrites memory when it is freed.
type poisoning struct{ memory.Allocator }

func (p poisoning) Free(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
	p.Allocator.Free(b)
}

// dirty hands out memory full of a marker.
type dirty struct{ memory.Allocator }

const marker = "SECRET-MARKER-"

func (d dirty) Allocate(size int) []byte {
	b := d.Allocator.Allocate(size + 64)
	for i := range b {
		b[i] = marker[i%len(marker)]
	}
	return b[:size] // with a dirty capacity behind it
}

func (d dirty) Free(b []byte) { d.Allocator.Free(b[:len(b)+64]) }

func TestB08InputMayBeReleasedAfterTheCall(t *testing.T) {
	for name, expr := range map[string]string{"digest": "sha256({col})", "mask": "mask_show_first_n({col}, 3)"} {
		for _, dt := range textTypes {
			t.Run(name+" of "+dt.Name(), func(t *testing.T) {
				mem := poisoning{heap}
				for _, make := range []func() arrow.Array{
					func() arrow.Array { return build(mem, dt, sample) },
					func() arrow.Array {
						plain := build(mem, dt, sample)
						defer plain.Release()
						return array.NewSlice(plain, 3, 17)
					},
				} {
					in := make()
					want := logical(eval(t, expr, in, Options{}))
					out := eval(t, expr, in, Options{Threads: 2})
					in.Release()
					sameCells(t, "after release", logical(out), want)
				}
			})
		}
	}
}

func TestB08CancelledCallKeepsNothing(t *testing.T) {
	cells := make([]any, 20000)
	for i := range cells {
		cells[i] = strings.Repeat("x", i%70)
	}
	in := build(poisoning{heap}, arrow.BinaryTypes.String, cells)
	f := must(Compile("sha512({col})", in.DataType(), Options{Mem: checked(t), Threads: 2}))
	stop := &countdown{Context: ctx, left: 5}
	_, err := f.Call(stop, in)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	in.Release() // the memory is overwritten; the race detector would see a reader
}

func TestB10NullIsNotEmpty(t *testing.T) {
	cells := []any{nil, "", "a"}
	for _, dt := range append(append([]arrow.DataType{}, textTypes...), binaryTypes...) {
		arr := released(t, build(heap, dt, cells))
		for expr, empty := range map[string]string{
			"md5({col})":       "d41d8cd98f00b204e9800998ecf8427e",
			"sha1({col})":      "da39a3ee5e6b4b0d3255bfef95601890afd80709",
			"sha2({col}, 256)": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		} {
			out := eval(t, expr, arr, Options{})
			if got := cell(out, 1); got != empty {
				t.Errorf("%s of an empty %s is %v", expr, dt, got)
			}
			if !out.IsNull(0) || out.NullN() != 1 {
				t.Errorf("%s of %s: NULL is %v, %d NULLs", expr, dt, cell(out, 0), out.NullN())
			}
		}
	}
	// Nothing lies under the NULL.
	out := eval(t, "md5({col})", released(t, build(heap, arrow.BinaryTypes.String, cells)), Options{}).(*array.String)
	if out.ValueOffset(0) != 0 || out.ValueOffset(1) != 0 || len(out.ValueBytes()) != 64 {
		t.Errorf("offsets %d, %d; %d bytes", out.ValueOffset(0), out.ValueOffset(1), len(out.ValueBytes()))
	}
	raw := eval(t, "digest({col}, 'md5')", released(t, build(heap, arrow.BinaryTypes.String, cells)), Options{})
	if under := raw.Data().Buffers()[1].Bytes()[:16]; !bytes.Equal(under, make([]byte, 16)) {
		t.Errorf("bytes under a NULL of fixed width: %x", under)
	}
	// All NULL, with and without values, and the type Null.
	for _, arr := range []arrow.Array{
		build(heap, arrow.BinaryTypes.String, []any{nil, nil}),
		array.NewNull(3),
	} {
		released(t, arr)
		for _, expr := range []string{"md5({col})", "mask({col})"} {
			if out := eval(t, expr, arr, Options{}); out.NullN() != arr.Len() {
				t.Errorf("%s of %s NULLs: %d", expr, arr.DataType(), out.NullN())
			}
		}
	}
}

func TestB12TextIsLowerCaseHexAndRawIsBinary(t *testing.T) {
	arr := released(t, build(heap, arrow.BinaryTypes.String, []any{"101"}))
	text := eval(t, "md5({col})", arr, Options{})
	if text.DataType().ID() != arrow.STRING || cell(text, 0) != "38b3eff8baf56627478ec76a704e9b52" {
		t.Errorf("md5: %s %v", text.DataType(), cell(text, 0))
	}
	raw := eval(t, "digest({col}, 'md5')", arr, Options{})
	sum := md5.Sum([]byte("101"))
	if !arrow.TypeEqual(raw.DataType(), &arrow.FixedSizeBinaryType{ByteWidth: 16}) || cell(raw, 0) != string(sum[:]) {
		t.Errorf("digest: %s %x", raw.DataType(), cell(raw, 0))
	}
	if up := eval(t, "hex({col})", released(t, build(heap, arrow.BinaryTypes.String, []any{"JK"})), Options{}); cell(up, 0) != "4A4B" {
		t.Errorf("hex: %v", cell(up, 0))
	}
}

// numbered makes n different cells of a type, every fifth NULL.
func numbered(dt arrow.DataType, n int) []any {
	cells := make([]any, n)
	for i := range cells {
		switch {
		case i%5 == 4:
		case dt.ID() == arrow.BOOL:
			cells[i] = i%3 == 0
		case dt.ID() == arrow.DATE32 || dt.ID() == arrow.DATE64:
			cells[i] = fmt.Sprintf("20%02d-%02d-%02d", i%100, i%12+1, i%28+1)
		case dt.ID() == arrow.FIXED_SIZE_BINARY:
			cells[i] = fmt.Sprintf("%016d", i*i)
		case arrow.IsInteger(dt.ID()):
			cells[i] = i % 100
		default:
			cells[i] = fmt.Sprintf("Value %d%s", i/3, strings.Repeat("é", i%9))
		}
	}
	return cells
}

func TestB27Slices(t *testing.T) {
	const rows = 65 + 64
	fsb := &arrow.FixedSizeBinaryType{ByteWidth: 16}
	inputs := map[string]arrow.Array{}
	for _, dt := range []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView, fsb,
		arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64,
	} {
		inputs[dt.String()] = released(t, build(heap, dt, numbered(dt, rows)))
	}
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.StringView, arrow.PrimitiveTypes.Int64, fsb} {
		cells := numbered(dt, rows)
		inputs["dictionary of "+dt.String()] = released(t, dictOf(arrow.PrimitiveTypes.Int16, dt, cells, nil))
		inputs["run ends of "+dt.String()] = released(t, runsOf(arrow.PrimitiveTypes.Int32, dt, cells))
	}
	text := build(heap, arrow.BinaryTypes.String, numbered(arrow.BinaryTypes.String, rows+2))
	st := must(array.NewStructArray([]arrow.Array{text}, []string{"s"}))
	text.Release()
	shifted := released(t, array.NewSlice(st, 2, rows+2)).(*array.Struct)
	st.Release()
	inputs["child of a sliced struct"] = shifted.Field(0)

	for name, whole := range inputs {
		t.Run(name, func(t *testing.T) {
			exprs := []string{"mask({col})", "mask_null({col})"}
			if k := kinds[plainOf(whole.DataType()).ID()]; k == mask.Text || k == mask.Binary {
				exprs = append(exprs, "sha256({col})", "digest({col}, 'sha1')")
			}
			for _, expr := range exprs {
				all := logical(eval(t, expr, whole, Options{}))
				for _, off := range []int{0, 1, 3, 7, 8, 9, 63, 64, 65} {
					for _, n := range []int{0, 1, 7, 8, 9, 64} {
						slice := array.NewSlice(whole, int64(off), int64(off+n))
						out := eval(t, expr, slice, Options{})
						slice.Release()
						what := fmt.Sprintf("%s of rows %d to %d", expr, off, off+n)
						sameCells(t, what, logical(out), all[off:off+n])
						if out.Data().Offset() != 0 {
							t.Fatalf("%s: offset %d", what, out.Data().Offset())
						}
						if n > 0 {
							sameCells(t, what+" after IPC", logical(throughIPC(t, out)), all[off:off+n])
						}
					}
				}
			}
		})
	}
}

func plainOf(dt arrow.DataType) arrow.DataType {
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		return t.ValueType
	case *arrow.RunEndEncodedType:
		return t.Encoded()
	}
	return dt
}

// throughIPC writes an array to an IPC stream and reads it back.
func throughIPC(t testing.TB, arr arrow.Array) arrow.Array {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{arr}, int64(arr.Len()))
	defer rec.Release()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	r := must(ipc.NewReader(&buf))
	if !r.Next() {
		t.Fatalf("no batch: %v", r.Err())
	}
	r.Record().Retain()
	got := r.Record()
	t.Cleanup(got.Release)
	r.Release()
	return got.Column(0)
}

func TestB27OffsetsThatDoNotStartAtZero(t *testing.T) {
	bufs := []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf([]int32{5, 9, 15})), memory.NewBufferBytes([]byte("xxxxxAnnaBorisAyyy"))}
	d := array.NewData(arrow.BinaryTypes.String, 2, bufs, nil, 0, 0)
	defer d.Release()
	arr := released(t, array.MakeFromData(d))
	sameCells(t, "mask", logical(eval(t, "mask({col})", arr, Options{})), []any{"Xxxx", "XxxxxX"})
}

func TestB30DeclaredTypeIsProducedType(t *testing.T) {
	var types []arrow.DataType
	types = append(types, textTypes...)
	types = append(types, binaryTypes...)
	for _, w := range []int{1, 16, 32} {
		types = append(types, &arrow.FixedSizeBinaryType{ByteWidth: w})
	}
	for _, dt := range types[:len(types):len(types)] {
		types = append(types, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: dt},
			arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, dt))
	}
	types = append(types, arrow.Null)
	exprs := []string{
		"md5({col})", "sha1({col})", "sha({col})", "sha2({col}, 224)", "sha2({col}, 0)", "sha2({col}, 7)", "sha224({col})", "sha256({col})",
		"sha384({col})", "sha512({col})", "sha512_256({col})", "hex({col})", "hex({col}, 'lower')", "digest({col}, 'sha512')",
		"hmac({col}, 'k')", "hmac_raw({col}, 'k')", "mask_hmac({col})", "mask({col})", "mask_first_n({col}, 2)", "mask_last_n({col}, 2)",
		"mask_show_first_n({col}, 2)", "mask_show_last_n({col}, 2)", "mask_hash({col})", "mask_null({col})", "NULL", "'x'", "{col}",
		"md5(sha2(mask({col}), 256))", "mask(md5({col}))", "sha256(digest({col}, 'md5'))", "hex(hmac_raw(hex({col}), 'k'))",
	}
	keys := mask.NewKeyring()
	if err := keys.Add("k", []byte("a key of some length")); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, dt := range types {
		for _, expr := range exprs {
			f, err := Compile(expr, dt, Options{Keys: keys, Mem: checked(t)})
			if err != nil {
				if !errors.Is(err, mask.ErrType) {
					t.Errorf("%s of %s: %v", expr, dt, err)
				}
				refused++
				continue
			}
			for _, cells := range [][]any{{}, {nil}, {cellOf(dt), nil, cellOf(dt)}} {
				arr := released(t, encode(dt, cells))
				out := eval(t, expr, arr, Options{Keys: keys})
				if !arrow.TypeEqual(out.DataType(), f.OutType()) {
					t.Errorf("%s of %s: declared %s, produced %s", expr, dt, f.OutType(), out.DataType())
				}
				// The result is good input for the next function.
				next := "md5({col})"
				if kind := kinds[plainOf(out.DataType()).ID()]; kind != mask.Text && kind != mask.Binary {
					next = "mask({col})"
				}
				eval(t, next, out, Options{Keys: keys})
			}
		}
	}
	t.Logf("%d types x %d expressions, %d refused with ErrType", len(types), len(exprs), refused)
	if refused > len(types)*len(exprs)/2 {
		t.Errorf("%d combinations are refused", refused)
	}
	for _, dt := range []arrow.DataType{
		arrow.ListOf(arrow.BinaryTypes.String), arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String),
	} {
		if _, err := Compile("mask({col})", dt, Options{}); !errors.Is(err, mask.ErrType) || !strings.Contains(err.Error(), dt.String()) {
			t.Errorf("%s: %v", dt, err)
		}
	}
}

func cellOf(dt arrow.DataType) any {
	switch t := plainOf(dt).(type) {
	case *arrow.FixedSizeBinaryType:
		return strings.Repeat("f", t.ByteWidth)
	case *arrow.NullType:
		return nil
	}
	return "Value 1"
}

func encode(dt arrow.DataType, cells []any) arrow.Array {
	switch t := dt.(type) {
	case *arrow.NullType:
		return array.NewNull(len(cells))
	case *arrow.DictionaryType:
		a := dictOf(t.IndexType, t.ValueType, cells, nil)
		defer a.Release()
		ix, dict := a.Indices(), a.Dictionary()
		return array.NewDictionaryArray(t, ix, dict)
	case *arrow.RunEndEncodedType:
		return runsOf(t.RunEnds(), t.Encoded(), cells)
	}
	return build(heap, dt, cells)
}

func TestB31OutputBeyondItsOffsetsIsRefused(t *testing.T) {
	cells := []any{"a", nil, "b", "c"} // 3 digests of 64 letters
	growing := []any{strings.Repeat("a", 10), strings.Repeat("b", 5)}
	for _, tc := range []struct {
		expr  string
		cells []any
		size  int64
	}{
		{"sha256({col})", cells, 192},
		{"md5({col})", cells, 96},
		{"mask({col}, 'X', '€')", growing, 45}, // three bytes for one
	} {
		for _, dt := range textTypes {
			arr := released(t, build(heap, dt, tc.cells))
			for _, d := range []int64{-1, 0, 1} {
				counting := &counter{Allocator: heap}
				f := must(Compile(tc.expr, dt, Options{Limit: tc.size + d, Mem: counting}))
				out, err := f.Call(ctx, arr)
				if d >= 0 || isLarge(dt) {
					if err != nil {
						t.Errorf("%s of %s, limit %+d: %v", tc.expr, dt, d, err)
						continue
					}
					out.Release()
					continue
				}
				if !errors.Is(err, mask.ErrTooLarge) {
					t.Errorf("%s of %s, limit %+d: %v", tc.expr, dt, d, err)
				}
				if counting.largest >= tc.size {
					t.Errorf("%s of %s: %d bytes allocated before the refusal", tc.expr, dt, counting.largest)
				}
				// With Large the same works, and the type says so beforehand.
				large := eval(t, tc.expr, arr, Options{Limit: tc.size + d, Large: true})
				want := arrow.DataType(arrow.BinaryTypes.LargeString)
				if isView(dt) {
					want = dt
				}
				if !arrow.TypeEqual(large.DataType(), want) {
					t.Errorf("%s of %s with Large: %s", tc.expr, dt, large.DataType())
				}
				sameCells(t, "with Large", logical(large), logical(eval(t, tc.expr, arr, Options{})))
			}
		}
	}
}

// counter notes the largest allocation.
type counter struct {
	memory.Allocator
	largest int64
}

func (c *counter) Allocate(size int) []byte {
	c.largest = max(c.largest, int64(size))
	return c.Allocator.Allocate(size)
}

// A marker that lies everywhere around the rows (before and after a slice,
// under NULLs, in values that no row refers to, in the memory that the
// allocator hands out) shows up in no output buffer, capacity included.
func TestB37NothingButTheAnswerInOutputs(t *testing.T) {
	for _, dt := range append(append([]arrow.DataType{}, textTypes...), binaryTypes...) {
		for name, arr := range variants(t, dt, sample) {
			for _, expr := range []string{"sha256({col})", "mask({col})", "mask_null({col})", "digest({col}, 'sha1')", "mask_first_n({col}, 100)"} {
				mem := checked(t)
				out := released(t, must(Eval(ctx, expr, arr, Options{Mem: dirty{mem}})))
				for _, b := range buffersOf(out.Data()) {
					if len(b) > 64 { // what dirty keeps behind a slice is not ours to clear
						b = b[:len(b)-64]
					}
					if bytes.Contains(b, []byte("MARKER")) {
						t.Fatalf("%s of %s, %s: the marker is in the output", expr, dt, name)
					}
				}
			}
		}
	}
}

func TestB37ErrorsQuoteNoCell(t *testing.T) {
	for _, dt := range append(append([]arrow.DataType{}, textTypes...), arrow.BinaryTypes.Binary) {
		arr := released(t, build(heap, dt, []any{marker + "1", marker + "2"}))
		for _, expr := range []string{"md5({col})", "mask({col})", "hex({col})"} {
			_, err := Eval(ctx, expr, arr, Options{Limit: 3})
			if err == nil {
				continue // binary has no mask: NULL fits
			}
			if strings.Contains(err.Error(), "MARKER") {
				t.Errorf("%s: %v", expr, err)
			}
		}
	}
}
