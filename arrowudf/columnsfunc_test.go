package arrowudf

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// rowOf puts cells together as doc/functions.md writes it down; sorts has the
// letter of each.
func rowOf(sorts string, cells ...any) string {
	var b strings.Builder
	for i, c := range cells {
		if c == nil {
			b.WriteByte(0)
			continue
		}
		s := fmt.Sprint(c)
		b.WriteString(sorts[i:i+1] + string(binary.BigEndian.AppendUint64(nil, uint64(len(s)))) + s)
	}
	return b.String()
}

func hashOf(sorts string, cells ...any) any {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(rowOf(sorts, cells...))))
}

func fieldsOf(cols ...arrow.Array) []arrow.Field {
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: c.DataType(), Nullable: true}
	}
	return fields
}

// evalColumns compiles and calls expr over columns a, b, ... with results in a
// checked allocator.
func evalColumns(t testing.TB, expr string, o Options, cols ...arrow.Array) arrow.Array {
	t.Helper()
	if o.Mem == nil {
		o.Mem = checked(t)
	}
	f, err := CompileColumns(expr, fieldsOf(cols...), -1, o)
	if err != nil {
		t.Fatalf("compile %s: %v", expr, err)
	}
	out, err := f.Call(ctx, cols)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	t.Cleanup(out.Release)
	if !arrow.TypeEqual(out.DataType(), f.OutType()) || out.Len() != cols[f.Reads()[0]].Len() {
		t.Fatalf("%s: declared %s, produced %d rows of %s", expr, f.OutType(), out.Len(), out.DataType())
	}
	return out
}

// Known answers from a few lines of Python with hashlib.
func TestHashRowKnownAnswers(t *testing.T) {
	ids := released(t, build(heap, arrow.PrimitiveTypes.Int64, []any{1, -2}))
	mails := released(t, build(heap, arrow.BinaryTypes.String, []any{"ann@example.org", nil}))
	sameCells(t, "hash_row", logical(evalColumns(t, "hash_row({a}, {b})", Options{}, ids, mails)), []any{
		"59d84788d688983f9136f617b90b0a3d56d76606d5e72ba99b88700ce998742d",
		"4d20fc550f34f51d593d0b8377c91fc62a54ace700748a9a02cb7a12143acfc6",
	})
	names := released(t, build(heap, arrow.BinaryTypes.StringView, []any{"Zoë"}))
	born := released(t, build(heap, arrow.FixedWidthTypes.Date32, []any{"1969-12-31"}))
	sameCells(t, "SHA-512", logical(evalColumns(t, "hash_row({a}, {b}, 'sha512')", Options{}, names, born)), []any{
		"e1a1acaefaf41c14cbada3031701bfb8caf1ba4ad79248d7487b113891e40a87f2c2a7809fc9664a43fd1437df3d300d70ab5fe8dd38d8aea047925bad56df05",
	})
}

// Every encoding of every text and binary type beside every other encoding.
func TestColumnsInEveryLayout(t *testing.T) {
	n := len(sample)
	reversed := slices.Clone(sample)
	slices.Reverse(reversed)
	numbers := make([]any, n)
	for i := range numbers {
		if i%5 != 4 {
			numbers[i] = i/3 - 2
		}
	}
	ints := map[string]arrow.Array{
		"plain":      build(heap, arrow.PrimitiveTypes.Int32, numbers),
		"dictionary": dictOf(arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int64, numbers, nil),
		"run ends":   runsOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int16, numbers),
	}
	around := released(t, build(heap, arrow.PrimitiveTypes.Int32, append([]any{nil, 1}, append(slices.Clone(numbers), 77)...)))
	ints["sliced"] = array.NewSlice(around, 2, 2+int64(n))
	for _, a := range ints {
		released(t, a)
	}
	kinds := slices.Sorted(maps.Keys(ints))
	all := slices.Concat(textTypes, binaryTypes)
	for i, dt := range all {
		other := all[(i+2)%len(all)]
		left, right := variants(t, dt, sample), variants(t, other, reversed)
		names, others := slices.Sorted(maps.Keys(left)), slices.Sorted(maps.Keys(right))
		sorts := map[bool]string{true: "t", false: "b"}
		st, so := sorts[slices.Contains(textTypes, dt)], sorts[slices.Contains(textTypes, other)]
		want := make([]any, n)
		for i := range want {
			want[i] = hashOf(st+so+"i", sample[i], reversed[i], numbers[i])
		}
		for k, name := range names {
			for j := range others {
				if (j+k)%3 != 0 { // each meets a third of the others
					continue
				}
				ix := kinds[(j+k)%len(kinds)]
				what := fmt.Sprintf("%s %s, %s %s, %s integers", name, dt, others[j], other, ix)
				out := evalColumns(t, "hash_row({a}, {b}, {c})", Options{Threads: 1 + k%2}, left[name], right[others[j]], ints[ix])
				sameCells(t, what, logical(out), want)
				if id := out.DataType().ID(); (id == arrow.STRING_VIEW) != isView(dt) || !isView(dt) && (id == arrow.LARGE_STRING) != (isLarge(dt) || isLarge(other)) {
					t.Errorf("%s: the result is %s", what, out.DataType())
				}
			}
		}
	}
}

