package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arrowmask/arrowmask/tablefile"
)

// The values of --rewrite.
const (
	rewriteAuto = "auto" // from Parquet to Parquet, copy the chunks of columns that are not masked
	rewriteAll  = "all"  // decode and encode every column
)

func checkRewrite(mode string) error {
	if mode != rewriteAuto && mode != rewriteAll {
		return usagef("--rewrite %q: want auto or all", mode)
	}
	return nil
}

// copiesChunks reports whether the run copies the column chunks that are not
// masked, and if not, why.
func (m *masking) copiesChunks() (bool, string) {
	switch {
	case m.read.Format != tablefile.Parquet || m.write.Format != tablefile.Parquet:
		return false, "the format changes"
	case m.rewrite == rewriteAll:
		return false, "--rewrite all"
	case m.asked != nil && m.in == "-":
		return false, "a row filter may need all rows, and standard input can be read once"
	case m.compression != "":
		return false, "--compression asks for a codec for every column"
	}
	return true, ""
}

// runRewrite is run for Parquet to Parquet, where only masked columns are
// decoded.
func (m *masking) runRewrite(ctx context.Context, out, errOut io.Writer) error {
	start := time.Now()
	r, err := await(ctx, func() (*tablefile.Rewriter, error) { return tablefile.OpenRewriter(ctx, m.in, m.read) })
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := m.planRewrite(r)
	if err != nil {
		return err
	}
	if !p.byChunks() {
		if err := r.Close(); err != nil {
			return err
		}
		return m.runBatches(ctx, out, errOut)
	}
	if !m.quiet {
		p.warn(errOut)
	}
	bar, err := newProgress(m.progress, errOut, r.NumRows())
	if err != nil {
		return err
	}
	w, err := r.Rewrite(ctx, m.output, p.replacements(), tablefile.RewriteOptions{
		Overwrite: m.overwrite, Inputs: m.write.Inputs,
		Progress: func(rows int64) { bar.add(rows) },
	})
	bar.finish(err == nil)
	if err != nil {
		return err
	}
	defer w.Abort() // nothing after Commit
	m.rows = r.NumRows()
	for _, c := range p.masked {
		c.nullsIn.Store(w.NullsIn[c.index])
		c.nullsOut.Store(w.NullsOut[c.index])
	}
	p.rowsRead.Store(m.rows)
	took := time.Since(start)
	// What is not on record is not handed out.
	if err := m.log.write(m.auditRecord(nil)); err != nil {
		return err
	}
	if err := m.publish(w, m.newReport(p, took), out); err != nil {
		return err
	}
	m.summarize(errOut, p, took)
	return nil
}

// planRewrite is newPlan for a file of which only the masked columns have to be
// readable.
func (m *masking) planRewrite(r *tablefile.Rewriter) (*plan, error) {
	for _, s := range m.sets {
		for _, name := range append(s.others(), s.column) {
			for _, i := range r.Schema().FieldIndices(name) {
				if err := r.Unreadable(i); err != nil {
					return nil, fmt.Errorf("%s: %w", m.in, err)
				}
			}
		}
	}
	p, err := m.newPlan(r.Schema())
	if err != nil || m.asked == nil {
		return p, err
	}
	for _, c := range p.masked {
		columns := []int{c.index}
		if c.rows != nil {
			columns = append(columns, c.rows.Reads()...)
		}
		for _, i := range columns {
			if err := r.Unreadable(i); err != nil {
				return nil, fmt.Errorf("%s: %w", m.in, err)
			}
		}
	}
	return p, nil
}

// byChunks reports whether the plan changes nothing but the values of whole
// columns, so that every other column may be copied. A row filter does more.
func (p *plan) byChunks() bool {
	return p.policies == nil || p.policies.decided.Filter == nil &&
		!slices.ContainsFunc(p.masked, func(c *maskedColumn) bool { return c.fn == nil && c.rows == nil || c.name != c.in.Name })
}

// replacements are the masked columns as tablefile wants them. A mask that reads
// its own column alone is a function of one value.
func (p *plan) replacements() []tablefile.Replacement {
	reps := make([]tablefile.Replacement, len(p.masked))
	for i, c := range p.masked {
		reps[i] = tablefile.Replacement{Column: c.index, Field: c.out, PerValue: c.fn != nil, Apply: c.apply}
		if c.fn == nil {
			reps[i].Reads = c.rows.Reads()
			reps[i].Apply = func(ctx context.Context, old []arrow.Array) (arrow.Array, error) {
				return c.applyRows(ctx, p.in.NumFields(), old)
			}
		}
	}
	return reps
}

func (c *maskedColumn) apply(ctx context.Context, old []arrow.Array) (arrow.Array, error) {
	return c.named(c.fn.Call(ctx, old[0]))
}

// applyRows is apply for an expression that reads other columns of a table; old
// are those that it reads.
func (c *maskedColumn) applyRows(ctx context.Context, columns int, old []arrow.Array) (arrow.Array, error) {
	all := make([]arrow.Array, columns)
	for i, at := range c.rows.Reads() {
		all[at] = old[i]
	}
	return c.named(c.rows.Call(ctx, all))
}

func (c *maskedColumn) named(made arrow.Array, err error) (arrow.Array, error) {
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", c.name, err)
	}
	return made, nil
}
