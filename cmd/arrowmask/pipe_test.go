package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every format through standard input and output gives what files give.
func TestPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for ext, format := range map[string]string{"parquet": "parquet", "arrow": "arrow", "arrows": "arrow-stream", "csv": "csv", "tsv": "tsv"} {
		t.Run(format, func(t *testing.T) {
			in, out := filepath.Join(dir, "in."+ext), filepath.Join(dir, "out."+ext)
			arrowmask(t, "mask", someCustomers(t), "-o", in, "--pass-through", "-q")
			arrowmask(t, "mask", in, "-o", out, "--set", "name=mask({col})", "-q")
			data, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			// A reader that is not a file makes the program read from a pipe.
			c := call{t: t, stdin: struct{ *bytes.Reader }{bytes.NewReader(data)}}
			r := c.do("mask", "-", "-o", "-", "--from", format, "--to", format, "--set", "name=mask({col})")
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			piped := filepath.Join(dir, "piped."+ext)
			if err := os.WriteFile(piped, []byte(r.out), 0o600); err != nil {
				t.Fatal(err)
			}
			got, want := readTable(t, piped), readTable(t, out)
			if len(got.rows) != 20_000 || len(want.rows) != 20_000 {
				t.Fatalf("%d and %d rows", len(got.rows), len(want.rows))
			}
			for i := range want.rows {
				for j := range want.rows[i] {
					if got.rows[i][j] != want.rows[i][j] {
						t.Fatalf("row %d, column %s: %v, want %v", i+1, want.names[j], got.rows[i][j], want.rows[i][j])
					}
				}
			}
		})
	}
}

func TestKeysFromEveryPlace(t *testing.T) {
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "k")
	key := "sixteen or more bytes"
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// RFC 2104 by the openssl tool would do as well; hmac of package crypto is
	// not the program's own code either.
	want := hmacSHA256(key, "abc")
	expr := "hmac('abc', 'k')"
	if got := arrowmask(t, "eval", expr, "--key-file", "k="+keyFile).out; got != want+"\n" {
		t.Errorf("--key-file: %q, want %q", got, want)
	}
	r := call{t: t, env: []string{"TEST_KEY=" + key}}.do("eval", expr, "--key-env", "k=TEST_KEY")
	if r.out != want+"\n" {
		t.Errorf("--key-env: %q %s, want %q", r.out, r.err, want)
	}
	f, err := os.Open(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command(program, "eval", expr, "--key-fd", "k=3")
	cmd.ExtraFiles = []*os.File{f}
	if out, err := cmd.Output(); err != nil || string(out) != want+"\n" {
		t.Errorf("--key-fd: %q, %v, want %q", out, err, want)
	}
	// The only key needs no name.
	if got := arrowmask(t, "eval", "mask_hmac('abc')", "--key-file", "k="+keyFile).out; got != want+"\n" {
		t.Errorf("the only key: %q, want %q", got, want)
	}
}

func TestExplain(t *testing.T) {
	args := []string{"explain", customers, "--set", "name=mask({col})", "--set", "email=mask_hash({col})", "--set", "balance=mask_null({col})"}
	r := arrowmask(t, append(args, "--sample", "3")...)
	sample := readTable(t, customers)
	for _, want := range []string{
		"birth_date", "date32", "mask_hash({col})", "sha256/", "no --set names it", "ROW  COLUMN", "NULL",
		sample.rows[0][1].text, sample.rows[2][2].text, hexSHA256(sample.rows[2][2].text),
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("explain does not show %q:\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, sample.rows[3][2].text) {
		t.Error("explain --sample 3 shows the fourth row")
	}
	if !strings.Contains(r.err, "mask_hash has no key") {
		t.Errorf("warnings: %q", r.err)
	}
	if r := arrowmask(t, append(args, "--sample", "0")...); strings.Contains(r.out, sample.rows[0][2].text) || strings.Contains(r.out, "BEFORE") {
		t.Error("explain --sample 0 shows rows")
	}
	// Without a --set it lists the columns and shows no cell.
	if r := arrowmask(t, "explain", customers); !strings.Contains(r.out, "birth_date") || strings.Contains(r.out, sample.rows[0][2].text) {
		t.Errorf("explain without --set:\n%s", r.out)
	}
}
