package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readReport(t *testing.T, path string) report {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return decodeReport(t, string(data))
}

func decodeReport(t *testing.T, text string) report {
	t.Helper()
	var r report
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("report: %v\n%s", err, text)
	}
	return r
}

func TestReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "pepper.key")
	secret := "correct horse battery staple"
	if err := os.WriteFile(key, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, name := filepath.Join(dir, "out.arrow"), filepath.Join(dir, "report.json")
	r := arrowmask(t, "mask", customers, "-o", out, "--report", name, "--key-file", "pepper="+key,
		"--set", "email=mask_hmac({col}, 'pepper')", "--set", "name=mask_hash({col})", "--set", "id=mask_hash({col})", "--set", "note=mask({col})")
	got := readReport(t, name)

	before := readTable(t, customers)
	nullsOf := func(column string) (n int64) {
		for _, v := range before.column(t, column) {
			if v.null {
				n++
			}
		}
		return n
	}
	if got.Rows != 100_000 || got.InputFormat != "parquet" || got.OutputFormat != "arrow" || got.Input != customers || got.Output != out || got.Dialect != "safe" {
		t.Errorf("report: %+v", got)
	}
	if strings.Join(got.Unmasked, " ") != "phone card birth_date balance country" {
		t.Errorf("unmasked columns: %q", got.Unmasked)
	}
	want := []columnReport{
		{Name: "id", Expression: "mask_hash({col})", InputType: "int64", OutputType: "int64", NullsOut: 100_000},
		{Name: "name", Expression: "mask_hash({col})", InputType: "utf8", OutputType: "utf8", NullsIn: nullsOf("name"), NullsOut: nullsOf("name")},
		{Name: "email", Expression: "mask_hmac({col}, 'pepper')", InputType: "utf8", OutputType: "utf8", NullsIn: nullsOf("email"), NullsOut: nullsOf("email")},
		{Name: "note", Expression: "mask({col})", InputType: "utf8", OutputType: "utf8", NullsIn: nullsOf("note"), NullsOut: nullsOf("note")},
	}
	if len(got.Columns) != len(want) {
		t.Fatalf("%d columns in the report, want %d", len(got.Columns), len(want))
	}
	for i, w := range want {
		g := got.Columns[i]
		if g.Name != w.Name || g.Expression != w.Expression || g.InputType != w.InputType || g.OutputType != w.OutputType ||
			g.Rows != 100_000 || g.NullsIn != w.NullsIn || g.NullsOut != w.NullsOut {
			t.Errorf("column %d: %+v, want %+v", i, g, w)
		}
	}
	if d := got.Columns[2].Digests; len(d) != 1 || !d[0].Keyed || d[0].KeyID != "pepper" || d[0].Algorithm != "sha256" || d[0].Backend == "" {
		t.Errorf("digests of email: %+v", d)
	}
	if d := got.Columns[3].Digests; len(d) != 0 {
		t.Errorf("digests of note: %+v", d)
	}
	// A plain hash and a hash of numbers are warned of, in the report and once
	// on standard error; the keyed one is not.
	for i, wantWarning := range []bool{true, true, false, false} {
		if (len(got.Columns[i].Warnings) > 0) != wantWarning {
			t.Errorf("warnings of %s: %q", got.Columns[i].Name, got.Columns[i].Warnings)
		}
		for _, w := range got.Columns[i].Warnings {
			if strings.Count(r.err, w) != 1 {
				t.Errorf("warning %q is not once on standard error:\n%s", w, r.err)
			}
		}
	}
	if !strings.Contains(r.err, "100000 rows, 4 of 9 columns masked") {
		t.Errorf("summary: %q", r.err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data)+r.err+r.out, secret) {
		t.Error("the key is shown")
	}
	noFiles(t, dir, "pepper.key", "out.arrow", "report.json")
}

func TestReportOnStandardOutput(t *testing.T) {
	r := arrowmask(t, "mask", customers, "-o", filepath.Join(t.TempDir(), "out.csv"), "--set", "name=NULL", "--report", "-")
	if got := decodeReport(t, r.out); got.Rows != 100_000 {
		t.Errorf("report: %+v", got)
	}
}

func TestProgressJSON(t *testing.T) {
	r := arrowmask(t, "mask", customers, "-o", filepath.Join(t.TempDir(), "out.arrow"), "--set", "name=NULL", "--progress", "json", "-q")
	lines := strings.Split(strings.TrimSpace(r.err), "\n")
	for i, text := range lines {
		var line progressLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		if last := i == len(lines)-1; line.Done != last || line.Total == nil || *line.Total != 100_000 || last && line.Rows != 100_000 {
			t.Errorf("line %q", text)
		}
	}
}
