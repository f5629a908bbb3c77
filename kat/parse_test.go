package kat

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

var header = strings.Join(columns, "\t") + "\n"

// row is a line of a vector file; only what a test is about is given.
func row(function, dialect, mode, typ, args, expected string) string {
	return strings.Join([]string{"id", function, dialect, mode, typ, args, expected, "fact", "", ""}, "\t") + "\n"
}

func TestParseErrors(t *testing.T) {
	good := row("mask", "safe", "", "STRING", "s:a", "s:x")
	for _, c := range []struct {
		name, data string
		line       int
		msg        string
	}{
		{"nothing", "", 1, "no header"},
		{"only comments", "# source: x\n\n", 2, "no header"},
		{"no header", good, 1, "not the header"},
		{"other header", strings.Replace(header, "mode", "node", 1) + good, 1, "not the header"},
		{"too few columns", header + "a\tb\n", 2, "2 columns instead of 10"},
		{"too many columns", header + strings.TrimSuffix(good, "\n") + "\tx\n", 2, "11 columns"},
		{"no id", header + strings.TrimPrefix(good, "id"), 2, "no id"},
		{"no function", header + row("", "safe", "", "STRING", "s:a", "s:x"), 2, "no function"},
		{"id twice", header + "# comment\n" + good + "\n" + good, 5, "id id was used in line 3"},
		{"kind", header + strings.Replace(good, "fact", "guess", 1), 2, `kind "guess"`},
		{"empty args", header + row("mask", "safe", "", "STRING", "", "s:x"), 2, "args: token without a tag"},
		{"two spaces", header + row("mask", "safe", "", "STRING", "s:a  i:1", "s:x"), 2, "args: token without a tag"},
		{"unknown tag", header + row("mask", "safe", "", "STRING", "s:a", "zz:x"), 2, `expected: unknown tag "zz"`},
		{"integer", header + row("mask", "safe", "", "INT", "i:1x", "s:x"), 2, "token i"},
		{"integer of 65 bits", header + row("mask", "safe", "", "INT", "i:9223372036854775808", "s:x"), 2, "token i"},
		{"boolean", header + row("mask", "safe", "", "INT", "bool:yes", "s:x"), 2, "token bool"},
		{"hex", header + row("mask", "safe", "", "BINARY", "b:abc", "s:x"), 2, "token b"},
		{"escape", header + row("mask", "safe", "", "STRING", `s:a\n`, "s:x"), 2, "token s"},
		{"escape cut off", header + row("mask", "safe", "", "STRING", `s:a\x4`, "s:x"), 2, "token s"},
		{"escape of no hex", header + row("mask", "safe", "", "STRING", `s:a\xg0`, "s:x"), 2, "token s"},
		{"date", header + row("mask", "safe", "", "DATE", "d:2015-02-29", "s:x"), 2, "token d: not a date"},
		{"date without month", header + row("mask", "safe", "", "DATE", "d:2015-02", "s:x"), 2, "not a date"},
		{"date with a sign inside", header + row("mask", "safe", "", "DATE", "d:2015--2-01", "s:x"), 2, "not a date"},
		{"pattern", header + row("md5", "raw", "", "BINARY", "n:-1", "b:00"), 2, "token n"},
		{"endless pattern", header + row("md5", "raw", "", "BINARY", "n:99999999999", "b:00"), 2, "token n"},
		{"repeat", header + row("md5", "raw", "", "BINARY", "r:3", "b:00"), 2, "token r"},
		{"endless repeat", header + row("md5", "raw", "", "BINARY", "r:999999999*0000", "b:00"), 2, "token r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.tsv", []byte(c.data))
			var le *LineError
			if !errors.As(err, &le) || !errors.Is(err, ErrFormat) {
				t.Fatalf("error %v, want a *LineError", err)
			}
			if le.File != "f.tsv" || le.Line != c.line || !strings.Contains(le.Msg, c.msg) {
				t.Errorf("error %v, want line %d with %q", err, c.line, c.msg)
			}
		})
	}
}

