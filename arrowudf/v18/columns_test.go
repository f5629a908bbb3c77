package v18

import (
	"context"
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

func metadata(kv ...string) arrow18.Metadata {
	var keys, values []string
	for i := 0; i < len(kv); i += 2 {
		keys, values = append(keys, kv[i]), append(values, kv[i+1])
	}
	return arrow18.NewMetadata(keys, values)
}

func customers(mem memory18.Allocator) arrow18.RecordBatch {
	meta := metadata("owner", "billing", "ARROW:schema", "AAAA", "pandas", `{"columns":[]}`, "mail.min", "a@b.c")
	schema := arrow18.NewSchema([]arrow18.Field{
		{Name: "id", Type: arrow18.PrimitiveTypes.Int64, Metadata: metadata("PARQUET:field_id", "1", "stats.max", "19")},
		{Name: "email", Type: arrow18.BinaryTypes.String, Metadata: metadata("PARQUET:field_id", "2", "comment", "work address", "PARQUET:min", "Value", "ARROW:extension:name", "mail", "statistics", "x")},
		{Name: "tags", Type: arrow18.ListOf(arrow18.BinaryTypes.String), Nullable: true},
		{Name: "salary", Type: &arrow18.Decimal32Type{Precision: 7, Scale: 2}},
		{Name: "city", Type: &arrow18.DictionaryType{IndexType: arrow18.PrimitiveTypes.Int8, ValueType: arrow18.BinaryTypes.String}, Nullable: true},
		{Name: "twin", Type: arrow18.BinaryTypes.String, Nullable: true},
		{Name: "twin", Type: arrow18.BinaryTypes.String, Nullable: true},
	}, &meta)
	cols := make([]arrow18.Array, schema.NumFields())
	for i, f := range schema.Fields() {
		cols[i] = sample(mem, f.Type)
		defer cols[i].Release()
	}
	return array18.NewRecordBatchWithMetadata(schema, cols, 20, metadata("batch", "7", "distinct", "x"))
}

func TestColumnMasks(t *testing.T) {
	mem := checked(t)
	batch := customers(mem)
	m := must(NewColumnMasks(batch.Schema(), []ColumnMask{
		{"email", "mask_show_first_n({col}, 3)"}, {"city", "md5({col})"}, {"salary", "mask_null({col})"},
	}, arrowudf.Options{Mem: mem}))
	out := must(m.Mask(ctx, batch))

	if out.NumRows() != 20 || !out.Schema().Equal(m.Schema()) {
		t.Fatalf("%d rows, schema %s", out.NumRows(), out.Schema())
	}
	for i, f := range batch.Schema().Fields() {
		masked := slices.Contains([]int{1, 3, 4}, i)
		if got := m.Schema().Field(i); got.Name != f.Name {
			t.Errorf("column %d is %q, was %q", i, got.Name, f.Name)
		} else if !masked && !got.Equal(f) {
			t.Errorf("field %s changed to %s", f, got)
		}
		if same := out.Column(i) == batch.Column(i); same == masked || (m.Func(i) != nil) != masked {
			t.Errorf("column %q handed through: %v", f.Name, same)
		}
	}
	// Row 3 is NULL, so the mask of a column that is not nullable stays NULL there.
	if got := text(out.Column(1), 0); got != "Valxx xxxxxx n" {
		t.Errorf("email: %q", got)
	}
	if salary := m.Schema().Field(3); !salary.Nullable || out.Column(3).NullN() != 20 {
		t.Errorf("salary: %s, %d NULLs", salary, out.Column(3).NullN())
	}
	if email := m.Schema().Field(1); email.Nullable {
		t.Error("email became nullable")
	}
	if want := metadata("PARQUET:field_id", "2", "comment", "work address"); !m.Schema().Field(1).Metadata.Equal(want) {
		t.Errorf("email metadata: %v", m.Schema().Field(1).Metadata)
	}
	if want := metadata("owner", "billing"); !m.Schema().Metadata().Equal(want) {
		t.Errorf("schema metadata: %v", m.Schema().Metadata())
	}
	if got := out.(arrow18.RecordBatchWithMetadata).Metadata(); !got.Equal(metadata("batch", "7")) {
		t.Errorf("batch metadata: %v", got)
	}
	batch.Release()
	if text(out.Column(0), 0) == "" {
		t.Error("the result does not keep its columns")
	}
	out.Release()
}

func TestNoColumnMasksChangesNothing(t *testing.T) {
	mem := checked(t)
	batch := customers(mem)
	defer batch.Release()
	m := must(NewColumnMasks(batch.Schema(), nil, arrowudf.Options{}))
	out := must(m.Mask(ctx, batch))
	defer out.Release()
	if !array18.RecordEqual(out, batch) || !out.Schema().Metadata().Equal(batch.Schema().Metadata()) {
		t.Error("the batch changed")
	}
}

func TestColumnMasksRefusals(t *testing.T) {
	mem := checked(t)
	batch := customers(mem)
	defer batch.Release()
	for name, tc := range map[string]struct {
		masks []ColumnMask
		want  error
	}{
		"unknown column":     {[]ColumnMask{{"e-mail", "mask({col})"}}, ErrColumn},
		"another case":       {[]ColumnMask{{"Email", "mask({col})"}}, ErrColumn},
		"nested field":       {[]ColumnMask{{"tags.element", "mask({col})"}}, ErrColumn},
		"column there twice": {[]ColumnMask{{"twin", "mask({col})"}}, ErrColumn},
		"two masks":          {[]ColumnMask{{"email", "mask({col})"}, {"email", "md5({col})"}}, ErrColumn},
		"nested column":      {[]ColumnMask{{"tags", "mask({col})"}}, mask.ErrType},
		"bad expression":     {[]ColumnMask{{"email", "mask({col}"}}, mask.ErrSyntax},
	} {
		_, err := NewColumnMasks(batch.Schema(), tc.masks, arrowudf.Options{})
		if !errors.Is(err, tc.want) || !strings.Contains(fmt.Sprint(err), tc.masks[0].Column) {
			t.Errorf("%s: %v", name, err)
		}
	}

	m := must(NewColumnMasks(batch.Schema(), []ColumnMask{{"email", "mask({col})"}}, arrowudf.Options{Mem: mem}))
	fields := batch.Schema().Fields()
	for name, change := range map[string]func([]arrow18.Field) []arrow18.Field{
		"fewer columns": func(f []arrow18.Field) []arrow18.Field { return f[:3] },
		"another name":  func(f []arrow18.Field) []arrow18.Field { f[1].Name = "mail"; return f },
		"another type":  func(f []arrow18.Field) []arrow18.Field { f[0].Type = arrow18.PrimitiveTypes.Int32; return f },
	} {
		schema := arrow18.NewSchema(change(slices.Clone(fields)), nil)
		cols := make([]arrow18.Array, schema.NumFields())
		for i, f := range schema.Fields() {
			cols[i] = sample(mem, f.Type)
		}
		other := array18.NewRecordBatch(schema, cols, 20)
		if _, err := m.Mask(ctx, other); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", name, err)
		}
		other.Release()
		for _, c := range cols {
			c.Release()
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Mask(cancelled, batch); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `"email"`) {
		t.Errorf("cancelled: %v", err)
	}
}

// A failing column gives back the columns before it, and its text names the
// column and no cell.
func TestColumnMasksErrorFreesEarlierColumns(t *testing.T) {
	mem := checked(t)
	batch := customers(mem)
	defer batch.Release()
	m := must(NewColumnMasks(batch.Schema(), []ColumnMask{{"id", "mask({col})"}, {"email", "sha512({col})"}},
		arrowudf.Options{Mem: mem, Limit: 500}))
	_, err := m.Mask(ctx, batch)
	if !errors.Is(err, mask.ErrTooLarge) || !strings.Contains(err.Error(), `"email"`) || strings.Contains(err.Error(), "Value") {
		t.Errorf("error %v", err)
	}
}

// A batch may be shorter than its columns.
func TestColumnMasksOfAShorterBatch(t *testing.T) {
	mem := checked(t)
	col := sample(mem, arrow18.BinaryTypes.StringView)
	defer col.Release()
	schema := arrow18.NewSchema([]arrow18.Field{{Name: "c", Type: col.DataType(), Nullable: true}}, nil)
	m := must(NewColumnMasks(schema, []ColumnMask{{"c", "md5({col})"}}, arrowudf.Options{Mem: mem}))
	for _, n := range []int64{0, 7} {
		batch := array18.NewRecordBatch(schema, []arrow18.Array{col}, n)
		out := must(m.Mask(ctx, batch))
		if out.NumRows() != n || int64(out.Column(0).Len()) != n {
			t.Errorf("%d rows became %d", n, out.Column(0).Len())
		}
		out.Release()
		batch.Release()
	}
}
