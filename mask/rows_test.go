package mask

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func compileColumns(t *testing.T, src string, cols []Column, o Options) (*Program, error) {
	t.Helper()
	e, err := ParseColumns(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return CompileColumns(e, cols, o)
}

// TestRowBytes pins the encoding of a row.
func TestRowBytes(t *testing.T) {
	cols := []Column{{"name", text}, {"raw", bin}, {"n", Type{Kind: Int16}}, {"u", Type{Kind: Uint64}}, {"born", Type{Kind: Date32}}, {"at", Type{Kind: Date64}}}
	p, err := compileColumns(t, "row_bytes({name}, {raw}, {n}, {u}, {born}, {at}, {name})", cols, Options{})
	if err != nil || p.Out() != bin || p.Nullable() {
		t.Fatal(err)
	}
	row := []Value{str("é"), {Kind: Binary, Bytes: []byte{0xff}}, {Kind: Int16, Int: -5}, {Kind: Uint64, Int: -1}, {Kind: Date32, Int: -1}, {Kind: Date64, Null: true}}
	want := "74" + "0000000000000002" + "c3a9" + "62" + "0000000000000001" + "ff" + "69" + "0000000000000002" + "2d35" +
		"69" + "0000000000000014" + hex.EncodeToString([]byte("18446744073709551615")) + "64" + "0000000000000002" + "2d31" + "00" + "74" + "0000000000000002" + "c3a9"
	got, err := p.EvalCells(row)
	if err != nil || hex.EncodeToString(got.Bytes) != want {
		t.Errorf("%x, want %s (%v)", got.Bytes, want, err)
	}
	var in []*Vector
	for i, c := range cols {
		in = append(in, build(rand.New(rand.NewPCG(1, 1)), c.Type, layoutOf(c.Type), []Value{row[i]}))
	}
	out, err := p.EvalColumns(context.Background(), in, EvalOptions{})
	if err != nil || !bytes.Equal(out.Data, got.Bytes) {
		t.Errorf("column %x, %v", out.Data, err)
	}
	h, err := compileColumns(t, "hash_row({name}, {raw}, {n}, {u}, {born}, {at}, {name})", cols, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := h.EvalCells(row); string(got.Bytes) != fmt.Sprintf("%x", sha256.Sum256(out.Data)) {
		t.Errorf("hash_row is %s", got.spell())
	}
}

// TestRowsDiffer: whatever moves between columns, the hash is another one.
func TestRowsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, row := range [][]Value{
		{str("ab"), str("c")}, {str("a"), str("bc")}, {str(""), str("abc")}, {str("abc"), str("")}, {str("abc"), null}, {null, str("abc")}, {null, null}, {str(""), null}, {null, str("")}, {str(""), str("")},
		{str("abc")}, {null}, {str("")}, {str("\x00")}, {str("abc"), null, null}, {str("ab"), str("c"), str("")},
		{{Kind: Binary, Bytes: []byte("ab")}, str("c")}, {{Kind: Int32, Int: 5}}, {str("5")}, {{Kind: Date32, Int: 5}}, {{Kind: Date64, Int: 5}},
		{str("t\x00\x00\x00\x00\x00\x00\x00\x01c")},
	} {
		var cols []Column
		var args, spelled []string
		for i, c := range row {
			name := fmt.Sprintf("c%d", i)
			cols, args, spelled = append(cols, Column{name, Type{Kind: c.Kind}}), append(args, "{"+name+"}"), append(spelled, c.Kind.String()+" "+c.spell())
		}
		p, err := compileColumns(t, "hash_row("+strings.Join(args, ", ")+")", cols, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.EvalCells(row)
		if err != nil || len(got.Bytes) != 64 {
			t.Fatal(got.spell(), err)
		}
		if other, ok := seen[string(got.Bytes)]; ok {
			t.Errorf("%v and %s have one hash", spelled, other)
		}
		seen[string(got.Bytes)] = fmt.Sprint(spelled)
	}
	// The width of an integer does not matter.
	narrow, _ := one(t, "hash_row({col})", Value{Kind: Int8, Int: -5}), 0
	wide := one(t, "hash_row({col})", Value{Kind: Int64, Int: -5})
	if !sameCell(narrow, wide) {
		t.Errorf("%s and %s", narrow.spell(), wide.spell())
	}
}

// TestColumnsEqualReference: programs over several random columns.
func TestColumnsEqualReference(t *testing.T) {
	rng := testRand(t)
	for range 300 {
		cols := []Column{{"a", text}, {"b", bin}, {"n", plainTypes[rng.IntN(8)]}, {"d", Type{Kind: Date32}}, {"e", Type{Kind: Binary, Width: 5}}, {"bits", plainTypes[rng.IntN(8)]}}
		src := []string{
			"hash_row({a}, {n})", "hash_row({b}, {a}, {d}, {e}, 'sha512')", "row_bytes({n})", "hash_row(mask({a}), sha2({b}, 256), {d})", "hmac(row_bytes({a}, {n}), 'k1')",
			"sha2({a}, {bits})", "sha2({b}, {bits})", "sha2(row_bytes({a}, {b}), {bits})", "mask(sha2({a}, {bits}))", "mask({a})", "hash_row({a}, {a})",
		}[rng.IntN(11)]
		d := []string{"safe", "spark", "safe", "impala"}[rng.IntN(4)]
		p, err := compileColumns(t, src, cols, Options{Dialect: d, Keys: testKeys(t)})
		if errors.Is(err, ErrType) && d == "impala" {
			continue
		}
		if err != nil {
			t.Fatalf("%s in %s: %v", src, d, err)
		}
		rows := []int{0, 1, 7, 50, chunkRows + 9}[rng.IntN(5)]
		var in []*Vector
		cells2 := make([][]Value, rows)
		for _, c := range cols {
			column := randomCells(rng, c.Type, rows)
			if c.Name == "bits" && kinds[c.Type.Kind].size > 1 {
				for i := range column {
					column[i].Int = []int64{0, 224, 256, 384, 512, 1, 257}[rng.IntN(7)]
				}
			}
			for i := range column {
				cells2[i] = append(cells2[i], column[i])
			}
			layout := layoutOf(c.Type)
			if layout == LayoutOffsets32 {
				layout = byteLayouts[rng.IntN(3)]
			}
			in = append(in, build(rng, c.Type, layout, column))
		}
		want := make([]Value, rows)
		failing := -1
		for i, row := range cells2 {
			if want[i], err = p.EvalCells(row); errors.Is(err, ErrValue) && failing < 0 {
				failing = i
			}
		}
		out, err := p.EvalColumns(context.Background(), in, EvalOptions{Threads: 1 + rng.IntN(3)})
		if failing >= 0 {
			if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), fmt.Sprintf("row %d", failing)) {
				t.Fatalf("%s in %s: error %v, row %d fails", src, d, err, failing)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s in %s: %v", src, d, err)
		}
		if out.Type != p.Out() {
			t.Fatalf("%s: %s, declared %s", src, out.Type, p.Out())
		}
		for i, got := range cells(t, out) {
			if !sameCell(got, want[i]) {
				t.Fatalf("%s in %s, row %d: column %s, reference %s", src, d, i, got.spell(), want[i].spell())
			}
			fed := slices.ContainsFunc(cells2[i], func(v Value) bool { return v.Null })
			if got.Null && !p.Nullable() && (!fed || strings.HasPrefix(src, "hash_row")) {
				t.Fatalf("%s in %s, row %d: NULL, declared not nullable", src, d, i)
			}
		}
	}
}

// TestB11LengthAsColumn: every length of sha2 as a column of every width.
func TestB11LengthAsColumn(t *testing.T) {
	lengths := []int64{0, 1, 224, 256, 384, 512, -1}
	chars := []int{64, 0, 56, 64, 96, 128, 0}
	for _, k := range []Kind{Int16, Int32, Int64} {
		cols := []Column{{"v", text}, {"bits", Type{Kind: k}}}
		p, err := compileColumns(t, "sha2({v}, {bits})", cols, Options{Dialect: "spark"})
		if err != nil || !p.Nullable() {
			t.Fatal(err)
		}
		var v, bits []Value
		for _, n := range lengths {
			v, bits = append(v, str("abc")), append(bits, Value{Kind: k, Int: n})
		}
		v, bits = append(v, str("abc"), null), append(bits, Value{Kind: k, Null: true}, Value{Kind: k, Int: 256})
		rng := rand.New(rand.NewPCG(1, 1))
		out, err := p.EvalColumns(context.Background(), []*Vector{build(rng, text, LayoutViews, v), build(rng, cols[1].Type, LayoutFixed, bits)}, EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range cells(t, out) {
			want := 0
			if i < len(chars) {
				want = chars[i]
			}
			if got.Null != (want == 0) || len(got.Bytes) != want || want == 56 && !strings.HasPrefix(string(got.Bytes), "23097d22") {
				t.Errorf("row %d: %s, want %d characters", i, got.spell(), want)
			}
		}
	}
	for _, d := range []string{"hive"} {
		if _, err := compileColumns(t, "sha2({v}, {bits})", []Column{{"v", text}, {"bits", Type{Kind: Int32}}}, Options{Dialect: d}); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", d, err)
		}
	}
}

func TestColumnErrors(t *testing.T) {
	cols := []Column{{"a", text}, {"b", text}, {"b", bin}, {"f", Type{Kind: Float64}}, {"nested", Type{Kind: Nested}}}
	for src, want := range map[string]error{
		"hash_row({nosuch})": ErrColumn, "hash_row({b})": ErrColumn, "hash_row({A})": ErrColumn, "hash_row({f})": ErrType, "hash_row({nested})": ErrType,
		"hash_row()": ErrArgument, "hash_row('sha256')": ErrArgument, "hash_row({a}, 5)": ErrArgument, "hash_row({a}, 'nosuch')": ErrArgument, "hash_row('sha256', {a})": ErrArgument,
		"row_bytes({a}, 'sha256')": ErrArgument, "hash_row(mask('x'))": ErrArgument, "sha2({a}, {f})": ErrType, "sha2('x', {a})": ErrType, "mask({a}, {a})": ErrArgument,
	} {
		if _, err := compileColumns(t, src, cols, Options{}); !errors.Is(err, want) && !(src == "hash_row('sha256', {a})" && errors.Is(err, ErrArgument)) {
			t.Errorf("%s: %v, want %v", src, err, want)
		}
	}
	for _, src := range []string{"{a", "{}", "mask({a{b})", "{a\x00}"} {
		if _, err := ParseColumns(src); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", src, err)
		}
	}
	if _, err := Parse("mask({a})"); !errors.Is(err, ErrSyntax) {
		t.Errorf("Parse takes only {col}: %v", err)
	}
	e, err := ParseColumns("hash_row({first name}, {b}, mask({first name}))")
	if err != nil || !slices.Equal(e.Columns(), []string{"first name", "b"}) || e.String() != "hash_row({first name}, {b}, mask({first name}))" {
		t.Errorf("%v, %v", e, err)
	}
	p, err := compileColumns(t, "hash_row({x}, {y})", []Column{{"x", text}, {"unused", Type{Kind: Bool}}, {"y", text}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	two, three := build(rng, text, LayoutOffsets32, texts("a", "b")), build(rng, text, LayoutOffsets32, texts("a", "b", "c"))
	wrong := build(rng, bin, LayoutOffsets32, []Value{{Kind: Binary}, {Kind: Binary}})
	if out, err := p.EvalColumns(t.Context(), []*Vector{two, nil, two}, EvalOptions{}); err != nil || out.Len != 2 {
		t.Errorf("an unused column is missing: %v", err)
	}
	for name, in := range map[string][]*Vector{
		"other lengths": {two, nil, three}, "missing": {two, nil, nil}, "too few": {two}, "too many": {two, nil, two, two}, "none": nil,
	} {
		if _, err := p.EvalColumns(t.Context(), in, EvalOptions{}); !errors.Is(err, ErrVector) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.EvalColumns(t.Context(), []*Vector{wrong, nil, two}, EvalOptions{}); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "{x}") {
		t.Errorf("another type: %v", err)
	}
	if _, err := p.EvalCells([]Value{str("a")}); !errors.Is(err, ErrVector) {
		t.Errorf("too few cells: %v", err)
	}
}
