package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notCopied are the files of the reference collection that cannot be masked
// even when only the masked column is decoded, with what the error must say.
var notCopied = map[string]string{
	"hadoop_lz4_compressed_larger.parquet": "compression LZ4", // of the text column
	"repeated_no_annotation.parquet":       "the footer declares 0 rows and its row groups 6",
}

// The reference collection again, with the columns that are not masked copied:
// files with types, encodings and codecs that cannot be decoded go through, and
// every output is verified.
func TestParquetCollectionCopied(t *testing.T) {
	t.Parallel()
	root := shared(t, "data", "parquet-testing", "data")
	dir := t.TempDir()
	tally := map[string]int{}
	for _, name := range filesBelow(t, root) {
		in, out := filepath.Join(root, name), filepath.Join(dir, "out.parquet")
		says, refuse := notCopied[name]
		if strings.HasSuffix(name, ".encrypted") {
			says, refuse = "encrypted", true
		}
		sets, r := textSet(t, in)
		if r.code == 0 {
			args := append([]string{"mask", in, "--from", "parquet", "-o", out, "-q"}, sets...)
			if sets == nil {
				args = append(args, "--pass-through")
			}
			r = call{t: t}.do(args...)
		}
		switch {
		case refuse != (r.code != 0) || refuse && !strings.Contains(r.err, says):
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		case refuse:
			tally["refused"]++
		case sets == nil:
			tally["copied"]++
		default:
			tally["masked"]++
		}
		if r.code != 0 {
			noFiles(t, dir)
			continue
		}
		if v := (call{t: t}).do(append([]string{"verify", in, out}, sets...)...); v.code != 0 {
			t.Errorf("%s: verify: %s%s", name, v.out, v.err)
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("tally: %v", tally)
	if tally["masked"] < 20 || tally["copied"] < 50 {
		t.Errorf("too few files went through: %v", tally)
	}
}

// textSet hashes the first text column of a file; nil when it has none.
func textSet(t *testing.T, in string) ([]string, result) {
	t.Helper()
	r := call{t: t}.do("explain", in, "--from", "parquet", "--json")
	if r.code != 0 {
		return nil, r
	}
	var x explanation
	if err := json.Unmarshal([]byte(r.out), &x); err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	for _, c := range x.Columns {
		if c.Type == "utf8" || c.Type == "large_utf8" {
			return []string{"--set", `"` + strings.ReplaceAll(c.Name, `"`, `""`) + `"=mask_hash({col})`}, r
		}
	}
	return nil, r
}

// Copying and decoding everything give the same table; each says what it does.
func TestRewriteModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := someCustomers(t)
	sets := []string{"--set", "name=mask_hash({col})", "--set", "birth_date=mask_null({col})", "--set", "country=mask({col})"}
	var reports [2]report
	for i, mode := range []string{rewriteAuto, rewriteAll} {
		out, rep := filepath.Join(dir, mode+".parquet"), filepath.Join(dir, mode+".json")
		arrowmask(t, append([]string{"mask", in, "-o", out, "-q", "--rewrite", mode, "--report", rep, "--verify-checksums"}, sets...)...)
		v := arrowmask(t, append([]string{"verify", in, out}, sets...)...)
		if copied := strings.Contains(v.out, "byte for byte"); copied != (mode == rewriteAuto) {
			t.Errorf("--rewrite %s: %s", mode, v.out)
		}
		b, err := os.ReadFile(rep)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &reports[i]); err != nil {
			t.Fatal(err)
		}
	}
	if reports[0].Rows != 20_000 || reports[1].Rows != 20_000 {
		t.Errorf("%d and %d rows", reports[0].Rows, reports[1].Rows)
	}
	for i, a := range reports[0].Columns {
		if b := reports[1].Columns[i]; a.NullsIn != b.NullsIn || a.NullsOut != b.NullsOut || a.OutputType != b.OutputType {
			t.Errorf("column %s: %d NULLs became %d by copying, %d became %d by decoding", a.Name, a.NullsIn, a.NullsOut, b.NullsIn, b.NullsOut)
		}
	}
	if n := reports[0].Columns[1].NullsOut; n != 20_000 {
		t.Errorf("mask_null left %d NULLs", n)
	}
}

