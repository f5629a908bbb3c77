package tablefile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func dictOf(index, value arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

// scalars has a column of every scalar type, with NULLs, empty values and extremes.
func scalars(t testing.TB) arrow.RecordBatch {
	return table(t, scalarColumns...)
}

var scalarColumns = []column{
	{"text", arrow.BinaryTypes.String, `["", null, "plain", "Zoë 🙂", "a,b;\"q\"\r\n\tc", " spaced "]`},
	{"large_text", arrow.BinaryTypes.LargeString, `["x", "", null, "ß", "\n", "\""]`},
	{"view_text", arrow.BinaryTypes.StringView, `["short", "", null, "longer than twelve bytes", "日本語日本語日本語", "\r"]`},
	{"binary", arrow.BinaryTypes.Binary, `["", null, "AAEC/w==", "aGk=", "AA==", "/w=="]`},
	{"large_binary", arrow.BinaryTypes.LargeBinary, `[null, "", "AAEC/w==", "aGk=", "AA==", "/w=="]`},
	{"view_binary", arrow.BinaryTypes.BinaryView, `[null, "", "AAEC/w==", "aGk=", "AA==", "/w=="]`},
	{"fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AAAA", null, "////", "YWJj", "AAAA", "AAAA"]`},
	{"bool", arrow.FixedWidthTypes.Boolean, `[true, false, null, true, false, true]`},
	{"i8", arrow.PrimitiveTypes.Int8, `[-128, 127, null, 0, 1, -1]`},
	{"i16", arrow.PrimitiveTypes.Int16, `[-32768, 32767, null, 0, 1, -1]`},
	{"i32", arrow.PrimitiveTypes.Int32, `[-2147483648, 2147483647, null, 0, 1, -1]`},
	{"i64", arrow.PrimitiveTypes.Int64, `[-9223372036854775808, 9223372036854775807, null, 0, 1, -1]`},
	{"u8", arrow.PrimitiveTypes.Uint8, `[0, 255, null, 1, 2, 3]`},
	{"u16", arrow.PrimitiveTypes.Uint16, `[0, 65535, null, 1, 2, 3]`},
	{"u32", arrow.PrimitiveTypes.Uint32, `[0, 4294967295, null, 1, 2, 3]`},
	{"u64", arrow.PrimitiveTypes.Uint64, `[0, 18446744073709551615, null, 1, 2, 3]`},
	{"f16", arrow.FixedWidthTypes.Float16, `[0.5, -2, null, 65504, 1, 0]`},
	{"f32", arrow.PrimitiveTypes.Float32, `[0.1, -3.4028235e38, null, 1e-40, 123456789, 0]`},
	{"f64", arrow.PrimitiveTypes.Float64, `[0.1, -1.7976931348623157e308, null, 5e-324, 123456789.25, 1e21]`},
	{"date32", arrow.FixedWidthTypes.Date32, `["1970-01-01", "0001-01-01", null, "9999-12-31", "2024-02-29", "1969-12-31"]`},
	{"date64", arrow.FixedWidthTypes.Date64, `["1970-01-01", "0001-01-01", null, "9999-12-31", "2024-02-29", "1969-12-31"]`},
	{"time_ms", arrow.FixedWidthTypes.Time32ms, `["00:00:00", "23:59:59.999", null, "12:34:56.007", "00:00:01", "01:00:00"]`},
	{"time_us", arrow.FixedWidthTypes.Time64us, `["00:00:00", "23:59:59.999999", null, "12:34:56.000007", "00:00:01", "01:00:00"]`},
	{"time_ns", arrow.FixedWidthTypes.Time64ns, `["00:00:00", "23:59:59.999999999", null, "12:34:56.000000007", "00:00:01", "01:00:00"]`},
	{"ts_s", &arrow.TimestampType{Unit: arrow.Second}, `["1970-01-01 00:00:00", "1969-12-31 23:59:59", null, "9999-12-31 23:59:59", "2024-02-29 12:00:00", "0001-01-01 00:00:00"]`},
	{"ts_ms_utc", arrow.FixedWidthTypes.Timestamp_ms, `["1970-01-01T00:00:00.001Z", "1969-12-31T23:59:59.999Z", null, "2024-02-29T12:00:00Z", "2000-01-01T00:00:00Z", "2001-01-01T00:00:00Z"]`},
	{"ts_us", &arrow.TimestampType{Unit: arrow.Microsecond}, `["1970-01-01 00:00:00.000001", "1969-12-31 23:59:59.999999", null, "9999-12-31 23:59:59", "2024-02-29 12:00:00", "0001-01-01 00:00:00"]`},
	{"ts_ns_zone", &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"}, `["1970-01-01T00:00:00.000000001Z", "1969-12-31T23:59:59.999999999Z", null, "2024-02-29T12:00:00Z", "1700-01-01T00:00:00Z", "2200-01-01T00:00:00Z"]`},
	{"dec128", &arrow.Decimal128Type{Precision: 38, Scale: 4}, `["0.0001", "-9999999999999999999999999999999999.9999", null, "1.5", "0", "-0.5"]`},
	{"dec256", &arrow.Decimal256Type{Precision: 76, Scale: 2}, `["0.01", "-99999999999999999999999999999999999999999999.99", null, "1.5", "0", "-0.5"]`},
	{"dec9", &arrow.Decimal128Type{Precision: 9, Scale: 9}, `["0.000000001", "-0.999999999", null, "0.5", "0", "-0.5"]`},
	{"nothing", arrow.Null, `[null, null, null, null, null, null]`},
	{"dict", dictOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a", null, "", "a", "b", "a"]`},
	{"dict8", dictOf(arrow.PrimitiveTypes.Uint8, arrow.BinaryTypes.Binary), `["YQ==", null, "", "YQ==", "Yg==", "YQ=="]`},
	{"dict_int", dictOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64), `[7, null, -1, 7, 9, 7]`},
}

