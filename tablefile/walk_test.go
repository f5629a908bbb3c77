package tablefile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// drain reads r to its end and returns the number of rows.
func drain(r Reader) (rows int64, err error) {
	for {
		b, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += b.NumRows()
		b.Release()
	}
}

func readAll(path string) (rows int64, err error) {
	r, err := Open(context.Background(), path, ReadOptions{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	rows, err = drain(r)
	if err == nil && r.NumRows() >= 0 && rows != r.NumRows() {
		return rows, errors.New("row count differs from the footer and no error said so")
	}
	return rows, err
}

func TestWalkParquetTesting(t *testing.T) {
	for _, folder := range []string{"data", "bad_data"} {
		dir := sharedDir(t, "data", "parquet-testing", folder)
		files, err := filepath.Glob(filepath.Join(dir, "*.parquet*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", dir, err)
		}
		read, refused := 0, 0
		for _, path := range files {
			name := filepath.Base(path)
			copyTo := path
			if !strings.HasSuffix(path, ".parquet") {
				continue
			}
			rows, err := readAll(copyTo)
			if err == nil {
				read++
				t.Logf("%s/%s: %d rows", folder, name, rows)
				continue
			}
			refused++
			t.Logf("%s/%s: %v", folder, name, err)
			if strings.Contains(err.Error(), "\n") || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: error is not a typed line: %q", name, err)
			}
		}
		t.Logf("%s: %d read, %d refused", folder, read, refused)
	}
}
