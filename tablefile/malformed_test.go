package tablefile

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// checkedRead reads a file to its end and uses every value. What is wrong with it must be an error of one line.
func checkedRead(t *testing.T, path string) error {
	t.Helper()
	tbl, err := tryRead(path, ReadOptions{BatchRows: 5})
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %q", err)
		}
		if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrValue) {
			t.Errorf("an error of no known kind: %v", err)
		}
		return err
	}
	for i := range int(tbl.NumCols()) {
		for _, a := range tbl.Column(i).Data().Chunks() {
			if convertedUnit(a.DataType()) || a.DataType().ID() == arrow.TIMESTAMP {
				continue // any number is a legal time, but some cannot be shown
			}
			for row := range a.Len() {
				a.ValueStr(row)
			}
		}
	}
	return nil
}

// manyShapes adds nested columns to the scalars.
func manyShapes(t testing.TB, name string) arrow.RecordBatch {
	cols := scalarColumns
	if name != "t.csv" {
		pad := func(c column) column {
			c.values = strings.TrimSuffix(c.values, "]") + ", " + strings.TrimSuffix(strings.TrimPrefix(c.values, "["), "]") + "]"
			return c
		}
		cols = append(cols[:len(cols):len(cols)], pad(notInCSV[0]), pad(notInCSV[1]), pad(notInCSV[2]), pad(notInCSV[3]), pad(notInCSV[4]))
		if name != "t.parquet" {
			cols = append(cols, pad(notAnywhereElse[0]), pad(notAnywhereElse[1]))
		}
	}
	return table(t, cols...)
}

// TestTruncatedInputs cuts files short everywhere: never a panic, and never fewer rows without an error. A CSV file may end after any row.
func TestTruncatedInputs(t *testing.T) {
	for _, name := range binaryFormats {
		batch := manyShapes(t, name)
		whole := readText(t, write(t, name, WriteOptions{Compression: NoCompression}, batch, batch))
		path := filepath.Join(t.TempDir(), name)
		for n := 0; n < len(whole); n += 1 + len(whole)/200 {
			if err := os.WriteFile(path, []byte(whole[:n]), 0o644); err != nil {
				t.Fatal(err)
			}
			tbl, err := tryRead(path, ReadOptions{})
			if err == nil && tbl.NumRows() < 2*batch.NumRows() {
				// A stream need not have an end mark, so it may end after any message.
				if name != "t.arrows" || tbl.NumRows()%batch.NumRows() != 0 {
					t.Errorf("%s cut to %d of %d bytes reads as %d rows", name, n, len(whole), tbl.NumRows())
				}
			}
		}
	}
}

// TestGarbledInputs flips bytes: an error or some values, but no panic, no hang and no huge allocation. FuzzRead goes deeper.
func TestGarbledInputs(t *testing.T) {
	for _, name := range binaryFormats {
		for _, c := range []Compression{NoCompression, Zstd} {
			batch := manyShapes(t, name)
			whole := []byte(readText(t, write(t, name, WriteOptions{Compression: c}, batch)))
			path := filepath.Join(t.TempDir(), name)
			rng := rand.New(rand.NewPCG(uint64(len(name)), uint64(len(c))))
			for range 60 {
				garbled := append([]byte(nil), whole...)
				for range 1 + rng.IntN(4) {
					garbled[rng.IntN(len(garbled))] = byte(rng.Uint32())
				}
				if err := os.WriteFile(path, garbled, 0o644); err != nil {
					t.Fatal(err)
				}
				checkedRead(t, path)
			}
		}
	}
}

// FuzzRead reads any bytes as each of the binary formats.
func FuzzRead(f *testing.F) {
	for i, name := range binaryFormats {
		for _, c := range []Compression{NoCompression, LZ4} {
			f.Add(byte(i), []byte(readText(f, write(f, name, WriteOptions{Compression: c}, manyShapes(f, name)))))
			f.Add(byte(i), []byte(readText(f, write(f, name, WriteOptions{Compression: c}, table(f, scalarColumns[0], scalarColumns[33])))))
		}
	}
	f.Fuzz(func(t *testing.T, format byte, content []byte) {
		checkedRead(t, writeText(t, binaryFormats[int(format)%len(binaryFormats)], string(content)))
	})
}