// notInParquet are scalar types that Parquet cannot hold, or that arrow-go does not write.
var notInParquet = []column{
	{"duration", arrow.FixedWidthTypes.Duration_us, `[1, null, -5]`},
	{"dec32", &arrow.Decimal32Type{Precision: 9, Scale: 2}, `["1.25", null, "-9999999.99"]`},
	{"dec64", &arrow.Decimal64Type{Precision: 18, Scale: 3}, `["1.250", null, "-999999999999999.999"]`},
}

// notInCSV are types that have no cells.
var notInCSV = []column{
	{"list", arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1], null, []]`},
	{"struct", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), `[{"a": 1}, null, {"a": null}]`},
	{"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "k", "value": 1}], null, []]`},
	{"fixed_list", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), `[[1, 2], [null, 7], [3, 4]]`},
	{"large_list", arrow.LargeListOf(arrow.BinaryTypes.String), `[["x"], null, []]`},
}

// notAnywhereElse are types that only Arrow IPC holds.
var notAnywhereElse = []column{
	{"months", arrow.FixedWidthTypes.MonthInterval, `[{"months": 1}, null, {"months": -1}]`},
	{"list_view", arrow.ListViewOf(arrow.PrimitiveTypes.Int32), `[[1], null, []]`},
}

var binaryFormats = []string{"t.parquet", "t.arrow", "t.arrows"}

func TestScalarsRoundTripBinaryFormats(t *testing.T) {
	batch := scalars(t)
	want := tableOf(batch)
	for _, first := range binaryFormats {
		for _, second := range binaryFormats {
			for _, threads := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s to %s, %d threads", first, second, threads), func(t *testing.T) {
					a := write(t, first, WriteOptions{}, batch)
					b := filepath.Join(t.TempDir(), second)
					if err := copyTable(a, b, ReadOptions{Threads: threads, BatchRows: 4}, WriteOptions{}); err != nil {
						t.Fatal(err)
					}
					got := read(t, b, ReadOptions{})
					for _, f := range want.Schema().Fields() {
						if w, g := cells(t, want, f.Name), cells(t, got, f.Name); !slices.Equal(w, g) {
							t.Errorf("column %s (%s):\n got %q\nwant %q", f.Name, f.Type, g, w)
						}
						g, _ := got.Schema().FieldsByName(f.Name)
						if !arrow.TypeEqual(g[0].Type, typeAfter(f.Type, first, second)) {
							t.Errorf("column %s: type %s became %s", f.Name, f.Type, g[0].Type)
						}
					}
				})
			}
		}
	}
}

