package arrowudf

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/arrowmask/arrowmask/mask"
)

func TestCompileErrors(t *testing.T) {
	str := arrow.BinaryTypes.String
	for _, tc := range []struct {
		expr string
		in   arrow.DataType
		o    Options
		want error
	}{
		{"mask(", str, Options{}, mask.ErrSyntax},
		{"nosuch({col})", str, Options{}, mask.ErrUnknownFunction},
		{"mask({col})", str, Options{Dialect: "nosuch"}, mask.ErrDialect},
		{"hmac({col}, 'k')", str, Options{}, mask.ErrKey},
		{"md5({col})", arrow.PrimitiveTypes.Int32, Options{}, mask.ErrType},
		{"mask({col})", nil, Options{}, mask.ErrType},
		{"mask({col})", arrow.ListOf(str), Options{}, mask.ErrType},
		{"mask({col})", &arrow.DictionaryType{IndexType: str, ValueType: str}, Options{}, mask.ErrType},
		{"mask({col})", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.ListOf(str)}, Options{}, mask.ErrType},
		{"mask({col})", newTag(arrow.ListOf(str)), Options{}, mask.ErrType},
	} {
		if _, err := Compile(tc.expr, tc.in, tc.o); !errors.Is(err, tc.want) {
			t.Errorf("%s of %v: %v", tc.expr, tc.in, err)
		}
	}
	if _, err := Compile("md5({col})", str, Options{Backend: "nosuch"}); err == nil {
		t.Error("unknown backend: no error")
	}
}

func TestCallRefusesAnotherType(t *testing.T) {
	f := must(Compile("mask({col})", arrow.BinaryTypes.String, Options{Mem: checked(t)}))
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.PrimitiveTypes.Int32} {
		arr := released(t, build(heap, dt, nil))
		if _, err := f.Call(ctx, arr); !errors.Is(err, ErrArray) {
			t.Errorf("%s: %v", dt, err)
		}
	}
}

func TestReportsOfAFunc(t *testing.T) {
	f := must(Compile("sha2({col}, 256)", arrow.BinaryTypes.StringView, Options{Backend: "std"}))
	if f.Expr() != "sha2({col}, 256)" || !arrow.TypeEqual(f.InType(), arrow.BinaryTypes.StringView) ||
		!arrow.TypeEqual(f.OutType(), arrow.BinaryTypes.StringView) || f.Nullable() {
		t.Errorf("%s: %s -> %s, nullable %v", f.Expr(), f.InType(), f.OutType(), f.Nullable())
	}
	if uses := f.Uses(); len(uses) != 1 || uses[0].Alg != "sha256" || uses[0].Backend != "std" {
		t.Errorf("uses %+v", uses)
	}
	if f := must(Compile("mask_hash({col})", arrow.PrimitiveTypes.Int32, Options{})); !f.Nullable() || len(f.Notes()) == 0 {
		t.Errorf("mask_hash of integers: nullable %v, notes %q", f.Nullable(), f.Notes())
	}
}

func TestDirectFunctions(t *testing.T) {
	keys := mask.NewKeyring()
	if err := keys.Add("k", []byte("Jefe Jefe Jefe Jefe")); err != nil {
		t.Fatal(err)
	}
	arr := released(t, build(heap, arrow.BinaryTypes.String, []any{"Abc-12", nil}))
	o := Options{Keys: keys, Mem: checked(t)}
	for expr, call := range map[string]func() (arrow.Array, error){
		"md5({col})":                  func() (arrow.Array, error) { return MD5(ctx, arr, o) },
		"sha1({col})":                 func() (arrow.Array, error) { return SHA1(ctx, arr, o) },
		"sha2({col}, 384)":            func() (arrow.Array, error) { return SHA2(ctx, arr, 384, o) },
		"sha256({col})":               func() (arrow.Array, error) { return SHA256(ctx, arr, o) },
		"sha512({col})":               func() (arrow.Array, error) { return SHA512(ctx, arr, o) },
		"digest({col}, 'sha224')":     func() (arrow.Array, error) { return Digest(ctx, arr, "sha224", o) },
		"hmac({col}, 'k')":            func() (arrow.Array, error) { return HMAC(ctx, arr, "k", o) },
		"hex({col})":                  func() (arrow.Array, error) { return Hex(ctx, arr, o) },
		"mask({col})":                 func() (arrow.Array, error) { return Mask(ctx, arr, o) },
		"mask_first_n({col}, 2)":      func() (arrow.Array, error) { return MaskFirstN(ctx, arr, 2, o) },
		"mask_last_n({col}, 2)":       func() (arrow.Array, error) { return MaskLastN(ctx, arr, 2, o) },
		"mask_show_first_n({col}, 2)": func() (arrow.Array, error) { return MaskShowFirstN(ctx, arr, 2, o) },
		"mask_show_last_n({col}, 2)":  func() (arrow.Array, error) { return MaskShowLastN(ctx, arr, 2, o) },
		"mask_hash({col})":            func() (arrow.Array, error) { return MaskHash(ctx, arr, o) },
		"mask_null({col})":            func() (arrow.Array, error) { return MaskNull(ctx, arr, o) },
	} {
		got := released(t, must(call()))
		sameCells(t, expr, logical(got), logical(eval(t, expr, arr, Options{Keys: keys})))
	}
	if got := released(t, must(MaskShowLastN(ctx, arr, 2, o))); cell(got, 0) != "Xxx-12" {
		t.Errorf("mask_show_last_n: %v", cell(got, 0))
	}
}

