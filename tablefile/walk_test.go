package tablefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// sharedDir gives a folder of the shared test data, which lies beside the repository.
func sharedDir(t testing.TB, parts ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared test data is not there: %v", err)
	}
	return path
}

// refused lists the files of the Parquet project's test data that are not read, with a part of the line that says why. All others must be read.
var refused = map[string]string{
	"data/datapage_v2_empty_datapage.snappy.parquet": "corrupt input", // an empty page marked compressed; the library decompresses it all the same
	"data/hadoop_lz4_compressed.parquet":             "compression LZ4",
	"data/hadoop_lz4_compressed_larger.parquet":      "compression LZ4",
	"data/non_hadoop_lz4_compressed.parquet":         "compression LZ4",
	"data/incorrect_map_schema.parquet":              "MAP keys must be required",
	"data/int96_from_spark.parquet":                  "outside the Arrow nanosecond range",
	"data/large_string_map.brotli.parquet":           "exceeds configured limit", // a page of 1 GiB
	"data/repeated_no_annotation.parquet":            "the footer declares 0 rows and its row groups 6",
	"data/unknown-logical-type.parquet":              "invalid logical type",

	"bad_data/ARROW-GH-41317.parquet":              "page header",
	"bad_data/ARROW-GH-41321.parquet":              "bit width",
	"bad_data/ARROW-GH-45185.parquet":              "repetition level",
	"bad_data/ARROW-GH-47662.parquet":              "eof",
	"bad_data/ARROW-RS-GH-6229-DICTHEADER.parquet": "must both be less than total source size",
	"bad_data/ARROW-RS-GH-6229-LEVELS.parquet":     "unexpected EOF",
	"bad_data/PARQUET-1481.parquet":                "invalid physical column type",
	// bad_data/ARROW-GH-43605.parquet has dictionary indices of bit width 0 where the dictionary has one value. That is legal, so it is read.
}

// TestWalkParquetTesting reads every file of the Parquet project's test data and copies what it can read to Parquet and to an Arrow stream.
func TestWalkParquetTesting(t *testing.T) {
	root := sharedDir(t, "data", "parquet-testing")
	tally := map[string]int{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(e.Name(), ".parquet") || strings.HasSuffix(e.Name(), ".json") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder, _, _ := strings.Cut(name, string(filepath.Separator))
		why, expected := refused[filepath.ToSlash(name)]
		if strings.Contains(e.Name(), "encrypt") || strings.Contains(name, "aes256") {
			why, expected = "encrypted", true
		}
		tbl, err := tryRead(path, ReadOptions{Format: Parquet})
		if err != nil {
			tally[folder+" refused"]++
			t.Logf("%s: refused: %s", name, strings.TrimPrefix(err.Error(), path+": "))
			oneTypedLine(t, name, err)
			if !expected || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: refused for a reason not expected: %v", name, err)
			}
			return nil
		}
		tally[folder+" read"]++
		t.Logf("%s: %d rows", name, tbl.NumRows())
		if expected {
			t.Errorf("%s: read, though it should be refused: %s", name, why)
		}
		for _, out := range []string{"t.parquet", "t.arrow", "t.arrows"} {
			copied := filepath.Join(t.TempDir(), out)
			if err := copyTable(path, copied, ReadOptions{Format: Parquet}, WriteOptions{}); err != nil {
				tally[folder+" not copied to "+out]++
				t.Logf("%s: not copied to %s: %v", name, out, err)
				oneTypedLine(t, name, err)
				continue
			}
			again, err := tryRead(copied, ReadOptions{})
			if err != nil {
				t.Errorf("%s: its copy in %s cannot be read: %v", name, out, err)
				continue
			}
			sameTable(t, name+" as "+out, again, tbl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("tally: %v", tally)
	if tally["data read"] == 0 || tally["bad_data refused"] == 0 {
		t.Error("the folders hold no files")
	}
}

func oneTypedLine(t *testing.T, name string, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "\n") || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrValue) {
		t.Errorf("%s: not one line of a known kind: %q", name, err)
	}
}

// sameTable compares two tables value by value.
func sameTable(t *testing.T, name string, got, want arrow.Table) {
	t.Helper()
	if got.NumRows() != want.NumRows() || got.NumCols() != want.NumCols() {
		t.Errorf("%s: %d x %d became %d x %d", name, want.NumRows(), want.NumCols(), got.NumRows(), got.NumCols())
		return
	}
	for i := range int(want.NumCols()) {
		g, w := columnText(got.Column(i)), columnText(want.Column(i))
		for row := range w {
			if g[row] != w[row] {
				t.Errorf("%s: column %q differs in row %d", name, want.Schema().Field(i).Name, row+1)
				break
			}
		}
	}
}

func columnText(col *arrow.Column) []string {
	var out []string
	for _, a := range col.Data().Chunks() {
		for i := range a.Len() {
			out = append(out, a.ValueStr(i))
		}
	}
	return out
}