// Random columns against the row-at-a-time reference of package mask.
func TestColumnsEqualTheReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		n := rng.IntN(40)
		texts, bits := make([]any, n), make([]any, n)
		for i := range n {
			if rng.IntN(6) > 0 {
				texts[i] = sample[rng.IntN(len(sample))]
			}
			if rng.IntN(6) > 0 {
				bits[i] = []int{0, 1, 224, 256, 384, 512, -1}[rng.IntN(7)]
			}
		}
		var a, b arrow.Array
		dt := textTypes[rng.IntN(3)]
		switch rng.IntN(3) {
		case 0:
			a, b = build(heap, dt, texts), build(heap, arrow.PrimitiveTypes.Int64, bits)
		case 1:
			a, b = dictOf(arrow.PrimitiveTypes.Int8, dt, texts, nil), runsOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64, bits)
		default:
			a, b = runsOf(arrow.PrimitiveTypes.Int64, dt, texts), dictOf(arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int64, bits, nil)
		}
		released(t, a)
		released(t, b)
		expr := []string{"sha2({a}, {b})", "hash_row({b}, {a})", "row_bytes({a}, {b})", "mask(sha2({a}, {b}))", "hash_row(mask({a}), {a}, {b}, 'sha384')"}[rng.IntN(5)]
		p := must(mask.CompileColumns(must(mask.ParseColumns(expr)), []mask.Column{
			{Name: "a", Type: mask.Type{Kind: mask.Text}}, {Name: "b", Type: mask.Type{Kind: mask.Int64}},
		}, mask.Options{}))
		want := make([]any, n)
		for i := range n {
			row := []mask.Value{{Kind: mask.Text, Null: texts[i] == nil}, {Kind: mask.Int64, Null: bits[i] == nil}}
			if s, ok := texts[i].(string); ok {
				row[0].Bytes = []byte(s)
			}
			if v, ok := bits[i].(int); ok {
				row[1].Int = int64(v)
			}
			if v := must(p.EvalCells(row)); !v.Null {
				want[i] = string(v.Bytes)
			}
		}
		sameCells(t, fmt.Sprintf("%s of %s and %s", expr, a.DataType(), b.DataType()), logical(evalColumns(t, expr, Options{}, a, b)), want)
	}
}

