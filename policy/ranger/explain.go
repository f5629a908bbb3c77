package ranger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/policy"
)

// Explanation says, for one identity and one table, what every column becomes
// and which policies were asked on the way.
type Explanation struct {
	Table, User string
	Version     string
	Columns     []ColumnExplanation
	Filter      ColumnExplanation
	Unmatched   []policy.Unmatched
	Err         error // why the table is closed, nil when it is open
}

// ColumnExplanation is one column, or the rows (Name is then empty).
type ColumnExplanation struct {
	Name  string
	Mask  string // the mask's expression, or the filter; "" for none
	Why   *policy.Reason
	Steps []Step
}

// Step is a policy that was asked.
type Step struct {
	PolicyID int64
	Policy   string
	Tag      string // the tag that led to it
	Outcome  string
}

// Explain decides as Decide does and keeps track. A closed table is explained
// up to what closes it.
func (r *Rules) Explain(id *policy.Identity, t *policy.Table, at time.Time) *Explanation {
	out := &Explanation{Table: t.Name(), User: id.String(), Version: r.version}
	for _, f := range t.Fields() {
		out.Columns = append(out.Columns, ColumnExplanation{Name: f.Name})
	}
	find := func(name string) *ColumnExplanation {
		if name == "" {
			return &out.Filter
		}
		return &out.Columns[slices.IndexFunc(out.Columns, func(c ColumnExplanation) bool { return c.Name == name })]
	}
	d, err := r.decideTable(id, t, at, func(column string, p *pol, tag, outcome string) {
		c := find(column)
		c.Steps = append(c.Steps, Step{p.id, p.name, tag, outcome})
	})
	if err != nil {
		out.Err = err
		return out
	}
	for i := range d.Columns {
		c := find(d.Columns[i].Field.Name)
		c.Why = &d.Columns[i].Why
		if m := d.Columns[i].Mask; m != nil {
			c.Mask = m.Expr
		}
	}
	out.Filter.Why = d.FilterWhy
	if d.Filter != nil {
		out.Filter.Mask = d.Filter.String()
	}
	out.Unmatched = d.Unmatched
	return out
}

// String is the explanation for people, a line for each column and step.
func (e *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "table %s for %s (policies %s)\n", e.Table, e.User, e.Version)
	line := func(name, plain string, c *ColumnExplanation) {
		switch {
		case c.Why == nil:
			fmt.Fprintf(&b, "  %s: %s\n", name, plain)
		case c.Mask == "":
			fmt.Fprintf(&b, "  %s: %s on purpose, %s\n", name, plain, c.Why)
		default:
			fmt.Fprintf(&b, "  %s: %s, %s\n", name, c.Mask, c.Why)
		}
		for _, s := range c.Steps {
			tag := ""
			if s.Tag != "" {
				tag = " by tag " + s.Tag
			}
			fmt.Fprintf(&b, "    policy %d %q%s: %s\n", s.PolicyID, s.Policy, tag, s.Outcome)
		}
	}
	for i := range e.Columns {
		line("column "+e.Columns[i].Name, "unmasked", &e.Columns[i])
	}
	line("rows", "all", &e.Filter)
	for _, u := range e.Unmatched {
		fmt.Fprintf(&b, "  unmatched: policy %d %q: %s\n", u.Why.PolicyID, u.Why.Policy, u.Detail)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, "  closed: %v\n", e.Err)
	}
	return b.String()
}
