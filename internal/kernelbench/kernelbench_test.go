package kernelbench

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/kernels"
)

// small runs in no time; what it measures means nothing.
var small = Config{
	Algs:    kernels.Algs(),
	Lengths: []int{0, 32, Mixed, 100, 300},
	Rows:    []int{1, 5, 40},
	Threads: []int{1, 2},
	Stages:  true,
	Rounds:  1,
	Sample:  time.Microsecond,
}

var (
	cellLine  = regexp.MustCompile(`^alg=\w+ out=(hex|raw) len=(\d+|10-40) rows=\d+ threads=\d backend=\w+ ns_row=[\d.]+ std_ns_row=[\d.]+ ratio=[\d.]+ ratio_min=[\d.]+( scaling=[\d.]+ scaling_min=[\d.]+)?( distinct=\d+)?$`)
	stageLine = regexp.MustCompile(`^stages alg=\w+ len=\d+ backend=\w+ gather=[\d.]+ pack=[\d.]+ compress=[\d.]+ hex=[\d.]+ all=[\d.]+ all/compress=[\d.]+ min=[\d.]+$`)
)

// TestRun: a line for every cell, in the form that tables are made from; every
// cell's output was compared with the standard library's on the way.
func TestRun(t *testing.T) {
	for _, output := range []Output{Hex, Raw} {
		c := small
		c.Outputs = []Output{output}
		var out bytes.Buffer
		if err := Run(&out, c); err != nil {
			t.Fatal(err)
		}
		cells := 0
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.HasPrefix(line, "# "), stageLine.MatchString(line):
			case cellLine.MatchString(line) && strings.Contains(line, " out="+output.String()+" "):
				cells++
				if two := strings.Contains(line, " threads=2 "); two != strings.Contains(line, " scaling=") {
					t.Errorf("scaling belongs to several threads: %q", line)
				}
			default:
				t.Errorf("not a line of the table: %q", line)
			}
		}
		if want := len(c.Algs) * len(c.Lengths) * len(c.Rows) * len(c.Threads); cells != want {
			t.Errorf("%d cells, want %d", cells, want)
		}
	}
}

// TestBackend: a named backend is timed where there is one of the name.
func TestBackend(t *testing.T) {
	c := small
	c.Backend, c.Lengths, c.Rows, c.Threads = "std", []int{8}, []int{2}, []int{1}
	var out bytes.Buffer
	if err := Run(&out, c); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), " backend=std "); n != len(c.Algs) {
		t.Errorf("%d cells of std, want %d", n, len(c.Algs))
	}
	out.Reset()
	c.Backend = "none of this name"
	if err := Run(&out, c); err != nil || strings.Contains(out.String(), "alg=") {
		t.Errorf("an unknown backend: %v, %q", err, out.String())
	}
}

// TestColumnsRepeat: columns that would take too much memory repeat their rows.
func TestColumnsRepeat(t *testing.T) {
	b, err := kernels.ByName(kernels.MD5, "std")
	if err != nil {
		t.Fatal(err)
	}
	s := newSide(b, 1<<20, maxData>>20+3, false, 0)
	if got := len(s.data); got > maxData {
		t.Errorf("%d bytes of rows", got)
	}
	if got := s.col.Len(); got != s.rows {
		t.Errorf("%d rows, want %d", got, s.rows)
	}
	if !bytes.Equal(s.col.Row(0), s.col.Row(maxData>>20)) {
		t.Error("the rows do not begin again")
	}
}

type brokenWriter struct{ after int }

var errBroken = errors.New("broken")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	for after := range 3 {
		if err := Run(&brokenWriter{after}, small); !errors.Is(err, errBroken) {
			t.Errorf("after %d writes: %v", after, err)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("median %v", got)
	}
}

// TestFloor: cells that stay below it are listed once more at the end.
func TestFloor(t *testing.T) {
	for floor, want := range map[float64]string{1e9: "# ratio below 1000000000.00: 2 of 2 cells", 1e-9: "# ratio below 0.00: 0 of 2 cells"} {
		c := small
		c.Algs, c.Lengths, c.Rows, c.Threads, c.Stages, c.Floor = []kernels.Alg{kernels.MD5}, []int{8}, []int{1, 2}, []int{1}, false, floor
		var out bytes.Buffer
		if err := Run(&out, c); err != nil {
			t.Fatal(err)
		}
		_, end, found := strings.Cut(out.String(), want+"\n")
		if !found {
			t.Errorf("no %q in\n%s", want, out.String())
		}
		if listed := strings.Count("\n"+end, "\n# alg="); listed != strings.Count(want, "2 of")*2 {
			t.Errorf("%d cells are listed in\n%s", listed, end)
		}
	}
}

// TestGrid: the promised cells, and what a caller asks for goes before.
func TestGrid(t *testing.T) {
	c := Grid().With(Config{Algs: []kernels.Alg{kernels.MD5}, Rounds: 3})
	if len(c.Algs) != 1 || c.Rounds != 3 || len(c.Outputs) != 2 || len(c.Lengths) != 8 || len(c.Rows) != 6 || c.Floor != 0.95 {
		t.Errorf("%+v", c)
	}
}

// TestPlan: a piece is never more than the batch, nor many bytes of long rows.
func TestPlan(t *testing.T) {
	b, err := kernels.ByName(kernels.MD5, "std")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ n, rows, most int }{{8, 1, 1}, {8, 100, 100}, {1 << 20, 64, pieceRows}} {
		if p := newSide(b, c.n, c.rows, false, 0).plan(time.Microsecond); p.rows < 1 || p.rows > c.most || p.repeat < 1 {
			t.Errorf("%d rows of %d bytes: %+v", c.rows, c.n, p)
		}
	}
}

func TestMedianOf(t *testing.T) {
	if got := medianOf([]float64{2, 30, 12}, []float64{1, 10, 3}); got != 3 {
		t.Errorf("median %v", got)
	}
}
