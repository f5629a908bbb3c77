package tablefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var defaultMem = memory.DefaultAllocator

// TestB32CompressedBuffers round-trips small and empty buffers, which compressed IPC files have got wrong in more than one library.
func TestB32CompressedBuffers(t *testing.T) {
	for _, rows := range []int{0, 1, 9, 10, 65, 1000} {
		some, nulls, empty := make([]string, rows), make([]string, rows), make([]string, rows)
		for i := range rows {
			some[i], nulls[i], empty[i] = fmt.Sprintf(`"value %d"`, i%7), "null", `""`
			if i%3 == 1 {
				some[i] = "null"
			}
		}
		list := func(s []string) string { return "[" + strings.Join(s, ",") + "]" }
		full := slices.Repeat([]string{`"x"`}, rows)
		batch := table(t,
			column{"some", arrow.BinaryTypes.String, list(some)}, column{"nulls", arrow.BinaryTypes.String, list(nulls)},
			column{"empty", arrow.BinaryTypes.String, list(empty)}, column{"full", arrow.BinaryTypes.LargeString, list(full)},
			column{"dict", dictOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), list(some)}, column{"none", arrow.Null, list(nulls)})
		want := tableOf(batch)
		for _, name := range binaryFormats {
			for _, c := range []Compression{NoCompression, LZ4, Zstd} {
				for _, cut := range []int{1 + rows/50, 64, 5000} {
					got := read(t, write(t, name, WriteOptions{Compression: c}, batch), ReadOptions{BatchRows: cut})
					if got.NumRows() != int64(rows) {
						t.Errorf("%s %s: %d rows became %d", name, c, rows, got.NumRows())
					}
					for _, f := range want.Schema().Fields() {
						if w, g := cells(t, want, f.Name), cells(t, got, f.Name); !slices.Equal(w, g) {
							t.Errorf("%s %s, %d rows, batches of %d, column %s: got %q, want %q", name, c, rows, cut, f.Name, g, w)
						}
					}
				}
			}
		}
	}
}

// TestB32MinimumSavings reads files that hold buffers stored plain because compression would not pay.
func TestB32MinimumSavings(t *testing.T) {
	batch := scalars(t)
	for _, codec := range []ipc.Option{ipc.WithLZ4(), ipc.WithZstd()} {
		var sb strings.Builder
		w := ipc.NewWriter(&sb, ipc.WithSchema(batch.Schema()), codec, ipc.WithMinSpaceSavings(0.5))
		if err := errors.Join(w.Write(batch), w.Close()); err != nil {
			t.Fatal(err)
		}
		got := read(t, writeText(t, "t.arrows", sb.String()), ReadOptions{})
		for _, f := range batch.Schema().Fields() {
			if w, g := cells(t, tableOf(batch), f.Name), cells(t, got, f.Name); !slices.Equal(w, g) {
				t.Errorf("column %s: got %q, want %q", f.Name, g, w)
			}
		}
	}
}

// TestDictionariesThatChange writes batches with different dictionaries, as masking makes them, to every format.
func TestDictionariesThatChange(t *testing.T) {
	for _, index := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		typ := dictOf(index, arrow.BinaryTypes.String)
		var batches []arrow.RecordBatch
		var want []string
		for _, v := range []string{`["a", "b", null]`, `["b", "a", "c"]`, `[null, null]`, `[]`, `["", "d"]`, `["a"]`} {
			b := table(t, column{"d", typ, v}, column{"n", dictOf(arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64), strings.NewReplacer(`"a"`, "1", `"b"`, "2", `"c"`, "3", `"d"`, "4", `""`, "5").Replace(v)})
			batches = append(batches, b)
			want = append(want, cells(t, tableOf(b), "d")...)
		}
		// A slice, whose dictionary has values that it does not use.
		part := batches[0].NewSlice(1, 3)
		batches, want = append(batches, part), append(want, "b", "(null)")
		for _, name := range append([]string{"t.csv"}, binaryFormats...) {
			path := write(t, name, WriteOptions{}, batches...)
			for _, again := range binaryFormats {
				out := filepath.Join(t.TempDir(), again)
				if err := copyTable(path, out, ReadOptions{BatchRows: 2}, WriteOptions{}); err != nil {
					t.Fatalf("%s to %s: %v", name, again, err)
				}
				if got := cells(t, read(t, out, ReadOptions{}), "d"); !slices.Equal(got, want) {
					t.Errorf("%s, %s to %s: got %q, want %q", index, name, again, got, want)
				}
			}
		}
	}
}

