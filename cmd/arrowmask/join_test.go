package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// B12: digests made here join with digests of the same values made by another
// tool: every row matches, in letter case too.
func TestB12DigestsJoin(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skipf("no sha256sum to compare with: %v", err)
	}
	const rows = 500
	dir := t.TempDir()
	names := readTable(t, someCustomers(t)).column(t, "name")[:rows]

	// One file a value, so that the tool sees exactly the bytes.
	cellsDir := filepath.Join(dir, "cells")
	if err := os.Mkdir(cellsDir, 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"--"}
	for i, v := range names {
		if !v.null {
			file := filepath.Join(cellsDir, strconv.Itoa(i))
			if err := os.WriteFile(file, []byte(v.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
		}
	}
	sums, err := exec.Command(tool, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	other := make(map[int]string)
	for line := range strings.Lines(string(sums)) {
		digest, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		row, err := strconv.Atoi(filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		other[row] = digest
	}

	for _, tt := range []struct{ to, expr string }{
		{"parquet", "sha256({col})"}, {"csv", "mask_hash({col})"}, {"arrow", "sha2({col}, 256)"}, {"arrows", "hex(digest({col}, 'sha256'), 'lower')"},
	} {
		out := filepath.Join(dir, "out."+tt.to)
		arrowmask(t, "mask", someCustomers(t), "-o", out, "--set", "name="+tt.expr, "-q")
		matched := 0
		for i, v := range readTable(t, out).column(t, "name")[:rows] {
			want, ok := other[i]
			if v.null == ok || v.text != want {
				t.Fatalf("%s, row %d: %v, want %q", tt.expr, i+1, v, want)
			}
			if ok {
				matched++
			}
		}
		if matched != len(other) || matched < rows*9/10 {
			t.Errorf("%s: %d rows matched of %d", tt.expr, matched, len(other))
		}
	}
}

// B12: raw digests and hex text are different functions of different types.
func TestB12RawAndHex(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.parquet")
	arrowmask(t, "mask", someCustomers(t), "-o", out, "-q",
		"--set", "name=digest({col}, 'sha256')", "--set", "email=sha256({col})", "--set", "phone=hex({col})")
	got := readTable(t, out)
	want := readTable(t, someCustomers(t))
	if got.types[1] != "fixed_size_binary[32]" || got.types[2] != "utf8" || got.types[3] != "utf8" {
		t.Errorf("types %q", got.types)
	}
	for i, v := range want.column(t, "phone") {
		if !v.null && got.rows[i][3].text != strings.ToUpper(hexOf(v.text)) {
			t.Fatalf("hex, row %d: %v", i+1, got.rows[i][3])
		}
	}
	for i, v := range want.column(t, "name") { // the test reads bytes as hex
		if !v.null && got.rows[i][1].text != hexSHA256(v.text) {
			t.Fatalf("digest, row %d: %v", i+1, got.rows[i][1])
		}
	}
}
