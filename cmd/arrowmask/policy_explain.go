package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy/ranger"
	"github.com/arrowmask/arrowmask/tablefile"
)

// policyExplanation is what explain shows of the policies.
type policyExplanation struct {
	Table     string            `json:"table"`
	User      string            `json:"user"`
	Version   string            `json:"version"`
	Columns   []policyColumn    `json:"columns"` // fields of nested columns among them
	Rows      policyColumn      `json:"rows"`
	Unmatched []unmatchedReport `json:"unmatched"`
	Refused   string            `json:"refused,omitempty"` // why mask would refuse
}

// policyColumn is the decision about a column, or about the rows.
type policyColumn struct {
	Name   string       `json:"name,omitempty"`
	Mask   string       `json:"expression"` // empty: left as it is
	Policy *policyRef   `json:"policy"`     // null: no policy decided
	Asked  []policyStep `json:"asked"`
}

// policyStep is a policy that was asked, in order.
type policyStep struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Tag     string `json:"tag,omitempty"`
	Outcome string `json:"outcome"`
}

// explain tells what the policies say and which of them were asked. refused is
// why no plan came of it, nil when one did.
func (q *question) explain(schema *arrow.Schema, refused error) (*policyExplanation, error) {
	t, err := q.table(schema)
	if err != nil {
		return nil, err
	}
	e := q.rules.Explain(q.who, t, q.when)
	x := &policyExplanation{Table: e.Table, User: e.User, Version: e.Version, Columns: []policyColumn{}, Unmatched: unmatchedReports(e.Unmatched)}
	for i := range e.Columns {
		x.Columns = append(x.Columns, newPolicyColumn(&e.Columns[i]))
	}
	x.Rows = newPolicyColumn(&e.Filter)
	if refused != nil {
		x.Refused = oneLine(refused)
	}
	return x, nil
}

func newPolicyColumn(c *ranger.ColumnExplanation) policyColumn {
	out := policyColumn{Name: c.Name, Mask: c.Mask, Policy: newPolicyRef(c.Why), Asked: []policyStep{}}
	for _, s := range c.Steps {
		out.Asked = append(out.Asked, policyStep{s.PolicyID, s.Policy, s.Tag, s.Outcome})
	}
	return out
}

// print shows the decisions and the policies asked, a line each.
func (x *policyExplanation) print(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "table %s for %s (policies %s)\n", x.Table, x.User, x.Version)
	line := func(name, plain string, c *policyColumn) {
		switch {
		case x.Refused != "":
			fmt.Fprintf(b, "  %s\n", name)
		case c.Policy == nil:
			fmt.Fprintf(b, "  %s: %s\n", name, plain)
		default:
			what := c.Mask
			if what == "" {
				what = plain + " on purpose"
			}
			fmt.Fprintf(b, "  %s: %s, by %s\n", name, what, c.Policy)
		}
		for _, s := range c.Asked {
			tag := ""
			if s.Tag != "" {
				tag = " by tag " + s.Tag
			}
			fmt.Fprintf(b, "    asked policy %d %q%s: %s\n", s.ID, s.Name, tag, s.Outcome)
		}
	}
	for i := range x.Columns {
		line("column "+showText(x.Columns[i].Name), "unmasked", &x.Columns[i])
	}
	line("rows", "all", &x.Rows)
	for _, u := range x.Unmatched {
		fmt.Fprintf(b, "  matches nothing: policy %d %q: %s\n", u.ID, u.Name, u.Detail)
	}
	if x.Refused != "" {
		fmt.Fprintf(b, "  refused: %s\n", x.Refused)
	}
	b.WriteByte('\n')
	return b.Flush()
}

// explainPolicy is explain with --policy. Where mask would refuse it says what
// the policies said up to there, and fails as mask would.
func explainPolicy(cmd *cobra.Command, q *question, reader tablefile.Reader, keys *mask.Keyring, chunks func(*plan, []columnExplanation) error, sample int, asJSON bool) error {
	ctx := cmd.Context()
	p, refused := q.plan(reader.Schema(), arrowudf.Options{Keys: keys})
	said, err := q.explain(reader.Schema(), refused)
	if err != nil {
		return err
	}
	x := explanation{Columns: []columnExplanation{}, Sample: []sampleCell{}, Policy: said}
	if p != nil {
		x.Columns = p.explain()
		if err := chunks(p, x.Columns); err != nil {
			return err
		}
	}
	if p != nil && sample > 0 && len(p.masked) > 0 {
		if x.Sample, err = await(ctx, func() ([]sampleCell, error) { return p.sampleKept(ctx, reader, sample) }); err != nil {
			return err
		}
	}
	if err := reader.Close(); err != nil {
		return err
	}
	if err := show(cmd, p, &x, asJSON); err != nil {
		return err
	}
	return refused
}

// sampleKept is sample where a filter may leave rows out: the first n rows that
// it keeps.
func (p *plan) sampleKept(ctx context.Context, r tablefile.Reader, n int) ([]sampleCell, error) {
	cells, left := []sampleCell{}, n
	row := int64(0)
	// keep shows the rows of a batch that are kept, halving it down to one row.
	var keep func(batch arrow.RecordBatch, first int64) error
	keep = func(batch arrow.RecordBatch, first int64) error {
		masked, err := p.apply(ctx, batch)
		if err != nil {
			return err
		}
		defer masked.Release()
		switch rows := batch.NumRows(); {
		case left == 0 || masked.NumRows() == 0:
		case masked.NumRows() == rows && rows <= int64(left):
			for i := range int(rows) {
				for _, c := range p.masked {
					cells = append(cells, sampleCell{first + int64(i) + 1, c.name, arrayCell(batch.Column(c.index), i), arrayCell(masked.Column(c.index), i)})
				}
			}
			left -= int(rows)
		default:
			for _, half := range [][2]int64{{0, rows / 2}, {rows / 2, rows}} {
				part := batch.NewSlice(half[0], half[1])
				err := keep(part, first+half[0])
				part.Release()
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	for left > 0 {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		err = keep(batch, row)
		row += batch.NumRows()
		batch.Release()
		if err != nil {
			return nil, err
		}
	}
	return cells, nil
}
