package samplegen

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// The file in the repository holds what this package makes.
func TestSampleFileIsCurrent(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "samples", "customers.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := pqarrow.ReadTable(context.Background(), f, parquet.NewReaderProperties(nil), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	want := Batch(memory.DefaultAllocator, 0, Rows)
	defer want.Release()
	if got.NumRows() != want.NumRows() || got.NumCols() != want.NumCols() {
		t.Fatalf("%d rows of %d columns, want %d of %d", got.NumRows(), got.NumCols(), want.NumRows(), want.NumCols())
	}
	for i, f := range schema.Fields() {
		// The reader adds field ids to the metadata; the rest must agree.
		g := got.Schema().Field(i)
		column := arrow.NewChunked(f.Type, []arrow.Array{want.Column(i)})
		if g.Name != f.Name || !arrow.TypeEqual(g.Type, f.Type) || g.Nullable != f.Nullable || !array.ChunkedEqual(got.Column(i).Data(), column) {
			t.Errorf("column %s is stale: go run ./internal/samplegen/gen testdata/samples/customers.parquet", f.Name)
		}
		column.Release()
	}
}

func TestWriteParquetIsDeterministic(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := WriteParquet(w, Options{Rows: 1000, RowGroup: 300}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal("two runs differ")
	}
}

// A row does not depend on the batch that it is made in.
func TestRowsAreIndependentOfBatches(t *testing.T) {
	whole := Batch(memory.DefaultAllocator, 0, 500)
	part := Batch(memory.DefaultAllocator, 123, 77)
	slice := whole.NewSlice(123, 200)
	if !array.RecordEqual(slice, part) {
		t.Fatal("rows 123 to 199 differ between batches")
	}
}

// The sample must have what the masks are for.
func TestSampleHasEveryKind(t *testing.T) {
	b := Batch(memory.DefaultAllocator, 0, Rows)
	for i, f := range schema.Fields() {
		nulls := b.Column(i).NullN()
		if f.Nullable != (nulls > 0) {
			t.Errorf("%s: nullable %v, %d nulls", f.Name, f.Nullable, nulls)
		}
	}
	names := b.Column(1).(*array.String)
	scripts := map[string]*unicode.RangeTable{
		"Latin": unicode.Latin, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek, "Arabic": unicode.Arabic,
		"Hebrew": unicode.Hebrew, "Han": unicode.Han, "Hangul": unicode.Hangul, "Kana": unicode.Hiragana,
		"Devanagari": unicode.Devanagari, "Tamil": unicode.Tamil, "mark": unicode.M, "title case": unicode.Lt,
		"outside the basic plane": {R32: []unicode.Range32{{Lo: 0x10000, Hi: unicode.MaxRune, Stride: 1}}},
	}
	for i := range names.Len() {
		if !utf8.ValidString(names.Value(i)) {
			t.Fatalf("row %d is not valid UTF-8", i)
		}
		for name, table := range scripts {
			if strings.ContainsFunc(names.Value(i), func(r rune) bool { return unicode.Is(table, r) }) {
				delete(scripts, name)
			}
		}
	}
	for name := range scripts {
		t.Errorf("no name has %s", name)
	}
	notes := b.Column(8).(*array.String)
	empty := 0
	for i := range notes.Len() {
		if notes.IsValid(i) && notes.Value(i) == "" {
			empty++
		}
	}
	if empty == 0 {
		t.Error("no note is the empty string")
	}
}

func TestCardCheckDigit(t *testing.T) {
	for n := range 200 {
		sum, c := 0, row(n).card
		for i := range len(c) { // Luhn: double every second digit from the right
			d := int(c[len(c)-1-i] - '0')
			if i%2 == 1 {
				d *= 2
			}
			sum += d/10 + d%10
		}
		if len(c) != 16 || sum%10 != 0 {
			t.Fatalf("row %d: %d digits, check sum %d", n, len(c), sum)
		}
	}
}
