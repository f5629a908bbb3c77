package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// The first command of the manual, on a file that other implementations wrote:
// the digests are compared with Go's own over the cells of the CSV file beside
// it, the masks with a plain rule for ASCII.
func TestMaskDeltaByteArray(t *testing.T) {
	in := shared(t, "data", "parquet-testing", "data", "delta_byte_array.parquet")
	expect, err := os.Open(shared(t, "data", "parquet-testing", "data", "delta_byte_array_expect.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer expect.Close()
	want, err := readCSV(expect, ',')
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	arrowmask(t, "mask", in, "-o", out,
		"--set", "c_email_address=mask_hash({col})",
		"--set", "c_last_name=mask({col})",
		"--set", "c_birth_country=mask_show_first_n({col},2)")
	got := readTable(t, out)
	if len(got.rows) != len(want.rows) || len(got.rows) != 1000 {
		t.Fatalf("%d rows, want %d", len(got.rows), len(want.rows))
	}
	rules := map[string]func(string) string{
		"c_email_address": hexSHA256,
		"c_last_name":     func(s string) string { return maskASCII(s, 0) },
		"c_birth_country": func(s string) string { return maskASCII(s, 2) },
	}
	nulls := 0
	for _, name := range want.names {
		before, after := want.column(t, name), got.column(t, name)
		for i := range before {
			w := before[i]
			if rule := rules[name]; rule != nil {
				if w.null {
					nulls++
				} else {
					w.text = rule(w.text)
				}
			}
			if after[i] != w {
				t.Fatalf("%s, row %d: %v, want %v", name, i+1, after[i], w)
			}
		}
	}
	if nulls == 0 {
		t.Error("no masked column has a NULL: that rule was not tested")
	}
}

func hexSHA256(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// maskASCII is the rule of mask for ASCII text, leaving the first n alone.
func maskASCII(s string, n int) string {
	b := []byte(s)
	for i := min(n, len(b)); i < len(b); i++ {
		switch c := b[i]; {
		case 'A' <= c && c <= 'Z':
			b[i] = 'X'
		case 'a' <= c && c <= 'z':
			b[i] = 'x'
		case '0' <= c && c <= '9':
			b[i] = 'n'
		}
	}
	return string(b)
}

func hexOf(s string) string { return hex.EncodeToString([]byte(s)) }

func hmacSHA256(key, s string) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(s))
	return hex.EncodeToString(m.Sum(nil))
}
