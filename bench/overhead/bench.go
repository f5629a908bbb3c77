// Package overhead measures what masking costs beside the masks themselves: by
// the batch, the table, the plan, the query, the identity, the reload. Four of
// its workloads are those of public performance reports about a security or
// digest layer that was paid for by the row or by the operation; the figures
// that the reports state stand beside ours.
//
// Every workload first proves that all sides give the same result, then times
// them in turns. What is counted in bytes is exact.
package overhead

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/bench/suite"
)

const (
	suiteName = "overhead"
	// TablesFile is where the tables for people go, in the folder of the records.
	TablesFile = "overhead-tables.txt"
	// Reported is the side of a figure that a report states, on the machine of
	// the report.
	Reported = "reported"
)

// Suite is what this package measures.
var Suite = suite.Suite{
	Name: suiteName, Short: "what masking costs beside the masks: batches, plans, policies, schemas, reloads",
	Quick: true, Run: run,
}

// workload is one file of this package.
type workload struct {
	name  string
	quick bool // has a quick form
	run   func(*bench) error
}

var workloads = []workload{
	{"IMPALA-15424", true, impala},
	{"OpenSearch", true, openSearch},
	{"GEODE-7004", true, geode},
	{"Corda", true, corda},
	{"batch-overhead", true, batchOverhead},
	{"evaluation", false, evaluation},
	{"fan-out", false, fanOut},
	{"value-setup", false, valueSetup},
	{"dictionary", true, dictionary},
	{"reload", false, reload},
	{"identities", false, identities},
}

// bench is one run of the suite.
type bench struct {
	ctx     context.Context
	out     *result.Writer
	quick   bool
	rounds  int
	turn    time.Duration // how long one side runs before the next one has its turn
	slice   time.Duration // how long a side runs at least in a round
	tables  *bufio.Writer
	budgets []budget
}

