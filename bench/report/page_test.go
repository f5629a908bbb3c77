package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestPageIsOfItsRecords: the committed page, plots and tables are what the
// committed records give.
func TestPageIsOfItsRecords(t *testing.T) {
	r, err := Load("records")
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.Page()
	if err != nil {
		t.Fatal(err)
	}
	plots, err := filepath.Glob("*.svg")
	if err != nil {
		t.Fatal(err)
	}
	if len(plots)+1 != len(files) {
		t.Errorf("%d plots beside the page, %d drawn", len(plots), len(files)-1)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the records give (%v): run bench report", name, err)
		}
	}
	for name, page := range documents {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		again, err := insert(string(text), r.Summary(page))
		if err != nil || again != string(text) {
			t.Errorf("the table in %s is not what the records give (%v): run bench report", name, err)
		}
	}
}
