package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command line that cannot work ends with one clear line, the right exit
// status and no file.
func TestRefusedCommandLines(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := write("in.csv", "name,Email,a=b,\"q\"\"r\",dup,dup\nAnn,ann@example.com,1,2,3,4\n")
	taken := write("taken.csv", "precious\n")
	key := write("good.key", "0123456789abcdef0123456789abcdef\n")
	short := write("short.key", "hunter2\n")
	if err := os.Symlink(in, filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(in, filepath.Join(dir, "hard.csv")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.csv")
	// m is a mask command that would work, with more arguments behind it.
	m := func(more ...string) []string {
		return append([]string{"mask", in, "-o", out, "--set", "name=mask({col})"}, more...)
	}
	for _, tt := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"unknown command", []string{"masc"}, 2, []string{"masc"}},
		{"unknown flag", m("--bogus"), 2, []string{"--bogus"}},
		{"no input", []string{"mask", "-o", out}, 2, []string{"1 argument"}},
		{"two inputs", m(in), 2, []string{"1 argument"}},
		{"no output", []string{"mask", in, "--set", "name=NULL"}, 2, []string{"-o"}},
		{"no set", []string{"mask", in, "-o", out}, 2, []string{"--set"}},
		{"set without =", m("--set", "Email"), 2, []string{"--set", "Email"}},
		{"syntax", m("--set", "Email=mask({col}"), 2, []string{"Email", "syntax", "byte"}},
		{"shell-like expression", m("--set", "Email=$(id)"), 2, []string{"Email", "syntax"}},
		{"one column twice", m("--set", "name=NULL"), 2, []string{"name", "twice"}},
		{"unknown function", m("--set", "Email=scramble({col})"), 2, []string{"Email", "scramble"}},
		{"a type that the function refuses", m("--csv-type", "Email=int32", "--set", "Email=md5({col})"), 1, []string{"Email", "md5", "type"}},
		{"unknown column", m("--set", "e-mail=NULL"), 1, []string{`"e-mail"`, "name, Email"}},
		{"letter case of a column", m("--set", "email=NULL"), 1, []string{`"email"`, "Email"}},
		{"column that is there twice", m("--set", "dup=NULL"), 1, []string{"dup", "2 times"}},
		{"threads", m("--threads", "0"), 2, []string{"--threads"}},
		{"batch rows", m("--batch-rows", "0"), 2, []string{"--batch-rows"}},
		{"progress", m("--progress", "yes"), 2, []string{"--progress", "auto, never or json"}},
		{"dialect", m("--dialect", "cobol"), 2, []string{"dialect", "cobol"}},
		{"from", m("--from", "xlsx"), 2, []string{"--from", "xlsx"}},
		{"to", m("--to", "xlsx"), 2, []string{"--to", "xlsx"}},
		{"unknown extension", []string{"mask", in, "-o", filepath.Join(dir, "out.doc"), "--set", "name=NULL"}, 2, []string{"--to", "out.doc"}},
		{"standard input without a format", []string{"mask", "-", "-o", out, "--set", "name=NULL"}, 2, []string{"--from"}},
		{"compression", m("--compression", "rar"), 2, []string{"--compression", "rar"}},
		{"delimiter", m("--delimiter", "::"), 2, []string{"--delimiter"}},
		{"csv type", m("--csv-type", "name=money"), 2, []string{"--csv-type", "money"}},
		{"key on the command line", m("--key-file", "hunter2"), 2, []string{"--key-file"}},
		{"key file missing", m("--key-file", "k="+filepath.Join(dir, "none.key")), 2, []string{`"k"`, "none.key"}},
		{"key variable missing", m("--key-env", "k=ARROWMASK_TEST_NO_SUCH"), 2, []string{`"k"`, "ARROWMASK_TEST_NO_SUCH"}},
		{"key descriptor", m("--key-fd", "k=x"), 2, []string{`"k"`}},
		{"key too short", m("--key-file", "k="+short), 2, []string{`"k"`}},
		{"key handle twice", m("--key-file", "k="+key, "--key-file", "k="+key), 2, []string{`"k"`, "twice"}},
		{"key handle unknown", m("--set", "Email=mask_hmac({col}, 'other')", "--key-file", "k="+key), 2, []string{"Email", "other"}},
		{"output is the input", []string{"mask", in, "-o", in, "--overwrite", "--set", "name=NULL"}, 2, []string{"same file"}},
		{"output is a link to the input", []string{"mask", in, "-o", filepath.Join(dir, "link.csv"), "--overwrite", "--set", "name=NULL"}, 2, []string{"same file"}},
		{"output is a hard link to the input", []string{"mask", in, "-o", filepath.Join(dir, "hard.csv"), "--overwrite", "--set", "name=NULL"}, 2, []string{"same file"}},
		{"output exists", []string{"mask", in, "-o", taken, "--set", "name=NULL"}, 2, []string{"taken.csv", "--overwrite"}},
		{"output in no folder", []string{"mask", in, "-o", filepath.Join(dir, "no", "out.csv"), "--set", "name=NULL"}, 1, []string{"no such file"}},
		{"output is a folder", []string{"mask", in, "-o", dir, "--to", "csv", "--overwrite", "--set", "name=NULL"}, 1, []string{"directory"}},
		{"report exists", m("--report", taken), 2, []string{"taken.csv", "--overwrite"}},
		{"report is the input", m("--report", in, "--overwrite"), 2, []string{"same file"}},
		{"report is the output", m("--report", out), 2, []string{"same file"}},
		{"report and data on standard output", []string{"mask", in, "-o", "-", "--to", "csv", "--report", "-", "--set", "name=NULL"}, 2, []string{"standard output"}},
		{"report in no folder", m("--report", filepath.Join(dir, "no", "r.json")), 1, []string{"report"}},
		{"input missing", []string{"mask", filepath.Join(dir, "none.csv"), "-o", out, "--set", "name=NULL"}, 1, []string{"none.csv"}},
		{"input is a folder", []string{"mask", dir, "--from", "csv", "-o", out, "--set", "name=NULL"}, 1, []string{"directory"}},
		{"input is not Parquet", []string{"mask", in, "--from", "parquet", "-o", out, "--set", "name=NULL"}, 1, []string{"in.csv"}},
		{"explain: sample", []string{"explain", in, "--sample", "-1", "--set", "name=NULL"}, 2, []string{"--sample"}},
		{"explain: unknown column", []string{"explain", in, "--set", "x=NULL"}, 1, []string{`"x"`}},
		{"eval: syntax", []string{"eval", "sha2('abc' 256)"}, 2, []string{"syntax", "byte"}},
		{"eval: a column", []string{"eval", "mask({col})"}, 2, []string{"col"}},
		{"eval: no expression", []string{"eval"}, 2, []string{"1 argument"}},
		{"functions: unknown", []string{"functions", "scramble"}, 2, []string{"scramble"}},
		{"kat: missing file", []string{"kat", filepath.Join(dir, "none.tsv")}, 1, []string{"none.tsv"}},
		{"kat: unknown backend", []string{"kat", "--backend", "abacus"}, 2, []string{"abacus"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call{t: t}.refused(tt.code, tt.says, tt.args...)
			noFiles(t, dir, "in.csv", "taken.csv", "good.key", "short.key", "link.csv", "hard.csv")
		})
	}
	for name, want := range map[string]string{taken: "precious\n", in: "name,Email,a=b,\"q\"\"r\",dup,dup\nAnn,ann@example.com,1,2,3,4\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s was changed: %q, %v", name, got, err)
		}
	}
}

