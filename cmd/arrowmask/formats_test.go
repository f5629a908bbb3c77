package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every format to every format: the masked columns are what the masks make of
// the sample, the others are unchanged.
func TestEveryFormatPair(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	formats := []string{"parquet", "arrow", "arrows", "csv", "tsv"}
	sample := fewCustomers(t)
	original := readTable(t, sample)
	// One input of each format, made by masking a column with a constant.
	for _, f := range formats {
		arrowmask(t, "mask", sample, "-o", filepath.Join(dir, "in."+f), "--set", "note='kept'", "-q")
	}
	for _, from := range formats {
		for _, to := range formats {
			t.Run(from+" to "+to, func(t *testing.T) {
				out := filepath.Join(dir, "from-"+from+"."+to)
				r := arrowmask(t, "mask", filepath.Join(dir, "in."+from), "-o", out, "--threads", "2", "--batch-rows", "600", "-q",
					"--set", "email=mask_hash({col})", "--set", "card=mask_show_last_n({col}, 4)", "--set", "name=mask_null({col})")
				if r.err != "" || r.out != "" {
					t.Errorf("with -q: standard output %q, standard error %q", r.out, r.err)
				}
				got := readTable(t, out)
				if len(got.rows) != len(original.rows) {
					t.Fatalf("%d rows, want %d", len(got.rows), len(original.rows))
				}
				if strings.Join(got.names, " ") != strings.Join(original.names, " ") {
					t.Fatalf("columns %q", got.names)
				}
				for i, row := range got.rows {
					for j, v := range row {
						want := original.rows[i][j]
						switch name := got.names[j]; {
						case name == "note":
							want = value{text: "kept"}
						case name == "name":
							want = value{null: true}
						case want.null:
						case name == "email":
							want.text = hexSHA256(want.text)
						case name == "card":
							want.text = strings.Repeat("n", len(want.text)-4) + want.text[len(want.text)-4:]
						}
						if v != want {
							t.Fatalf("row %d, column %s: %v, want %v", i+1, got.names[j], v, want)
						}
					}
				}
			})
		}
	}
}
