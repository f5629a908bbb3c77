package rounds

import (
	"context"
	"fmt"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
)

// Cell is one cell of a sweep.
type Cell struct {
	Match
	Key []result.Key
	// Sides makes the sides ready for a round: the same in every round.
	Sides func() ([]Side, error)
}

// play adds a round.
func (c *Cell) play() error {
	sides, err := c.Sides()
	if err == nil {
		err = c.Play(sides)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", c.Key, err)
	}
	return nil
}

// Sweep plays the first round of every cell, then the second of every cell, and
// so on.
type Sweep struct {
	Rounds int
	// Patience is how much longer than that it may measure: cells whose smallest
	// times rest on a single round get more of them, at most three times as many.
	Patience time.Duration
	// Told is called before every round of all cells; nil is nothing.
	Told func(round int)
}

// Run plays.
func (s Sweep) Run(ctx context.Context, cells []*Cell) error {
	if s.Rounds < 1 {
		return fmt.Errorf("rounds: %d rounds", s.Rounds)
	}
	for round := range s.Rounds {
		if s.Told != nil {
			s.Told(round)
		}
		for _, c := range cells {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.play(); err != nil {
				return err
			}
		}
	}
	return s.settle(ctx, cells)
}

// settle plays more rounds of the cells that need them.
func (s Sweep) settle(ctx context.Context, cells []*Cell) error {
	start := time.Now()
	for {
		played := false
		for _, c := range cells {
			if err := ctx.Err(); err != nil {
				return err
			}
			if c.Rounds() >= 3*s.Rounds || c.Steady() {
				continue
			}
			if time.Since(start) >= s.Patience {
				return nil
			}
			if err := c.play(); err != nil {
				return err
			}
			played = true
		}
		if !played {
			return nil
		}
	}
}
