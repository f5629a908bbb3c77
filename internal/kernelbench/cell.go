package kernelbench

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arrowmask/arrowmask/kernels"
)

// cell is what is timed: a backend, and batches of rows of one length.
type cell struct {
	backend      *kernels.Backend
	out          Output
	length, rows int
}

// timing is what the rounds came to with one number of threads, in ns by row.
type timing struct{ ours, std []float64 }

const (
	// minRounds is how many rounds there are however long they take.
	minRounds = 5
	// patience is how many times longer than asked for a cell may take before it
	// gets fewer rounds.
	patience = 4
)

// time times one cell with every number of threads. In each round the two ways
// take turns on a piece of the batch, or on several short batches, for a few
// milliseconds, and so do the numbers of threads: what disturbs the machine for
// longer falls on all of them, and what is shorter falls out of the median.
func (c Config) time(at cell) ([]Result, error) {
	sides := make([]*side, slices.Max(c.Threads))
	for i := range sides {
		sides[i] = newSide(at.backend, at.length, at.rows, at.out == Raw, uint64(i))
	}
	if err := sides[0].check(); err != nil {
		return nil, err
	}
	p := sides[0].plan(c.Sample)
	if len(sides) > 1 {
		for _, s := range sides {
			s.start()
			defer close(s.turns)
		}
	}
	pieces := at.rows / p.rows
	timings := make([]timing, len(c.Threads))
	limit := patience * time.Duration(2*c.Rounds*len(c.Threads)) * c.Sample
	for i, start := 0, time.Now(); i < c.Rounds && (i < minRounds || time.Since(start) < limit); i++ {
		lo := i % pieces * p.rows
		hi := lo + p.rows
		for k := range timings {
			t, workers := &timings[k], sides[:c.Threads[k]]
			for turn := range 2 {
				// Who comes second may find the rows in the cache.
				if (turn+i)%2 == 0 {
					t.ours = append(t.ours, together(workers, p, func(s *side) { s.ours(lo, hi) }))
				} else {
					t.std = append(t.std, together(workers, p, func(s *side) { s.std(lo, hi) }))
				}
			}
		}
	}
	for _, s := range sides {
		if s.err != nil {
			return nil, s.err
		}
	}
	one := slices.Index(c.Threads, 1)
	results := make([]Result, len(timings))
	for k, t := range timings {
		r := Result{
			Alg: at.backend.Alg, Backend: at.backend.Name, Output: at.out,
			Len: at.length, Rows: at.rows, Threads: c.Threads[k],
			Row: median(t.ours), StdRow: median(t.std),
			Ratio: medianOf(t.std, t.ours), RatioMin: slices.Min(t.std) / slices.Min(t.ours),
		}
		if one >= 0 && k != one {
			r.Scaling = medianOf(timings[one].ours, t.ours)
			r.ScalingMin = slices.Min(timings[one].ours) / slices.Min(t.ours)
		}
		if own := len(sides[0].offsets) - 1; own < at.rows {
			r.Distinct = own
		}
		results[k] = r
	}
	return results, nil
}

// plan says what a turn is: pieces of so many rows, each so many times.
type plan struct{ rows, repeat int }

const (
	// pieceSize is how many bytes of rows a first piece has at most, so that long
	// rows do not make a turn of seconds, unless pieceRows need more.
	pieceSize = 8 << 20
	// pieceRows is how many rows fill all lanes of any backend.
	pieceRows = 32
)

// plan finds out how much of the row loop fills the target.
func (s *side) plan(target time.Duration) plan {
	longest := max(1, len(s.data)/(len(s.offsets)-1))
	p := plan{min(s.rows, chunk, max(pieceRows, pieceSize/longest)), 1}
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

// start gives the side a thread of its own, so that its turns find in the caches
// what they left there, alone or with others.
func (s *side) start() {
	s.turns = make(chan func())
	go func() {
		runtime.LockOSThread()
		for turn := range s.turns {
			turn()
		}
	}()
}

// together runs what plan says for every side at once, each for itself, and
// returns the ns by row of all together: the inverse of the sum of their
// speeds.
func together(sides []*side, p plan, run func(*side)) float64 {
	work := func(s *side) {
		start := time.Now()
		for range p.repeat {
			run(s)
		}
		s.took = time.Since(start)
	}
	var done sync.WaitGroup
	var ready atomic.Int32
	for _, s := range sides {
		if s.turns == nil {
			work(s)
			continue
		}
		done.Add(1)
		s.turns <- func() {
			defer done.Done()
			// Waking takes a processor longer than some turns: wait awake.
			for ready.Add(1); int(ready.Load()) < len(sides); {
				runtime.Gosched()
			}
			work(s)
		}
	}
	done.Wait()
	speed := 0.0
	for _, s := range sides {
		speed += float64(p.rows*p.repeat) / max(float64(s.took), 1)
	}
	return 1 / speed
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// medianOf is the median of a by b, round by round.
func medianOf(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}
