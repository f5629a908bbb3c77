package overhead

import (
	"fmt"
	"strconv"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

// evaluation is what it costs to decide about a table anew, by the number of
// policies (one in a hundred by a pattern) and of columns.
//
//	arrowmask   the table at once
//	per-column  the policies are evaluated for each column
//	cached      the plan of an earlier query
//
// A hit is a table of which every tenth column is masked, as far as there are
// policies; a miss has none.
func evaluation(b *bench) error {
	var table [][]string
	for _, n := range []int{10, 100, 1000, 10000} {
		e, err := newEvaluation(n)
		if err != nil {
			return err
		}
		key := result.Keys("work", "evaluation", "policies", n, "figure", "index")
		if err := b.values(key, "B", value{side: result.Ours, x: e.bytes, extra: map[string]float64{"per_policy": e.bytes / float64(n)}}); err != nil {
			return err
		}
		for _, columns := range []int{1, 10, 250, 1000} {
			for _, name := range []string{"hit", "miss"} {
				row, err := e.cell(b, name, columns)
				if err != nil {
					return fmt.Errorf("%d policies, %d columns: %w", n, columns, err)
				}
				table = append(table, row)
			}
		}
		for _, name := range []string{"hit", "miss"} {
			b.budget("O11", fmt.Sprintf("250-columns-by-1-%s-%d-policies", name, n), "x", 20, e.times[name][250]/e.times[name][1])
		}
	}
	b.table("Deciding about a table, us", []string{"policies", "columns", "table", "masked", "at once", "column by column", "cached", "rules, kB"}, table)
	return nil
}

type evaluationRules struct {
	n     int
	rules *ranger.Rules
	bytes float64
	times map[string]map[int]float64 // ns at once, by table and columns
}

func newEvaluation(n int) (*evaluationRules, error) {
	const hits = 100
	policies := otherPolicies(n, 0)
	for i := range min(hits, n) {
		policies[i] = maskPolicy(i, "hit", fmt.Sprintf("c%d", 10*i), "MASK_NULL")
	}
	rules, bytes, err := heap(func() (*ranger.Rules, error) { return loadRules(1, policies) })
	return &evaluationRules{n: n, rules: rules, bytes: bytes, times: map[string]map[int]float64{"hit": {}, "miss": {}}}, err
}

func (e *evaluationRules) cell(b *bench, name string, columns int) ([]string, error) {
	whole, err := textTable(name, columns)
	if err != nil {
		return nil, err
	}
	single := make([]*policy.Table, columns)
	for i, c := range whole.Columns() {
		if single[i], err = policy.NewTable(whole.Path(), "", []policy.Column{c}); err != nil {
			return nil, err
		}
	}
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	snapshot := policy.NewSnapshot(e.rules)
	// All three decide alike.
	d, err := e.rules.Decide(ann, whole, at)
	if err != nil {
		return nil, err
	}
	masked := 0
	for i, t := range single {
		s, err := e.rules.Decide(ann, t, at)
		if err != nil {
			return nil, err
		}
		if len(s.Columns) == 0 {
			continue
		}
		if masked >= len(d.Columns) || d.Columns[masked].Field.Index != i || d.Columns[masked].Why != s.Columns[0].Why {
			return nil, fmt.Errorf("column %d is decided otherwise by itself", i)
		}
		masked++
	}
	p, err := snapshot.Plan(ann, whole, at)
	if err != nil {
		return nil, err
	}
	want := 0
	if name == "hit" {
		want = min(e.n, (columns+9)/10)
	}
	if masked != want || len(d.Columns) != want || len(p.Masks) != want {
		return nil, fmt.Errorf("%d, %d, %d columns masked, want %d", masked, len(d.Columns), len(p.Masks), want)
	}
	key := result.Keys("work", "evaluation", "policies", e.n, "columns", columns, "table", name)
	r, err := b.measure(key, "ns",
		way{name: result.Ours, ops: 1, run: func() error { _, err := e.rules.Decide(ann, whole, at); return err }},
		way{name: "per-column", ops: 1, run: func() error {
			for _, t := range single {
				if _, err := e.rules.Decide(ann, t, at); err != nil {
					return err
				}
			}
			return nil
		}},
		way{name: "cached", ops: 1, run: func() error { _, err := snapshot.Plan(ann, whole, at); return err }})
	if err != nil {
		return nil, err
	}
	e.times[name][columns] = r[0].Min
	us := func(r result.Record) string { return result.Figure(r.Median / 1e3) }
	return []string{strconv.Itoa(e.n), strconv.Itoa(columns), name, strconv.Itoa(want), us(r[0]), us(r[1]), us(r[2]), result.Figure(e.bytes / 1e3)}, nil
}
