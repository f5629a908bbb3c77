// Package rounds times several ways to do the same work in turns, so that what
// disturbs the machine falls on all of them alike, and in rounds that lie far
// apart, so that a slow minute costs every cell a round and no cell all of them.
package rounds

import (
	"fmt"
	"time"
)

// Side is one way to do the work of a cell.
type Side struct {
	Name string
	// Run does a fixed share of the work n times and says how long that took: making
	// ready for it and talking to another process are not the work. Clocked and Told
	// make one.
	Run func(n int) (time.Duration, error)
	// Units is how much a run does: rows, blocks, batches.
	Units float64
	// Turn is how many runs make a turn. 0 leaves it to the match.
	Turn int
	// Warm is a side that ran just before: it needs no run to warm up.
	Warm bool
}

// Clocked is a Run that takes the time of all n from outside: a reading of the
// clock may take longer than f.
func Clocked(f func() error) func(int) (time.Duration, error) {
	return func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			if err := f(); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
}

// Told is a Run of a function that says itself how long it took.
func Told(f func() (time.Duration, error)) func(int) (time.Duration, error) {
	return func(n int) (sum time.Duration, err error) {
		for range n {
			took, err := f()
			if err != nil {
				return 0, err
			}
			sum += took
		}
		return sum, nil
	}
}

// turn is how long n runs took by the clock, and what they say that they took.
func (s Side) turn(n int) (clock, told time.Duration, err error) {
	start := time.Now()
	if told, err = s.Run(n); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", s.Name, err)
	}
	return time.Since(start), told, nil
}

// fit finds how many runs make a turn of at least so long by running them, which
// warms the side up.
func (s Side) fit(least time.Duration) (n int, clock time.Duration, err error) {
	if s.Turn > 0 && s.Warm {
		return s.Turn, 0, nil
	}
	for n = max(s.Turn, 1); ; {
		clock, _, err = s.turn(n)
		if err != nil || clock >= least || s.Turn > 0 || n >= 1<<24 {
			return n, clock, err
		}
		// At most tenfold at a time: the first runs are slow.
		n = int(float64(n)*min(1.1*float64(least)/float64(max(clock, 1)), 10)) + 1
	}
}
