package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
)

// refusedFiles are the files of the reference collection that cannot be read,
// with what the error must say. Encrypted ones are told by their name.
var refusedFiles = map[string]string{
	"datapage_v2_empty_datapage.snappy.parquet": "could not decompress page", // a page of no bytes marked as compressed
	"hadoop_lz4_compressed.parquet":             "compression LZ4",           // the framing that Hadoop used
	"hadoop_lz4_compressed_larger.parquet":      "compression LZ4",
	"non_hadoop_lz4_compressed.parquet":         "compression LZ4", // the same codec number, another framing
	"incorrect_map_schema.parquet":              "MAP keys must be required",
	"int96_from_spark.parquet":                  "outside the Arrow nanosecond range", // years that 64 bits of nanoseconds cannot hold
	"large_string_map.brotli.parquet":           "exceeds configured limit",           // a page of 1 GiB
	"repeated_no_annotation.parquet":            "the footer declares 0 rows and its row groups 6",
	"unknown-logical-type.parquet":              "invalid logical type",
}

// badFiles are the broken ones, with what must come of each.
var badFiles = map[string]struct {
	says string // of the error; empty: the file is read
	why  string
}{
	"ARROW-GH-41317.parquet":              {"page header", "a column chunk is shorter than its pages"},
	"ARROW-GH-41321.parquet":              {"bit width", "the bit width of a data page is not a width"},
	"ARROW-GH-43605.parquet":              {"", "a dictionary of one value needs indices of 0 bits, which readers may take"},
	"ARROW-GH-45185.parquet":              {"repetition level", "the first record begins inside a list"},
	"ARROW-GH-47662.parquet":              {"malformed input", "a page ends before its values"},
	"ARROW-RS-GH-6229-DICTHEADER.parquet": {"column chunk metadata", "a column chunk lies outside the file"},
	"ARROW-RS-GH-6229-LEVELS.parquet":     {"malformed input", "a page ends inside its levels"},
	"PARQUET-1481.parquet":                {"invalid physical column type", "a column has a physical type that does not exist"},
}

// The reference collection of Parquet files: each is masked (a text column
// hashed where there is one) or refused with one clear line and no output.
func TestParquetCollection(t *testing.T) {
	t.Parallel()
	root := shared(t, "data", "parquet-testing", "data")
	dir := t.TempDir()
	tally := map[string]int{}
	seen := map[string]bool{}
	for _, name := range filesBelow(t, root) {
		in := filepath.Join(root, name)
		says, refuse := refusedFiles[name]
		if strings.HasSuffix(name, ".encrypted") {
			says, refuse = "encrypted", true
		}
		seen[name] = true
		outcome := maskAny(t, in, dir)
		switch {
		case refuse && outcome.err == "":
			t.Errorf("%s was %s; it is listed as refused", name, outcome)
		case refuse && !strings.Contains(outcome.err, says):
			t.Errorf("%s: error %q does not say %q", name, outcome.err, says)
		case !refuse && outcome.err != "":
			t.Errorf("%s was refused: %s", name, outcome.err)
		}
		tally[outcome.what]++
		t.Logf("%-60s %s", name, outcome)
	}
	for name := range refusedFiles {
		if !seen[name] {
			t.Errorf("%s is listed and not there", name)
		}
	}
	t.Logf("tally: %v", tally)
	if tally["masked"] < 15 || tally["passed through"] < 40 {
		t.Errorf("too few files were read: %v", tally)
	}
}

// The broken files: each is refused with one clear line, or is legal after all
// for the reason that is listed.
func TestBrokenParquetFiles(t *testing.T) {
	root := shared(t, "data", "parquet-testing", "bad_data")
	dir := t.TempDir()
	for _, name := range filesBelow(t, root) {
		want, listed := badFiles[name]
		outcome := maskAny(t, filepath.Join(root, name), dir)
		switch {
		case !listed:
			t.Errorf("%s is not listed: %s", name, outcome)
		case want.says == "" && outcome.err != "":
			t.Errorf("%s was refused (%s), though %s", name, outcome.err, want.why)
		case want.says != "" && !strings.Contains(outcome.err, want.says):
			t.Errorf("%s: %s, want an error that says %q: %s", name, outcome, want.says, want.why)
		}
		t.Logf("%-45s %s", name, outcome)
	}
}

func filesBelow(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		// Notes, Bloom filters and expected values lie among the files.
		switch filepath.Ext(path) {
		case ".parquet", ".encrypted":
			rel, err := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

// outcomeOf is what came of a file.
type outcomeOf struct {
	what string // "masked", "passed through", "refused"
	err  string
}

func (o outcomeOf) String() string {
	if o.err != "" {
		return o.what + ": " + o.err
	}
	return o.what
}

// maskAny hashes the first text column of a file, or passes the file through
// when it has none, and checks what comes out. dir stays empty.
func maskAny(t *testing.T, in, dir string) outcomeOf {
	t.Helper()
	r := call{t: t}.do("explain", in, "--from", "parquet", "--json", "--rewrite", "all")
	if r.code != 0 {
		return refusal(t, r, dir)
	}
	var x explanation
	if err := json.Unmarshal([]byte(r.out), &x); err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	out := filepath.Join(dir, "out.parquet")
	args := []string{"mask", in, "--from", "parquet", "--rewrite", "all", "-o", out, "-q"}
	what, column := "passed through", ""
	for _, c := range x.Columns {
		if c.Type == "utf8" || c.Type == "large_utf8" {
			what, column = "masked", c.Name
			break
		}
	}
	if column == "" {
		args = append(args, "--pass-through")
	} else {
		args = append(args, "--set", `"`+strings.ReplaceAll(column, `"`, `""`)+`"=mask_hash({col})`)
	}
	if r := (call{t: t}).do(args...); r.code != 0 {
		return refusal(t, r, dir)
	}
	checkMasked(t, in, out, column)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	noFiles(t, dir)
	return outcomeOf{what: what}
}

func refusal(t *testing.T, r result, dir string) outcomeOf {
	t.Helper()
	if r.code != exitFailed {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	checkOneLine(t, r)
	noFiles(t, dir)
	return outcomeOf{"refused", strings.TrimSpace(r.err)}
}

// checkMasked reads both files with the Parquet library alone and compares
// them: digests where the mask is, equal values elsewhere.
func checkMasked(t *testing.T, in, out, column string) {
	t.Helper()
	before, err := readParquetSafely(in)
	if err != nil {
		t.Errorf("%s was read by arrowmask and not by the library alone: %v", in, err)
		return
	}
	after, err := readParquetSafely(out)
	if err != nil {
		t.Errorf("%s: what arrowmask wrote cannot be read: %v", in, err)
		return
	}
	if len(before.rows) != len(after.rows) || strings.Join(before.names, "\x00") != strings.Join(after.names, "\x00") {
		t.Errorf("%s: %d rows of %q became %d rows of %q", in, len(before.rows), before.names, len(after.rows), after.names)
		return
	}
	for i, row := range before.rows {
		for j, want := range row {
			if before.names[j] == column && !want.null {
				want.text = hexSHA256(want.text)
			}
			if after.rows[i][j] != want {
				t.Errorf("%s, row %d, column %s: %v, want %v", in, i+1, before.names[j], after.rows[i][j], want)
				return
			}
		}
	}
}

func readParquetSafely(path string) (c *cells, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	rows := r.NumRows()
	if c, err = readParquet(f); err == nil && int64(len(c.rows)) != rows {
		return nil, fmt.Errorf("%d rows, the footer says %d", len(c.rows), rows)
	}
	return c, err
}