func run(ctx context.Context, opt suite.Options) (err error) {
	f, err := os.Create(filepath.Join(opt.Out.Dir(), TablesFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := newBench(ctx, opt, f)
	for _, w := range workloads {
		if b.quick && !w.quick {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.run(b); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	if err := b.writeBudgets(); err != nil {
		return err
	}
	return b.tables.Flush()
}

func newBench(ctx context.Context, opt suite.Options, tables io.Writer) *bench {
	b := &bench{ctx: ctx, out: opt.Out, quick: opt.Quick, rounds: max(opt.Rounds, 5), turn: 5 * time.Millisecond, slice: 20 * time.Millisecond, tables: bufio.NewWriter(tables)}
	if opt.Quick {
		b.rounds, b.slice = max(opt.Rounds, 3), 10*time.Millisecond
	}
	return b
}

// way is one way to do the work of a cell.
type way struct {
	name  string
	ops   int // how many units of work run does: rows, batches, requests
	run   func() error
	extra map[string]float64
}

// longRound is when a round is long enough, whoever has not had a slice of it.
const longRound = 200 * time.Millisecond

// measure times ways to do the same in turns and writes a record of each. A way
// that is short runs several times in a turn; ways need not do the same number
// of units.
func (b *bench) measure(key []result.Key, unit string, ways ...way) ([]result.Record, error) {
	sides := make([]rounds.Side, len(ways))
	done := make([]float64, len(ways)) // units in a turn
	var shortest, all time.Duration    // of a turn; of a turn of each
	for i, w := range ways {
		times, took, err := calibrate(w.run, b.turn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if shortest = min(shortest, took); i == 0 {
			shortest = took
		}
		all += took
		done[i] = float64(times * w.ops)
		sides[i] = rounds.Side{Name: w.name, Run: func() error {
			for range times {
				if err := w.run(); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	// Every side has its slice of a round, unless others are so slow that the
	// round would take too long.
	passes := int(max(1, min(1+(b.slice-1)/max(shortest, 1), longRound/max(all, 1))))
	timings, err := rounds.RunPasses(b.rounds, passes, sides)
	if err != nil {
		return nil, err
	}
	// All timings as of a billion units, so that a record needs no more.
	const work = 1e9
	for i := range timings {
		t := &timings[i]
		scale := work / (done[i] * float64(passes))
		for r := range t.Times {
			t.Times[r] = time.Duration(float64(t.Times[r]) * scale)
		}
		t.Min, t.Median = time.Duration(float64(t.Min)*scale), time.Duration(float64(t.Median)*scale)
	}
	records, err := rounds.Records(suiteName, key, unit, work, timings, nil)
	if err != nil {
		return nil, err
	}
	for i := range records {
		for name, x := range ways[i].extra {
			records[i].Extra[name] = x
		}
	}
	return records, b.write(records...)
}

// times is a ratio to ours for a table; nothing where there is none.
func times(r result.Record) string {
	if r.Ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", r.Ratio)
}

// calibrate finds how often a function runs in a turn, and how long that is.
func calibrate(f func() error, turn time.Duration) (times int, took time.Duration, err error) {
	for times = 1; ; {
		start := time.Now()
		for range times {
			if err := f(); err != nil {
				return 0, 0, err
			}
		}
		if took = time.Since(start); took >= turn {
			return times, took, nil
		}
		// At most tenfold at a time: the first calls are slow.
		more := float64(turn) / float64(max(took, 1)) * 1.1
		times = int(float64(times)*min(more, 10)) + 1
	}
}

// values writes records of figures that stand for themselves.
func (b *bench) values(key []result.Key, unit string, sides ...value) error {
	for _, v := range sides {
		if err := b.write(v.record(key, unit)); err != nil {
			return err
		}
	}
	return nil
}

// compared writes values with their ratio to the first, which is ours.
func (b *bench) compared(key []result.Key, unit string, sides ...value) error {
	for i, v := range sides {
		r := v.record(key, unit)
		if i > 0 {
			r.Ratio = v.x / sides[0].x
		}
		if err := b.write(r); err != nil {
			return err
		}
	}
	return nil
}

type value struct {
	side  string
	x     float64
	extra map[string]float64
}

func (v value) record(key []result.Key, unit string) result.Record {
	return result.Record{Suite: suiteName, Case: key, Side: v.side, Unit: unit, Min: v.x, Median: v.x, Rounds: 1, Extra: v.extra}
}

// reported writes figures of a report, which have no ratio to ours: they are
// of another machine and another day.
func (b *bench) reported(key []result.Key, side, unit string, x float64) error {
	return b.values(key, unit, value{side: Reported + "-" + side, x: x})
}

func (b *bench) write(records ...result.Record) error {
	for _, r := range records {
		if err := b.out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// table writes a table for people. Cells are printed as they are.
func (b *bench) table(title string, header []string, rows [][]string, notes ...string) {
	fmt.Fprintf(b.tables, "%s\n\n", title)
	w := tabwriter.NewWriter(b.tables, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	for _, n := range notes {
		fmt.Fprintln(b.tables, n)
	}
	fmt.Fprintln(b.tables)
}

// budget is one promise of the engine's, measured.
type budget struct {
	rule, what, unit string
	limit, got       float64
}

func (b *bench) budget(rule, what, unit string, limit, got float64) {
	b.budgets = append(b.budgets, budget{rule, what, unit, limit, got})
}

func (b *bench) writeBudgets() error {
	var rows [][]string
	for _, g := range b.budgets {
		met := "met"
		if g.got > g.limit {
			met = "MISSED"
		}
		rows = append(rows, []string{g.rule, g.what, result.Figure(g.got), result.Figure(g.limit), g.unit, met})
		r := result.Record{
			Suite: suiteName, Case: result.Keys("work", "budget", "rule", g.rule, "what", g.what), Side: result.Ours,
			Unit: g.unit, Min: g.got, Median: g.got, Rounds: 1, Extra: map[string]float64{"limit": g.limit},
		}
		if err := b.write(r); err != nil {
			return err
		}
	}
	b.table("Budgets", []string{"rule", "what", "measured", "at most", "unit", ""}, rows)
	return nil
}
