package engines

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// The test binary is its own engine: right, wrong in a row, or failing.
const asEngine = "ENGINES_TEST_PROGRAM"

func TestMain(m *testing.M) {
	kind := os.Getenv(asEngine)
	if kind == "" {
		os.Exit(m.Run())
	}
	if kind == "absent" {
		fmt.Println("skip module no such module\nready")
		return
	}
	if err := rival.Serve(os.Stdin, os.Stdout, kind, []string{"sha256", scan}, "1", &fake{kind: kind}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type fake struct {
	kind string
	c    *rival.Column
	rows int
}

func (f *fake) Load(c *rival.Column) error { f.c = c; return nil }

func (f *fake) Run(function, column string, threads, rows int) (time.Duration, error) {
	f.rows = rows
	switch {
	case f.kind == "failing":
		return 0, errors.New("out of order")
	case function == scan:
		return 40 * time.Millisecond, nil
	}
	return 100 * time.Millisecond, nil
}

func (f *fake) Digests(w io.Writer) error {
	out := make([]byte, 64*f.rows)
	kernelbench.RowLoop(out, kernels.SHA256, false, f.c.Data, f.c.Offsets[:f.rows+1])
	if f.kind == "wrong" {
		hex.Encode(out[64*(f.rows-1):], make([]byte, 32))
	}
	_, err := w.Write(out)
	return err
}

// race runs a cell with engines of some kinds.
func race(t *testing.T, kinds ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	w, err := result.NewWriter(t.TempDir(), &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	column := rival.Columns(500)[1]
	var all []*running
	for _, kind := range kinds {
		e := engine{side: kind, threads: 2, command: []string{os.Args[0]}, env: []string{asEngine + "=" + kind}}
		r, err := start(t.Context(), e, 2, []*rival.Column{column}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer r.program.Close()
		all = append(all, r)
	}
	if err := lacking(w, all); err != nil {
		t.Fatal(err)
	}
	c := cell{"sha256", column, 2}
	race := c.race(t.Context(), w, all, filepath.Join(t.TempDir(), "out"))
	if err = (rounds.Sweep{Rounds: 2}).Run(t.Context(), []*rounds.Cell{race}); err == nil {
		for _, r := range c.records(race.Timings()) {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.String(), errs.String(), err
}

func TestCell(t *testing.T) {
	stdout, stderr, err := race(t, "right", "failing")
	if err != nil {
		t.Fatal(err)
	}
	// 100 ms less a scan of 40 ms, over 500 rows.
	for _, want := range []string{
		"suite=engines alg=sha256 len=10-40 threads=2 side=arrowmask rounds=2 ",
		"side=right rounds=2 min=120000 median=120000 unit=ns/row ratio=",
		"gross=200000", "scan=80000",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "failing") || strings.Contains(stdout, "right-scan") {
		t.Errorf("more than was timed:\n%s", stdout)
	}
	for _, want := range []string{
		"skipped suite=engines side=failing why=sha256, 2 threads: rival program: ",
		"out of order",
		"skipped suite=engines side=right why=it has no md5",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
}

func TestWrongOutputIsNotTimed(t *testing.T) {
	stdout, _, err := race(t, "right", "wrong")
	if !errors.Is(err, rival.ErrOutput) || !strings.HasSuffix(err.Error(), "wrong: row 499") {
		t.Errorf("a wrong row: %v", err)
	}
	if stdout != "" {
		t.Errorf("timed all the same:\n%s", stdout)
	}
}

func TestStartSaysWhy(t *testing.T) {
	for want, e := range map[string]engine{
		"it is not here":               {why: "it is not here"},
		"it has no more than 1 thread": {threads: 1},
		"no such file":                 {threads: 2, command: []string{"/nowhere"}},
		"no such module":               {threads: 2, command: []string{os.Args[0]}, env: []string{asEngine + "=absent"}},
	} {
		if _, err := start(t.Context(), e, 2, nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestNet(t *testing.T) {
	timing := func(name string, each ...float64) rounds.Timing {
		return rounds.Timing{Name: name, Rounds: each, Min: slices.Min(each), Median: rounds.Median(each)}
	}
	got, extra := net([]rounds.Timing{
		timing(result.Ours, 1, 1, 1),
		timing("a", 10, 12, 11),
		timing("a-scan", 3, 2, 9),
		timing("b", 5, 7, 6),
	})
	if len(got) != 3 || got[0].Name != result.Ours || got[1].Name != "a" || got[2].Name != "b" {
		t.Fatalf("%+v", got)
	}
	if a := got[1]; a.Rounds[0] != 7 || a.Median != 8 || a.Min != 8 {
		t.Errorf("net of a scan: %+v", a)
	}
	if b := got[2]; b.Median != 6 || b.Min != 5 {
		t.Errorf("without a scan: %+v", b)
	}
	if extra["a"]["gross"] != 10 || extra["a"]["scan"] != 2 || extra["b"] != nil {
		t.Errorf("%v", extra)
	}
}
