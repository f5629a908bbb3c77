package pipeline

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/arrowmask/arrowmask/bench/result"
)

func TestRecordsGetTheirRows(t *testing.T) {
	dir := t.TempDir()
	out, err := result.NewWriter(dir, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "records.jsonl")
	line := `{"suite":"pipeline","case":[["columns-of-20","1"],["threads","2"]],"side":"duckdb","unit":"s","min":1,"median":2,"rounds":3,"ratio":4}` + "\n"
	if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(out, file, 10); err != nil {
		t.Fatal(err)
	}
	records, err := result.Read(dir)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if want := "suite=pipeline columns-of-20=1 threads=2 rows=10 side=duckdb"; records[0].ID() != want {
		t.Errorf("got %s, want %s", records[0].ID(), want)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the next file's records would be added to these")
	}
	if err := write(out, file, 10); err == nil {
		t.Error("a script without records is no error")
	}
}
