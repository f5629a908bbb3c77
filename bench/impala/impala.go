// Package impala times the digest functions as IMPALA-15424 found them, a row at
// a time with everything looked up and made anew, and as its fix has them, beside
// arrowmask, on few and on many threads. Both are replicas in C++ over OpenSSL 3
// (cpp/), not Impala.
package impala

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	for _, f := range functions {
		for _, c := range columns {
			for _, n := range threads {
				cell := cell{f, c, n}
				if err := cell.run(ctx, o, p, filepath.Join(work, "out")); err != nil {
					return fmt.Errorf("%v: %w", cell.keys(), err)
				}
			}
		}
	}
	return nil
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

// run compares what all sides compute, times them and writes the records.
func (c cell) run(ctx context.Context, o suite.Options, p *rival.Program, out string) error {
	ours, err := rival.NewOurs(ctx, c.column, c.function, c.threads)
	if err != nil {
		return err
	}
	took, err := ours.Side(probeBatches).Run()
	if err != nil {
		return err
	}
	race := []rival.Side{ours.Side(fill(took, probeBatches, 2*ours.Batches()))}
	for _, side := range sides {
		took, err := p.Run(side, c.function, c.column.Name, c.threads, probe)
		if err != nil {
			return err
		}
		n := fill(took, probe, c.column.Rows())
		race = append(race, rival.Side{Name: side, Rows: n, Run: func() (time.Duration, error) {
			return p.Run(side, c.function, c.column.Name, c.threads, n)
		}})
		if err := compare(ours, p, race[len(race)-1], out); err != nil {
			return err
		}
	}
	timings, err := rival.Race(max(cmp.Or(o.Rounds, 9), 1), passes, c.column.Rows(), race)
	if err != nil {
		return err
	}
	records, err := rounds.Records(name, c.keys(), "ns/row", float64(c.column.Rows()), timings, nil)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := o.Out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// compare runs a side of the program once and compares what it computed with ours.
func compare(ours *rival.Ours, p *rival.Program, side rival.Side, out string) error {
	if _, err := side.Run(); err != nil {
		return err
	}
	got, err := p.Out(out)
	if err != nil {
		return err
	}
	want, err := ours.Digests(side.Rows)
	if err != nil {
		return err
	}
	return rival.Compare(side.Name, got, want, side.Rows, side.Rows)
}

// fill is how many rows fill a turn, when some of them took so long: not fewer
// than those, and not more than there are.
func fill(took time.Duration, some, all int) int {
	n := int(float64(some) * float64(turn) / float64(max(took, 1)))
	return min(max(n, some), all)
}