// explain says what becomes of every column's chunks, and of a column that
// cannot be decoded.
func TestExplainChunks(t *testing.T) {
	t.Parallel()
	r := arrowmask(t, "explain", someCustomers(t), "--sample", "2", "--set", "name=mask_hash({col})", "--set", "id=mask({col})")
	for _, text := range []string{"CHUNKS", "3 copied", "3 dictionary", "3 encoded (the new values are not text or binary)"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("explain does not say %q:\n%s", text, r.out)
		}
	}
	if r := arrowmask(t, "explain", someCustomers(t), "--rewrite", "all", "--set", "name=mask_hash({col})"); strings.Contains(r.out, "CHUNKS") {
		t.Errorf("with --rewrite all:\n%s", r.out)
	}
	by := func(user, group string) []string {
		return []string{"explain", someCustomers(t), "--sample", "0", "--policy", customerPolicies, "--resource", "shop.customers", "--user", user, "--group", group, "--attr", "country=Norway"}
	}
	for want, args := range map[string][]string{
		"3 copied\n":     by("ann", "analysts"),
		"3 dictionary\n": by("ann", "analysts"),
		"encoded (rows are filtered, or fields within a column are masked)\n": by("sam", "support"),
	} {
		if r := arrowmask(t, args...); !strings.Contains(r.out, want) {
			t.Errorf("explain by policies does not say %q:\n%s", want, r.out)
		}
	}
	bad := shared(t, "data", "parquet-testing", "data", "unknown-logical-type.parquet")
	if r := arrowmask(t, "explain", bad); !strings.Contains(r.out, "unknown") {
		t.Errorf("a column of an unknown type:\n%s", r.out)
	}
	call{t: t}.refused(exitFailed, []string{"invalid logical type"}, "mask", bad, "-o", filepath.Join(t.TempDir(), "x.parquet"),
		"--set", "column with unknown type=mask({col})")
}

func TestRewriteUsage(t *testing.T) {
	t.Parallel()
	call{t: t}.refused(exitUsage, []string{"--rewrite", "auto or all"}, "mask", customers, "-o", "x.parquet", "--rewrite", "some", "--pass-through")
	corrupt := shared(t, "data", "parquet-testing", "data", "datapage_v1-corrupt-checksum.parquet")
	for _, mode := range []string{rewriteAuto, rewriteAll} {
		call{t: t}.refused(exitFailed, []string{"checksum differs"}, "mask", corrupt, "-o", filepath.Join(t.TempDir(), "x.parquet"),
			"--pass-through", "--verify-checksums", "--rewrite", mode)
	}
}

// verify fails, and says why, on a file that is not masked as asked, and on one
// that still holds an old value.
func TestVerifyFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := someCustomers(t), filepath.Join(dir, "out.parquet")
	set := []string{"--set", "email=mask_hash({col})"}
	arrowmask(t, append([]string{"mask", in, "-o", out, "-q"}, set...)...)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"another mask":   {[]string{"verify", in, out, "--set", "email=md5({col})"}, "the files differ: in row 1"},
		"another column": {[]string{"verify", in, out, "--set", "name=mask_hash({col})"}, "the files differ: in row 1"},
		"not masked":     {append([]string{"verify", in, in}, set...), "an old value is in the new file"},
	} {
		r := call{t: t}.do(c.args...)
		if r.code != exitFailed || !strings.Contains(r.out, c.says) || !strings.Contains(r.out, "NOT verified") || r.err != "" {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.out, r.err)
		}
		r = call{t: t}.do(append(c.args, "--json")...)
		var x verification
		if err := json.Unmarshal([]byte(r.out), &x); err != nil || x.OK || r.code != exitFailed || len(x.Columns) != 9 {
			t.Errorf("%s: exit %d, %v: %s", name, r.code, err, r.out)
		}
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var x explanation
	r := arrowmask(t, "explain", in, "--json", "--sample", "1", "--set", "email=mask_hash({col})")
	if err := json.Unmarshal([]byte(r.out), &x); err != nil {
		t.Fatal(err)
	}
	secret := x.Sample[0].Before.(string)
	if bytes.Contains(b, []byte(secret)) {
		t.Fatal("an old value is in the new file")
	}
	// Where Parquet's created_by stands there is room for a value.
	at := bytes.LastIndex(b, []byte("parquet-go"))
	if at < 0 {
		t.Fatal("no created_by to write over")
	}
	copy(b[at:], secret)
	if err := os.WriteFile(out, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := (call{t: t}).do(append([]string{"verify", in, out}, set...)...); r.code != exitFailed || !strings.Contains(r.out, "1 found") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
