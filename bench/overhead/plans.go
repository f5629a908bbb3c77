package overhead

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/policy"
)

// The plan of a query over many tables: each with 20 of 24 columns masked by
// one of three masks, and a row filter of about 2 kB.
const (
	planColumns = 24
	planMasked  = 20
	filterBytes = 2000
)

var planMasks = []string{"mask({col})", "mask_hash({col})", "mask_null({col})"}

// planRules decide the same for every table, but for the filter where each has
// its own.
type planRules struct {
	filter func(table string) string
	masked int
}

func (planRules) Version() string { return "7" }

func (r planRules) Decide(_ *policy.Identity, t *policy.Table, _ time.Time) (*policy.Decision, error) {
	d := &policy.Decision{FilterWhy: &policy.Reason{PolicyID: 99, Policy: "rows", Kind: "filter"}}
	for i, f := range t.Fields()[:r.masked] {
		n := i % len(planMasks)
		d.Columns = append(d.Columns, policy.ColumnDecision{
			Field: f, Mask: &policy.Mask{Expr: planMasks[n]},
			Why: policy.Reason{PolicyID: int64(n), Policy: fmt.Sprintf("masks %d", n), Kind: "CUSTOM"},
		})
	}
	var err error
	d.Filter, err = policy.ParseFilter(r.filter(t.Name()), policy.Syntax{})
	return d, err
}

// longFilter is a filter of so many bytes, or a few less; salt makes it unlike
// others.
func longFilter(size int, salt string) string {
	var b strings.Builder
	b.WriteString("c23 = '" + salt + "'")
	for i := 0; ; i++ {
		term := fmt.Sprintf(" or c%d = 'value %d'", 20+i%3, i)
		if b.Len()+len(term) > size {
			return b.String()
		}
		b.WriteString(term)
	}
}

func sharedFilter(string) string             { return longFilter(filterBytes, "all") }
func ownFilter(table string) string          { return longFilter(filterBytes, table) }
func tableName(i int) string                 { return fmt.Sprintf("table_%d", i) }
func planTable(i int) (*policy.Table, error) { return textTable(tableName(i), planColumns) }

// makePlans decides for n tables.
func makePlans(n int, r planRules) ([]*policy.Plan, []*policy.Table, error) {
	s := policy.NewSnapshot(r)
	plans, tables := make([]*policy.Plan, n), make([]*policy.Table, n)
	for i := range plans {
		var err error
		if tables[i], err = planTable(i); err != nil {
			return nil, nil, err
		}
		if plans[i], err = s.Plan(ann, tables[i], time.Time{}); err != nil {
			return nil, nil, err
		}
	}
	return plans, tables, nil
}

// The plan as it is written without a thought: every table with its texts.
type (
	inlinePlan struct {
		Table   string         `json:"table"`
		Version string         `json:"version"`
		Filter  string         `json:"filter"`
		Why     *policy.Reason `json:"filterPolicy"`
		Columns []inlineColumn `json:"columns"`
	}
	inlineColumn struct {
		Name  string         `json:"name"`
		Index int            `json:"index"`
		Mask  string         `json:"mask"`
		Why   *policy.Reason `json:"policy"`
	}
)

func encodeInline(plans []*policy.Plan) ([]byte, error) {
	out := make([]inlinePlan, len(plans))
	for i, p := range plans {
		q := inlinePlan{Table: p.Table, Version: p.Version, Filter: p.Filter.String(), Why: p.FilterWhy, Columns: make([]inlineColumn, len(p.Masks))}
		for k, m := range p.Masks {
			q.Columns[k] = inlineColumn{Name: m.Name, Index: m.Index, Mask: m.Mask.Expr, Why: m.Why}
		}
		out[i] = q
	}
	return json.Marshal(out)
}

// decodeInline reads it and parses the filters, as Decode of a Set does; that
// checks the masks as well, which this leaves out.
func decodeInline(b []byte) ([]inlinePlan, []*policy.Filter, error) {
	var plans []inlinePlan
	if err := json.Unmarshal(b, &plans); err != nil {
		return nil, nil, err
	}
	filters := make([]*policy.Filter, len(plans))
	for i, p := range plans {
		var err error
		if filters[i], err = policy.ParseFilter(p.Filter, policy.Syntax{}); err != nil {
			return nil, nil, err
		}
	}
	return plans, filters, nil
}

// sameInline compares plans with what was read of them.
func sameInline(plans []*policy.Plan, read []inlinePlan, filters []*policy.Filter) error {
	if len(plans) != len(read) {
		return fmt.Errorf("%d plans of %d", len(read), len(plans))
	}
	for i, p := range plans {
		q := read[i]
		if p.Table != q.Table || p.Filter.String() != filters[i].String() || len(p.Masks) != len(q.Columns) {
			return fmt.Errorf("another plan for %s", p.Table)
		}
		for k, m := range p.Masks {
			if c := q.Columns[k]; m.Index != c.Index || m.Mask.Expr != c.Mask || *m.Why != *c.Why {
				return fmt.Errorf("another mask for %s.%s", p.Table, m.Name)
			}
		}
	}
	return nil
}

// planID stands for a plan where the receiver has it: the hash of its content
// and the version of the policies.
type planID struct {
	hash    policy.Hash
	version uint64
}

const planIDBytes = 16 + 8

func appendID(dst []byte, id planID) []byte {
	dst = append(dst, id.hash[:]...)
	for i := range 8 {
		dst = append(dst, byte(id.version>>(8*i)))
	}
	return dst
}

func readID(b []byte) (planID, error) {
	if len(b) != planIDBytes {
		return planID{}, fmt.Errorf("plan id of %d bytes", len(b))
	}
	id := planID{hash: policy.Hash(b[:16])}
	for i := range 8 {
		id.version |= uint64(b[16+i]) << (8 * i)
	}
	return id, nil
}
