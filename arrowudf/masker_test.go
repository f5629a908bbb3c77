package arrowudf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/internal/costfit"
	"github.com/arrowmask/arrowmask/internal/race"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// rules give the columns named in masks an expression, and the table a filter.
type rules struct {
	masks   map[string]string
	filter  string
	dialect string
}

func (rules) Version() string { return "test" }

func (r rules) Decide(_ *policy.Identity, t *policy.Table, _ time.Time) (*policy.Decision, error) {
	d := &policy.Decision{}
	for _, f := range t.Fields() {
		if expr, ok := r.masks[f.Name]; ok {
			d.Columns = append(d.Columns, policy.ColumnDecision{Field: f, Mask: &policy.Mask{Expr: expr, Dialect: r.dialect}, Why: policy.Reason{PolicyID: 7, Policy: "masks", Kind: "MASK"}})
		}
	}
	if r.filter != "" {
		f, err := policy.ParseFilter(r.filter, policy.Syntax{})
		if err != nil {
			return nil, err
		}
		d.Filter, d.FilterWhy = f, &policy.Reason{PolicyID: 8, Policy: "rows", Kind: "filter"}
	}
	return d, nil
}

func planFor(t testing.TB, schema *arrow.Schema, r rules) *policy.Plan {
	t.Helper()
	table, err := policy.NewTable([]string{"db", "t"}, "", Columns(schema))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.NewSnapshot(r).Plan(policy.NewIdentity("ann", nil, nil, nil), table, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func maskerFor(t testing.TB, schema *arrow.Schema, r rules, o Options) *Masker {
	t.Helper()
	m, err := NewMasker(planFor(t, schema, r), schema, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// everyType has columns of every physical layout, each with the JSON of some
// rows. "s3cret" marks values that tests look for in results.
func everyType() (types []arrow.DataType, cells [][]string) {
	add := func(dt arrow.DataType, values ...string) {
		types, cells = append(types, dt), append(cells, values)
	}
	text := []string{`"s3cret-%d-longer than a view holds"`, `null`, `""`, `"s3cret%d"`}
	str := arrow.BinaryTypes.String
	add(arrow.Null, `null`)
	add(arrow.FixedWidthTypes.Boolean, `true`, `false`, `null`)
	add(arrow.PrimitiveTypes.Int8, `7`, `null`, `-1`)
	add(arrow.PrimitiveTypes.Uint16, `7`, `null`, `65535`)
	add(arrow.PrimitiveTypes.Int64, `%d`, `null`)
	add(arrow.PrimitiveTypes.Float64, `%d.5`, `null`)
	add(&arrow.Decimal128Type{Precision: 20, Scale: 2}, `"%d.25"`, `null`)
	add(arrow.FixedWidthTypes.Date32, `"2020-01-02"`, `null`)
	add(&arrow.FixedSizeBinaryType{ByteWidth: 3}, `"YWJj"`, `null`)
	for _, dt := range []arrow.DataType{str, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView} {
		add(dt, text...)
	}
	add(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}, text...)
	add(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint64, ValueType: arrow.PrimitiveTypes.Int32}, `%d`, `null`)
	add(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, str), `"s3cret a"`, `"s3cret a"`, `null`, `"s3cret b%d"`)
	add(arrow.ListOf(str), `["s3cret%d", null, "x"]`, `null`, `[]`)
	add(arrow.LargeListOf(arrow.PrimitiveTypes.Int32), `[%d, 1]`, `null`)
	add(arrow.ListViewOf(str), `["s3cret%d", null]`, `null`, `[]`)
	add(arrow.LargeListViewOf(arrow.PrimitiveTypes.Int32), `[%d]`, `null`)
	add(arrow.FixedSizeListOf(2, str), `["s3cret%d", "b"]`, `null`)
	add(arrow.MapOf(str, str), `[{"key": "s3cret%d", "value": "v"}]`, `null`, `[]`)
	structure := arrow.StructOf(arrow.Field{Name: "a", Type: str, Nullable: true}, arrow.Field{Name: "b", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8), Nullable: true})
	add(structure, `{"a": "s3cret%d", "b": [1, 2]}`, `null`, `{"a": null, "b": null}`)
	add(arrow.ListOf(structure), `[{"a": "s3cret%d", "b": []}, null]`, `null`)
	fields := []arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: str, Nullable: true}}
	add(arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{5, 2}), `[5, %d]`, `[2, "s3cret%d"]`)
	add(arrow.DenseUnionOf(fields, []arrow.UnionTypeCode{5, 2}), `[5, %d]`, `[2, "s3cret%d"]`, `[2, null]`)
	return types, cells
}