func TestColumnsResultTypes(t *testing.T) {
	str, large, view := arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView
	fixed, none := &arrow.FixedSizeBinaryType{ByteWidth: 4}, &arrow.FixedSizeBinaryType{}
	i32 := arrow.PrimitiveTypes.Int32
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}
	for _, tc := range []struct {
		expr string
		a, b arrow.DataType
		o    Options
		want arrow.DataType
	}{
		{"hash_row({a}, {b})", str, i32, Options{}, str},
		{"hash_row({a}, {b})", i32, str, Options{}, str},
		{"hash_row({a}, {b})", i32, large, Options{}, large},
		{"hash_row({b}, {a})", i32, view, Options{}, view},
		{"hash_row({a}, {b})", str, i32, Options{Large: true}, large},
		{"hash_row({a}, {b})", dict, newTag(i32), Options{}, str},
		{"row_bytes({a}, {b})", str, i32, Options{}, arrow.BinaryTypes.Binary},
		{"row_bytes({a}, {b})", view, i32, Options{}, arrow.BinaryTypes.BinaryView},
		{"row_bytes({a}, {b})", fixed, none, Options{}, arrow.BinaryTypes.Binary},
		{"row_bytes({a}, {b})", none, fixed, Options{}, arrow.BinaryTypes.Binary},
		{"row_bytes({a})", fixed, nil, Options{}, arrow.BinaryTypes.Binary},
		{"digest(row_bytes({a}, {b}), 'sha256')", str, str, Options{}, &arrow.FixedSizeBinaryType{ByteWidth: 32}},
		{"mask({a})", dict, i32, Options{}, dict},
		{"mask({b})", str, newTag(i32), Options{}, i32},
		{"hash_row({b}, {b})", str, dict, Options{}, dict},
	} {
		fields := []arrow.Field{{Name: "a", Type: tc.a}, {Name: "b", Type: tc.b}}
		f, err := CompileColumns(tc.expr, fields, -1, tc.o)
		if err != nil {
			t.Errorf("%s of %v and %v: %v", tc.expr, tc.a, tc.b, err)
		} else if !arrow.TypeEqual(f.OutType(), tc.want) {
			t.Errorf("%s of %v and %v: %s, want %s", tc.expr, tc.a, tc.b, f.OutType(), tc.want)
		}
	}
	// What was declared is what comes.
	rows := released(t, build(heap, fixed, []any{"wxyz", nil}))
	empty := released(t, array.MakeFromData(data(none, 2, 0, []*memory.Buffer{nil, memory.NewBufferBytes(nil)})))
	sameCells(t, "one fixed column", logical(evalColumns(t, "row_bytes({a})", Options{}, rows)), []any{rowOf("b", "wxyz"), rowOf("b", nil)})
	sameCells(t, "fixed columns", logical(evalColumns(t, "row_bytes({b}, {a})", Options{}, rows, empty)), []any{rowOf("bb", "", "wxyz"), rowOf("bb", "", nil)})
}

func TestColumnsTarget(t *testing.T) {
	id := released(t, build(heap, arrow.PrimitiveTypes.Int32, []any{7, nil}))
	mail := released(t, dictOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String, []any{"a@b", nil}, nil))
	fields := []arrow.Field{{Name: "id", Type: id.DataType()}, {Name: "mail", Type: mail.DataType()}, {Name: "col", Type: arrow.ListOf(arrow.Null)}}
	cols := []arrow.Array{id, mail, nil}
	for _, tc := range []struct {
		expr   string
		target int
		reads  []int
		want   []any
	}{
		{"hash_row({col}, {mail})", 0, []int{0, 1}, []any{hashOf("it", 7, "a@b"), hashOf("it", nil, nil)}},
		{"hash_row({mail}, {col}, {id})", 0, []int{1, 0}, []any{hashOf("tii", "a@b", 7, 7), hashOf("tii", nil, nil, nil)}},
		{"hash_row({id}, {col})", 0, []int{0}, []any{hashOf("ii", 7, 7), hashOf("ii", nil, nil)}},
		{"sha256({mail})", 0, []int{1}, []any{fmt.Sprintf("%x", sha256.Sum256([]byte("a@b"))), nil}},
		{"mask({col})", 0, []int{0}, []any{int64(1), nil}},
		{"NULL", 0, []int{0}, []any{nil, nil}},
		{"NULL", 1, []int{1}, []any{nil, nil}},
		{"'x'", 1, []int{1}, []any{"x", "x"}},
	} {
		f, err := CompileColumns(tc.expr, fields, tc.target, Options{Mem: checked(t)})
		if err != nil {
			t.Errorf("%s: %v", tc.expr, err)
			continue
		}
		if !slices.Equal(f.Reads(), tc.reads) || f.Expr() != tc.expr || (f.One() != nil) != (len(tc.reads) == 1) {
			t.Errorf("%s reads %v", f.Expr(), f.Reads())
		}
		out := must(f.Call(ctx, cols))
		sameCells(t, tc.expr, logical(out), tc.want)
		out.Release()
	}
	f := must(CompileColumns("hmac(row_bytes({a}, {b}), 'k')", []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "b", Type: arrow.PrimitiveTypes.Int8}}, -1, Options{Keys: oneKey(t)}))
	if uses := f.Uses(); len(uses) != 1 || !uses[0].Keyed || f.Nullable() || len(f.Notes()) == 0 {
		t.Errorf("uses %v, nullable %v, notes %v", uses, f.Nullable(), f.Notes())
	}
}

