// Package kernelbench times the digest kernels against the plain way of doing
// the same: a loop over the rows with the standard library's hash functions
// and encoding/hex. Both run in turns in one process, so that a busy machine
// slows both alike, and every figure is a median.
package kernelbench

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/kernels"
)

// Config says what to time. The zero Config is the quick run: the algorithms
// and lengths that matter most, under a minute.
type Config struct {
	// Algs are the algorithms; nil for md5, sha1, sha256 and sha512.
	Algs []kernels.Alg
	// Backend names the backend to time; empty for the active one of each
	// algorithm. An algorithm that has no backend of the name is left out.
	Backend string
	// Lengths of the rows in bytes; nil for the quick run's. Mixed is a length.
	Lengths []int
	// Rows of a batch; nil for 65536.
	Rows []int
	// Outputs are what the digests become; nil for hex text.
	Outputs []Output
	// Threads that work at once, each on a column of its own; nil for one. Every
	// number has its line; all take turns in the same rounds.
	Threads []int
	// Stages adds a line to every cell of equal short rows that says where the
	// time goes.
	Stages bool
	// Rounds of which the median is taken; 0 for 151. A cell that takes long has
	// fewer.
	Rounds int
	// Sample is about how long the row loop runs in a round; 0 for 4 ms.
	Sample time.Duration
	// Floor is a ratio: cells below it are timed a second time, for longer, and
	// listed at the end if they still are. 0 for no list.
	Floor float64
}

// Output is what digests become.
type Output uint8

// The outputs.
const (
	Hex Output = iota // lower-case hex text
	Raw               // the digests as they are
)

// String is the name of the output: "hex" or "raw".
func (o Output) String() string {
	if o == Raw {
		return "raw"
	}
	return "hex"
}

// Mixed stands for lengths from 10 to 40 bytes, mixed evenly.
const Mixed = -1

// quick is what the zero Config fills in.
var quick = Config{
	Algs:    []kernels.Alg{kernels.SHA256, kernels.MD5, kernels.SHA1, kernels.SHA512},
	Lengths: []int{32, Mixed, 56, 119, 256},
	Rows:    []int{65536},
	Outputs: []Output{Hex},
	Threads: []int{1},
	Rounds:  151,
	Sample:  4 * time.Millisecond,
}

// All is every cell that is promised something about: all algorithms, lengths
// and batch sizes.
func All() Config {
	return Config{
		Algs:    kernels.Algs(),
		Lengths: []int{0, 1, 8, 32, Mixed, 55, 56, 64, 119, 256, 1024, 16384, 1 << 20},
		Rows:    []int{1, 2, 7, 31, 1000, 65536},
	}
}

// Grid is the cells in which no batch may be slower than the row loop, with
// those that are in a list at the end: from one row to many, from empty rows
// to long ones, as text and as bytes.
func Grid() Config {
	return Config{
		Lengths: []int{0, 1, 8, 55, 64, 1024, 16384, 1 << 20},
		Rows:    []int{1, 2, 7, 31, 1000, 65536},
		Outputs: []Output{Hex, Raw},
		Rounds:  61,
		Sample:  time.Millisecond,
		Floor:   0.95,
	}
}

// With is c with everything that own says.
func (c Config) With(own Config) Config {
	return Config{
		Algs: orElse(own.Algs, c.Algs), Backend: cmp.Or(own.Backend, c.Backend),
		Lengths: orElse(own.Lengths, c.Lengths), Rows: orElse(own.Rows, c.Rows),
		Outputs: orElse(own.Outputs, c.Outputs), Threads: orElse(own.Threads, c.Threads),
		Stages: own.Stages || c.Stages,
		Rounds: cmp.Or(own.Rounds, c.Rounds), Sample: cmp.Or(own.Sample, c.Sample),
		Floor: cmp.Or(own.Floor, c.Floor),
	}
}

func orElse[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return a
}

