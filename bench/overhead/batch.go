package overhead

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/policy"
)

// batchOverhead asks what a batch costs before its first row: batches of a
// table of 64 columns, some of them masked by NULL, which is next to no work.
//
//	arrowmask  the masker of the query
//	lookup     snapshot, plan and masker looked up for every batch
//	evaluate   policies evaluated, masks compiled, for every batch
//	kernels    only the masks, called one by one: what masking itself costs
//
// A line through the times by rows has the fixed cost as its intercept.

const (
	wideColumns   = 64
	otherRules    = 1000 // policies about other tables
	shareOfBatch  = 0.01
	nullMask      = "MASK_NULL"
	hashMask      = "MASK_HASH"
	wideTableName = "wide"
)

func batchOverhead(b *bench) error {
	rows, masked := []int{1, 16, 256, 4096, 65536}, []int{0, 1, 8, 32}
	if b.quick {
		rows, masked = []int{1, 4096}, []int{0, 8}
	}
	schema := textSchema(wideColumns)
	batches := make([]arrow.Record, len(rows))
	for i, n := range rows {
		batches[i] = textBatch(random(64), schema, n, 4, 12)
		defer batches[i].Release()
	}
	var fits, fixed [][]string
	for _, m := range masked {
		w, err := newWide(schema, m, nullMask)
		if err != nil {
			return err
		}
		times := map[string][]float64{}
		for i, batch := range batches {
			records, err := w.cell(b, "null", batch)
			if err != nil {
				return fmt.Errorf("%d rows, %d masked: %w", rows[i], m, err)
			}
			for _, r := range records {
				times[r.Side] = append(times[r.Side], r.Min)
			}
		}
		if m == 0 {
			b.budget("O3", "batch-without-a-mask", "ns", 50, times[result.Ours][0])
			n, err := w.allocs(b, batches[0])
			if err != nil {
				return err
			}
			b.budget("O3", "allocations-without-a-mask", "allocs", 0, n)
		} else {
			row, err := w.fixedCost(b, batches[0])
			if err != nil {
				return err
			}
			fixed = append(fixed, row)
		}
		if b.quick {
			continue
		}
		lines, err := w.fit(b, "null", rows, times)
		if err != nil {
			return err
		}
		fits = append(fits, lines...)
	}
	if b.quick {
		return nil
	}
	// What one column costs, where it is hashed: how many rows make up for the
	// cost of a batch.
	w, err := newWide(schema, 1, hashMask)
	if err != nil {
		return err
	}
	times := map[string][]float64{}
	for _, batch := range batches {
		records, err := w.cell(b, "hash", batch)
		if err != nil {
			return err
		}
		for _, r := range records {
			times[r.Side] = append(times[r.Side], r.Min)
		}
	}
	lines, err := w.fit(b, "hash", rows, times)
	if err != nil {
		return err
	}
	b.table("Batches of 64 columns: ns = intercept + slope x rows", []string{"mask", "masked", "side", "intercept ns", "ns/row", "rows until the intercept is 1 %"}, append(fits, lines...),
		fmt.Sprintf("evaluate decides by %d policies. The intercept of kernels is the cost of calling the masks and of their output buffers.", otherRules))
	b.table("Fixed cost of a batch of 64 columns and one row beside its masks", []string{"masked columns", "ns", "at most"}, fixed)
	return nil
}

// wide is the table with its rules.
type wide struct {
	governed
	masked int
	masker *arrowudf.Masker
}

func newWide(schema *arrow.Schema, masked int, maskType string) (*wide, error) {
	policies := otherPolicies(otherRules, 1000)
	for i := range masked {
		policies = append(policies, maskPolicy(i, wideTableName, fmt.Sprintf("c%d", i), maskType))
	}
	w := &wide{governed: governed{schema: schema, bound: map[*policy.Plan]*arrowudf.Masker{}}, masked: masked}
	var err error
	if w.rules, err = loadRules(1, policies); err != nil {
		return nil, err
	}
	if w.table, err = policy.NewTable([]string{"c", "db", wideTableName}, "", arrowudf.Columns(schema)); err != nil {
		return nil, err
	}
	w.live.Swap(policy.NewSnapshot(w.rules))
	if w.masker, err = w.find(); err != nil {
		return nil, err
	}
	if n := len(w.masker.Plan().Masks); n != masked {
		return nil, fmt.Errorf("%d masks, want %d", n, masked)
	}
	return w, nil
}

