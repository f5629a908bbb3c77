package kat

import (
	"errors"
	"io/fs"
	"testing"

	katdata "github.com/arrowmask/arrowmask/testdata/kat"
)

// FuzzParse: whatever a file holds, the answer is vectors or a *LineError, and
// every vector can be run or is skipped.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"md5/rfc1321.tsv", "hmac/rfc4231-sha256.tsv", "expression/safe.tsv", "mask_null/safe.tsv"} {
		data, err := fs.ReadFile(katdata.FS, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(header + row("md5", "raw", "monte=2", "BINARY", "n:16", "n:16")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return // long files say nothing new
		}
		var bad *LineError
		all, err := Parse("f.tsv", data)
		if err != nil {
			if !errors.As(err, &bad) {
				t.Fatalf("error %v is no *LineError", err)
			}
			return
		}
		size := 0
		for _, v := range all {
			for _, tok := range v.Args {
				size += len(tok.Bytes)
			}
		}
		if size > 1<<16 {
			return // the short forms n: and r: can ask for much work
		}
		r, err := newRunner().vectors(t.Context(), all, nil)
		if err != nil {
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			return
		}
		if r.Passed+r.Failed+r.Skipped != len(all) {
			t.Fatalf("%d passed, %d failed, %d skipped of %d", r.Passed, r.Failed, r.Skipped, len(all))
		}
	})
}
