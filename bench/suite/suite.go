// Package suite says what a suite of measurements is.
package suite

import (
	"cmp"
	"context"
	"fmt"
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
	// Rounds is how many interleaved rounds a cell has at least; 0 leaves it to
	// the suite.
	Rounds int
}

// Sweep is how a suite plays its cells: the rounds that were asked for, else those
// that the suite plays.
func (o Options) Sweep(suite string, n int, patience time.Duration) rounds.Sweep {
	n = cmp.Or(o.Rounds, n)
	if o.Quick {
		patience /= 10
	}
	return rounds.Sweep{Rounds: n, Patience: patience, Told: func(round int) {
		o.Out.Tell(fmt.Sprintf("suite=%s round=%d of=%d", suite, round+1, n))
	}}
}

// Suite is one set of measurements. Run returns an error only for what is
// wrong, such as an output that differs from ours; what cannot be had on this
// machine is told to Out.Skip.
type Suite struct {
	Name  string
	Short string // what it measures, for the help text
	Quick bool   // whether it has a quick form
	Run   func(context.Context, Options) error
}
