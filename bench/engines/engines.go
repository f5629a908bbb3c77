// Package engines times the digests of other engines beside arrowmask's, over the
// same columns in the memory of each: DuckDB, and from Python ClickHouse, Polars,
// DataFusion, Spark and a loop over hashlib. Getting the column into the engine is
// not in the time. What an engine needs to read its table, where a query cannot do
// without, is timed by itself and taken off.
package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/bench/suite"
)

const (
	name = "engines"
	rows = 1 << 20
	// patience is how much longer than planned it may measure.
	patience = 10 * time.Second
)

var (
	functions = []string{"sha256", "md5", "sha1", "sha512"}
	threads   = []int{1, 2}
)

// Run starts every engine that can be had, for each number of threads, and times
// every function. Those of one number of threads end before the next begin: an
// engine that only waits still slows others.
func Run(ctx context.Context, o suite.Options) error {
	work, err := os.MkdirTemp("", "arrowmask-engines")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	have, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	columns := rival.Columns(rows)
	for _, n := range threads {
		if err := runThreads(ctx, o, have, n, columns, work); err != nil {
			return err
		}
	}
	return nil
}

// runThreads times all cells of a number of threads.
func runThreads(ctx context.Context, o suite.Options, have []engine, threads int, columns []*rival.Column, work string) (err error) {
	all, whys := startAll(ctx, have, threads, columns, work)
	defer func() {
		for _, r := range all {
			err = errors.Join(err, r.program.Close())
		}
	}()
	for i, why := range whys {
		if why != nil {
			if err := o.Out.Skip(name, have[i].side, why.Error()); err != nil {
				return err
			}
		}
	}
	if threads == 1 {
		if err := lacking(o.Out, all); err != nil {
			return err
		}
	}
	todo := cells(columns, threads)
	race := make([]*rounds.Cell, len(todo))
	for i, c := range todo {
		race[i] = c.race(ctx, o.Out, all, filepath.Join(work, "out"))
	}
	return o.Race(ctx, name, 5, patience, race, func(i int, timings []rounds.Timing) []result.Record {
		return todo[i].records(timings)
	})
}

// startAll starts the engines side by side, which takes the longest of them some
// ten seconds. whys has for each why it cannot be had.
func startAll(ctx context.Context, have []engine, threads int, columns []*rival.Column, work string) (all []*running, whys []error) {
	started := make([]*running, len(have))
	whys = make([]error, len(have))
	var done sync.WaitGroup
	for i, e := range have {
		done.Go(func() {
			dir := filepath.Join(work, fmt.Sprintf("%s-%d", e.side, threads)) // of columns on their way
			if whys[i] = os.Mkdir(dir, 0o700); whys[i] == nil {
				started[i], whys[i] = start(ctx, e, threads, columns, dir)
			}
		})
	}
	done.Wait()
	for _, r := range started {
		if r != nil {
			all = append(all, r)
		}
	}
	return all, whys
}

// cells are every function of rows of 32 bytes, and the first two, which are asked
// for most, of mixed ones.
func cells(columns []*rival.Column, threads int) []cell {
	var all []cell
	for i, f := range functions {
		all = append(all, cell{f, columns[0], threads})
		if i < 2 {
			all = append(all, cell{f, columns[1], threads})
		}
	}
	return all
}

// lacking tells the functions that an engine does not have.
func lacking(out *result.Writer, all []*running) error {
	for _, r := range all {
		for _, f := range functions {
			if !r.has(f) {
				if err := out.Skip(name, r.side, "it has no "+f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// running is an engine that was started and has the columns.
type running struct {
	engine
	program *rival.Program
}

func (r *running) has(function string) bool {
	return slices.Contains(r.program.Functions[r.side], function)
}

// start starts an engine and gives it the columns; the error says why it cannot
// be had.
func start(ctx context.Context, e engine, threads int, columns []*rival.Column, work string) (*running, error) {
	if e.why != "" {
		return nil, errors.New(e.why)
	}
	if threads > e.threads {
		return nil, fmt.Errorf("it has no more than %d thread", e.threads)
	}
	p, err := rival.Start(ctx, e.env, e.command[0], append(e.command[1:len(e.command):len(e.command)], fmt.Sprint(threads))...)
	if err != nil {
		return nil, err
	}
	for _, why := range p.Skipped {
		return nil, errors.Join(errors.New(why), p.Close())
	}
	for _, c := range columns {
		if err := p.Load(c, work); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return &running{e, p}, nil
}

// rowsOf is how many rows of a column the engine is timed over.
func (e engine) rowsOf(c *rival.Column) int { return min(cmp.Or(e.rows, c.Rows()), c.Rows()) }