// typeAfter says what a type is after having been through files: Parquet has no views, no seconds and no dates in milliseconds, and dictionaries only of text and binary.
func typeAfter(t arrow.DataType, files ...string) arrow.DataType {
	if !slices.Contains(files, "t.parquet") {
		return t
	}
	switch t := t.(type) {
	case *arrow.Date64Type:
		return arrow.FixedWidthTypes.Date32
	case *arrow.TimestampType:
		if t.Unit == arrow.Second {
			return &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
		}
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case *arrow.DictionaryType:
		if !arrow.IsBinaryLike(t.ValueType.ID()) {
			return t.ValueType
		}
	}
	return t
}

// TestScalarsThroughCSV goes from each binary format to CSV and, with the schema, back.
func TestScalarsThroughCSV(t *testing.T) {
	batch := scalars(t)
	want := tableOf(batch)
	for _, name := range binaryFormats {
		for _, text := range []string{"t.csv", "t.tsv"} {
			var fields []arrow.Field
			for _, f := range batch.Schema().Fields() {
				f.Type = typeAfter(f.Type, name)
				if d, ok := f.Type.(*arrow.DictionaryType); ok {
					f.Type = d.ValueType
				}
				if f.Type.ID() != arrow.NULL { // which has no cells to read
					fields = append(fields, f)
				}
			}
			schema := arrow.NewSchema(fields, nil)
			t.Run(name+" "+text, func(t *testing.T) {
				a := write(t, name, WriteOptions{}, batch)
				b := filepath.Join(t.TempDir(), text)
				if err := copyTable(a, b, ReadOptions{}, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				got := read(t, b, ReadOptions{Schema: schema})
				for _, f := range want.Schema().Fields() {
					if w, g := cells(t, want, f.Name), cells(t, got, f.Name); !slices.Equal(w, g) {
						t.Errorf("column %s (%s):\n got %q\nwant %q", f.Name, f.Type, g, w)
					}
				}
				c := filepath.Join(t.TempDir(), name)
				if err := copyTable(b, c, ReadOptions{Schema: schema}, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				again := read(t, c, ReadOptions{})
				for _, f := range schema.Fields() {
					if w, g := cells(t, want, f.Name), cells(t, again, f.Name); !slices.Equal(w, g) {
						t.Errorf("back in %s, column %s:\n got %q\nwant %q", name, f.Name, g, w)
					}
				}
			})
		}
	}
}

// TestTextPairs takes text through all sixteen pairs of formats, and back to CSV, byte for byte.
func TestTextPairs(t *testing.T) {
	const text = "id,name,note\n001,Zoë,\"\"\n 2 ,,\"a,\"\"b\"\"\"\n,\"\",\"two\nlines\"\n+1,NaN,0x10\n"
	formats := []string{"t.parquet", "t.arrow", "t.arrows", "t.csv", "t.tsv"}
	for _, first := range formats {
		for _, second := range formats {
			t.Run(first+" "+second, func(t *testing.T) {
				path := writeText(t, "in.csv", text)
				for i, name := range []string{first, second, "out.csv"} {
					next := filepath.Join(t.TempDir(), fmt.Sprint(i, name))
					if err := copyTable(path, next, ReadOptions{BatchRows: 3}, WriteOptions{}); err != nil {
						t.Fatal(err)
					}
					path = next
				}
				if got := readText(t, path); got != text {
					t.Errorf("got %q, want %q", got, text)
				}
			})
		}
	}
}

func TestUnwritableTypesAreRefusedBeforeAnyFile(t *testing.T) {
	refuse := func(c column, name string) {
		t.Helper()
		dir := t.TempDir()
		err := tryWrite(filepath.Join(dir, name), WriteOptions{}, table(t, c))
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), `"`+c.name+`"`) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s in %s: %v", c.typ, name, err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
			t.Errorf("%s in %s: left %q", c.typ, name, files)
		}
	}
	for _, c := range notInParquet {
		refuse(c, "t.parquet")
	}
	for _, c := range notInCSV {
		refuse(c, "t.csv")
	}
	for _, c := range notAnywhereElse {
		refuse(c, "t.parquet")
		refuse(c, "t.csv")
	}
}

