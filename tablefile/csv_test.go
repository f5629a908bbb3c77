package tablefile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

func allRaw(int, string) bool { return true }

// throughCSV copies a CSV text to CSV.
func throughCSV(t testing.TB, text string, ro ReadOptions) (string, error) {
	in, out := writeText(t, "in.csv", text), filepath.Join(t.TempDir(), "out.csv")
	if err := copyTable(in, out, ro, WriteOptions{}); err != nil {
		return "", err
	}
	return readText(t, out), nil
}

// csvCells reads a CSV text and gives its columns, NULL as "(null)".
func csvCells(t testing.TB, text string, opts ReadOptions) (names []string, cols [][]string, err error) {
	tbl, err := tryRead(writeText(t, "in.csv", text), opts)
	if err != nil {
		return nil, nil, err
	}
	for i, f := range tbl.Schema().Fields() {
		var col []string
		for _, a := range tbl.Column(i).Data().Chunks() {
			for row := range a.Len() {
				col = append(col, a.ValueStr(row))
			}
		}
		names, cols = append(names, f.Name), append(cols, col)
	}
	return names, cols, nil
}

// TestB33CellsAreTextAsTheyStand: nothing about a cell is guessed, and NULL and the empty string stay apart.
func TestB33CellsAreTextAsTheyStand(t *testing.T) {
	const text = "v,w\n001,x\n+1,x\n1e3,x\n0x10,x\nTRUE,x\nNaN,x\nNULL,x\n  lead,x\ntrail  ,x\n\"quo\"\"ted\",x\n\"two\nlines\",x\n\"a,b\",x\n\"\",x\n,x\n\" \",x\n"
	want := []string{"001", "+1", "1e3", "0x10", "TRUE", "NaN", "NULL", "  lead", "trail  ", `quo"ted`, "two\nlines", "a,b", "", "(null)", " "}
	for name, in := range map[string]string{
		"LF":               text,
		"CRLF":             strings.ReplaceAll(text, "\n", "\r\n"),
		"BOM":              "\ufeff" + text,
		"BOM and CRLF":     "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"),
		"no final newline": strings.TrimSuffix(text, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			if strings.Contains(in, "\r") {
				want = slices.Clone(want)
				want[10] = "two\r\nlines"
			}
			for _, batchRows := range []int{1, 2, 7, 1000} {
				names, cols, err := csvCells(t, in, ReadOptions{BatchRows: batchRows})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(names, []string{"v", "w"}) || !slices.Equal(cols[0], want) {
					t.Errorf("batches of %d: got %q\nwant %q", batchRows, cols[0], want)
				}
			}
			for label, raw := range map[string]func(int, string) bool{"text": nil, "raw": allRaw} {
				got, err := throughCSV(t, in, ReadOptions{Raw: raw})
				if err != nil {
					t.Fatal(err)
				}
				expect := in
				if label == "text" { // only raw cells keep quotes they do not need
					expect = strings.ReplaceAll(in, "\" \"", " ")
				}
				if got != expect {
					t.Errorf("%s: got %q\nwant %q", label, got, expect)
				}
			}
		})
	}
}