func oneKey(t *testing.T) *mask.Keyring {
	t.Helper()
	keys := mask.NewKeyring()
	if err := keys.Add("k", []byte(strings.Repeat("k", 32))); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestColumnsRefusals(t *testing.T) {
	str := arrow.BinaryTypes.String
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32}, {Name: "mail", Type: str}, {Name: "twin", Type: str}, {Name: "twin", Type: str},
		{Name: "list", Type: arrow.ListOf(str)}, {Name: "cost", Type: arrow.PrimitiveTypes.Float64}, {Name: "bad", Type: &arrow.DictionaryType{IndexType: str, ValueType: str}}, {Name: "none"}}
	for _, tc := range []struct {
		expr   string
		target int
		o      Options
		want   error
		says   string
	}{
		{"hash_row({id}, {emial})", -1, Options{}, mask.ErrColumn, `{emial}: no such column: the columns are "id", "mail", "twin"`},
		{"hash_row({id}, {Mail})", -1, Options{}, mask.ErrColumn, "{Mail}"},
		{"hash_row({col}, {id})", -1, Options{}, mask.ErrColumn, "{col}"},
		{"hash_row({id}, {twin})", 0, Options{}, mask.ErrColumn, "{twin}: no such column: there are several"},
		{"hash_row({id}, {list})", 0, Options{}, mask.ErrType, "{list}"},
		{"hash_row({id}, {cost})", 0, Options{}, mask.ErrType, "argument 2"},
		{"hash_row({id}, {bad})", 0, Options{}, mask.ErrType, "{bad}"},
		{"hash_row({id}, {none})", 0, Options{}, mask.ErrType, "{none}"},
		{"hash_row({id}, {mail}", 0, Options{}, mask.ErrSyntax, ""},
		{"nosuch({id}, {mail})", 0, Options{}, mask.ErrUnknownFunction, ""},
		{"hash_row({id}, {mail}, 'crc')", 0, Options{}, nil, "crc"},
		{"mask({mail}, {id})", 0, Options{}, mask.ErrArgument, "{id}"},
		{"sha2({mail}, {id})", 0, Options{Dialect: "nosuch"}, mask.ErrDialect, ""},
		{"hmac(row_bytes({id}, {mail}), 'k')", 0, Options{}, mask.ErrKey, ""},
		{"NULL", -1, Options{}, mask.ErrArgument, "no column"},
		{"NULL", 4, Options{}, mask.ErrType, ""},
		{"{id}", 9, Options{}, mask.ErrArgument, ""},
	} {
		_, err := CompileColumns(tc.expr, fields, tc.target, tc.o)
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.expr, err)
		}
	}
	var many []arrow.Field
	for i := range 60 {
		many = append(many, arrow.Field{Name: fmt.Sprint("c", i), Type: str})
	}
	if _, err := CompileColumns("{x}", many, -1, Options{}); !errors.Is(err, mask.ErrColumn) || !strings.HasSuffix(err.Error(), `"c49", and 10 more`) {
		t.Errorf("many columns: %v", err)
	}
}