func TestTypesThatSomeFormatsHold(t *testing.T) {
	for _, group := range []struct {
		cols  []column
		files []string
	}{
		{notInParquet, []string{"t.arrow", "t.arrows"}},
		{notInCSV, binaryFormats},
		{notAnywhereElse, []string{"t.arrow", "t.arrows"}},
	} {
		for _, c := range group.cols {
			for _, name := range group.files {
				batch := table(t, c)
				got := read(t, write(t, name, WriteOptions{}, batch), ReadOptions{})
				if w, g := cells(t, tableOf(batch), c.name), cells(t, got, c.name); !slices.Equal(w, g) {
					t.Errorf("%s in %s: got %q, want %q", c.typ, name, g, w)
				}
			}
		}
	}
	// Durations and the small decimals have cells.
	for _, c := range notInParquet {
		batch := table(t, c)
		got := read(t, write(t, "t.csv", WriteOptions{}, batch), ReadOptions{Schema: batch.Schema()})
		if w, g := cells(t, tableOf(batch), c.name), cells(t, got, c.name); !slices.Equal(w, g) {
			t.Errorf("%s in CSV: got %q, want %q", c.typ, g, w)
		}
	}
}

// TestSlicesAreWrittenAlone writes a slice of a larger batch: the rows outside it must be nowhere in the file.
func TestSlicesAreWrittenAlone(t *testing.T) {
	batch := table(t,
		column{"s", arrow.BinaryTypes.String, `["SECRETSECRET", "in", "SECRETSECRET"]`},
		column{"b", arrow.BinaryTypes.LargeBinary, `["U0VDUkVUU0VDUkVU", null, "U0VDUkVUU0VDUkVU"]`},
		column{"f", &arrow.FixedSizeBinaryType{ByteWidth: 6}, `["U0VDUkVU", "aW5pbmlu", "U0VDUkVU"]`},
		column{"l", arrow.ListOf(arrow.BinaryTypes.String), `[["SECRETSECRET"], ["in"], ["SECRETSECRET"]]`},
	)
	part := batch.NewSlice(1, 2)
	for _, name := range binaryFormats {
		path := write(t, name, WriteOptions{Compression: NoCompression}, part)
		if strings.Contains(readText(t, path), "SECRET") {
			t.Errorf("%s holds rows outside the slice", name)
		}
		got := read(t, path, ReadOptions{})
		if got.NumRows() != 1 || cells(t, got, "s")[0] != "in" {
			t.Errorf("%s: wrong rows", name)
		}
	}
}

func TestRequiredColumnsStayRequiredAndRefuseNull(t *testing.T) {
	sc := arrow.NewSchema([]arrow.Field{{Name: "must", Type: arrow.BinaryTypes.String}, {Name: "may", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	src := table(t, column{"must", arrow.BinaryTypes.String, `["a", "b"]`}, column{"may", arrow.PrimitiveTypes.Int64, `[1, null]`})
	good := array.NewRecordBatch(sc, src.Columns(), 2)
	nulls := table(t, column{"must", arrow.BinaryTypes.String, `["a", null]`}, column{"may", arrow.PrimitiveTypes.Int64, `[1, null]`})
	for _, name := range binaryFormats {
		got := read(t, write(t, name, WriteOptions{}, good), ReadOptions{})
		for _, f := range sc.Fields() {
			if g, _ := got.Schema().FieldsByName(f.Name); g[0].Nullable != f.Nullable {
				t.Errorf("%s: column %s nullable %v", name, f.Name, g[0].Nullable)
			}
		}
		w, err := Create(filepath.Join(t.TempDir(), name), sc, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(array.NewRecordBatch(sc, nulls.Columns(), 2))
		if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), `"must"`) || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("%s: NULL in a required column: %v", name, err)
		}
		if err := w.Commit(); err == nil {
			t.Errorf("%s: commit after a failed write succeeded", name)
		}
	}
}

// TestMetadataIsNotCopied: key-value metadata may quote values, so none of it gets into an output.
func TestMetadataIsNotCopied(t *testing.T) {
	secret := arrow.NewMetadata([]string{"pandas", "geo", "PARQUET:field_id"}, []string{"SECRETVALUE", "SECRETVALUE", "7"})
	inner := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true, Metadata: secret}
	src := table(t, column{"s", arrow.BinaryTypes.String, `["x"]`}, column{"st", arrow.StructOf(inner), `[{"a": 1}]`})
	sc := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: secret},
		{Name: "st", Type: arrow.StructOf(inner), Nullable: true}}, &secret)
	batch := array.NewRecordBatchWithMetadata(sc, src.Columns(), 1, secret)
	for _, name := range binaryFormats {
		path := write(t, name, WriteOptions{Compression: NoCompression}, batch)
		if strings.Contains(readText(t, path), "SECRETVALUE") {
			t.Errorf("%s holds metadata of the input", name)
		}
		got := read(t, path, ReadOptions{}).Schema().Field(0)
		if id, ok := got.Metadata.GetValue("PARQUET:field_id"); !ok || id != "7" {
			t.Errorf("%s: field id lost: %v", name, got.Metadata)
		}
	}
}

