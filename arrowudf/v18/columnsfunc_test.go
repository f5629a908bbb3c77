package v18

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
)

// hashOf is hash_row of texts, nil being NULL.
func hashOf(cells ...any) string {
	var b strings.Builder
	for _, c := range cells {
		if c == nil {
			b.WriteByte(0)
			continue
		}
		s := c.(string)
		b.WriteString("t" + string(binary.BigEndian.AppendUint64(nil, uint64(len(s)))) + s)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))
}

// cellOf is the text of row i, nil for NULL.
func cellOf(a arrow18.Array, i int) any {
	switch a := a.(type) {
	case *array18.RunEndEncoded:
		return cellOf(a.Values(), a.GetPhysicalIndex(i))
	default:
		if a.IsNull(i) {
			return nil
		}
		return text(a, i)
	}
}

func TestColumnMasksReadOtherColumns(t *testing.T) {
	mem := checked(t)
	ree := arrow18.RunEndEncodedOf(arrow18.PrimitiveTypes.Int32, arrow18.BinaryTypes.String)
	schema := arrow18.NewSchema([]arrow18.Field{
		{Name: "mail", Type: arrow18.BinaryTypes.String},
		{Name: "city", Type: &arrow18.DictionaryType{IndexType: arrow18.PrimitiveTypes.Int8, ValueType: arrow18.BinaryTypes.String}, Nullable: true},
		{Name: "runs", Type: ree, Nullable: true},
		{Name: "view", Type: arrow18.BinaryTypes.StringView},
		{Name: "tags", Type: arrow18.ListOf(arrow18.BinaryTypes.String)},
		{Name: "col", Type: arrow18.BinaryTypes.String},
	}, nil)
	cols := make([]arrow18.Array, schema.NumFields())
	for i, f := range schema.Fields() {
		cols[i] = sample(mem, f.Type)
		defer cols[i].Release()
	}
	for _, rows := range []int64{20, 11, 0} { // a batch may be shorter than its columns
		batch := array18.NewRecordBatch(schema, cols, rows)
		m := must(NewColumnMasks(schema, []ColumnMask{
			{"mail", "hash_row({col}, {city}, {runs})"}, {"city", "mask({col})"}, {"runs", "hash_row({mail}, {city})"},
			{"view", "hash_row({view}, {col}, {mail})"}, {"col", "mask({mail})"},
		}, arrowudf.Options{Mem: mem}))
		out := must(m.Mask(ctx, batch))
		for i := range int(rows) {
			mail, city, runs, view := cellOf(cols[0], i), cellOf(cols[1], i), cellOf(cols[2], i), cellOf(cols[3], i)
			for k, want := range map[int]any{0: hashOf(mail, city, runs), 2: hashOf(mail, city), 3: hashOf(view, view, mail)} {
				if got := cellOf(out.Column(k), i); got != want {
					t.Fatalf("row %d of %q: %v, want %v", i, schema.Field(k).Name, got, want)
				}
			}
			if got := cellOf(out.Column(5), i); (got == nil) != (mail == nil) || got != nil && !strings.HasPrefix(got.(string), "Xxxxx") {
				t.Fatalf("row %d of col: %v", i, got)
			}
		}
		for i, f := range m.Schema().Fields() {
			if !arrow18.TypeEqual(out.Column(i).DataType(), f.Type) {
				t.Errorf("%s: declared %s, produced %s", f.Name, f.Type, out.Column(i).DataType())
			}
		}
		if f := m.Func(0); !slices.Equal(f.Reads(), []int{0, 1, 2}) || f.One() != nil || m.Func(1).One() == nil || m.Func(4) != nil {
			t.Errorf("reads %v", f.Reads())
		}
		// What reads a column that may be NULL may be NULL.
		for name, nullable := range map[string]bool{"mail": true, "view": false, "col": false} {
			if f, _ := m.Schema().FieldsByName(name); f[0].Nullable != nullable {
				t.Errorf("%s is nullable: %v", name, f[0].Nullable)
			}
		}
		out.Release()
		batch.Release()
	}
}