// TestB33UntouchedCellsAreByteEqual masks nothing but stands in for it: one column is decoded, the others are raw.
func TestB33UntouchedCellsAreByteEqual(t *testing.T) {
	const text = "\"id\", name ,\"x\"\"y\"\n\"1\",\"needless\",\"\"\n2,,\" \"\n"
	got, err := throughCSV(t, text, ReadOptions{Raw: func(i int, name string) bool { return name != "id" }})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\"id\", name ,\"x\"\"y\"\n1,\"needless\",\"\"\n2,,\" \"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestB33NoHeaderKeepsTheFirstRow(t *testing.T) {
	const text = "1,a\n2,b\n"
	names, cols, err := csvCells(t, text, ReadOptions{NoHeader: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, []string{"f0", "f1"}) || !slices.Equal(cols[0], []string{"1", "2"}) {
		t.Errorf("got %q %q", names, cols)
	}
	if got, err := throughCSV(t, text, ReadOptions{NoHeader: true}); err != nil || got != text {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestB33BadRecordsNameTheirRowAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		opts             ReadOptions
	}{
		{name: "too few cells", text: "a,b\n1,2\nSECRET\n", want: "row 2, line 3"},
		{name: "too many cells", text: "a,b\n\"x\ny\",2\n1,SECRET,3\n", want: "row 2, line 4"},
		{name: "empty line", text: "a,b\n1,2\n\n3,4\n", want: "row 2, line 3"},
		{name: "open quote", text: "a,b\n1,2\n3,\"SECRET\n5,6\n", want: "row 2, line 3"},
		{name: "quote in a bare cell", text: "a,b\nSEC\"RET,2\n", want: "row 1, line 2"},
		{name: "text after a quote", text: "a,b\n\"SECRET\"x,2\n", want: "row 1, line 2"},
		{name: "space after a quote", text: "a,b\n\"SECRET\" ,2\n", want: "row 1, line 2"},
		{name: "lone carriage return", text: "a,b\n1,SEC\rRET\n", want: "row 1, line 2"},
		{name: "carriage return at the end", text: "a,b\n1,SECRET\r", want: "row 1, line 2"},
		{name: "open quote in the header", text: "a,\"SECRET\n1,2\n", want: "first record, line 1"},
		{name: "nothing", text: "", want: "empty"},
		{name: "only a mark", text: "\ufeff", want: "empty"},
		{name: "no header, later row", text: "1,2\n3\n", want: "row 2, line 2", opts: ReadOptions{NoHeader: true}},
	} {
		_, _, err := csvCells(t, c.text, c.opts)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "SEC") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: the error quotes a cell or has several lines: %q", c.name, err)
		}
		if _, err := throughCSV(t, c.text, c.opts); err == nil {
			t.Errorf("%s: copied", c.name)
		}
	}
}

func TestOneColumnOfNulls(t *testing.T) {
	for _, text := range []string{"a\n\n\n1\n\n", "a\n\n", "a\n", "a", "\n", "\n\n", "\"\"\n\"\"\n"} {
		_, cols, err := csvCells(t, text, ReadOptions{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if n := strings.Count(text+"\n", "\n") - 2; text != "a" && len(cols[0]) != n {
			t.Errorf("%q: %d rows, want %d", text, len(cols[0]), n)
		}
		if got, err := throughCSV(t, text, ReadOptions{}); err != nil || got != text && text != "\"\"\n\"\"\n" {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
		if got, err := throughCSV(t, text, ReadOptions{Raw: allRaw}); err != nil || got != text {
			t.Errorf("%q raw: got %q, %v", text, got, err)
		}
	}
	// A last NULL without a line end would not be there.
	batch := table(t, column{"a", arrow.BinaryTypes.String, `["x", null]`})
	like := &Style{Format: CSV, CSV: CSVStyle{NoFinalNewline: true}}
	if got, want := readText(t, write(t, "t.csv", WriteOptions{Like: like}, batch)), "a\nx\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDelimiters(t *testing.T) {
	const text = "a;b\n\"1;2\";x,y\n\"\";\n"
	_, cols, err := csvCells(t, text, ReadOptions{Delimiter: ';'})
	if err != nil || !slices.Equal(cols[0], []string{"1;2", ""}) || !slices.Equal(cols[1], []string{"x,y", "(null)"}) {
		t.Errorf("got %q, %v", cols, err)
	}
	in := writeText(t, "in.csv", text)
	for name, want := range map[string]string{
		"same.csv":   text,
		"comma.tsv":  "a\tb\n1;2\tx,y\n\"\"\t\n",
		"forced.csv": "a,b\n1;2,\"x,y\"\n\"\",\n",
	} {
		opts := WriteOptions{}
		if name == "forced.csv" {
			opts.Delimiter = ','
		}
		for label, raw := range map[string]func(int, string) bool{"text": nil, "raw": allRaw} {
			out := filepath.Join(t.TempDir(), name)
			if err := copyTable(in, out, ReadOptions{Delimiter: ';', Raw: raw}, opts); err != nil {
				t.Fatal(err)
			}
			if got := readText(t, out); got != want {
				t.Errorf("%s %s: got %q, want %q", name, label, got, want)
			}
		}
	}
	for _, d := range []byte{'"', '\n', '\r', 'a', '7', 0x80, 0xff} {
		if _, _, err := csvCells(t, "a\n", ReadOptions{Delimiter: d}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("delimiter %q read: %v", d, err)
		}
		err := tryWrite(filepath.Join(t.TempDir(), "t.csv"), WriteOptions{Delimiter: d}, scalars(t))
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("delimiter %q written: %v", d, err)
		}
	}
}

func TestMixedLineEndsTakeTheFirst(t *testing.T) {
	got, err := throughCSV(t, "a,b\r\n1,2\n3,4\r\n", ReadOptions{Raw: allRaw})
	if want := "a,b\r\n1,2\r\n3,4\r\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHeaderNamesMayRepeatAndBeEmpty(t *testing.T) {
	const text = "a,,a,\"\"\n1,2,3,4\n"
	names, cols, err := csvCells(t, text, ReadOptions{})
	if err != nil || !slices.Equal(names, []string{"a", "", "a", ""}) || len(cols) != 4 {
		t.Fatalf("got %q, %v", names, err)
	}
	if got, err := throughCSV(t, text, ReadOptions{}); err != nil || got != text {
		t.Errorf("got %q, %v", got, err)
	}
	_, _, err = csvCells(t, text, ReadOptions{Schema: arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, nil)})
	if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("a schema for a repeated name: %v", err)
	}
}

