package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestB31ChunksAreCutNotJoined: columns come in chunks because one more value would overflow the offsets of the last one, so batches are cut
// at every chunk's end.
func TestB31ChunksAreCutNotJoined(t *testing.T) {
	chunked := func(typ arrow.DataType, values ...string) *arrow.Chunked {
		var chunks []arrow.Array
		for _, v := range values {
			chunks = append(chunks, table(t, column{"c", typ, v}).Column(0))
		}
		return arrow.NewChunked(typ, chunks)
	}
	a := chunked(arrow.BinaryTypes.String, `["a", "b", "c"]`, `[]`, `["d", "e"]`, `["f"]`)
	b := chunked(arrow.PrimitiveTypes.Int64, `[1]`, `[2, 3, 4, 5, 6]`)
	sc := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	batches := alignChunks(sc, []*arrow.Chunked{a, b})
	var rows []int64
	for _, batch := range batches {
		rows = append(rows, batch.NumRows())
	}
	if want := []int64{1, 2, 2, 1}; !slices.Equal(rows, want) {
		t.Errorf("batches of %v rows, want %v", rows, want)
	}
	tbl := array.NewTableFromRecords(sc, batches)
	if got := strings.Join(cells(t, tbl, "a"), "") + strings.Join(cells(t, tbl, "b"), ""); got != "abcdef123456" {
		t.Errorf("got %s", got)
	}
}

// TestB31WideValuesMakeShortBatches reads a column that holds one long value, once, in its dictionary, and refers to it in every row. Batches must
// stay short although the file is small.
func TestB31WideValuesMakeShortBatches(t *testing.T) {
	const rows, width = 3000, 64 << 10
	long := strings.Repeat("x", width)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range 500 {
		b.Append(long)
	}
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{b.NewArray()}, 500)
	path := write(t, "t.parquet", WriteOptions{}, slices.Repeat([]arrow.RecordBatch{batch}, rows/500)...)
	r, err := Open(t.Context(), path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var total int64
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if most := int64(batchBytes / width); b.NumRows() > most {
			t.Errorf("a batch of %d rows of %d bytes, at most %d expected", b.NumRows(), width, most)
		}
		total += b.NumRows()
		b.Release()
	}
	if total != rows || r.NumRows() != rows {
		t.Errorf("%d rows, the footer has %d, written were %d", total, r.NumRows(), rows)
	}
}

// TestB31ViewsThatDoNotFit: views may hold more text than 32-bit offsets can reach. Their batch is refused before anything is copied.
func TestB31ViewsThatDoNotFit(t *testing.T) {
	// One megabyte of text that 2,100 views share.
	text := strings.Repeat("x", 1<<20)
	b := array.NewStringViewBuilder(memory.DefaultAllocator)
	b.Append(text)
	one := b.NewArray().Data()
	views := memory.NewBufferBytes(slices.Repeat(one.Buffers()[1].Bytes(), 2100))
	for rows, fits := range map[int]bool{100: true, 2100: false} {
		data := array.NewData(one.DataType(), rows, append([]*memory.Buffer{nil, views}, one.Buffers()[2:]...), nil, 0, 0)
		_, err := copyViews(array.MakeFromData(data).(array.ViewLike), arrow.BinaryTypes.String)
		if fits != (err == nil) || !fits && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%d MB of text: %v", rows, err)
		}
	}
}

// TestBatchRowsAndCounts reads every format in batches of every size: the rows, in order, are the same.
func TestBatchRowsAndCounts(t *testing.T) {
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf(`"%d"`, i))
	}
	batch := table(t, column{"s", arrow.BinaryTypes.String, "[" + strings.Join(values, ",") + "]"})
	want := cells(t, tableOf(batch), "s")
	for _, name := range allFormats {
		path := write(t, name, WriteOptions{}, batch, batch.NewSlice(0, 0), batch.NewSlice(10, 13))
		for _, size := range []int{1, 7, 256, 257, 1000, 1 << 20} {
			r, err := Open(t.Context(), path, ReadOptions{BatchRows: size})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for {
				b, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if b.NumRows() > int64(size) {
					t.Errorf("%s: a batch of %d rows, at most %d asked for", name, b.NumRows(), size)
				}
				for i := range int(b.NumRows()) {
					got = append(got, b.Column(0).ValueStr(i))
				}
				b.Release()
			}
			if !slices.Equal(got, append(want[:len(want):len(want)], "10", "11", "12")) {
				t.Errorf("%s in batches of %d: rows differ", name, size)
			}
			if r.NumRows() >= 0 && r.NumRows() != int64(len(got)) {
				t.Errorf("%s: NumRows is %d", name, r.NumRows())
			}
			if r.BytesRead() <= 0 || r.Size() <= 0 {
				t.Errorf("%s: %d of %d bytes read", name, r.BytesRead(), r.Size())
			}
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("%s: after the end: %v", name, err)
			}
			r.Close()
		}
	}
}

// TestMemoryIsGivenBack counts what is allocated for a copy: nothing may be left when reader and writer are done with, or given up.
func TestMemoryIsGivenBack(t *testing.T) {
	for _, from := range allFormats {
		path := write(t, from, WriteOptions{}, scalars(t), scalars(t))
		for _, to := range allFormats {
			for _, abort := range []bool{false, true} {
				mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
				if err := copySome(path, filepath.Join(t.TempDir(), to), mem, abort); err != nil {
					t.Fatal(err)
				}
				if n := mem.CurrentAlloc(); n != 0 {
					t.Errorf("%s to %s, given up %v: %d bytes left", from, to, abort, n)
				}
			}
		}
	}
}

// copySome copies in to out, or stops after the first batch.
func copySome(in, out string, mem memory.Allocator, abort bool) error {
	r, err := Open(context.Background(), in, ReadOptions{Mem: mem, BatchRows: 4})
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := Create(out, r.Schema(), WriteOptions{Mem: mem, Like: r.Style()})
	if err != nil {
		return err
	}
	defer w.Abort()
	for {
		b, err := r.Next()
		if err == io.EOF {
			return w.Commit()
		}
		if err != nil {
			return err
		}
		err = w.Write(b)
		b.Release()
		if err != nil || abort {
			return err
		}
	}
}
