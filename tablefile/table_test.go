package tablefile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// column builds a nullable column from JSON values.
type column struct {
	name   string
	typ    arrow.DataType
	values string
}

// table makes one batch of columns with equal numbers of rows.
func table(t testing.TB, cols ...column) arrow.RecordBatch {
	t.Helper()
	fields := make([]arrow.Field, len(cols))
	arrays := make([]arrow.Array, len(cols))
	for i, c := range cols {
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.typ, strings.NewReader(c.values))
		if err != nil {
			t.Fatalf("column %s: %v", c.name, err)
		}
		fields[i] = arrow.Field{Name: c.name, Type: c.typ, Nullable: true}
		arrays[i] = a
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(arrays[0].Len()))
}

// write writes batches to a new file called name and returns its path.
func write(t testing.TB, name string, opts WriteOptions, batches ...arrow.RecordBatch) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := tryWrite(path, opts, batches...); err != nil {
		t.Fatalf("writing %s: %v", name, err)
	}
	return path
}

func tryWrite(path string, opts WriteOptions, batches ...arrow.RecordBatch) error {
	w, err := Create(path, batches[0].Schema(), opts)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Commit()
}

// read reads a whole file into one table. The reader must keep to BatchRows.
func read(t testing.TB, path string, opts ReadOptions) arrow.Table {
	t.Helper()
	tbl, err := tryRead(path, opts)
	if err != nil {
		t.Fatalf("reading %s: %v", filepath.Base(path), err)
	}
	return tbl
}

func tryRead(path string, opts ReadOptions) (arrow.Table, error) {
	r, err := Open(context.Background(), path, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var batches []arrow.RecordBatch
	for {
		b, err := r.Next()
		if err == io.EOF {
			return array.NewTableFromRecords(r.Schema(), batches), nil
		}
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
}

// cells gives a column's values as text, "(null)" for NULL; dictionary and run-end encoding do not show.
func cells(t testing.TB, tbl arrow.Table, name string) []string {
	t.Helper()
	idx := tbl.Schema().FieldIndices(name)
	if len(idx) != 1 {
		t.Fatalf("column %q: %d of that name", name, len(idx))
	}
	var out []string
	for _, a := range tbl.Column(idx[0]).Data().Chunks() {
		for i := range a.Len() {
			out = append(out, a.ValueStr(i))
		}
	}
	return out
}

func tableOf(batch arrow.RecordBatch) arrow.Table {
	return array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch})
}

func writeText(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readText(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