func fromJSON(t testing.TB, mem memory.Allocator, dt arrow.DataType, cells []string, n int) arrow.Array {
	t.Helper()
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(cells[i%len(cells)], "%d", fmt.Sprint(i)))
	}
	arr, _, err := array.FromJSON(mem, dt, strings.NewReader("["+b.String()+"]"))
	if err != nil {
		t.Fatalf("%s: %v", dt, err)
	}
	return arr
}

// everyBatch is n rows of every type, after a column "row" that counts.
func everyBatch(t testing.TB, mem memory.Allocator, n int) arrow.Record {
	t.Helper()
	types, cells := everyType()
	types, cells = slices.Insert(types, 0, arrow.DataType(arrow.PrimitiveTypes.Int64)), slices.Insert(cells, 0, []string{"%d"})
	var fields []arrow.Field
	var cols []arrow.Array
	for i, dt := range types {
		name := fmt.Sprintf("c%d", i)
		if i == 0 {
			name = "row"
		}
		fields = append(fields, arrow.Field{Name: name, Type: dt, Nullable: true, Metadata: arrow.NewMetadata([]string{"k", "max"}, []string{"v", "s3cret"})})
		cols = append(cols, fromJSON(t, mem, dt, cells[i], n))
	}
	md := arrow.NewMetadata([]string{"origin", "pandas"}, []string{"here", "s3cret"})
	rec := array.NewRecord(arrow.NewSchema(fields, &md), cols, int64(n))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// show is a row of an array as JSON; for a dictionary its value.
func show(t testing.TB, arr arrow.Array, i int) string {
	t.Helper()
	b, err := json.Marshal(arr.GetOneForMarshal(i))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eachBuffer visits every buffer that an array refers to.
func eachBuffer(d arrow.ArrayData, visit func([]byte)) {
	for _, b := range d.Buffers() {
		if b != nil {
			visit(b.Buf())
		}
	}
	for _, c := range d.Children() {
		eachBuffer(c, visit)
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		eachBuffer(dict, visit)
	}
}

// TestFilterTakesRowsOfEveryType compares with the cells of the input, row by
// row, and with arrow's own filter where that knows the type. (Of booleans with
// NULLs arrow v17 filters wrong, and without rows it panics.)
func TestFilterTakesRowsOfEveryType(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 100
	whole := everyBatch(t, heap, n)
	defer whole.Release()
	for _, w := range []struct{ lo, hi int64 }{{0, n}, {3, 90}, {8, 9}, {50, 50}, {63, 100}} {
		batch := whole.NewSlice(w.lo, w.hi)
		for _, part := range []int{0, 1, 50, 95, 100} {
			var kept []int
			var list []string
			for i := range int(w.hi - w.lo) {
				if rng.IntN(100) < part {
					kept, list = append(kept, i), append(list, fmt.Sprint(int(w.lo)+i))
				}
			}
			if list == nil {
				list = []string{"-1"}
			}
			m := maskerFor(t, batch.Schema(), rules{filter: "row in (" + strings.Join(list, ",") + ")"}, Options{Mem: checked(t)})
			out, err := m.Mask(ctx, batch)
			if err != nil {
				t.Fatal(err)
			}
			if int(out.NumRows()) != len(kept) {
				t.Fatalf("%v, %d%%: %d rows, want %d", w, part, out.NumRows(), len(kept))
			}
			bits := array.NewBooleanBuilder(heap)
			for i := range int(w.hi - w.lo) {
				bits.Append(slices.Contains(kept, i))
			}
			sel := bits.NewArray()
			for c, col := range out.Columns() {
				in := batch.Column(c)
				for k, i := range kept {
					if got, want := show(t, col, k), show(t, in, i); got != want {
						t.Fatalf("%s, %v, row %d: %s, want %s", col.DataType(), w, i, got, want)
					}
				}
				if !arrow.TypeEqual(col.DataType(), in.DataType()) || col.Data().Offset() != 0 {
					t.Errorf("%s from %s", col.DataType(), in.DataType())
				}
				if in.Len() == 0 || in.DataType().ID() == arrow.BOOL {
					continue
				}
				filtered, err := compute.FilterArray(ctx, in, sel, *compute.DefaultFilterOptions())
				if err != nil {
					continue // arrow has no filter for the type: the cells above are the oracle
				}
				if !array.Equal(filtered, col) {
					t.Errorf("%s, %v: arrow filters\n%v\nhere\n%v", in.DataType(), w, filtered, col)
				}
				filtered.Release()
			}
			sel.Release()
			out.Release()
		}
		batch.Release()
	}
}

// TestFilteredRowsAreNowhere keeps one row and looks for the others in every
// buffer that the result can reach.
func TestFilteredRowsAreNowhere(t *testing.T) {
	batch := everyBatch(t, heap, 64)
	defer batch.Release()
	out, err := maskerFor(t, batch.Schema(), rules{filter: "row < 0"}, Options{}).Mask(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	seen := 0
	for i, col := range out.Columns() {
		eachBuffer(batch.Column(i).Data(), func(b []byte) {
			if bytes.Contains(b, []byte("s3cret")) {
				seen++
			}
		})
		eachBuffer(col.Data(), func(b []byte) {
			if bytes.Contains(b, []byte("s3cret")) {
				t.Errorf("%s holds a value of a row that was left out", col.DataType())
			}
		})
	}
	if seen == 0 {
		t.Fatal("the input holds nothing to look for")
	}
	// Nor in metadata, of whatever column.
	if s := fmt.Sprint(out.Schema()); strings.Contains(s, "s3cret") || !strings.Contains(s, "origin") || !strings.Contains(s, "k: v") && !strings.Contains(s, `"k"`) {
		t.Errorf("metadata of the result: %s", s)
	}
}

// TestFilterThenMask: the filter and the masks both see raw values.
func TestFilterThenMask(t *testing.T) {
	rec := must2(array.RecordFromJSON(heap, arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String, Metadata: arrow.NewMetadata([]string{"max", "unit"}, []string{"Zoe", "x"})},
		{Name: "Country", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "age", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "score", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	}, nil), strings.NewReader(`[
		{"name": "Ann", "Country": "DE", "age": 31, "ok": true, "score": 1.5},
		{"name": "Bob", "Country": "FR", "age": 42, "ok": true, "score": 2.5},
		{"name": "Cyd", "Country": null, "age": 53, "ok": true, "score": 3.5},
		{"name": "Dan", "Country": "DE", "age": null, "ok": false, "score": 4.5},
		{"name": "Eve", "Country": "DE", "age": 64, "ok": null, "score": 5.5}]`)))
	defer rec.Release()
	for filter, want := range map[string]string{
		"country = 'DE'":              `["Xxx" "Xxx" "Xxx"] ["xx" "xx" "xx"]`,
		"country <> 'DE'":             `["Xxx"] ["xx"]`,
		"name = 'Bob' or age >= '53'": `["Xxx" "Xxx" "Xxx"] ["xx" null "xx"]`,
		"ok":                          `["Xxx" "Xxx" "Xxx"] ["xx" "xx" null]`,
		"not ok":                      `["Xxx"] ["xx"]`,
		"ok is null and score > 5":    `["Xxx"] ["xx"]`,
		"score between 1 and 2.5 and t.age <> 31": `["Xxx"] ["xx"]`,
		"1 = 0": `[] []`,
		"country in ('DE', 'FR') and name like 'B%'": `["Xxx"] ["xx"]`,
	} {
		m := maskerFor(t, rec.Schema(), rules{filter: filter, masks: map[string]string{"name": "mask({col})", "Country": "mask({col}, 'x')", "age": "mask_null({col})"}}, Options{Mem: checked(t)})
		out, err := m.Mask(ctx, rec)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		cells := func(i int) string {
			var all []string
			for k := range int(out.NumRows()) {
				all = append(all, show(t, out.Column(i), k))
			}
			return fmt.Sprint(all)
		}
		if got := cells(0) + " " + cells(1); got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
		if age := out.Column(2); age.NullN() != age.Len() {
			t.Errorf("%s: ages are left", filter)
		}
		f := out.Schema().Field(0)
		if f.Nullable || f.Metadata.FindKey("max") >= 0 || f.Metadata.FindKey("unit") < 0 {
			t.Errorf("field %v, metadata %v", f, f.Metadata)
		}
		out.Release()
	}
}

func must2[T, O any](x T, _ O, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestB25NestedColumns: a mask that a nested column cannot have is refused
// before the first row, NULL is not, and an unmasked one passes untouched.
func TestB25NestedColumns(t *testing.T) {
	batch := everyBatch(t, heap, 20)
	defer batch.Release()
	schema := batch.Schema()
	refused := 0
	for i, c := range Columns(schema) {
		if c.Type.Kind != mask.Nested {
			continue
		}
		refused++
		for _, expr := range []string{"mask({col})", "mask_hash({col})", "mask_show_last_n({col}, 4)", "'x'", "mask_null(mask({col}))"} {
			_, err := NewMasker(planFor(t, schema, rules{masks: map[string]string{c.Name: expr}}), schema, Options{})
			if !errors.Is(err, policy.ErrClosed) || !errors.Is(err, mask.ErrType) || !strings.Contains(err.Error(), "policy 7") || !strings.Contains(err.Error(), c.Name) {
				t.Errorf("%s of %s: %v", expr, schema.Field(i).Type, err)
			}
		}
		for _, filter := range []string{"", "row > 3"} {
			for _, expr := range []string{"mask_null({col})", "NULL"} {
				m := maskerFor(t, schema, rules{masks: map[string]string{c.Name: expr}, filter: filter}, Options{Mem: checked(t)})
				out, err := m.Mask(ctx, batch)
				if err != nil {
					t.Fatal(err)
				}
				col := out.Column(i)
				for k := range col.Len() {
					if s := show(t, col, k); s != "null" && s != "[5,null]" {
						t.Errorf("%s of %s: row %d is %s", expr, col.DataType(), k, s)
					}
				}
				if !out.Schema().Field(i).Nullable || !arrow.TypeEqual(col.DataType(), schema.Field(i).Type) {
					t.Errorf("%s became %s", schema.Field(i).Type, col.DataType())
				}
				eachBuffer(col.Data(), func(b []byte) {
					if bytes.Contains(b, []byte("s3cret")) {
						t.Errorf("%s of %s leaks", expr, col.DataType())
					}
				})
				out.Release()
			}
		}
	}
	if refused < 10 {
		t.Fatalf("%d nested columns", refused)
	}
	// A field within a map or a union, and one that is nested itself.
	for name, expr := range map[string]string{"c21.key": "mask({col})", "c21.value": "mask({col})", "c24.s": "mask({col})", "c22.b": "mask({col})"} {
		_, err := NewMasker(planFor(t, schema, rules{masks: map[string]string{name: expr}}), schema, Options{})
		if !errors.Is(err, policy.ErrClosed) || !errors.Is(err, mask.ErrType) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One policy that names a column and its fields: the column's mask covers them.
	null := "mask_null({col})"
	if p := planFor(t, schema, rules{masks: map[string]string{"c22": null, "c22.a": null, "c22.b": null}}); len(p.Masks) != 1 || len(p.Masks[0].Path) != 0 {
		t.Errorf("masks %v", p.Masks)
	}
	// Beside a masked scalar they are the same arrays.
	out, err := maskerFor(t, schema, rules{masks: map[string]string{"row": "mask({col})"}}, Options{}).Mask(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	for i := 1; i < int(out.NumCols()); i++ {
		if out.Column(i) != batch.Column(i) {
			t.Errorf("column %d was copied", i)
		}
	}
}

// TestB25FieldsOfStructs masks fields of a struct, and of structs in a list, and
// leaves the other fields as they are.
func TestB25FieldsOfStructs(t *testing.T) {
	whole := everyBatch(t, heap, 40)
	defer whole.Release()
	batch := whole.NewSlice(3, 37)
	defer batch.Release()
	schema := batch.Schema()
	masks := map[string]string{"c22.a": "mask({col})", "c22.b": "mask_null({col})", "c23.a": "mask({col})"}
	for _, filter := range []string{"", "row % 3 = 0"} {
		m := maskerFor(t, schema, rules{masks: masks, filter: filter}, Options{Mem: checked(t)})
		out, err := m.Mask(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for k, i := 0, 0; i < int(batch.NumRows()); i++ {
			if filter != "" && (i+3)%3 != 0 {
				continue
			}
			for _, column := range []int{22, 23} {
				in, n := batch.Column(column), fmt.Sprint(i+3)
				got, want := show(t, out.Column(column), k), show(t, in, i)
				want = strings.ReplaceAll(want, `"a":"s3cret`+n, `"a":"xnxxxx`+strings.Repeat("n", len(n)))
				want = strings.ReplaceAll(want, "[1,2]", "null") // the struct's b
				if got != want {
					t.Errorf("row %d of %s: %s, want %s", i, in.DataType(), got, want)
				}
				if want != "null" {
					checked++
				}
			}
			k++
		}
		if checked == 0 {
			t.Fatal("nothing was compared")
		}
		for _, column := range []int{22, 23} {
			eachBuffer(out.Column(column).Data(), func(b []byte) {
				if bytes.Contains(b, []byte("s3cret")) {
					t.Errorf("%s holds a clear value", out.Column(column).DataType())
				}
			})
			if !arrow.TypeEqual(out.Column(column).DataType(), out.Schema().Field(column).Type) {
				t.Errorf("%s was announced as %s", out.Column(column).DataType(), out.Schema().Field(column).Type)
			}
		}
		for i := range planFor(t, schema, rules{masks: masks}).Masks {
			if (m.Func(i) == nil) != (m.Plan().Masks[i].Name == "c22.b") {
				t.Errorf("function %d of %s", i, m.Plan().Masks[i].Name)
			}
		}
		out.Release()
	}
}

func TestMaskerRefuses(t *testing.T) {
	str := arrow.BinaryTypes.String
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: str}, {Name: "n", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.BinaryTypes.Binary}}, nil)
	other := arrow.NewSchema([]arrow.Field{{Name: "a", Type: str}, {Name: "N", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.BinaryTypes.Binary}}, nil)
	plan := planFor(t, schema, rules{masks: map[string]string{"a": "mask({col})"}})
	if _, err := NewMasker(plan, other, Options{}); !errors.Is(err, policy.ErrSchema) {
		t.Errorf("a plan for other columns: %v", err)
	}
	if _, err := NewMasker(nil, schema, Options{}); !errors.Is(err, policy.ErrSchema) {
		t.Errorf("no plan: %v", err)
	}
	for column, expr := range map[string]string{"n": "'text'", "b": "md5({col})"} {
		_, err := NewMasker(planFor(t, schema, rules{masks: map[string]string{column: expr}}), schema, Options{})
		if !errors.Is(err, mask.ErrType) || !strings.Contains(err.Error(), "policy 7") || !strings.Contains(err.Error(), `"`+column+`"`) {
			t.Errorf("%s changes the type of %s: %v", expr, column, err)
		}
	}
	if _, err := NewMasker(planFor(t, schema, rules{masks: map[string]string{"a": "mask_hmac({col}, 'k')"}}), schema, Options{}); !errors.Is(err, mask.ErrKey) {
		t.Errorf("a key that is not there: %v", err)
	}
	for _, r := range []rules{{}, {masks: map[string]string{"a": "mask({col})"}}, {filter: "n > 1"}} {
		m := maskerFor(t, schema, r, Options{})
		rec := must2(array.RecordFromJSON(heap, other, strings.NewReader(`[]`)))
		if _, err := m.Mask(ctx, rec); !errors.Is(err, policy.ErrSchema) {
			t.Errorf("%v: a batch of other columns: %v", r, err)
		}
		rec.Release()
	}
}

// TestMaskerStops: a value that the filter cannot evaluate, and a cancelled
// context, leave no batch and no memory.
func TestMaskerStops(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	rec := must2(array.RecordFromJSON(heap, schema, strings.NewReader(`[{"n": 1, "a": "s3cret"}, {"n": 2, "a": "s3cret"}]`)))
	defer rec.Release()
	m := maskerFor(t, schema, rules{filter: "n * 9223372036854775807 > 0"}, Options{Mem: checked(t)})
	_, err := m.Mask(ctx, rec)
	if !errors.Is(err, policy.ErrValue) || !strings.Contains(err.Error(), "policy 8") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("overflow: %v", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for _, r := range []rules{{filter: "n > 0"}, {masks: map[string]string{"a": "mask({col})"}}} {
		if _, err := maskerFor(t, schema, r, Options{Mem: checked(t)}).Mask(stopped, rec); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

// TestMaskerDamaged feeds data that does not fit together: an error, no panic.
func TestMaskerDamaged(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.StringView, arrow.ListOf(arrow.BinaryTypes.String), &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "a", Type: dt, Nullable: true}}, nil)
		n := fromJSON(t, heap, arrow.PrimitiveTypes.Int64, []string{"1"}, 8)
		_, cells := everyType()
		good := fromJSON(t, heap, dt, map[arrow.Type][]string{arrow.LIST: {`["some text that is long"]`}}[dt.ID()], 0)
		good.Release()
		text := cells[9]
		if dt.ID() == arrow.LIST {
			text = []string{`["some text that is long"]`}
		}
		arr := fromJSON(t, heap, dt, text, 8)
		rec := array.NewRecord(schema, []arrow.Array{n, arr}, 8)
		index := arr.Data().Buffers()[1].Bytes() // offsets, views or indices
		for i := 0; i+4 <= len(index); i += 4 {
			was := slices.Clone(index[i : i+4])
			for _, v := range [][]byte{{255, 255, 255, 127}, {255, 255, 255, 255}, {0, 0, 0, 128}} {
				copy(index[i:], v)
				m := maskerFor(t, schema, rules{filter: "n = 1"}, Options{Mem: checked(t)})
				out, err := m.Mask(ctx, rec)
				if err != nil && !errors.Is(err, ErrArray) && !errors.Is(err, mask.ErrTooLarge) {
					t.Errorf("%s, byte %d: %v", dt, i, err)
				}
				if err == nil {
					out.Release()
				}
			}
			copy(index[i:], was)
		}
		rec.Release()
		arr.Release()
		n.Release()
	}
}

// TestEmptyPlanCostsNothing: a batch that nothing applies to is handed on as it
// is.
func TestEmptyPlanCostsNothing(t *testing.T) {
	batch := everyBatch(t, heap, 10)
	defer batch.Release()
	m := maskerFor(t, batch.Schema(), rules{}, Options{})
	out, err := m.Mask(ctx, batch)
	if err != nil || out != batch {
		t.Fatalf("another batch: %v", err)
	}
	out.Release()
	if m.Schema() != batch.Schema() {
		t.Error("another schema")
	}
	// The same, with equal schemas that are not the same object: a reader makes
	// one for each file.
	twin := everyBatch(t, heap, 10)
	defer twin.Release()
	for name, b := range map[string]arrow.Record{"same": batch, "twin": twin} {
		if n := testing.AllocsPerRun(100, func() {
			out, err := m.Mask(ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			out.Release()
		}); n != 0 {
			t.Errorf("%s schema: %v allocations", name, n)
		}
	}
}

// TestAllocationsOfAMaskedBatch: those of the results, one for the list of
// columns and one for the batch, whatever the rows and the unmasked columns are.
func TestAllocationsOfAMaskedBatch(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	for _, columns := range []int{2, 40} {
		for _, rows := range []int{1, 3000} {
			batch := wideBatch(t, columns, rows)
			m := maskerFor(t, batch.Schema(), rules{masks: map[string]string{"c0": "mask_null({col})", "c1": "mask({col})"}}, Options{})
			allocations := testing.AllocsPerRun(50, func() {
				out, err := m.Mask(ctx, batch)
				if err != nil {
					t.Fatal(err)
				}
				out.Release()
			})
			// Of each mask the array, and its data with the buffers' headers. Then a
			// vector and offsets; of NULLs validity; of text its bytes, and the sizes
			// and the function of its chunks.
			if want := 2.0 + (2 + 3) + (2 + 5); allocations != want {
				t.Errorf("%d columns, %d rows: %v allocations, want %v", columns, rows, allocations, want)
			}
			batch.Release()
		}
	}
}

// TestResultIsARecord: what is done to any batch can be done to a masked one.
func TestResultIsARecord(t *testing.T) {
	batch := wideBatch(t, 3, 10)
	defer batch.Release()
	mem := checked(t)
	out, err := maskerFor(t, batch.Schema(), rules{masks: map[string]string{"c1": "mask({col})"}}, Options{Mem: mem}).Mask(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	out.Retain()
	out.Release()
	cut := out.NewSlice(2, 4)
	if j := string(must(cut.MarshalJSON())); !strings.HasPrefix(j, `[{"c0":"value 2","c1":"xxxxx n","c2":"value 2"}`) {
		t.Errorf("a slice is %s", j)
	}
	set, err := out.SetColumn(1, batch.Column(0))
	if err != nil || set.Column(1) != batch.Column(0) || out.Column(1) == batch.Column(0) {
		t.Errorf("another column: %v", err)
	}
	if _, err := out.SetColumn(3, batch.Column(0)); err == nil {
		t.Error("a column that is not there was set")
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(out.Schema()))
	if err := errors.Join(w.Write(out), w.Close()); err != nil {
		t.Fatal(err)
	}
	r := must(ipc.NewReader(&b))
	if !r.Next() || !array.RecordEqual(r.Record(), out) || out.ColumnName(1) != "c1" {
		t.Error("the batch is another one after a round trip")
	}
	r.Release()
	set.Release()
	cut.Release()
	out.Release()
}

// TestMaskKeepsTheIntegersType: Impala widens, and casts back.
func TestMaskKeepsTheIntegersType(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		col := fromJSON(t, heap, dt, []string{"7", "null", "-42"}, 3)
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: dt, Nullable: true}}, nil)
		rec := array.NewRecord(schema, []arrow.Array{col}, 3)
		m := maskerFor(t, schema, rules{masks: map[string]string{"n": "mask({col})"}, dialect: "impala"}, Options{Mem: checked(t)})
		out, err := m.Mask(ctx, rec)
		if err != nil {
			t.Fatal(err)
		}
		got := out.Column(0)
		if s := show(t, got, 0) + show(t, got, 1) + show(t, got, 2); s != "1null-11" || !arrow.TypeEqual(got.DataType(), dt) {
			t.Errorf("%s became %s: %s", dt, got.DataType(), s)
		}
		out.Release()
		rec.Release()
		col.Release()
	}
}