// TestByteOrderMarkAsText: text that begins like a byte order mark must not become one.
func TestByteOrderMarkAsText(t *testing.T) {
	batch := table(t, column{"\ufeffa", arrow.BinaryTypes.String, `["\ufeffx"]`})
	tbl := read(t, write(t, "t.csv", WriteOptions{}, batch), ReadOptions{})
	if name := tbl.Schema().Field(0).Name; name != "\ufeffa" {
		t.Errorf("name %q", name)
	}
	path := write(t, "t.csv", WriteOptions{Like: &Style{CSV: CSVStyle{NoHeader: true}}}, batch)
	if got := cells(t, read(t, path, ReadOptions{NoHeader: true}), "f0"); got[0] != "\ufeffx" {
		t.Errorf("cell %q", got)
	}
}

// TestTypedCellsAreStrict reads cells with a schema: a cell is the value or an error that names row and column, never a guess or a zero.
func TestTypedCellsAreStrict(t *testing.T) {
	ts := func(u arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: u, TimeZone: zone}
	}
	for _, c := range []struct {
		typ  arrow.DataType
		good string // cells, space-free, that are read; as cell or cell=shown
		bad  string
	}{
		{arrow.PrimitiveTypes.Int8, "0 -0=0 001=1 127 -128", "128 -129 +1 1.0 1e0 0x1 1_0 x"},
		{arrow.PrimitiveTypes.Int64, "9223372036854775807", "9223372036854775808 --1"},
		{arrow.PrimitiveTypes.Uint8, "0 255", "256 -1 +1"},
		{arrow.PrimitiveTypes.Float64, "1 1.5 -1.5e10=-15000000000 1e-7=1e-07 .5=0.5 +1=1 NaN +Inf -Inf", "nan Inf inf infinity 0x1p2 1_0 1e999 e5 --1"},
		{arrow.PrimitiveTypes.Float32, "16777216=16777216", "1e39"},
		{arrow.FixedWidthTypes.Boolean, "true false", "True TRUE 1 0 t yes"},
		{arrow.FixedWidthTypes.Date32, "2024-02-29 0000-01-01 -0044-03-15 +10000-01-01", "2023-02-29 2024-13-01 2024-1-1 24-01-01 20240101 2024-01-01T00:00:00 10000-01-01 2024-00-10"},
		{arrow.FixedWidthTypes.Time32s, "23:59:59", "24:00:00 23:60:00 1:00:00 23:59:59.1 23:59 23:59:5x"},
		{arrow.FixedWidthTypes.Time64us, "01:02:03=01:02:03.000000 01:02:03.5=01:02:03.500000", "01:02:03.1234567 01:02:03."},
		{ts(arrow.Second, ""), "2024-01-01T00:00:00", "2024-01-01 2024-01-01T00:00:00Z 2024-01-01T00:00:00+01:00 2024-01-01T00:00:00.5"},
		{ts(arrow.Millisecond, "UTC"), "2024-01-01T01:00:00+01:00=2024-01-01T00:00:00.000Z 2024-01-01T00:00:00.001Z", "2024-01-01T00:00:00 2024-01-01T00:00:00+1:00"},
		{ts(arrow.Nanosecond, ""), "2262-04-10T00:00:00=2262-04-10T00:00:00.000000000", "2263-01-01T00:00:00 1677-01-01T00:00:00"},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, "1=1.00 -1.5=-1.50 999.99 0.01 -0.01", "1000 1.005 1e2 +1 .5 1. - x"},
		{&arrow.Decimal32Type{Precision: 4, Scale: 0}, "9999 -9999", "10000 1.0"},
		{&arrow.Decimal128Type{Precision: 3, Scale: -2}, "12300 0 -100", "12345 100000 1"},
		{arrow.BinaryTypes.Binary, "00ff AbC0=abc0", "0 0g 0x00"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, "00ff", "00 00ff00"},
		{arrow.FixedWidthTypes.Duration_s, "5 -5", "5s"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ, Nullable: true}}, nil)
		for cell := range strings.SplitSeq(c.good, " ") {
			in, want, found := strings.Cut(cell, "=")
			if !found {
				want = in
			}
			got, err := throughCSV(t, "v\n"+in+"\n", ReadOptions{Schema: schema})
			if want := "v\n" + want + "\n"; err != nil || got != want {
				t.Errorf("%s from %q: got %q, want %q (%v)", c.typ, in, got, want, err)
			}
		}
		bad := strings.Split(c.bad, " ")
		for _, cell := range append(bad, " 1", "1 ", `""`) {
			if cell == `""` && c.typ.ID() == arrow.BINARY {
				continue // the empty binary
			}
			_, err := throughCSV(t, "v\n\n"+cell+"\n", ReadOptions{Schema: schema})
			if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), `row 2, line 3: column "v"`) {
				t.Errorf("%s from %q: %v", c.typ, cell, err)
			}
		}
	}
	must := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.BinaryTypes.String}}, nil)
	if _, err := throughCSV(t, "v,w\n,1\n", ReadOptions{Schema: must}); !errors.Is(err, ErrValue) {
		t.Errorf("NULL in a required column: %v", err)
	}
}

