// Package suite says what a suite of measurements is.
package suite

import (
	"cmp"
	"context"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
)

// Options are what every suite is run with.
type Options struct {
	// Out takes the records and what had to be left out.
	Out *result.Writer
	// Root is the folder of the arrowmask repository, Bench is its bench/.
	Root, Bench string
	// Quick asks for the few cells that matter most, in seconds, and without
	// the network. The suites that need more than Go are not run then.
	Quick bool
	// Yield is called before every round: other suites may have a round of theirs.
	// nil: there are none.
	Yield func()
	// Rounds is how many interleaved rounds a cell has at least; 0 leaves it to
	// the suite.
	Rounds int
}

// Race plays the cells of a suite and writes the records that are made of each:
// the rounds that were asked for, else n, and where times are not steady more of
// them for as long as patience goes.
func (o Options) Race(ctx context.Context, suite string, n int, patience time.Duration, cells []*rounds.Cell,
	records func(i int, timings []rounds.Timing) []result.Record) error {
	n = cmp.Or(o.Rounds, n)
	if o.Quick {
		patience /= 10
	}
	sweep := rounds.Sweep{Rounds: n, Patience: patience, Told: func(round int) { o.Round(suite, round, n) }}
	if err := sweep.Run(ctx, cells); err != nil {
		return err
	}
	for i, c := range cells {
		for _, r := range records(i, c.Timings()) {
			if err := o.Out.Write(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Round begins a round, counted from 0.
func (o Options) Round(suite string, round, of int) {
	if o.Yield != nil {
		o.Yield()
	}
	o.Out.Round(suite, round, of)
}

// Suite is one set of measurements. Run returns an error only for what is
// wrong, such as an output that differs from ours; what cannot be had on this
// machine is told to Out.Skip.
type Suite struct {
	Name  string
	Short string // what it measures, for the help text
	Quick bool   // whether it has a quick form
	Relay bool   // whether its rounds may lie between those of others
	Run   func(context.Context, Options) error
}
