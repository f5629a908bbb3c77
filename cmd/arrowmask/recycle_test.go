package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/spf13/pflag"

	"github.com/arrowmask/arrowmask/arrowudf"
)

// freed is what poisoned memory holds.
const freed = 0xA5

// poisoning overwrites memory when it is freed, and hands it to nobody else.
type poisoning struct{ memory.Allocator }

func (p poisoning) Free(b []byte) {
	poison(b)
	p.Allocator.Free(b)
}

func poison(b []byte) {
	for i := range b {
		b[i] = freed
	}
}

// worn is a Recycler that many have used before: its blocks are full of bytes
// that must not come out.
func worn() *arrowudf.Recycler {
	r := &arrowudf.Recycler{}
	var blocks [][]byte
	for size := 4096; size <= 2<<20; size *= 2 {
		for range 10 {
			blocks = append(blocks, r.Allocate(size))
		}
	}
	for _, b := range blocks {
		poison(b[:cap(b)])
		r.Free(b)
	}
	return r
}

// TestRecycledMemory: the masked columns' memory is given back when they are
// written, all of it, and no writer looks at it afterwards: what is done to it
// then, and what it held before, does not show in the output, whatever the
// formats.
func TestRecycledMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stream := layoutsFile(t, dir)
	ins := []string{stream, indexedFile(t, dir, stream)}
	sets := []string{
		"--set", "text=sha256({col})", "--set", "required=mask_show_last_n({col}, 4)", "--set", "few=md5({col})", "--set", "large=mask({col})",
		"--set", "view=sha256({col})", "--set", "bytes=sha256({col})", "--set", "dict=mask_hash({col})", "--set", "number=mask({col})",
		"--set", "day=mask({col})", "--set", "row=hash_row({col}, {few}, {number})", "--set", "none=mask_null({col})",
	}
	for _, ext := range []string{"arrow", "csv"} {
		in := filepath.Join(dir, "in."+ext)
		arrowmask(t, "mask", stream, "-o", in, "--pass-through", "-q")
		ins = append(ins, in)
	}
	same := func(name, in, out string, more ...string) {
		t.Run(fmt.Sprintf("%s/%s to %s", name, filepath.Ext(in)[1:], out), func(t *testing.T) {
			t.Parallel()
			mask := func(mem memory.Allocator) []byte {
				return maskWith(t, mem, append([]string{in, "-o", filepath.Join(t.TempDir(), "out."+out), "-q", "--batch-rows", "3000", "--threads", "2"}, more...)...)
			}
			want := mask(nil)
			checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
			if got := mask(poisoning{checked}); !bytes.Equal(got, want) {
				t.Error("another file where released memory is overwritten")
			}
			checked.AssertSize(t, 0)
			if got := mask(worn()); !bytes.Equal(got, want) {
				t.Error("another file with memory that is used again")
			}
		})
	}
	for _, in := range ins {
		more := sets
		if filepath.Ext(in) == ".csv" { // all text
			more = append([]string{"--csv-type", "number=int64", "--csv-type", "day=date32"}, sets...)
		}
		for _, out := range []string{"parquet", "arrow", "arrows", "csv"} {
			same("sets", in, out, more...)
		}
	}
	same("every column", ins[1], "parquet", append([]string{"--rewrite", "all"}, sets...)...)
	for _, group := range []string{"analysts", "support"} { // support sees some rows only
		for _, out := range []string{"parquet", "arrow"} {
			same("policy of "+group, fewCustomers(t), out, "--policy", customerPolicies, "--resource", "shop.customers", "--user", "u", "--group", group, "--attr", "country=Germany")
		}
	}
	nested := policyFile(t, dir, nil, testPolicy{id: 1, columns: []string{"s.a"}, items: everybody("MASK_HASH")}, testPolicy{id: 2, columns: []string{"l"}, items: everybody("MASK_NULL")})
	same("nested policy", nestedFile(t, dir), "parquet", byPolicy("", "", nested)[4:]...)
}