func TestSchemaPicksColumns(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	tbl := read(t, writeText(t, "in.csv", "s,n\n01,01\n"), ReadOptions{Schema: schema})
	if s, n := cells(t, tbl, "s"), cells(t, tbl, "n"); s[0] != "01" || n[0] != "1" {
		t.Errorf("got %q %q", s, n)
	}
	for name, opts := range map[string]ReadOptions{
		"no such column": {Schema: arrow.NewSchema([]arrow.Field{{Name: "zz", Type: arrow.PrimitiveTypes.Int64}}, nil)},
		"too few fields": {Schema: schema, NoHeader: true},
		"raw and typed":  {Schema: schema, Raw: allRaw},
		"no cell type":   {Schema: arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}}, nil)},
	} {
		if _, _, err := csvCells(t, "s,n\n01,01\n", opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRawColumnsStayInCSV(t *testing.T) {
	in := writeText(t, "in.csv", "a\n1\n")
	for _, name := range binaryFormats {
		err := copyTable(in, filepath.Join(t.TempDir(), name), ReadOptions{Raw: allRaw}, WriteOptions{})
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextThatIsNotUTF8(t *testing.T) {
	const text = "a,b\nx,y\n\xe9,z\n"
	if got, err := throughCSV(t, text, ReadOptions{}); err != nil || got != text {
		t.Errorf("CSV to CSV: %q, %v", got, err)
	}
	in := writeText(t, "in.csv", text)
	for _, name := range binaryFormats {
		err := copyTable(in, filepath.Join(t.TempDir(), name), ReadOptions{}, WriteOptions{})
		if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), `column "a"`) || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongRecords(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	text := "a,b\n1," + long + "\n\"" + long + "\",2\n"
	if got, err := throughCSV(t, text, ReadOptions{Raw: allRaw}); err != nil || got != text {
		t.Errorf("%d bytes became %d, %v", len(text), len(got), err)
	}
	s := newScanner(strings.NewReader("a,\""+long), ',')
	s.limit = 2 << 20
	if err := s.next(); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "never closed") {
		t.Errorf("a record over the limit: %v", err)
	}
}

// TestScannerOverSmallReads gives the scanner its input byte by byte, so that every token meets the end of what is read.
func TestScannerOverSmallReads(t *testing.T) {
	const text = "a,\"b\"\"\"\r\n\"\r\n\",\r\n\"\",\"x,y\""
	whole, small := scanAll(strings.NewReader(text)), scanAll(&oneByte{[]byte(text)})
	if whole != small || !strings.HasSuffix(whole, "EOF") {
		t.Errorf("whole %q\nsmall %q", whole, small)
	}
}

func scanAll(r io.Reader) string {
	s := newScanner(r, ',')
	s.buf = make([]byte, 0, 1)
	var out strings.Builder
	for {
		if err := s.next(); err != nil {
			return out.String() + err.Error()
		}
		for _, c := range s.cells {
			fmt.Fprintf(&out, "[%s]", c.raw)
		}
		fmt.Fprintf(&out, "%d line %d;", s.last, s.start)
	}
}

type oneByte struct{ rest []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		return 0, io.EOF
	}
	p[0] = o.rest[0]
	o.rest = o.rest[1:]
	return 1, nil
}

// FuzzCSV checks, on anything: no panic, and raw cells make the input again. On what encoding/csv reads too, the cells are the same.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\ufeffa\r\n\"\"\r\n", "a\n\n", "\"a\"\"b\",c\n\"x\ny\",", "a,b", "\"", "a\"b\n", "a\rb\n", ",\n,\n", "\n\n", "a\n\"\"", " a , \"b\"\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got [][]cellValue
		s := newScanner(strings.NewReader(text), ',')
		s.buf = make([]byte, 0, 4)
		hasBOM, err := s.skipBOM()
		if err != nil {
			t.Fatal(err)
		}
		ends := map[recordEnd]bool{}
		for err == nil {
			if err = s.next(); err == nil {
				ends[s.last] = true
				var record []cellValue
				for _, c := range s.cells {
					v, _ := c.text(nil)
					record = append(record, cellValue{string(v), c.null()})
					if p := parseRaw(bytes.Clone(c.raw)); p.quoted != c.quoted || p.doubled != c.doubled {
						t.Errorf("cell %q parsed alone is another", c.raw)
					}
				}
				got = append(got, record)
			}
		}
		wellFormed := err == io.EOF
		rectangular := wellFormed && len(got) > 0
		for _, r := range got {
			rectangular = rectangular && len(r) == len(got[0])
		}
		for name, raw := range map[string]func(int, string) bool{"raw": allRaw, "text": nil} {
			out, err := throughCSV(t, text, ReadOptions{Raw: raw, BatchRows: 3})
			if rectangular != (err == nil) {
				t.Fatalf("%s: rectangular is %v and the copy says %v", name, rectangular, err)
			}
			if name == "raw" && rectangular && !(ends[endLF] && ends[endCRLF]) && out != text {
				t.Errorf("raw copy of %q is %q", text, out)
			}
			if rectangular {
				if again, err := throughCSV(t, out, ReadOptions{Raw: raw}); err != nil || again != out {
					t.Errorf("%s: copy of the copy %q is %q, %v", name, out, again, err)
				}
			}
		}
		if wellFormed && !hasBOM {
			compareWithStdlib(t, text, got)
		}
	})
}

type cellValue struct {
	text string
	null bool
}

// compareWithStdlib reads text with encoding/csv, which skips empty lines and makes \r\n inside quotes \n.
func compareWithStdlib(t *testing.T, text string, got [][]cellValue) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	want, err := r.ReadAll()
	if err != nil {
		t.Errorf("encoding/csv refuses %q: %v", text, err)
		return
	}
	got = slices.DeleteFunc(slices.Clone(got), func(r []cellValue) bool { return len(r) == 1 && r[0].null })
	if len(got) != len(want) {
		t.Errorf("%q: %d records, encoding/csv has %d", text, len(got), len(want))
		return
	}
	for i, record := range got {
		for k, c := range record {
			if len(want[i]) != len(record) || strings.ReplaceAll(c.text, "\r\n", "\n") != want[i][k] {
				t.Errorf("%q: record %d is %v, encoding/csv has %q", text, i, record, want[i])
				return
			}
		}
	}
}
