package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// cells is a table as the tests compare it: every value as text, whatever the
// layout, and NULL apart from the empty text.
type cells struct {
	names []string
	types []string
	rows  [][]value
}

type value struct {
	text string
	null bool
}

func (v value) String() string {
	if v.null {
		return "NULL"
	}
	return fmt.Sprintf("%q", v.text)
}

func (c *cells) column(t *testing.T, name string) []value {
	t.Helper()
	for i, n := range c.names {
		if n == name {
			column := make([]value, len(c.rows))
			for r := range c.rows {
				column[r] = c.rows[r][i]
			}
			return column
		}
	}
	t.Fatalf("no column %q among %q", name, c.names)
	return nil
}

// readTable reads a file without the program's own code, by its extension.
func readTable(t *testing.T, path string) *cells {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var c *cells
	switch {
	case strings.HasSuffix(path, ".parquet"):
		c, err = readParquet(f)
	case strings.HasSuffix(path, ".arrow"):
		c, err = readIPCFile(f)
	case strings.HasSuffix(path, ".arrows"):
		c, err = readIPCStream(f)
	case strings.HasSuffix(path, ".csv"):
		c, err = readCSV(f, ',')
	case strings.HasSuffix(path, ".tsv"):
		c, err = readCSV(f, '\t')
	default:
		t.Fatalf("no reader for %s", path)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

func readParquet(f parquet.ReaderAtSeeker) (*cells, error) {
	table, err := pqarrow.ReadTable(context.Background(), f, parquet.NewReaderProperties(nil), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer table.Release()
	c := newCells(table.Schema())
	batches := array.NewTableReader(table, 1000)
	defer batches.Release()
	for batches.Next() {
		c.add(batches.RecordBatch())
	}
	return c, batches.Err()
}

func readIPCFile(f ipc.ReadAtSeeker) (*cells, error) {
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := newCells(r.Schema())
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			return nil, err
		}
		c.add(b)
		b.Release()
	}
	return c, nil
}

func readIPCStream(f io.Reader) (*cells, error) {
	r, err := ipc.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	c := newCells(r.Schema())
	for r.Next() {
		c.add(r.RecordBatch())
	}
	return c, r.Err()
}

func newCells(s *arrow.Schema) *cells {
	c := &cells{}
	for _, f := range s.Fields() {
		c.names = append(c.names, f.Name)
		c.types = append(c.types, f.Type.String())
	}
	return c
}

func (c *cells) add(b arrow.RecordBatch) {
	for i := range int(b.NumRows()) {
		row := make([]value, b.NumCols())
		for j, a := range b.Columns() {
			row[j] = valueOf(a, i)
		}
		c.rows = append(c.rows, row)
	}
}

func valueOf(a arrow.Array, i int) value {
	switch a := a.(type) {
	case *array.Dictionary:
		if a.IsNull(i) {
			return value{null: true}
		}
		return valueOf(a.Dictionary(), a.GetValueIndex(i))
	case *array.Null:
		return value{null: true}
	}
	if a.IsNull(i) {
		return value{null: true}
	}
	switch a := a.(type) {
	case *array.FixedSizeBinary:
		return value{text: hex.EncodeToString(a.Value(i))}
	case *array.Decimal128:
		return value{text: a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)}
	case *array.Binary:
		return value{text: hex.EncodeToString(a.Value(i))}
	}
	return value{text: strings.Clone(a.ValueStr(i))}
}

// readCSV follows the rule that a bare empty cell is NULL and a quoted one the
// empty text. Every column is text.
func readCSV(r io.Reader, delimiter byte) (*cells, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var c cells
	text := strings.TrimPrefix(string(data), "\ufeff")
	for text != "" {
		var row []value
		for end := false; !end; {
			var v value
			if v, text, end, err = cutCell(text, delimiter); err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		if c.names == nil {
			for _, v := range row {
				c.names, c.types = append(c.names, v.text), append(c.types, "utf8")
			}
			continue
		}
		c.rows = append(c.rows, row)
	}
	return &c, nil
}

func cutCell(text string, delimiter byte) (v value, rest string, end bool, err error) {
	if !strings.HasPrefix(text, `"`) {
		n := strings.IndexAny(text, string(delimiter)+"\n")
		if n < 0 {
			n = len(text)
		}
		v.text, rest = text[:n], text[n:]
		if strings.HasPrefix(rest, "\n") {
			v.text = strings.TrimSuffix(v.text, "\r")
		}
		v.null = v.text == ""
	} else {
		n := 1
		for ; n < len(text); n++ {
			if text[n] == '"' {
				if n+1 == len(text) || text[n+1] != '"' {
					break
				}
				n++
			}
		}
		if n == len(text) {
			return v, "", false, fmt.Errorf("a quote is not closed")
		}
		v.text, rest = strings.ReplaceAll(text[1:n], `""`, `"`), strings.TrimPrefix(text[n+1:], "\r")
	}
	switch {
	case rest == "":
		return v, "", true, nil
	case rest[0] == '\n':
		return v, rest[1:], true, nil
	case rest[0] == delimiter:
		return v, rest[1:], false, nil
	}
	return v, "", false, fmt.Errorf("text after a closing quote")
}
