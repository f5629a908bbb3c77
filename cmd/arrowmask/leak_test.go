package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// No clear value of a masked column is anywhere in the output: not in the
// pages, nor in dictionaries, statistics or metadata.
func TestNoClearValueInOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	original := readTable(t, someCustomers(t))
	for _, ext := range []string{"parquet", "arrow", "arrows", "csv"} {
		out := filepath.Join(dir, "out."+ext)
		args := []string{"mask", someCustomers(t), "-o", out, "-q",
			"--set", "email=mask_hash({col})", "--set", "card=mask_show_last_n({col}, 4)", "--set", "note=mask_null({col})", "--set", "country=mask_hash({col})"}
		if ext != "csv" {
			args = append(args, "--compression", "none")
		}
		arrowmask(t, args...)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		looked := 0
		for _, column := range []string{"email", "card", "country"} {
			for i, v := range original.column(t, column) {
				if v.null || i%200 != 0 {
					continue
				}
				looked++
				if bytes.Contains(data, []byte(v.text)) {
					t.Errorf("%s: row %d of %s is in the output", ext, i+1, column)
				}
			}
		}
		if looked < 200 || !bytes.Contains(data, []byte(hexSHA256(original.rows[0][7].text))) {
			t.Errorf("%s: looked for %d values only, or the file is not as plain as it should be", ext, looked)
		}
	}
}

// B32: compressed and plain IPC of few rows, with NULL, all NULL and empty
// columns, goes through both ways.
func TestB32CompressedIPC(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, rows := range []int{0, 1, 9, 10, 65} {
		in := filepath.Join(dir, fmt.Sprintf("in%d.csv", rows))
		var text bytes.Buffer
		text.WriteString("v,some,none,empty\n")
		for i := range rows {
			some := ""
			if i%3 != 0 {
				some = fmt.Sprintf("x%d", i)
			}
			fmt.Fprintf(&text, "v%d,%s,,\"\"\n", i, some)
		}
		if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		want := readTable(t, in)
		for i := range want.rows {
			want.rows[i][0].text = hexSHA256(want.rows[i][0].text)
		}
		for _, ext := range []string{"arrow", "arrows"} {
			for _, codec := range []string{"none", "lz4", "zstd"} {
				name := fmt.Sprintf("%d-%s.%s", rows, codec, ext)
				out, back := filepath.Join(dir, name), filepath.Join(dir, name+".csv")
				arrowmask(t, "mask", in, "-o", out, "--compression", codec, "--set", "v=mask_hash({col})", "-q")
				arrowmask(t, "mask", out, "-o", back, "--pass-through", "-q")
				for _, file := range []string{out, back} {
					got := readTable(t, file)
					if fmt.Sprint(got.rows) != fmt.Sprint(want.rows) {
						t.Errorf("%s: %v, want %v", file, got.rows, want.rows)
					}
				}
			}
		}
	}
}
