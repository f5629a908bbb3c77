package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/suite"
)

// TestCommands: every suite is a command of its own, with a name and a line of
// help.
func TestCommands(t *testing.T) {
	root := command()
	for _, s := range suites {
		cmd, _, err := root.Find([]string{s.Name})
		if err != nil || cmd.Name() != s.Name || cmd.Short == "" {
			t.Errorf("suite %q: %v", s.Name, err)
		}
	}
	for _, name := range []string{"all", "quick", "compare"} {
		if cmd, _, err := root.Find([]string{name}); err != nil || cmd.Name() != name {
			t.Errorf("command %q: %v", name, err)
		}
	}
}

// record writes one ratio to a folder of its own.
func record(t *testing.T, ratio float64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	w, err := result.NewWriter(dir, new(bytes.Buffer), new(bytes.Buffer))
	if err == nil {
		err = w.Write(result.Record{Suite: "s", Side: "rival", Unit: "s", Ratio: ratio})
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b, limit string
		want        error
	}{
		{record(t, 2), record(t, 2.2), "0.15", nil},
		{record(t, 2), record(t, 2.4), "0.15", errDiffer},
		{record(t, 2), record(t, 2.4), "0.25", nil},
		{record(t, 2), t.TempDir(), "0.15", os.ErrNotExist},
	} {
		root := command()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs([]string{"compare", c.a, c.b, "--limit", c.limit})
		err := root.Execute()
		if !errors.Is(err, c.want) {
			t.Errorf("limit %s: %v, want %v", c.limit, err, c.want)
		}
		if c.want != os.ErrNotExist && !strings.Contains(out.String(), "ratios=1 ") {
			t.Errorf("limit %s: %q", c.limit, &out)
		}
	}
}

// TestRun: a suite that fails keeps no other from being measured, and is not
// told to have run.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	w, err := result.NewWriter(dir, new(bytes.Buffer), new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err = run(t.Context(), suite.Options{Out: w, Root: dir}, []suite.Suite{
		{Name: "a", Run: func(context.Context, suite.Options) error { return broken }},
		{Name: "b", Run: func(context.Context, suite.Options) error { return nil }},
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	m, err := result.ReadMachine(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, ran := m.Suites["b"]; !ran || len(m.Suites) != 1 {
		t.Errorf("ran %v", m.Suites)
	}
}

func TestBenchDir(t *testing.T) {
	dir, err := benchDir()
	if err != nil || filepath.Base(dir) != "bench" {
		t.Errorf("%q, %v", dir, err)
	}
	t.Chdir("result")
	if inner, err := benchDir(); err != nil || inner != dir {
		t.Errorf("%q, %v", inner, err)
	}
	t.Chdir(t.TempDir())
	if dir, err := benchDir(); err == nil {
		t.Errorf("outside the repository: %q", dir)
	}
}
