// Package rounds times several ways to do the same work in turns, so that what
// disturbs the machine falls on all of them alike.
package rounds

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
)

// Side is one way to do the work.
type Side struct {
	Name string
	// Run does a fixed share of the work, such as one batch of rows.
	Run func() error
	// Turn is how many times a fast side runs when it is its turn, so that its
	// turn is not too short to be timed well; its time is divided by it. 0 is 1.
	Turn int
}

// least is about how long a turn of a side takes at least that NewSide made.
const least = 4 * time.Millisecond

// NewSide is a side whose turn is not too short, which it finds out by running.
func NewSide(name string, run func() error) (Side, error) {
	s := Side{Name: name, Run: run, Turn: 1}
	for {
		took, err := s.turn()
		if err != nil || took*time.Duration(s.Turn) >= least/2 || s.Turn >= 1<<20 {
			return s, err
		}
		s.Turn *= 2
	}
}

// Timing is what one side took.
type Timing struct {
	Name string
	// Times are those of the rounds, in the order in which they were run: how
	// long the passes of a round took together, a run each.
	Times       []time.Duration
	Min, Median time.Duration
}

// Run calls every side once to warm up and then n times, in turns and each
// round in another order. The first error ends it.
func Run(n int, sides []Side) ([]Timing, error) { return RunPasses(n, 1, sides) }

// RunPasses is Run with rounds of several passes: in a round every side runs
// so many times, in turns, and its times are added up. The shorter a turn, the
// less a disturbance can fall on one side alone; a turn should still be long
// beside a clock reading and the waking of a processor's wide units, so not
// less than about a millisecond.
func RunPasses(n, passes int, sides []Side) ([]Timing, error) {
	return RunSteady(n, passes, sides, nil)
}

// RunSteady is RunPasses that adds rounds while the ratios to the first side
// differ too much from round to round, as far as p's patience goes.
func RunSteady(n, passes int, sides []Side, p *Patience) ([]Timing, error) {
	if n < 1 || passes < 1 {
		return nil, fmt.Errorf("rounds: %d rounds of %d passes", n, passes)
	}
	timings := make([]Timing, len(sides))
	for i, s := range sides {
		timings[i].Name = s.Name
		if _, err := s.turn(); err != nil {
			return nil, err
		}
	}
	for round := 0; round < n || p.more(timings); round++ {
		start := time.Now()
		for i := range timings {
			timings[i].Times = append(timings[i].Times, 0)
		}
		for pass := range passes {
			for turn := range sides {
				i := (turn + round + pass) % len(sides)
				took, err := sides[i].turn()
				if err != nil {
					return nil, err
				}
				timings[i].Times[round] += took
			}
		}
		if round >= n {
			p.Left -= time.Since(start)
		}
	}
	for i := range timings {
		t := &timings[i]
		t.Min, t.Median = slices.Min(t.Times), Median(t.Times)
	}
	return timings, nil
}

// Patience is how much longer than planned a suite may measure on a machine that
// does other work too. It is for one goroutine.
type Patience struct {
	Rounds int           // of a cell at most
	Left   time.Duration // for all further rounds of all cells
}

// steady is what the ratio of a cell may be unsure by: about the standard error
// of its median. Two runs then differ by 15 % in one ratio of several hundred.
const steady = 0.035

// more reports whether another round is needed and allowed.
func (p *Patience) more(timings []Timing) bool {
	if p == nil || p.Left <= 0 || len(timings[0].Times) >= p.Rounds {
		return false
	}
	for _, t := range timings[1:] {
		if unsure(t.ratios(timings[0])) > steady {
			return true
		}
	}
	return false
}

// unsure is about the standard error of the median of values, as a part of it,
// by the middle half of them: 1.25 standard deviations, each 0.74 times what the
// middle half spans, by the root of their number.
func unsure(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	span := sorted[n-1-n/4] - sorted[n/4]
	return 0.93 * span / math.Sqrt(float64(n)) / sorted[n/2]
}

// turn is the time of one run, by running as often as a turn asks for.
func (s Side) turn() (time.Duration, error) {
	n := max(s.Turn, 1)
	start := time.Now()
	for range n {
		if err := s.Run(); err != nil {
			return 0, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return time.Since(start) / time.Duration(n), nil
}

// Median is the middle of the values, the upper one of two.
func Median[T int | time.Duration | float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Ratio is how many times as long as base the side took: the median of what it
// is in each round, where both were disturbed alike.
func (t Timing) Ratio(base Timing) float64 { return Median(t.ratios(base)) }

func (t Timing) ratios(base Timing) []float64 {
	ratios := make([]float64, len(t.Times))
	for i, d := range t.Times {
		ratios[i] = float64(d) / float64(max(base.Times[i], 1))
	}
	return ratios
}

// Records are the records of a cell, a side each. work is how many units (rows,
// for "ns/row") a side did in a round. Every side but arrowmask has its ratio
// to arrowmask, where that is among them, and the ratio of the minima as
// Extra["ratio_min"]; extra is added to all.
func Records(suite string, key []result.Key, unit string, work float64, timings []Timing, extra map[string]float64) ([]result.Record, error) {
	if work <= 0 {
		return nil, errors.New("rounds: no work")
	}
	ours := slices.IndexFunc(timings, func(t Timing) bool { return t.Name == result.Ours })
	records := make([]result.Record, len(timings))
	for i, t := range timings {
		r := result.Record{
			Suite: suite, Case: key, Side: t.Name, Unit: unit, Rounds: len(t.Times),
			Min: float64(t.Min) / work, Median: float64(t.Median) / work,
			Extra: map[string]float64{},
		}
		for name, x := range extra {
			r.Extra[name] = x
		}
		if ours >= 0 && i != ours {
			r.Ratio = t.Ratio(timings[ours])
			r.Extra["ratio_min"] = float64(t.Min) / float64(max(timings[ours].Min, 1))
		}
		records[i] = r
	}
	return records, nil
}
