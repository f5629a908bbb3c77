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
	"github.com/arrowmask/arrowmask/bench/suite"
)

// scan is the function of a program that reads the table and computes nothing,
// and what the name of its side ends in.
const (
	scan       = "scan"
	scanSuffix = "-scan"
)

// cell is what is timed at once.
type cell struct {
	function string
	column   *rival.Column
	threads  int
}

func (c cell) keys() []result.Key {
	return result.Keys("alg", c.function, "len", c.column.Name, "threads", c.threads)
}

// run compares what all engines compute with ours, times them and writes the
// records. An engine that fails is left out and told.
func (c cell) run(ctx context.Context, o suite.Options, all []*running, out string) error {
	ours, err := rival.NewOurs(ctx, c.column, c.function, c.threads)
	if err != nil {
		return err
	}
	want, err := ours.Digests(c.column.Rows())
	if err != nil {
		return err
	}
	race := []rival.Side{ours.Side(ours.Batches()).Repeat(3)}
	for _, r := range all {
		if !r.has(c.function) {
			continue
		}
		err := c.compare(r, want, out)
		if errors.Is(err, rival.ErrProgram) {
			if err := o.Out.Skip(name, r.side, fmt.Sprintf("%s, %d threads: %v", c.function, c.threads, err)); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		race = append(race, c.side(r, c.function, r.side))
		if r.has(scan) {
			race = append(race, c.side(r, scan, r.side+scanSuffix))
		}
	}
	timings, err := rival.Race(max(cmp.Or(o.Rounds, 5), 1), 1, c.column.Rows(), race)
	if err != nil {
		return err
	}
	timings, extra := net(timings, c.column.Rows())
	records, err := rounds.Records(name, c.keys(), "ns/row", float64(c.column.Rows()), timings, nil)
	if err != nil {
		return err
	}
	for _, r := range records {
		for key, x := range extra[r.Side] {
			r.Extra[key] = x
		}
		if err := o.Out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// compare runs an engine once and compares what it computed with ours.
func (c cell) compare(r *running, want []byte, out string) error {
	n := r.rowsOf(c.column)
	if _, err := r.program.Run(r.side, c.function, c.column.Name, c.threads, n); err != nil {
		return err
	}
	got, err := r.program.Out(out)
	if err != nil {
		return err
	}
	return rival.Compare(r.side, got, want, n, c.column.Rows())
}

func (c cell) side(r *running, function, side string) rival.Side {
	n := r.rowsOf(c.column)
	once := rival.Side{Name: side, Rows: n, Run: func() (time.Duration, error) {
		return r.program.Run(r.side, function, c.column.Name, c.threads, n)
	}}
	return once.Repeat(max(r.repeat, 1))
}

// net takes the scan of an engine off its time, and the scans out of the list.
// extra has by engine what was measured, in ns a row: gross, and scan.
func net(timings []rounds.Timing, rows int) (out []rounds.Timing, extra map[string]map[string]float64) {
	extra = map[string]map[string]float64{}
	for _, t := range timings {
		if strings.HasSuffix(t.Name, scanSuffix) {
			continue
		}
		i := slices.IndexFunc(timings, func(s rounds.Timing) bool { return s.Name == t.Name+scanSuffix })
		if i >= 0 {
			s := timings[i]
			extra[t.Name] = map[string]float64{
				"gross": float64(t.Median) / float64(rows),
				"scan":  float64(s.Median) / float64(rows),
			}
			times := make([]time.Duration, len(t.Times))
			for j := range times {
				times[j] = max(t.Times[j]-s.Median, 0)
			}
			t = rounds.Timing{Name: t.Name, Times: times, Min: max(t.Min-s.Min, 0), Median: rounds.Median(times)}
		}
		out = append(out, t)
	}
	return out, extra
}