// cell times a batch.
func (w *wide) cell(b *bench, mask string, batch arrow.Record) ([]result.Record, error) {
	apply := func(m *arrowudf.Masker) (arrow.Record, error) { return m.Mask(b.ctx, batch) }
	byLookup := func() (arrow.Record, error) {
		m, err := w.find()
		if err != nil {
			return nil, err
		}
		return apply(m)
	}
	byEvaluation := func() (arrow.Record, error) {
		m, err := bind(w.rules, w.table, w.schema)
		if err != nil {
			return nil, err
		}
		return apply(m)
	}
	drop := func(r arrow.Record, err error) error {
		if err == nil {
			r.Release()
		}
		return err
	}
	if err := w.check(b, batch, byLookup, byEvaluation); err != nil {
		return nil, err
	}
	ways := []way{
		{name: result.Ours, ops: 1, run: func() error { return drop(apply(w.masker)) }},
		{name: "lookup", ops: 1, run: func() error { return drop(byLookup()) }},
		{name: "evaluate", ops: 1, run: func() error { return drop(byEvaluation()) }},
	}
	if w.masked > 0 {
		ways = append(ways, way{name: "kernels", ops: 1, run: func() error { return w.kernels(b, batch) }})
	}
	return b.measure(result.Keys("work", "batch-overhead", "mask", mask, "masked", w.masked, "rows", batch.NumRows()), "ns", ways...)
}

// kernels calls the masks one by one.
func (w *wide) kernels(b *bench, batch arrow.Record) error {
	for i := range w.masked {
		out, err := w.masker.Func(i).Call(b.ctx, batch.Column(i))
		if err != nil {
			return err
		}
		out.Release()
	}
	return nil
}

// fixedCost is what the masker adds to its masks: the median difference of
// many turns of some microseconds, too short for the machine to change in.
func (w *wide) fixedCost(b *bench, batch arrow.Record) ([]string, error) {
	if b.draft {
		return nil, nil
	}
	turns := 1500
	if b.quick {
		turns = 400
	}
	const calls = 20
	differences := make([]float64, turns)
	for i := range differences {
		start := time.Now()
		for range calls {
			out, err := w.masker.Mask(b.ctx, batch)
			if err != nil {
				return nil, err
			}
			out.Release()
		}
		middle := time.Now()
		for range calls {
			if err := w.kernels(b, batch); err != nil {
				return nil, err
			}
		}
		differences[i] = float64(middle.Sub(start)-time.Since(middle)) / calls
	}
	cost, limit := rounds.Median(differences), 1000+50*float64(w.masked)
	b.budget("O2", fmt.Sprintf("batch-with-%d-masked-columns", w.masked), "ns", limit, cost)
	return []string{strconv.Itoa(w.masked), result.Figure(cost), result.Figure(limit)}, nil
}

// check proves that all ways give the same batch, and that it is masked.
func (w *wide) check(b *bench, batch arrow.Record, others ...func() (arrow.Record, error)) error {
	want, err := w.masker.Mask(b.ctx, batch)
	if err != nil {
		return err
	}
	defer want.Release()
	for i := range int(batch.NumCols()) {
		if same := array.Equal(batch.Column(i), want.Column(i)); same != (i >= w.masked) {
			return fmt.Errorf("column %d comes out as it was: %v", i, same)
		}
	}
	for _, f := range others {
		got, err := f()
		if err != nil {
			return err
		}
		err = sameRecord(want, got)
		got.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// allocs is the allocations of a masked batch.
func (w *wide) allocs(b *bench, batch arrow.Record) (float64, error) {
	const times = 1000
	n, err := mallocs(func() error {
		for range times {
			out, err := w.masker.Mask(b.ctx, batch)
			if err != nil {
				return err
			}
			out.Release()
		}
		return nil
	})
	return math.Floor(n / times), err
}

// fit writes the line of every side.
func (w *wide) fit(b *bench, mask string, rows []int, times map[string][]float64) (lines [][]string, err error) {
	x := make([]float64, len(rows))
	for i, n := range rows {
		x[i] = float64(n)
	}
	for _, side := range []string{result.Ours, "lookup", "evaluate", "kernels"} {
		if len(times[side]) == 0 {
			continue
		}
		l, err := FitLine(x, times[side])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side, err)
		}
		until := l.Until(shareOfBatch)
		extra := map[string]float64{"ns_row": l.Slope}
		shown := "-"
		if w.masked > 0 && !math.IsInf(until, 1) {
			extra["rows_1pct"] = until
			shown = result.Figure(until)
		}
		key := result.Keys("work", "batch-overhead", "mask", mask, "masked", w.masked, "fit", "intercept")
		if err := b.write(result.Record{Suite: suiteName, Case: key, Side: side, Unit: "ns", Min: l.Intercept, Median: l.Intercept, Rounds: b.rounds, Extra: extra}); err != nil {
			return nil, err
		}
		lines = append(lines, []string{mask, strconv.Itoa(w.masked), side, result.Figure(l.Intercept), fmt.Sprintf("%.3f", l.Slope), shown})
	}
	return lines, nil
}