// TestDictionaryDeltas reads a stream whose dictionary grows by deltas and is then replaced.
func TestDictionaryDeltas(t *testing.T) {
	typ := dictOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
	var sb strings.Builder
	var want []string
	first := table(t, column{"d", typ, `["a", "b"]`})
	w := ipc.NewWriter(&sb, ipc.WithSchema(first.Schema()), ipc.WithDictionaryDeltas(true))
	for _, v := range []string{`["a", "b"]`, `["a", "b", "c", "a"]`, `["z", "a"]`} {
		b := table(t, column{"d", typ, v})
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		want = append(want, cells(t, tableOf(b), "d")...)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := writeText(t, "t.arrows", sb.String())
	for _, name := range binaryFormats {
		out := filepath.Join(t.TempDir(), name)
		if err := copyTable(path, out, ReadOptions{}, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := cells(t, read(t, out, ReadOptions{}), "d"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestDictionaryTooLargeForItsIndex(t *testing.T) {
	typ := dictOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String)
	batch := func(from, n int) arrow.RecordBatch {
		var v []string
		for i := range n {
			v = append(v, fmt.Sprintf(`"value %d"`, from+i))
		}
		return table(t, column{"d", typ, "[" + strings.Join(v, ",") + "]"})
	}
	dir := t.TempDir()
	if err := tryWrite(filepath.Join(dir, "fits.arrow"), WriteOptions{}, batch(0, 100), batch(100, 27)); err != nil {
		t.Errorf("127 values: %v", err)
	}
	for _, n := range []int{28, 29} {
		err := tryWrite(filepath.Join(dir, "t.arrow"), WriteOptions{}, batch(0, 100), batch(100, n))
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), `"d"`) || strings.Contains(err.Error(), "value 1") {
			t.Errorf("%d values: %v", 100+n, err)
		}
	}
	if got := namesIn(t, dir); len(got) != 1 {
		t.Errorf("left %q", got)
	}
}

// TestWrongBatches: a batch of another shape than the schema is an error, not a panic.
func TestWrongBatches(t *testing.T) {
	good := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
	for _, name := range allFormats {
		for _, bad := range []arrow.RecordBatch{
			table(t, column{"a", arrow.BinaryTypes.Binary, `["eA=="]`}),
			table(t, column{"a", arrow.BinaryTypes.String, `["x"]`}, column{"b", arrow.BinaryTypes.String, `["x"]`}),
		} {
			w, err := Create(filepath.Join(t.TempDir(), name), good.Schema(), WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(bad); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %v", name, err)
			}
			w.Abort()
		}
		if err := tryWrite(filepath.Join(t.TempDir(), name), WriteOptions{}, array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 3)); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s without columns: %v", name, err)
		}
	}
}

// TestFileSchemaIsTheFooters reads a file without a message of the schema behind the magic: Polars writes none that a stream reader could take, and
// the footer has the schema.
func TestFileSchemaIsTheFooters(t *testing.T) {
	batch := scalars(t)
	path := write(t, "t.arrow", WriteOptions{}, batch)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	src, err := openSource(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	_, dicts, batches, err := readFooter(src)
	src.Close()
	if err != nil || len(batches) == 0 {
		t.Fatalf("%d batches, %v", len(batches), err)
	}
	first := batches[0].at
	for _, b := range dicts {
		first = min(first, b.at)
	}
	for i := int64(8); i < first; i++ {
		whole[i] = 4
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	got, want := read(t, path, ReadOptions{}), tableOf(batch)
	if !got.Schema().Equal(want.Schema()) || got.NumRows() != want.NumRows() {
		t.Errorf("%d rows of %v, want %d of %v", got.NumRows(), got.Schema(), want.NumRows(), want.Schema())
	}
	for _, f := range want.Schema().Fields() {
		if w, g := cells(t, want, f.Name), cells(t, got, f.Name); !slices.Equal(w, g) {
			t.Errorf("column %s: got %q, want %q", f.Name, g, w)
		}
	}
}