// Result is one cell with one number of threads.
type Result struct {
	Alg       kernels.Alg
	Backend   string
	Output    Output
	Len, Rows int // Len may be Mixed
	Threads   int
	// Row and StdRow are ns by row, of all threads together: medians of the
	// rounds. Ratio is the median of StdRow by Row in a round, RatioMin the
	// smallest StdRow of all rounds by the smallest Row: what an undisturbed
	// machine would show.
	Row, StdRow, Ratio, RatioMin float64
	// Scaling is how many times the rows of one thread several do in the same
	// round, and ScalingMin that of the rounds with the smallest Row; 0 where one
	// thread was not timed.
	Scaling, ScalingMin float64
	// Distinct is how many rows there are when they repeat, to bound memory; 0
	// when all are different.
	Distinct int
}

// String is the line that tables are made of.
func (r Result) String() string {
	n := strconv.Itoa(r.Len)
	if r.Len == Mixed {
		n = "10-40"
	}
	s := fmt.Sprintf("alg=%s out=%s len=%s rows=%d threads=%d backend=%s ns_row=%s std_ns_row=%s ratio=%.2f ratio_min=%.2f",
		r.Alg, r.Output, n, r.Rows, r.Threads, r.Backend, figure(r.Row), figure(r.StdRow), r.Ratio, r.RatioMin)
	if r.Scaling > 0 {
		s += fmt.Sprintf(" scaling=%.2f scaling_min=%.2f", r.Scaling, r.ScalingMin)
	}
	if r.Distinct > 0 {
		s += fmt.Sprintf(" distinct=%d", r.Distinct)
	}
	return s
}

// figure has three digits that mean something.
func figure(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// Run times every cell and writes its lines to w, after a few lines that
// describe the machine. The first error of writing or of a kernel ends it.
func Run(w io.Writer, c Config) error {
	c = quick.With(c)
	if _, err := fmt.Fprintf(w, "# cpu: %s\n# features: %s\n# go: %s %s/%s, GOMAXPROCS=%d\n",
		cpu.Name(), cpu.Features(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	below := list{floor: c.Floor}
	for _, alg := range c.Algs {
		b, err := backend(alg, c.Backend)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		for _, out := range c.Outputs {
			for _, n := range c.Lengths {
				for _, rows := range c.Rows {
					if err := c.report(w, cell{b, out, n, rows}, &below); err != nil {
						return err
					}
				}
			}
		}
	}
	return below.print(w)
}

// report times one cell and writes its lines.
func (c Config) report(w io.Writer, at cell, below *list) error {
	results, err := c.time(at)
	if err == nil && below.has(results) {
		c.Rounds *= 3
		results, err = c.time(at)
	}
	if err != nil {
		return err
	}
	below.add(results)
	for _, r := range results {
		if _, err := fmt.Fprintln(w, r); err != nil {
			return err
		}
	}
	if !c.Stages || at.length == Mixed {
		return nil
	}
	if line := stages(at.backend, at.length, at.rows, c.Rounds, c.Sample/20); line != "" {
		_, err = fmt.Fprintln(w, line)
	}
	return err
}

// backend finds the backend to time; nil when the algorithm has none of the
// name.
func backend(alg kernels.Alg, name string) (*kernels.Backend, error) {
	if name == "" {
		return kernels.Active(alg)
	}
	for _, b := range kernels.All(alg) {
		if b.Name == name {
			return kernels.ByName(alg, name)
		}
	}
	return nil, nil
}

// list collects the cells whose ratio is below a floor.
type list struct {
	floor float64
	all   int
	low   []Result
}

func (l *list) has(results []Result) bool {
	for _, r := range results {
		if r.Ratio < l.floor {
			return true
		}
	}
	return false
}

func (l *list) add(results []Result) {
	l.all += len(results)
	for _, r := range results {
		if r.Ratio < l.floor {
			l.low = append(l.low, r)
		}
	}
}

func (l *list) print(w io.Writer) error {
	if l.floor == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "# ratio below %.2f: %d of %d cells\n", l.floor, len(l.low), l.all); err != nil {
		return err
	}
	for _, r := range l.low {
		if _, err := fmt.Fprintf(w, "# %s\n", r); err != nil {
			return err
		}
	}
	return nil
}