// TestPoisoning: a slice that is kept after the release shows what poisoning
// does, so the test above would see a writer that keeps one.
func TestPoisoning(t *testing.T) {
	t.Parallel()
	b := array.NewStringBuilder(poisoning{memory.DefaultAllocator})
	defer b.Release()
	b.Append("kept")
	a := b.NewStringArray()
	kept := a.ValueBytes()
	a.Release()
	if want := bytes.Repeat([]byte{freed}, 4); !bytes.Equal(kept, want) {
		t.Errorf("%q", kept)
	}
}

// maskWith is arrowmask mask with masked columns in mem; it gives the output.
func maskWith(t *testing.T, mem memory.Allocator, args ...string) []byte {
	t.Helper()
	var o maskFlags
	f := pflag.NewFlagSet("mask", pflag.ContinueOnError)
	o.register(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	m, err := newMasking(f.Arg(0), &o)
	if err != nil {
		t.Fatal(err)
	}
	m.mem = mem
	if err := m.run(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(o.output)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(o.output) == ".parquet" {
		sortFooter(out)
	}
	return out
}

// sortFooter sorts the bytes of a Parquet file's footer, in which the library
// lists the encodings of each column in the order of a map.
func sortFooter(file []byte) {
	end := len(file) - 8
	slices.Sort(file[end-int(binary.LittleEndian.Uint32(file[end:])) : end])
}

// layoutsFile is an Arrow stream of columns in the layouts that masks make,
// enough rows for several pages of hex digests and more than a dictionary of
// Parquet takes, in batches that have dictionaries of their own.
func layoutsFile(t *testing.T, dir string) string {
	t.Helper()
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: number},
		{Name: "text", Type: text, Nullable: true},
		{Name: "required", Type: text},
		{Name: "few", Type: text, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "view", Type: arrow.BinaryTypes.StringView, Nullable: true},
		{Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "dict", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: text}, Nullable: true},
		{Name: "number", Type: number, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "row", Type: text, Nullable: true},
		{Name: "none", Type: text, Nullable: true},
	}, nil)
	path := filepath.Join(dir, "in.arrows")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := ipc.NewWriter(f, ipc.WithSchema(schema))
	const rows, batch = 20_000, 5_000
	for from := 0; from < rows; from += batch {
		if err := w.Write(layouts(t, schema, from, from+batch)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func layouts(t *testing.T, schema *arrow.Schema, from, to int) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := from; i < to; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		for k, field := range schema.Fields() {
			cell := strings.ToUpper(fmt.Sprintf("%x", sum[:3+i%17]))
			switch field.Name {
			case "id", "number":
				cell = fmt.Sprint(i)
			case "few":
				cell = fmt.Sprintf("Value %d", i%40)
			case "dict":
				cell = fmt.Sprintf("Value %d", (from+i)%90)
			case "bytes":
				cell = "QmluYXJ5" // base64
			case "day":
				cell = fmt.Sprintf("2026-01-%02d", 1+i%31)
			}
			if field.Nullable && (i+k)%11 == 0 {
				b.Field(k).AppendNull()
			} else if err := b.Field(k).AppendValueFromString(cell); err != nil {
				t.Fatalf("%s: %v", field.Name, err)
			}
		}
	}
	return b.NewRecordBatch()
}

// indexedFile is another file's table in Parquet with all that its writer may
// keep of values: statistics, page indexes and, for most columns, dictionaries;
// its row groups take several batches.
func indexedFile(t *testing.T, dir, stream string) string {
	t.Helper()
	plain := filepath.Join(dir, "plain.parquet") // without views, which the library does not take
	arrowmask(t, "mask", stream, "-o", plain, "--pass-through", "-q")
	in, err := os.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	table, err := pqarrow.ReadTable(t.Context(), in, nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	path := filepath.Join(dir, "in.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	// The Parquet writer closes the file.
	props := parquet.NewWriterProperties(parquet.WithPageIndexEnabled(true), parquet.WithDictionaryFor("large", false), parquet.WithDictionaryFor("row", false))
	if err := pqarrow.WriteTable(table, f, 18_000, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())); err != nil {
		t.Fatal(err)
	}
	return path
}
