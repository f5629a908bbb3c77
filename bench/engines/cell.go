package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/rounds"
)

// scan is the function of a program that reads the table and computes nothing,
// and what the name of its side ends in.
const (
	scan       = "scan"
	scanSuffix = "-scan"
)

// turn is how long a turn takes at least, about as long as those of the engines.
const turn = 60 * time.Millisecond

// cell is what is timed at once.
type cell struct {
	function string
	column   *rival.Column
	threads  int
}

func (c cell) keys() []result.Key {
	return result.Keys("alg", c.function, "len", c.column.Name, "threads", c.threads)
}

// race is the cell. What all engines compute is compared with ours before the
// first round; an engine that fails is left out and told.
func (c cell) race(ctx context.Context, w *result.Writer, all []*running, out string) *rounds.Cell {
	var race []rounds.Side
	return &rounds.Cell{
		Match: rounds.Match{Least: turn}, Key: c.keys(),
		Sides: func() (_ []rounds.Side, err error) {
			if race == nil {
				race, err = c.sides(ctx, w, all, out)
			}
			return race, err
		},
	}
}

// sides are arrowmask and the engines that have the function, and their scans.
func (c cell) sides(ctx context.Context, w *result.Writer, all []*running, out string) ([]rounds.Side, error) {
	ours, err := rival.NewOurs(ctx, c.column, c.function, c.threads)
	if err != nil {
		return nil, err
	}
	want, err := ours.Digests(c.column.Rows())
	if err != nil {
		return nil, err
	}
	race := []rounds.Side{ours.Side(ours.Batches())}
	for _, r := range all {
		if !r.has(c.function) {
			continue
		}
		took, err := c.compare(r, want, out)
		if errors.Is(err, rival.ErrProgram) {
			if err := w.Skip(name, r.side, fmt.Sprintf("%s, %d threads: %v", c.function, c.threads, err)); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		side := c.side(r, c.function, r.side)
		side.Turn, side.Warm = int(1+cmp.Or(r.turn, turn)/max(took, 1)), true
		race = append(race, side)
		if r.has(scan) {
			race = append(race, c.side(r, scan, r.side+scanSuffix))
		}
	}
	return race, nil
}

// records are those of arrowmask and the engines.
func (c cell) records(timings []rounds.Timing) []result.Record {
	timings, extra := net(timings)
	records := rounds.Records(name, c.keys(), "ns/row", timings, nil)
	for _, r := range records {
		for key, x := range extra[r.Side] {
			r.Extra[key] = x
		}
	}
	return records
}

// compare runs an engine once and compares what it computed with ours.
func (c cell) compare(r *running, want []byte, out string) (took time.Duration, err error) {
	n := r.rowsOf(c.column)
	if took, err = r.program.Run(r.side, c.function, c.column.Name, c.threads, n); err != nil {
		return 0, err
	}
	got, err := r.program.Out(out)
	if err != nil {
		return 0, err
	}
	return took, rival.Compare(r.side, got, want, n, c.column.Rows())
}

func (c cell) side(r *running, function, side string) rounds.Side {
	n := r.rowsOf(c.column)
	return rounds.Side{Name: side, Units: float64(n), Run: rounds.Told(func() (time.Duration, error) {
		return r.program.Run(r.side, function, c.column.Name, c.threads, n)
	})}
}

// net takes the scan of an engine off its time, and the scans out of the list.
// extra has by engine what was measured, in ns a row: gross, and scan.
func net(timings []rounds.Timing) (out []rounds.Timing, extra map[string]map[string]float64) {
	extra = map[string]map[string]float64{}
	for _, t := range timings {
		if strings.HasSuffix(t.Name, scanSuffix) {
			continue
		}
		i := slices.IndexFunc(timings, func(s rounds.Timing) bool { return s.Name == t.Name+scanSuffix })
		if i >= 0 {
			s := timings[i]
			extra[t.Name] = map[string]float64{"gross": t.Min, "scan": s.Min}
			each := make([]float64, len(t.Rounds))
			for j, x := range t.Rounds {
				each[j] = max(x-s.Median, 0)
			}
			t = rounds.Timing{Name: t.Name, Rounds: each, Min: max(t.Min-s.Min, 0), Median: rounds.Median(each)}
		}
		out = append(out, t)
	}
	return out, extra
}