// A scalar answers as an array of one row.
func TestScalars(t *testing.T) {
	str := arrow.BinaryTypes.String
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}
	dictValues := released(t, build(heap, str, []any{"unused", "Zoe"}))
	tag := newTag(str)
	ree := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, str)
	fsb := &arrow.FixedSizeBinaryType{ByteWidth: 2}
	for _, tc := range []struct {
		in   scalar.Scalar
		expr string
		want any
		out  arrow.DataType
	}{
		{scalar.NewStringScalar("Zoe"), "mask({col})", "Xxx", str},
		{scalar.NewLargeStringScalar("Zoe"), "mask({col})", "Xxx", arrow.BinaryTypes.LargeString},
		{scalar.NewBinaryScalar(memory.NewBufferBytes([]byte("101")), arrow.BinaryTypes.Binary), "md5({col})", "38b3eff8baf56627478ec76a704e9b52", str},
		{scalar.NewFixedSizeBinaryScalar(memory.NewBufferBytes([]byte("ab")), fsb), "hex({col})", "6162", str},
		{scalar.NewInt32Scalar(-1207), "mask({col})", int64(-1111), arrow.PrimitiveTypes.Int32},
		{scalar.NewBooleanScalar(true), "mask({col})", nil, arrow.FixedWidthTypes.Boolean},
		{scalar.MakeNullScalar(str), "md5({col})", nil, str},
		{scalar.MakeNullScalar(arrow.BinaryTypes.LargeBinary), "md5({col})", nil, arrow.BinaryTypes.LargeString},
		{scalar.MakeNullScalar(fsb), "md5({col})", nil, str},
		{scalar.MakeNullScalar(arrow.PrimitiveTypes.Int64), "mask({col})", nil, arrow.PrimitiveTypes.Int64},
		{scalar.ScalarNull, "mask({col})", nil, arrow.Null},
		{scalar.NewDictScalar(scalar.NewInt8Scalar(1), dictValues), "mask({col})", "Xxx", dict},
		{scalar.NewNullDictScalar(dict), "mask({col})", nil, dict},
		{scalar.NewExtensionScalar(scalar.NewStringScalar("Zoe"), tag), "mask({col})", "Xxx", str},
		{scalar.MakeNullScalar(tag), "mask({col})", nil, str},
		{scalar.NewRunEndEncodedScalar(scalar.NewStringScalar("Zoe"), ree), "mask({col})", "Xxx", ree},
	} {
		f, err := Compile(tc.expr, tc.in.DataType(), Options{})
		if err != nil {
			t.Errorf("%s: %v", tc.in.DataType(), err)
			continue
		}
		out, err := f.CallScalar(ctx, tc.in)
		if err != nil {
			t.Errorf("%s of %s: %v", tc.expr, tc.in.DataType(), err)
			continue
		}
		if !arrow.TypeEqual(out.DataType(), tc.out) {
			t.Errorf("%s of %s: %s", tc.expr, tc.in.DataType(), out.DataType())
		}
		if got := scalarCell(t, out); got != tc.want {
			t.Errorf("%s of %s: %v, want %v", tc.expr, tc.in.DataType(), got, tc.want)
		}
	}
	f := must(Compile("mask({col})", str, Options{}))
	if _, err := f.CallScalar(ctx, scalar.NewInt32Scalar(1)); !errors.Is(err, ErrArray) {
		t.Errorf("scalar of another type: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.CallScalar(cancelled, scalar.NewStringScalar("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func scalarCell(t *testing.T, s scalar.Scalar) any {
	if d, ok := s.(*scalar.Dictionary); ok && s.IsValid() {
		s = must(d.GetEncodedValue())
	}
	if r, ok := s.(*scalar.RunEndEncoded); ok {
		s = r.Value
	}
	if !s.IsValid() {
		return nil
	}
	switch s := s.(type) {
	case scalar.BinaryScalar:
		return string(s.Data())
	case *scalar.Int32:
		return int64(s.Value)
	}
	t.Fatalf("scalar of %s", s.DataType())
	return nil
}

// Func hands out what an array.Array user expects of reference counts.
func TestResultOutlivesEverything(t *testing.T) {
	mem := checked(t)
	arr := build(heap, arrow.BinaryTypes.StringView, sample)
	out := must(MD5(ctx, arr, Options{Mem: mem}))
	arr.Release()
	slice := array.NewSlice(out, 2, 5)
	out.Release()
	sameCells(t, "slice of the result", logical(slice), apply(oracles["md5({col})"], sample)[2:5])
	slice.Release()
}

// TestBooleanLiteral: TRUE and FALSE take the place of every row.
func TestBooleanLiteral(t *testing.T) {
	for _, rows := range []int{0, 1, 8, 1003} {
		for expr, want := range map[string]bool{"TRUE": true, "false": false} {
			out, ok := eval(t, expr, released(t, build(heap, arrow.FixedWidthTypes.Boolean, make([]any, rows))), Options{}).(*array.Boolean)
			if !ok || out.NullN() != 0 {
				t.Fatalf("%s is %v", expr, out)
			}
			for i := range rows {
				if out.Value(i) != want {
					t.Fatalf("%s, row %d of %d: %v", expr, i, rows, out.Value(i))
				}
			}
		}
	}
}