// Whatever is wrong with a column the error names it, and nothing is left
// allocated.
func TestColumnsCallErrors(t *testing.T) {
	str, i32 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	a := released(t, build(heap, i32, []any{1, 2, 3}))
	b := released(t, build(heap, str, []any{"SECRET", "x", nil}))
	short := released(t, build(heap, str, []any{"SECRET"}))
	f := must(CompileColumns("hash_row({a}, {b})", fieldsOf(a, b), -1, Options{Mem: checked(t)}))
	for name, tc := range map[string]struct {
		cols []arrow.Array
		says string
	}{
		"too few":        {[]arrow.Array{a}, "1 columns for a function of 2"},
		"one is missing": {[]arrow.Array{a, nil}, "{b}"},
		"another length": {[]arrow.Array{a, short}, "{b}: malformed array: 1 rows, {a} has 3"},
		"another type":   {[]arrow.Array{b, b}, "{a}"},
	} {
		if _, err := f.Call(ctx, tc.cols); !errors.Is(err, ErrArray) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Encodings that refer to nothing, and offsets that go back.
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}
	index := memory.NewBufferBytes([]byte{0, 3, 0})
	d := array.NewDataWithDictionary(dt, 3, []*memory.Buffer{nil, index}, 0, 0, b.Data().(*array.Data))
	bare := array.NewData(dt, 3, []*memory.Buffer{nil, index}, nil, 0, 0)
	ree := runsOf(arrow.PrimitiveTypes.Int16, str, []any{"SECRET", "x"}).Data()
	longer := array.NewData(ree.DataType(), 3, ree.Buffers(), ree.Children(), 0, 0)
	childless := array.NewData(ree.DataType(), 3, ree.Buffers(), nil, 0, 0)
	back := data(str, 3, 0, []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf([]int32{0, 5, 1, 6})), memory.NewBufferBytes([]byte("SECRET"))})
	for name, bad := range map[string]arrow.ArrayData{"index": d, "no dictionary": bare, "runs": longer, "no runs": childless, "offsets": back} {
		f := must(CompileColumns("hash_row({a}, {b})", []arrow.Field{{Name: "a", Type: i32}, {Name: "b", Type: bad.DataType()}}, -1, Options{Mem: checked(t)}))
		_, err := f.CallData(ctx, []arrow.ArrayData{a.Data(), bad})
		if err == nil || errors.Is(err, mask.ErrInternal) || !strings.Contains(err.Error(), "{b}") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f := must(CompileColumns("hash_row({a}, {b})", fieldsOf(a, b), -1, Options{Mem: checked(t), Limit: 100})); true {
		if _, err := f.Call(ctx, []arrow.Array{a, b}); !errors.Is(err, mask.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
	}
}

// As TestFailureAtEveryStepFreesEverything, over several columns.
func TestColumnsFailureAtEveryStepFreesEverything(t *testing.T) {
	cells := slices.Concat(slices.Repeat([][]any{sample}, 60)...)
	for _, a := range []arrow.Array{
		build(heap, arrow.BinaryTypes.String, cells), build(heap, arrow.BinaryTypes.StringView, cells), dictOf(arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.StringView, cells, nil),
	} {
		released(t, a)
		b := released(t, runsOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, cells))
		cols := []arrow.Array{a, b}
		steps := 0
		for done := false; !done; steps++ {
			f := must(CompileColumns("mask(hash_row({a}, {b}))", fieldsOf(cols...), -1, Options{Mem: &failsAt{checked(t), steps}}))
			out, err := f.Call(ctx, cols)
			if done = err == nil; done {
				out.Release()
			} else if !errors.Is(err, mask.ErrInternal) || strings.Contains(err.Error(), "MARKER") {
				t.Fatalf("%s, allocation %d: %v", a.DataType(), steps, err)
			}
		}
		if steps < 2 {
			t.Errorf("%s: no allocation was made to fail", a.DataType())
		}
		for left, done := int64(0), false; !done; left++ {
			f := must(CompileColumns("mask(hash_row({a}, {b}))", fieldsOf(cols...), -1, Options{Mem: checked(t)}))
			out, err := f.Call(&countdown{Context: ctx, left: left}, cols)
			if done = err == nil; done {
				out.Release()
			} else if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, cancelled at %d: %v", a.DataType(), left, err)
			}
		}
	}
}

