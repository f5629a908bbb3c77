package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A dictionary-encoded column whose batches have dictionaries of their own is
// masked by value and stays a dictionary where the format has them.
func TestDictionaryColumn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.arrows")
	dictType := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dictType, Nullable: true}}, nil)
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	w := ipc.NewWriter(f, ipc.WithSchema(schema))
	var want []value
	for n := range 4 {
		b := array.NewBuilder(memory.DefaultAllocator, dictType).(*array.BinaryDictionaryBuilder)
		for i := range 1000 {
			if i%7 == 0 {
				b.AppendNull()
				want = append(want, value{null: true})
				continue
			}
			text := fmt.Sprintf("Value %d", (i+n*3)%11)
			if err := b.AppendString(text); err != nil {
				t.Fatal(err)
			}
			want = append(want, value{text: hexSHA256(text)})
		}
		col := b.NewArray()
		if err := w.Write(array.NewRecordBatch(schema, []arrow.Array{col}, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{"arrow", "arrows", "parquet", "csv"} {
		out := filepath.Join(dir, "out."+ext)
		name := filepath.Join(dir, ext+".json")
		arrowmask(t, "mask", in, "-o", out, "--set", "d=mask_hash({col})", "-q", "--report", name)
		got := readTable(t, out)
		column := got.column(t, "d")
		if len(column) != len(want) {
			t.Fatalf("%s: %d rows, want %d", ext, len(column), len(want))
		}
		for i := range want {
			if column[i] != want[i] {
				t.Fatalf("%s: row %d: %v, want %v", ext, i+1, column[i], want[i])
			}
		}
		if ext != "csv" && ext != "parquet" && got.types[0] != dictType.String() {
			t.Errorf("%s: type %s", ext, got.types[0])
		}
		nulls := int64(4 * 143) // rows 0, 7, ..., 994 of each batch
		if r := readReport(t, name); r.Columns[0].NullsIn != nulls || r.Columns[0].NullsOut != nulls {
			t.Errorf("%s: report says %d NULLs in, %d out, want %d", ext, r.Columns[0].NullsIn, r.Columns[0].NullsOut, nulls)
		}
	}
}