// TestMaskReadsOtherColumns: a mask over several columns reads them as they came,
// whatever their own masks do, in the rows that a filter leaves.
func TestMaskReadsOtherColumns(t *testing.T) {
	str := arrow.BinaryTypes.String
	for _, email := range []arrow.DataType{str, arrow.BinaryTypes.StringView, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}} {
		fields := []arrow.Field{
			{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
			{Name: "email", Type: email},
			{Name: "Born On", Type: arrow.FixedWidthTypes.Date32},
		}
		cells := [][]string{{"7", "8", "null", "10"}, {`"a@x"`, `"b@x"`, `"c@x"`, `"d@x"`}, {`"2001-02-03"`, `"2001-02-04"`, `"2001-02-05"`, `"2001-02-06"`}}
		schema := arrow.NewSchema(fields, nil)
		expr := "hash_row({id}, {col}, {Born On})"
		masks := map[string]string{"email": expr, "id": "mask({col})", "Born On": "mask_null({col})"}
		for filter, keep := range map[string][]int{"": {0, 1, 2, 3}, "id <> 8": {0, 3}, "email = 'none'": {}} {
			mem := checked(t)
			m := maskerFor(t, schema, rules{masks: masks, filter: filter}, Options{Mem: mem})
			fn := must(CompileColumns(expr, fields, 1, Options{Mem: mem}))
			var all, kept []arrow.Array
			for c, f := range fields {
				var left []string
				for _, i := range keep {
					left = append(left, cells[c][i])
				}
				// Two rows more than the batch has.
				all = append(all, fromJSON(t, heap, f.Type, cells[c], 6))
				kept = append(kept, fromJSON(t, heap, f.Type, left, len(left)))
			}
			batch := array.NewRecord(schema, all, 4)
			want, err := fn.Call(ctx, kept)
			if err != nil {
				t.Fatal(err)
			}
			out, err := m.Mask(ctx, batch)
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Column(1); !array.Equal(got, want) || !arrow.TypeEqual(got.DataType(), out.Schema().Field(1).Type) || !out.Schema().Field(1).Nullable {
				t.Errorf("%s, filter %q: %v, want %v", email, filter, got, want)
			}
			if out.Column(0).NullN() == len(keep) && len(keep) > 0 || out.Column(2).NullN() != len(keep) {
				t.Errorf("filter %q: the other columns' masks: %v", filter, out)
			}
			if m.Func(1) != nil || m.ColumnsFunc(1) == nil || m.ColumnsFunc(0) != nil || m.Func(0) == nil {
				t.Error("which masks read other columns")
			}
			out.Release()
			want.Release()
			batch.Release()
		}
	}
}