func TestColumnMasksOtherColumnRefusals(t *testing.T) {
	mem := checked(t)
	batch := customers(mem)
	defer batch.Release()
	for expr, tc := range map[string]struct {
		want error
		says string
	}{
		"hash_row({col}, {emial})":  {mask.ErrColumn, `column "email": {emial}: no such column: the columns are "id", "email", "tags"`},
		"hash_row({col}, {twin})":   {mask.ErrColumn, "{twin}"},
		"hash_row({col}, {tags})":   {mask.ErrType, "{tags}"},
		"hash_row({col}, {salary})": {mask.ErrType, "argument 2"},
		"mask({col}, {id})":         {mask.ErrArgument, "{id}"},
	} {
		_, err := NewColumnMasks(batch.Schema(), []ColumnMask{{"email", expr}}, arrowudf.Options{})
		if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", expr, err)
		}
	}
	m := must(NewColumnMasks(batch.Schema(), []ColumnMask{{"id", "mask({col})"}, {"email", "hash_row({col}, {city})"}}, arrowudf.Options{Mem: mem, Limit: 500}))
	if _, err := m.Mask(ctx, batch); !errors.Is(err, mask.ErrTooLarge) || !strings.Contains(err.Error(), `"email"`) || strings.Contains(err.Error(), "Value") {
		t.Errorf("error %v", err)
	}
}

func TestColumnsFunc(t *testing.T) {
	mem := poisoning{checked(t)}
	fields := []arrow18.Field{
		{Name: "a", Type: arrow18.BinaryTypes.String}, {Name: "d", Type: &arrow18.Decimal32Type{Precision: 7, Scale: 2}},
		{Name: "b", Type: arrow18.BinaryTypes.LargeString}, {Name: "l", Type: arrow18.ListOf(arrow18.BinaryTypes.String)},
	}
	o := arrowudf.Options{Mem: mem}
	f := must(CompileColumns("hash_row({a}, {b})", fields, -1, o))
	a, b := sample(mem, fields[0].Type), sample(mem, fields[2].Type)
	var want []string
	for i := range a.Len() {
		want = append(want, hashOf(cellOf(a, i), cellOf(b, i)))
	}
	part := array18.NewSlice(a, 0, 3)
	for name, cols := range map[string][]arrow18.Array{
		"too few": {a}, "missing": {a, nil, nil, nil}, "another type": {a, nil, a, nil}, "another length": {part, nil, b, nil},
	} {
		if _, err := f.Call(ctx, cols); !errors.Is(err, arrowudf.ErrArray) {
			t.Errorf("%s: %v", name, err)
		}
	}
	part.Release()
	out := must(f.Call(ctx, []arrow18.Array{a, nil, b, nil}))
	a.Release()
	b.Release()
	defer out.Release()
	for i, w := range want {
		if got := text(out, i); got != w {
			t.Fatalf("row %d: %s, want %s", i, got, w)
		}
	}
	if !arrow18.TypeEqual(f.OutType(), arrow18.BinaryTypes.LargeString) || f.Expr() != "hash_row({a}, {b})" || f.Nullable() || len(f.Uses()) != 1 || len(f.Notes()) != 1 {
		t.Errorf("%s: %s, %v, %v", f.Expr(), f.OutType(), f.Uses(), f.Notes())
	}
	// A type that v17 lacks comes back as itself, all NULL.
	n := must(CompileColumns("mask_null({d})", fields, 0, o))
	d := sample(memory18.DefaultAllocator, fields[1].Type)
	defer d.Release()
	nulls := must(n.One().Call(ctx, d))
	defer nulls.Release()
	if !arrow18.TypeEqual(n.OutType(), fields[1].Type) || !arrow18.TypeEqual(nulls.DataType(), fields[1].Type) || nulls.NullN() != d.Len() {
		t.Errorf("%s, %d NULLs", nulls.DataType(), nulls.NullN())
	}
	for expr, want := range map[string]error{"hash_row({a}, {l})": mask.ErrType, "hash_row({a}": mask.ErrSyntax, "{x}": mask.ErrColumn} {
		if _, err := CompileColumns(expr, fields, 0, o); !errors.Is(err, want) {
			t.Errorf("%s: %v", expr, err)
		}
	}
	if _, err := CompileColumns("{a}", []arrow18.Field{{Name: "a"}}, -1, o); !errors.Is(err, mask.ErrType) {
		t.Errorf("no type: %v", err)
	}
}
