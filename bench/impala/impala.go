// Package impala times the digest functions as IMPALA-15424 found them, a row at
// a time with everything looked up and made anew, and as its fix has them, beside
// arrowmask, on few and on many threads. Both are replicas in C++ over OpenSSL 3
// (cpp/), not Impala.
package impala

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/bench/suite"
)

const (
	name = "impala"
	rows = 1 << 20
	// turn is how long a turn takes, about: the rows are chosen for it. A round
	// has so many of them.
	turn   = 20 * time.Millisecond
	passes = 3
	// probe is how many rows, of arrowmask batches, tell how many fill a turn.
	probe        = 1 << 13
	probeBatches = 4
	// patience is how much longer than planned it may measure.
	patience = 10 * time.Second
)

var (
	sides     = []string{"impala-before", "impala-after"}
	functions = []string{"sha256", "sha512", "sha1", "md5", "mask_hash"}
	threads   = []int{1, 2, 16, 32}
)

// Run builds the program and times every function with it.
func Run(ctx context.Context, o suite.Options) error {
	work, err := os.MkdirTemp("", "arrowmask-impala")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary, why := rival.Prepare(exec.CommandContext(ctx, filepath.Join(o.Bench, "impala", "build.sh"), filepath.Join(work, "impala")))
	if why != "" {
		for _, side := range sides {
			if err := o.Out.Skip(name, side, why); err != nil {
				return err
			}
		}
		return nil
	}
	p, err := rival.Start(ctx, nil, binary)
	if err != nil {
		return err
	}
	columns := rival.Columns(rows)
	err = runCells(ctx, o, p, columns, work)
	return errors.Join(err, p.Close())
}

func runCells(ctx context.Context, o suite.Options, p *rival.Program, columns []*rival.Column, work string) error {
	for _, c := range columns {
		if err := p.Load(c, work); err != nil {
			return err
		}
	}
	var cells []cell
	var race []*rounds.Cell
	for _, f := range functions {
		for _, c := range columns {
			for _, n := range threads {
				cells = append(cells, cell{f, c, n})
				race = append(race, cells[len(cells)-1].race(ctx, p, filepath.Join(work, "out")))
			}
		}
	}
	return o.Race(ctx, name, 5, patience, race, func(i int, timings []rounds.Timing) []result.Record {
		return rounds.Records(name, cells[i].keys(), "ns/row", timings, nil)
	})
}

// cell is what is timed at once.
type cell struct {
	function string
	column   *rival.Column
	threads  int
}

func (c cell) keys() []result.Key {
	return result.Keys("alg", c.function, "len", c.column.Name, "threads", c.threads)
}

// race is the cell. What all sides compute is compared before the first round.
func (c cell) race(ctx context.Context, p *rival.Program, out string) *rounds.Cell {
	var race []rounds.Side
	return &rounds.Cell{
		Match: rounds.Match{Passes: passes}, Key: c.keys(),
		Sides: func() (_ []rounds.Side, err error) {
			if race == nil {
				race, err = c.sides(ctx, p, out)
			}
			return race, err
		},
	}
}

// sides are arrowmask and the program's, which agree on what they compute.
func (c cell) sides(ctx context.Context, p *rival.Program, out string) ([]rounds.Side, error) {
	ours, err := rival.NewOurs(ctx, c.column, c.function, c.threads)
	if err != nil {
		return nil, err
	}
	took, err := ours.Side(probeBatches).Run(1)
	if err != nil {
		return nil, err
	}
	race := []rounds.Side{ours.Side(fill(took, probeBatches, 2*ours.Batches()))}
	for _, name := range sides {
		run := func(n int) (time.Duration, error) {
			return p.Run(name, c.function, c.column.Name, c.threads, n)
		}
		took, err := run(probe)
		if err != nil {
			return nil, err
		}
		n := fill(took, probe, c.column.Rows())
		side := rounds.Side{Name: name, Units: float64(n), Run: rounds.Told(func() (time.Duration, error) { return run(n) })}
		if err := compare(ours, p, side, n, out); err != nil {
			return nil, err
		}
		race = append(race, side)
	}
	return race, nil
}

// compare runs a side of the program once and compares what it computed with ours.
func compare(ours *rival.Ours, p *rival.Program, side rounds.Side, rows int, out string) error {
	if _, err := side.Run(1); err != nil {
		return err
	}
	got, err := p.Out(out)
	if err != nil {
		return err
	}
	want, err := ours.Digests(rows)
	if err != nil {
		return err
	}
	return rival.Compare(side.Name, got, want, rows, rows)
}

// fill is how many rows fill a turn, when some of them took so long: not fewer
// than those, and not more than there are.
func fill(took time.Duration, some, all int) int {
	n := int(float64(some) * float64(turn) / float64(max(took, 1)))
	return min(max(n, some), all)
}