// TestValidateRefusesWhatLeadsOutside builds arrays that lie about their buffers.
func TestValidateRefusesWhatLeadsOutside(t *testing.T) {
	buf := func(b ...byte) *memory.Buffer { return memory.NewBufferBytes(b) }
	i32 := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v)) }
	child := array.NewData(arrow.PrimitiveTypes.Int8, 2, []*memory.Buffer{nil, buf(1, 2)}, nil, 0, 0)
	ends := func(v ...int32) *array.Data {
		return array.NewData(arrow.PrimitiveTypes.Int32, len(v), []*memory.Buffer{nil, i32(v...)}, nil, 0, 0)
	}
	dict := func(idx ...byte) *array.Data {
		return array.NewDataWithDictionary(dictOf(arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int8), len(idx), []*memory.Buffer{nil, buf(idx...)}, 0, 0, child)
	}
	str, list := arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int8)
	ree := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8)
	union := arrow.DenseUnionOf([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	lv, view := arrow.ListViewOf(arrow.PrimitiveTypes.Int8), arrow.BinaryTypes.StringView
	long := func(size, index, offset int32) *memory.Buffer { return i32(size, 0, index, offset) }
	for _, c := range []struct {
		name string
		data *array.Data
		want error
	}{
		{"text", array.NewData(str, 2, []*memory.Buffer{nil, i32(0, 1, 2), buf('a', 'b')}, nil, 0, 0), nil},
		{"text with falling offsets", array.NewData(str, 2, []*memory.Buffer{nil, i32(0, 2, 1), buf('a', 'b')}, nil, 0, 0), errOffsets},
		{"text with negative offsets", array.NewData(str, 1, []*memory.Buffer{nil, i32(-1, 1), buf('a', 'b')}, nil, 0, 0), errOffsets},
		{"text beyond its data", array.NewData(str, 2, []*memory.Buffer{nil, i32(0, 1, 3), buf('a', 'b')}, nil, 0, 0), errOffsets},
		{"text with too few offsets", array.NewData(str, 3, []*memory.Buffer{nil, i32(0, 1, 2), buf('a', 'b')}, nil, 0, 0), errShort},
		{"text without rows or buffers", array.NewData(str, 0, []*memory.Buffer{nil, nil, nil}, nil, 0, 0), nil},
		{"numbers", array.NewData(arrow.PrimitiveTypes.Int32, 2, []*memory.Buffer{nil, i32(1, 2)}, nil, 0, 0), nil},
		{"too few numbers", array.NewData(arrow.PrimitiveTypes.Int32, 2, []*memory.Buffer{nil, i32(1)}, nil, 0, 0), errShort},
		{"too few numbers behind an offset", array.NewData(arrow.PrimitiveTypes.Int32, 2, []*memory.Buffer{nil, i32(1, 2)}, nil, 0, 1), errShort},
		{"too few bits", array.NewData(arrow.FixedWidthTypes.Boolean, 9, []*memory.Buffer{nil, buf(1)}, nil, 0, 0), errShort},
		{"short validity", array.NewData(arrow.PrimitiveTypes.Int8, 9, []*memory.Buffer{buf(1), buf(1, 2, 3, 4, 5, 6, 7, 8, 9)}, nil, 8, 0), errShort},
		{"wrong count of NULLs", array.NewData(arrow.PrimitiveTypes.Int8, 2, []*memory.Buffer{buf(1), buf(1, 2)}, nil, 2, 0), errNulls},
		{"NULLs without validity", array.NewData(arrow.PrimitiveTypes.Int8, 2, []*memory.Buffer{nil, buf(1, 2)}, nil, 1, 0), errNulls},
		{"list", array.NewData(list, 1, []*memory.Buffer{nil, i32(0, 2)}, []arrow.ArrayData{child}, 0, 0), nil},
		{"list beyond its values", array.NewData(list, 1, []*memory.Buffer{nil, i32(0, 3)}, []arrow.ArrayData{child}, 0, 0), errOffsets},
		{"list without values", array.NewData(list, 1, []*memory.Buffer{nil, i32(0, 0)}, nil, 0, 0), errChild},
		{"list view", array.NewData(lv, 1, []*memory.Buffer{nil, i32(1), i32(1)}, []arrow.ArrayData{child}, 0, 0), nil},
		{"list view beyond its values", array.NewData(lv, 1, []*memory.Buffer{nil, i32(1), i32(2)}, []arrow.ArrayData{child}, 0, 0), errOffsets},
		{"list view with a negative size", array.NewData(lv, 1, []*memory.Buffer{nil, i32(1), i32(-1)}, []arrow.ArrayData{child}, 0, 0), errOffsets},
		{"struct", array.NewData(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}), 2, []*memory.Buffer{nil}, []arrow.ArrayData{child}, 0, 0), nil},
		{"struct longer than its field", array.NewData(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}), 3, []*memory.Buffer{nil}, []arrow.ArrayData{child}, 0, 0), errChild},
		{"fixed list", array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), 1, []*memory.Buffer{nil}, []arrow.ArrayData{child}, 0, 0), nil},
		{"fixed list beyond its values", array.NewData(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), 2, []*memory.Buffer{nil}, []arrow.ArrayData{child}, 0, 0), errChild},
		{"dictionary", dict(0, 1), nil},
		{"index beyond the dictionary", dict(0, 2), errIndex},
		{"negative index", dict(0, 255), errIndex},
		{"runs", array.NewData(ree, 5, []*memory.Buffer{nil}, []arrow.ArrayData{ends(2, 5), child}, 0, 0), nil},
		{"runs that end early", array.NewData(ree, 6, []*memory.Buffer{nil}, []arrow.ArrayData{ends(2, 5), child}, 0, 0), errRuns},
		{"runs that fall", array.NewData(ree, 2, []*memory.Buffer{nil}, []arrow.ArrayData{ends(5, 2), child}, 0, 0), errRuns},
		{"more runs than values", array.NewData(ree, 5, []*memory.Buffer{nil}, []arrow.ArrayData{ends(1, 2, 5), child}, 0, 0), errRuns},
		{"union", array.NewData(union, 2, []*memory.Buffer{nil, buf(0, 0), i32(0, 1)}, []arrow.ArrayData{child}, 0, 0), nil},
		{"union with an unknown code", array.NewData(union, 2, []*memory.Buffer{nil, buf(0, 3), i32(0, 1)}, []arrow.ArrayData{child}, 0, 0), errUnion},
		{"union beyond its child", array.NewData(union, 2, []*memory.Buffer{nil, buf(0, 0), i32(0, 2)}, []arrow.ArrayData{child}, 0, 0), errUnion},
		{"view", array.NewData(view, 1, []*memory.Buffer{nil, long(13, 0, 1), buf(make([]byte, 14)...)}, nil, 0, 0), nil},
		{"view beyond its buffer", array.NewData(view, 1, []*memory.Buffer{nil, long(13, 0, 2), buf(make([]byte, 14)...)}, nil, 0, 0), errView},
		{"view of no buffer", array.NewData(view, 1, []*memory.Buffer{nil, long(13, 1, 0), buf(make([]byte, 14)...)}, nil, 0, 0), errView},
		{"view of negative size", array.NewData(view, 1, []*memory.Buffer{nil, long(-1, 0, 0), buf(make([]byte, 14)...)}, nil, 0, 0), errView},
		{"views missing", array.NewData(view, 2, []*memory.Buffer{nil, long(13, 0, 0), buf(make([]byte, 14)...)}, nil, 0, 0), errShort},
	} {
		if err := checkData(c.data.DataType(), c.data); !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestOtherFilesAreNamed(t *testing.T) {
	batch := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
	stream, file, csv := readText(t, write(t, "t.arrows", WriteOptions{}, batch)), readText(t, write(t, "t.arrow", WriteOptions{}, batch)), "a\nx\n"
	for _, c := range []struct{ name, content, want string }{
		{"a.arrow", stream, "by its first bytes, an Arrow IPC stream"},
		{"a.arrow", csv, "does not begin with ARROW1"},
		{"a.arrow", "FEA1xxxx", "Feather version 1"},
		{"a.arrow", "", "does not begin with ARROW1"},
		{"a.parquet", csv, "too few for a Parquet file"},
		{"a.parquet", file, "does not end in PAR1"},
		{"a.parquet", strings.Repeat("x", 20) + "PARE", "encrypted"},
		{"a.parquet", strings.Repeat("x", 20) + "\xff\xff\xff\xffPAR1", "footer"},
		{"a.arrows", csv, "schema"},
		{"a.arrows", file, "schema"},
		{"a.arrows", "", "schema"},
	} {
		path := writeText(t, c.name, c.content)
		err := checkedRead(t, path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s with %.10q: %v", c.name, c.content, err)
		}
	}
}