func TestOneMaskerFromManyGoroutines(t *testing.T) {
	batch := wideBatch(t, 3, 2000)
	defer batch.Release()
	m := maskerFor(t, batch.Schema(), rules{filter: "c0 <> 'value 7'", masks: map[string]string{"c1": "mask_hash({col})"}}, Options{})
	want, err := m.Mask(ctx, batch)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Release()
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				out, err := m.Mask(ctx, batch)
				if err != nil || !array.RecordEqual(out, want) {
					t.Errorf("another answer: %v", err)
					return
				}
				out.Release()
			}
		}()
	}
	wg.Wait()
}

// wideBatch has columns c0, c1, ... of text.
func wideBatch(t testing.TB, columns, rows int) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	var cols []arrow.Array
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: arrow.BinaryTypes.String, Nullable: true})
		cols = append(cols, fromJSON(t, heap, arrow.BinaryTypes.String, []string{`"value %d"`}, rows))
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// BenchmarkEmptyPlan is a batch that nothing applies to.
func BenchmarkEmptyPlan(b *testing.B) {
	batch := wideBatch(b, 64, 1)
	defer batch.Release()
	m := maskerFor(b, batch.Schema(), rules{}, Options{})
	b.ReportAllocs()
	for range b.N {
		out, err := m.Mask(ctx, batch)
		if err != nil {
			b.Fatal(err)
		}
		out.Release()
	}
}