// A setting that cannot be honoured stops every command that digests.
func TestRefusedSettings(t *testing.T) {
	for _, env := range []string{"ARROWMASK_BACKEND=abacus", "ARROWMASK_BACKEND=hex=abacus", "ARROWMASK_FIPS=maybe"} {
		for _, args := range [][]string{
			{"mask", customers, "-o", filepath.Join(t.TempDir(), "out.csv"), "--set", "name=NULL"},
			{"explain", customers, "--set", "name=NULL"},
			{"eval", "md5('a')"},
			{"kat"},
			{"selftest"},
		} {
			call{t: t, env: []string{env}}.refused(2, []string{env[:len("ARROWMASK_")]}, args...)
		}
		if r := (call{t: t, env: []string{env}}).do("version"); r.code != 0 {
			t.Errorf("version under %s: exit %d: %s", env, r.code, r.err)
		}
	}
}

// Secrets and cells never show in an error.
func TestErrorsHoldNoSecret(t *testing.T) {
	dir := t.TempDir()
	secret := "hunter2-hunter2-hunter2"
	in := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(in, []byte("a,b\n"+secret+",1\nx,\"y\" "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.csv")
	for _, args := range [][]string{
		{"mask", in, "-o", out, "--set", "a=mask({col})"},                          // text after a closing quote
		{"mask", in, "-o", out, "--set", "a=mask({col})", "--csv-type", "a=int64"}, // not a number
		{"mask", in, "-o", out, "--set", "a=NULL", "--key-file", secret},
		{"mask", in, "-o", out, "--set", "a=NULL", "--key-env", secret},
	} {
		r := call{t: t}.do(args...)
		checkOneLine(t, r)
		if r.code == 0 || strings.Contains(r.err, secret) {
			t.Errorf("%q: exit %d, %q", args, r.code, r.err)
		}
		noFiles(t, dir, "in.csv")
	}
}

// B22: a name that matches no column is an error that lists the columns, not a
// mask that is silently left out; in another letter case too.
func TestB22NameThatMatchesNoColumn(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(in, []byte("SSN,name\n123-45-6789,Ann\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ssn", "SSN ", "ss?", "*", "in.SSN", "dept_${{USER.dept}}"} {
		call{t: t}.refused(1, []string{"SSN, name"}, "mask", in, "-o", filepath.Join(dir, "out.csv"), "--set", name+"=mask({col})")
		noFiles(t, dir, "in.csv")
	}
	// Columns that differ in letter case only: the one that stays clear is warned of.
	if err := os.WriteFile(in, []byte("SSN,ssn\n123-45-6789,987-65-4321\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := arrowmask(t, "mask", in, "-o", "-", "--to", "csv", "--set", "SSN=mask({col})")
	if r.out != "SSN,ssn\nnnn-nn-nnnn,987-65-4321\n" || !strings.Contains(r.err, `"ssn" differs`) {
		t.Errorf("%q, %q", r.out, r.err)
	}
}

// A column inside which a mask would have to work is refused, not passed.
func TestNestedColumnIsRefused(t *testing.T) {
	in := shared(t, "data", "parquet-testing", "data", "list_columns.parquet")
	dir := t.TempDir()
	for _, column := range []string{"utf8_list", "int64_list"} {
		call{t: t}.refused(1, []string{column, "list"}, "mask", in, "-o", filepath.Join(dir, "out.parquet"), "--set", column+"=mask_null({col})")
		noFiles(t, dir)
	}
}
