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
	"slices"
	"strconv"
	"sync"
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
	// Raw leaves the digests as bytes; the default is lower-case hex.
	Raw bool
	// Threads that work at once, each on a column of its own; nil for one.
	Threads []int
	// Stages adds a line to every cell of equal short rows that says where the
	// time goes.
	Stages bool
	// Rounds of which the median is taken; 0 for 5.
	Rounds int
	// Sample is about how long one side of a cell runs in a round; 0 for 20 ms.
	Sample time.Duration
}

// Mixed stands for lengths from 10 to 40 bytes, mixed evenly.
const Mixed = -1

// quick is what the zero Config fills in.
var quick = Config{
	Algs:    []kernels.Alg{kernels.SHA256, kernels.MD5, kernels.SHA1, kernels.SHA512},
	Lengths: []int{32, Mixed, 56, 119, 256},
	Rows:    []int{65536},
	Threads: []int{1},
	Rounds:  5,
	Sample:  20 * time.Millisecond,
}

// All is every cell that is promised something about: all algorithms, lengths
// and batch sizes.
func All() Config {
	return Config{
		Algs:    kernels.Algs(),
		Lengths: []int{0, 1, 8, 32, Mixed, 55, 56, 64, 119, 256, 1024, 16384, 1 << 20},
		Rows:    []int{1, 2, 7, 31, 1000, 65536},
		Threads: []int{1},
	}
}

func (c Config) filled() Config {
	c.Algs = orElse(c.Algs, quick.Algs)
	c.Lengths = orElse(c.Lengths, quick.Lengths)
	c.Rows = orElse(c.Rows, quick.Rows)
	c.Threads = orElse(c.Threads, quick.Threads)
	c.Rounds = cmp.Or(c.Rounds, quick.Rounds)
	c.Sample = cmp.Or(c.Sample, quick.Sample)
	return c
}

func orElse[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return a
}

// Result is one cell.
type Result struct {
	Alg       kernels.Alg
	Backend   string
	Raw       bool
	Len, Rows int // Len may be Mixed
	Threads   int
	// Row and StdRow are wall time by the number of all threads' rows, in ns:
	// medians of the rounds. Ratio is the median of StdRow by Row in a round.
	Row, StdRow, Ratio float64
}

// String is the line that tables are made of.
func (r Result) String() string {
	out, n := "hex", strconv.Itoa(r.Len)
	if r.Raw {
		out = "raw"
	}
	if r.Len == Mixed {
		n = "10-40"
	}
	return fmt.Sprintf("alg=%s out=%s len=%s rows=%d threads=%d backend=%s ns_row=%s std_ns_row=%s ratio=%.2f",
		r.Alg, out, n, r.Rows, r.Threads, r.Backend, figure(r.Row), figure(r.StdRow), r.Ratio)
}

// figure has three digits that mean something.
func figure(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// Run times every cell and writes a line for each to w, after a few lines that
// describe the machine. The first error of writing or of a kernel ends it.
func Run(w io.Writer, c Config) error {
	c = c.filled()
	if _, err := fmt.Fprintf(w, "# cpu: %s\n# features: %s\n# go: %s %s/%s, GOMAXPROCS=%d\n",
		cpu.Name(), cpu.Features(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	for _, alg := range c.Algs {
		b, err := backend(alg, c.Backend)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		for _, n := range c.Lengths {
			for _, rows := range c.Rows {
				for _, threads := range c.Threads {
					if err := c.cell(w, b, n, rows, threads); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// cell times one cell and writes its lines.
func (c Config) cell(w io.Writer, b *kernels.Backend, n, rows, threads int) error {
	r, err := c.time(b, n, rows, threads)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, r); err != nil {
		return err
	}
	if !c.Stages || n == Mixed {
		return nil
	}
	line := stages(b, n, rows, c.Rounds, c.Sample/10)
	if line == "" {
		return nil
	}
	_, err = fmt.Fprintln(w, line)
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

// time times one cell. A batch that takes long is timed piece by piece, and
// short ones several together, so that the two ways take turns every few
// milliseconds: what disturbs the machine for longer falls on both, and what
// is shorter falls out of the median.
func (c Config) time(b *kernels.Backend, n, rows, threads int) (Result, error) {
	r := Result{Alg: b.Alg, Backend: b.Name, Raw: c.Raw, Len: n, Rows: rows, Threads: threads}
	sides := make([]*side, threads)
	for i := range sides {
		sides[i] = newSide(b, n, rows, c.Raw, uint64(i))
	}
	if err := sides[0].check(); err != nil {
		return r, err
	}
	target := min(slice, c.Sample)
	if threads > 1 {
		target = c.Sample // starting goroutines takes its time
	}
	p := sides[0].plan(target)
	var ours, std, ratios []float64
	for range c.Rounds {
		var a, s []float64
		for spent, i := time.Duration(0), 0; i == 0 || spent < 2*c.Sample; i++ {
			lo := i * p.rows % rows
			hi := min(lo+p.rows, rows)
			per := float64(p.repeat) * float64(hi-lo) * float64(threads)
			var x, y time.Duration
			for turn := range 2 {
				// Who comes second may find the rows in the cache.
				if (turn+i)%2 == 0 {
					x = together(sides, func(s *side) { s.ours(lo, hi) }, p.repeat)
				} else {
					y = together(sides, func(s *side) { s.std(lo, hi) }, p.repeat)
				}
			}
			a, s = append(a, float64(x)/per), append(s, float64(y)/per)
			spent += x + y
		}
		ours, std = append(ours, median(a)), append(std, median(s))
		ratios = append(ratios, median(s)/max(median(a), 1e-3))
	}
	for _, s := range sides {
		if s.err != nil {
			return r, s.err
		}
	}
	r.Row, r.StdRow, r.Ratio = median(ours), median(std), median(ratios)
	return r, nil
}

// slice is how long one side runs before it is the other's turn: much longer
// than a processor takes to wake its wide vector units.
const slice = 5 * time.Millisecond

// plan says what a slice is: pieces of so many rows, each so many times.
type plan struct{ rows, repeat int }

// plan finds out how much of the row loop fills the target.
func (s *side) plan(target time.Duration) plan {
	p := plan{min(s.rows, chunk), 1}
	for {
		start := time.Now()
		for range p.repeat {
			s.std(0, p.rows)
		}
		t := time.Since(start)
		switch {
		case t >= target/2 || p.repeat >= 1<<20:
			return p
		case p.rows < s.rows:
			p.rows = min(2*p.rows, s.rows)
		default:
			p.repeat *= 2
		}
	}
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// together calls run for every side at once, repeat times, and returns the
// wall time.
func together(sides []*side, run func(*side), repeat int) time.Duration {
	work := func(s *side) {
		for range repeat {
			run(s)
		}
	}
	if len(sides) == 1 {
		start := time.Now()
		work(sides[0])
		return time.Since(start)
	}
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(len(sides))
	for _, s := range sides {
		done.Go(func() {
			ready.Done()
			<-begin
			work(s)
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	return time.Since(start)
}