// BenchmarkFixedCost is what a batch of 64 columns costs beside its rows: a
// line is fitted through batches of 1 to 65536 rows. fixed-ns is what the
// masker adds to the masks called one by one, masks-ns is what these take
// without rows: the result's own arrays and buffers.
func BenchmarkFixedCost(b *testing.B) {
	var batches []arrow.Record
	for _, rows := range costfit.Rows {
		batches = append(batches, released(b, wideBatch(b, 64, rows)))
	}
	for _, expr := range []string{"mask_null({col})", "mask({col})"} {
		for _, masked := range []int{0, 1, 8, 32} {
			b.Run(fmt.Sprintf("%.9s/masked=%d", expr, masked), func(b *testing.B) {
				r := rules{masks: map[string]string{}}
				for i := range masked {
					r.masks[fmt.Sprintf("c%d", i)] = expr
				}
				m := maskerFor(b, batches[0].Schema(), r, Options{})
				costs := costfit.Measure(b.N, func(i int) {
					out, err := m.Mask(ctx, batches[i])
					if err != nil {
						b.Fatal(err)
					}
					out.Release()
				}, func(i int) {
					for k := range m.Plan().Masks {
						out, err := m.Func(k).Call(ctx, batches[i].Column(m.Plan().Masks[k].Index))
						if err != nil {
							b.Fatal(err)
						}
						out.Release()
					}
				})
				all, masks := costs[0], costs[1]
				b.ReportMetric(all.Fixed-masks.Fixed, "fixed-ns")
				b.ReportMetric(masks.Fixed, "masks-ns")
				b.ReportMetric(all.PerRow, "ns/row")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkFilter: a filter over 64k rows of two text columns.
func BenchmarkFilter(b *testing.B) {
	batch := wideBatch(b, 2, 1<<16)
	defer batch.Release()
	for name, filter := range map[string]string{"all": "c0 is not null", "half": "c0 < 'value 4'", "none": "c0 is null"} {
		b.Run(name, func(b *testing.B) {
			m := maskerFor(b, batch.Schema(), rules{filter: filter}, Options{})
			for range b.N {
				out, err := m.Mask(ctx, batch)
				if err != nil {
					b.Fatal(err)
				}
				out.Release()
			}
		})
	}
}