func TestCompression(t *testing.T) {
	batch := scalars(t)
	want := tableOf(batch)
	for name, codecs := range map[string][]Compression{
		"t.parquet": {NoCompression, Snappy, Gzip, Brotli, Zstd, LZ4},
		"t.arrow":   {NoCompression, Zstd, LZ4},
		"t.arrows":  {NoCompression, Zstd, LZ4},
	} {
		for _, c := range codecs {
			got := read(t, write(t, name, WriteOptions{Compression: c}, batch), ReadOptions{})
			for _, f := range want.Schema().Fields() {
				if w, g := cells(t, want, f.Name), cells(t, got, f.Name); !slices.Equal(w, g) {
					t.Errorf("%s %s, column %s: got %q, want %q", name, c, f.Name, g, w)
				}
			}
		}
	}
	for name, c := range map[string]Compression{"t.arrow": Snappy, "t.arrows": Gzip, "t.csv": Zstd} {
		if err := tryWrite(filepath.Join(t.TempDir(), name), WriteOptions{Compression: c}, batch); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s with %s: %v", name, c, err)
		}
	}
}

// TestParquetKeepsTheCodec copies a Parquet file and finds its codec again.
func TestParquetKeepsTheCodec(t *testing.T) {
	for _, c := range []Compression{NoCompression, Snappy, Gzip, Brotli, Zstd, LZ4} {
		in := write(t, "in.parquet", WriteOptions{Compression: c}, scalars(t))
		out := filepath.Join(t.TempDir(), "out.parquet")
		if err := copyTable(in, out, ReadOptions{}, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), out, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Style().Compression; got != c {
			t.Errorf("codec %s became %s", c, got)
		}
		r.Close()
	}
}

// TestSecondsInParquet: Parquet has no seconds and no dates in milliseconds, so values are converted, and those that would not survive refused.
func TestSecondsInParquet(t *testing.T) {
	seconds := table(t, column{"t", arrow.FixedWidthTypes.Time32s, `["23:59:59", null, "00:00:01"]`})
	got := read(t, write(t, "t.parquet", WriteOptions{}, seconds), ReadOptions{})
	if g, want := cells(t, got, "t"), []string{"23:59:59.000", "(null)", "00:00:01.000"}; !slices.Equal(g, want) {
		t.Errorf("time in seconds: got %q, want %q", g, want)
	}
	for _, c := range []column{
		{"d", arrow.FixedWidthTypes.Date64, `[0, 86400000, 86400001]`},
		{"t", &arrow.TimestampType{Unit: arrow.Second}, `[0, 1, 9223372036854775]`},
		{"t", &arrow.TimestampType{Unit: arrow.Second}, `[0, 1, 9223372036854776]`},
		{"t", &arrow.TimestampType{Unit: arrow.Second}, `[0, 1, -9223372036854776]`},
		{"t", arrow.FixedWidthTypes.Time32s, `[0, 1, 86400]`},
		{"l", arrow.ListOf(arrow.FixedWidthTypes.Date64), `[[0], [], [1]]`},
	} {
		err := tryWrite(filepath.Join(t.TempDir(), "t.parquet"), WriteOptions{}, table(t, c))
		if fine := strings.Contains(c.values, "9223372036854775"); fine != (err == nil) {
			t.Errorf("%s %s: %v", c.typ, c.values, err)
		} else if !fine && (!errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "3")) {
			t.Errorf("%s %s: %v does not name the row", c.typ, c.values, err)
		}
	}
}