// Functions of a registry over several columns, cut into chunks in any way.
func TestRegistryColumns(t *testing.T) {
	c := inRegistry(t, ctx)
	texts := []any{"abc", nil, "", "d", "e", "abc", "g"}
	bits := []any{256, 256, 512, 224, 1, nil, 0}
	want := []any{hashOf("ti", "abc", 256)}
	for i := 1; i < len(texts); i++ {
		want = append(want, hashOf("ti", texts[i], bits[i]))
	}
	digests := []any{fmt.Sprintf("%x", sha256.Sum256([]byte("abc"))), nil, fmt.Sprintf("%x", sha512.Sum512(nil)),
		fmt.Sprintf("%x", sha256.Sum224([]byte("d"))), nil, nil, fmt.Sprintf("%x", sha256.Sum256([]byte("g")))}
	a := released(t, dictOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String, texts, nil))
	b := released(t, build(heap, arrow.PrimitiveTypes.Int16, bits))
	cut := func(arr arrow.Array, at ...int64) compute.Datum {
		var chunks []arrow.Array
		for i := range at[1:] {
			chunks = append(chunks, released(t, array.NewSlice(arr, at[i], at[i+1])))
		}
		whole := released(t, arrow.NewChunked(arr.DataType(), chunks))
		return compute.NewDatumWithoutOwning(whole)
	}
	array1, array2 := compute.NewDatumWithoutOwning(a), compute.NewDatumWithoutOwning(b)
	for name, tc := range map[string]struct {
		args   []compute.Datum
		chunks []int
	}{
		"arrays":              {[]compute.Datum{array1, array2}, nil},
		"chunks of one":       {[]compute.Datum{cut(a, 0, 2, 2, 7), array2}, []int{2, 5}},
		"chunks of the other": {[]compute.Datum{array1, cut(b, 0, 0, 1, 3, 7, 7)}, []int{1, 2, 4}},
		"chunks of both":      {[]compute.Datum{cut(a, 0, 3, 7), cut(b, 0, 2, 5, 7)}, []int{2, 1, 2, 2}},
	} {
		for fn, cells := range map[string][]any{"hash_row": want, "sha2": digests} {
			out, err := compute.CallFunction(c, fn, nil, tc.args...)
			if err != nil {
				t.Errorf("%s, %s: %v", fn, name, err)
				continue
			}
			var got []any
			var lens []int
			for _, chunk := range out.(compute.ArrayLikeDatum).Chunks() {
				got, lens = append(got, logical(chunk)...), append(lens, chunk.Len())
				if tc.chunks == nil {
					chunk.Release()
				}
			}
			sameCells(t, fn+", "+name, got, cells)
			if tc.chunks != nil && !slices.Equal(lens, tc.chunks) || (out.Kind() == compute.KindChunked) != (tc.chunks != nil) {
				t.Errorf("%s, %s: chunks of %v", fn, name, lens)
			}
			out.Release()
		}
	}
	sum := sha512.Sum512([]byte(rowOf("it", 256, "abc")))
	for name, out := range map[string]arrow.Array{
		"options": callArray(t, c, "hash_row", &Args{"'sha512'"}, b, array1),
		"scalar":  callArray(t, c, "hash_row", nil, b, array1, compute.NewDatum("sha512")),
	} {
		if got := cell(out, 0); got != fmt.Sprintf("%x", sum) {
			t.Errorf("%s: %v", name, got)
		}
	}
	sameCells(t, "row_bytes", logical(callArray(t, c, "row_bytes", nil, b, array2, array1))[:1], []any{rowOf("iit", 256, 256, "abc")})
	// No chunks at all, and columns of different lengths.
	out := must(compute.CallFunction(c, "hash_row", nil, cut(a, 0), cut(b, 0, 0)))
	defer out.Release()
	if out.Len() != 0 || out.(*compute.ChunkedDatum).Type().ID() != arrow.STRING {
		t.Errorf("no rows: %v", out)
	}
	if _, err := compute.CallFunction(c, "hash_row", nil, array1, cut(b, 0, 3)); !errors.Is(err, ErrArray) || !strings.Contains(err.Error(), "{argument 2}") {
		t.Errorf("another length: %v", err)
	}
	big := WithOptions(c, Options{Limit: 200}) // the second chunk does not fit
	if _, err := compute.CallFunction(big, "hash_row", nil, cut(a, 0, 2, 7), array2); !errors.Is(err, mask.ErrTooLarge) || !strings.Contains(err.Error(), "chunk 1") {
		t.Errorf("a chunk too large: %v", err)
	}
}
