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
	once  bool // runs once with all of its rounds, since it is dear to make ready
	run   func(*bench) error
}

var workloads = []workload{
	{"IMPALA-15424", true, false, impala},
	{"OpenSearch", true, false, openSearch},
	{"GEODE-7004", true, false, geode},
	{"Corda", true, false, corda},
	{"batch-overhead", true, false, batchOverhead},
	{"evaluation", false, false, evaluation},
	{"fan-out", false, false, fanOut},
	{"value-setup", false, false, valueSetup},
	{"dictionary", true, false, dictionary},
	{"reload", false, true, reload},
	{"identities", false, true, identities},
}

// bench is one run of the suite: every workload so many times, a round of its
// cells each. Nothing is written before the last.
type bench struct {
	ctx      context.Context
	out      *result.Writer
	quick    bool
	rounds   int
	turn     time.Duration // how long a turn takes at least
	passes   int           // turns of a side in a round, where they are short
	patience time.Duration // how much longer the last round may measure
	draft    bool          // more rounds follow
	matches  map[string]*rounds.Match
	tables   *bufio.Writer
	budgets  []budget
}

func run(ctx context.Context, opt suite.Options) (err error) {
	f, err := os.Create(filepath.Join(opt.Out.Dir(), TablesFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := newBench(ctx, opt, f)
	for round := range b.rounds {
		opt.Round(suiteName, round, b.rounds)
		b.draft = round < b.rounds-1
		for _, w := range workloads {
			if b.quick && !w.quick || b.draft && w.once {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.run(b); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	if err := b.writeBudgets(); err != nil {
		return err
	}
	return b.tables.Flush()
}

func newBench(ctx context.Context, opt suite.Options, tables io.Writer) *bench {
	b := &bench{
		ctx: ctx, out: opt.Out, quick: opt.Quick, rounds: max(opt.Rounds, 5), turn: 5 * time.Millisecond, passes: 4,
		patience: 25 * time.Second, matches: map[string]*rounds.Match{}, tables: bufio.NewWriter(tables),
	}
	if opt.Quick {
		b.rounds, b.passes, b.patience = max(opt.Rounds, 3), 2, 2*time.Second
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

// longRound is about how long a round may take before its passes are fewer.
const longRound = 200 * time.Millisecond

// growth is what most turns stay below and a collection is cheap for.
const growth = 16 << 20

// measure times ways to do the same in turns and writes a record of each. Ways
// need not do the same number of units. In a draft it plays one round and gives
// what is known so far; otherwise it plays the rounds that are missing.
func (b *bench) measure(key []result.Key, unit string, ways ...way) ([]result.Record, error) {
	m := b.matches[fmt.Sprint(key)]
	if m == nil {
		m = &rounds.Match{Least: b.turn, Passes: b.passes, Most: longRound, Growth: growth}
		b.matches[fmt.Sprint(key)] = m
	}
	sides := make([]rounds.Side, len(ways))
	for i, w := range ways {
		sides[i] = rounds.Side{Name: w.name, Units: float64(w.ops), Run: rounds.Clocked(w.run)}
	}
	for missing := true; missing; missing = !b.draft && (m.Rounds() < b.rounds || b.again(m)) {
		start := time.Now()
		if err := m.Play(sides); err != nil {
			return nil, err
		}
		if m.Rounds() > b.rounds {
			b.patience -= time.Since(start)
		}
	}
	records := rounds.Records(suiteName, key, unit, m.Timings(), nil)
	for i := range records {
		for name, x := range ways[i].extra {
			records[i].Extra[name] = x
		}
	}
	return records, b.write(records...)
}

// again reports whether a cell that had its rounds gets another: a few, so that
// cells that are never steady leave time to others.
func (b *bench) again(m *rounds.Match) bool {
	return m.Rounds() < 2*b.rounds && b.patience > 0 && !m.Steady()
}

// times is a ratio to ours for a table; nothing where there is none.
func times(r result.Record) string {
	if r.Ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", r.Ratio)
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

// skip tells what cannot be measured, once.
func (b *bench) skip(side string, why error) error {
	if b.draft {
		return nil
	}
	return b.out.Skip(suiteName, side, why.Error())
}

func (b *bench) write(records ...result.Record) error {
	if b.draft {
		return nil
	}
	for _, r := range records {
		if err := b.out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// table writes a table for people. Cells are printed as they are.
func (b *bench) table(title string, header []string, rows [][]string, notes ...string) {
	if b.draft {
		return
	}
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
	if b.draft {
		return
	}
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