// TestVectorErrors: lines of dialect raw that say nothing that could be run.
func TestVectorErrors(t *testing.T) {
	const md5 = "b:d41d8cd98f00b204e9800998ecf8427e"
	for _, c := range []struct{ name, row, msg string }{
		{"algorithm", row("md6", "raw", "", "BINARY", "b:", md5), "no algorithm"},
		{"HMAC of md5", row("hmac_md5", "raw", "", "BINARY", "b: b:", md5), "no algorithm"},
		{"two messages", row("md5", "raw", "", "BINARY", "b: b:", md5), "takes one message"},
		{"no key", row("hmac_sha256", "raw", "", "BINARY", "b:", md5), "a key and a message"},
		{"integer", row("md5", "raw", "", "BINARY", "i:5", md5), "not on i"},
		{"NULL", row("md5", "raw", "", "BINARY", "b:", "null"), "not on null"},
		{"two answers", row("md5", "raw", "", "BINARY", "b:", md5+" "+md5), "one answer"},
		{"short answer", row("md5", "raw", "", "BINARY", "b:", "b:d41d"), "2 bytes instead of 16"},
		{"long truncation", row("md5", "raw", "truncate=17", "BINARY", "b:", md5), "mode"},
		{"truncation to nothing", row("md5", "raw", "truncate=0", "BINARY", "b:", "b:"), "mode"},
		{"short seed", row("md5", "raw", "monte=1000", "BINARY", "b:00", md5), "mode"},
		{"mode", row("md5", "raw", "fast", "BINARY", "b:", md5), "mode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(t.Context(), Options{FS: fstest.MapFS{"a/f.tsv": {Data: []byte(header + c.row)}}})
			var le *LineError
			if !errors.As(err, &le) || le.File != "a/f.tsv" || le.Line != 2 || !strings.Contains(le.Msg, c.msg) {
				t.Errorf("error %v, want a/f.tsv:2 with %q", err, c.msg)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		in    string
		bytes string
		n     int64
	}{
		{in: "null"},
		{in: "i:-9223372036854775808", n: -1 << 63},
		{in: "bool:true", n: 1}, {in: "bool:false"},
		{in: "s:"}, {in: `s:a\x20b\x5c:\xff`, bytes: "a b\\:\xff"},
		{in: "b:00ff", bytes: "\x00\xff"},
		{in: "n:3", bytes: "\x00\x01\x02"}, {in: "r:3*6162", bytes: "ababab"}, {in: "r:0*61"},
		{in: "d:1970-01-01"}, {in: "d:1969-12-31", n: -1}, {in: "d:2000-02-29", n: 11016},
		{in: "d:0000-01-01", n: -719528}, {in: "d:-0001-12-31", n: -719529}, {in: "d:9999-12-31", n: 2932896}, {in: "d:10000-01-01", n: 2932897},
		{in: "f:1.5"}, {in: "ts:2020-01-01T00:00:00"}, {in: "dec:1.10"}, {in: "error:x"}, {in: "col:INT"},
	} {
		got, err := parseToken(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if string(got.Bytes) != c.bytes || got.Int != c.n || got.String() != c.in {
			t.Errorf("%s: %+v", c.in, got)
		}
		if got.Tag == TagDate && "d:"+formatDate(got.Int) != c.in {
			t.Errorf("%s comes back as %s", c.in, formatDate(got.Int))
		}
	}
	if tok, err := parseToken("n:600"); err != nil || tok.Bytes[250] != 250 || tok.Bytes[251] != 0 {
		t.Errorf("n:600: %v", err)
	}
}

// TestSkips: what cannot be run is skipped with the reason, in full sentences.
func TestSkips(t *testing.T) {
	for _, c := range []struct{ name, row, reason string }{
		{"dialect", row("mask", "nosuch", "", "STRING", "s:a", "s:x"), "dialect nosuch is not offered"},
		{"function", row("xxhash64", "safe", "", "STRING", "s:a", "i:1"), "function xxhash64 is not offered"},
		{"type", row("mask", "safe", "", "ARRAY<INT>", "array_int:1", "null"), "type ARRAY<INT> is not offered"},
		{"mode", row("mask", "safe", "utf8_mode=true", "STRING", "s:a", "s:x"), "mode utf8_mode=true is not offered"},
		{"float as argument", row("mask", "safe", "", "STRING", "s:a f:1.5", "null"), "no literal for f"},
		{"value of another type", row("mask", "safe", "", "INT", "s:a", "i:1"), "no INT value can be made of s"},
		{"answer", row("mask", "safe", "", "BOOLEAN", "bool:true", "bool:true"), "no function answers with bool"},
		{"two answers", row("mask", "safe", "", "STRING", "s:a", "s:x s:y"), "more than one answer"},
		{"key", row("hmac", "safe", "key:k=zz", "STRING", "s:a s:k", "s:x"), "the key is not hex"},
		{"short key", row("hmac", "safe", "key:k=00", "STRING", "s:a s:k", "s:x"), "shorter than"},
		{"expression with arguments", row("mask({col})", "safe", "", "STRING", "s:a s:b", "s:x"), "arguments beside it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Run(t.Context(), Options{FS: fstest.MapFS{"f.tsv": {Data: []byte(header + c.row)}}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Skipped != 1 || r.Passed+r.Failed != 0 || len(r.Skips) != 1 {
				t.Fatalf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
			}
			s := r.Skips[0]
			if !strings.Contains(s.Reason, c.reason) || s.File != "f.tsv" || s.Line != 2 || s.ID != "id" {
				t.Errorf("%+v, want the reason %q", s, c.reason)
			}
			var b bytes.Buffer
			if err := r.WriteText(&b, true); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), "skip id (f.tsv:2): "+s.Reason) || !strings.HasSuffix(b.String(), "\n0 passed, 0 failed, 1 skipped\n") {
				t.Errorf("text:\n%s", &b)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	std := []string{"std"}
	for _, c := range []struct {
		name string
		o    Options
		want error
	}{
		{"unknown backend", Options{Backends: []string{"std", "mmx"}}, kernels.ErrUnknownBackend},
		{"no such file", Options{Files: []string{"nosuch.tsv"}, Backends: std}, fs.ErrNotExist},
		{"folder without vectors", Options{Files: []string{t.TempDir()}, Backends: std}, fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if fips.Enabled() && want == kernels.ErrUnknownBackend {
				want = fips.ErrNotApproved
			}
			if _, err := Run(t.Context(), c.o); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
	r, err := Run(t.Context(), Options{Files: []string{"../testdata/kat/sha256", "../testdata/kat/mask_hash/safe.tsv"}, Backends: std})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != 0 || r.Passed < 300 || len(r.Files) != 8 {
		t.Errorf("%d passed, %d failed in %d files", r.Passed, r.Failed, len(r.Files))
	}
	if got := r.Files[0].File; got != "../testdata/kat/sha256/lengths.tsv" {
		t.Errorf("first file is called %s", got)
	}
	for _, b := range r.Backends {
		if (b.Vectors > 0) != (b.Alg == "sha256" && b.Backend == "std") {
			t.Errorf("%+v", b)
		}
		if b.Backend != "std" && b.Reason == "" {
			t.Errorf("%s/%s has no reason", b.Alg, b.Backend)
		}
	}
}

// TestFailureText shows what differed.
func TestFailureText(t *testing.T) {
	data := header + row("mask", "safe", "", "STRING", "s:aB", "s:xY") +
		strings.Replace(row("sha256", "raw", "", "BINARY", "b:", "b:"+strings.Repeat("00", 32)), "id", "id2", 1)
	r, err := Run(t.Context(), Options{FS: fstest.MapFS{"f.tsv": {Data: []byte(data)}}, Backends: []string{"std"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`FAIL id (f.tsv:2) row reference: want s:xY, got s:"xX"`,
		"FAIL id2 (f.tsv:3) std, 32-bit offsets: want 0000",
		"got e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"backend sha256/std: 1 vectors, 1 failed",
		"\n0 passed, 2 failed, 0 skipped\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
