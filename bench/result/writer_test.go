package result

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writer is a Writer, and what it prints.
func writer(t *testing.T, dir string) (*Writer, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errs bytes.Buffer
	w, err := NewWriter(dir, &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	return w, &out, &errs
}

func of(suite, side string) Record {
	return Record{Suite: suite, Side: side, Unit: "s", Min: 1, Median: 2, Rounds: 3}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestRerun: a suite that is run again replaces its own records and skips, and
// no other's.
func TestRerun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	w, out, errs := writer(t, dir)
	must(t, w.Write(of("a", "one")), w.Write(of("a", "two")), w.Write(of("b", "one")),
		w.Skip("a", "x", "no compiler\n here"), w.Skip("b", "y", "no network"), w.Skip("ab", "z", "no reason"))
	if got := strings.Count(out.String(), "\n"); got != 3 {
		t.Errorf("%d lines on stdout: %s", got, out)
	}
	if got, want := errs.String(), "skipped suite=a side=x why=no compiler here\n"; !strings.HasPrefix(got, want) {
		t.Errorf("stderr is %q, want %q first", got, want)
	}

	w, _, _ = writer(t, dir)
	must(t, w.Begin("a"), w.Write(of("a", "three")), w.Begin("a"))
	records, err := Read(dir)
	must(t, err)
	var got []string
	for _, r := range records {
		got = append(got, r.Suite+"/"+r.Side)
	}
	if want := []string{"a/three", "b/one"}; !slices.Equal(got, want) {
		t.Errorf("records %v, want %v", got, want)
	}
	skipped, err := ReadSkipped(dir)
	must(t, err)
	if want := []string{"skipped suite=b side=y why=no network", "skipped suite=ab side=z why=no reason"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	if want := "BenchmarkA/side=three 1 2 s\n"; err != nil || string(text) != want {
		t.Errorf("a.txt is %q, %v, want %q", text, err, want)
	}
}

func TestWriteJSON(t *testing.T) {
	dir := t.TempDir()
	w, _, _ := writer(t, dir)
	records, err := w.WriteJSON(strings.NewReader(`{"suite":"c","case":[["k","v"]],"side":"s","unit":"ns","min":1,"median":2,"rounds":3}` + "\n"))
	if err != nil || len(records) != 1 || records[0].Get("k") != "v" {
		t.Errorf("%v, %v", records, err)
	}
	if read, err := Read(dir); err != nil || len(read) != 1 {
		t.Errorf("read %v, %v", read, err)
	}
	if _, err := w.WriteJSON(strings.NewReader("a message\n")); !errors.Is(err, ErrRecord) {
		t.Errorf("what is no record: %v", err)
	}
	if err := w.Write(of("", "x")); !errors.Is(err, ErrRecord) {
		t.Errorf("a record without a suite: %v", err)
	}
}

func TestNothingThere(t *testing.T) {
	if _, err := Read(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no records: %v", err)
	}
	if lines, err := ReadSkipped(t.TempDir()); lines != nil || err != nil {
		t.Errorf("nothing skipped: %v, %v", lines, err)
	}
}

// TestMachine: a suite that is run again keeps what is known of the others, but
// not what another machine measured.
func TestMachine(t *testing.T) {
	dir := t.TempDir()
	w, _, _ := writer(t, dir)
	m := NewMachine(dir)
	if m.CPU == "" || m.Go == "" || m.CPUs < 1 || m.Backends["sha256"] == "" {
		t.Errorf("unknown machine: %+v", m)
	}
	must(t, w.Ran(m, "a", Ran{Command: "first"}), w.Ran(NewMachine(dir), "b", Ran{Command: "b"}), w.Ran(NewMachine(dir), "a", Ran{Command: "second"}))
	got, err := ReadMachine(dir)
	must(t, err)
	if len(got.Suites) != 2 || got.Suites["a"].Command != "second" || got.Suites["b"].Command != "b" || got.Suites["a"].Version != m.Version {
		t.Errorf("suites are %v", got.Suites)
	}
	other := NewMachine(dir)
	other.CPU = "another"
	must(t, w.Ran(other, "c", Ran{}))
	if got, err = ReadMachine(dir); err != nil || len(got.Suites) != 1 {
		t.Errorf("suites of another machine: %v, %v", got.Suites, err)
	}
}
