package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/arrowmask/arrowmask/tablefile"
)

// explainRewrite explains what mask would do from Parquet to Parquet. Rows are
// read of masked columns only.
func (m *masking) explainRewrite(ctx context.Context, sample int) (*plan, *explanation, error) {
	r, err := await(ctx, func() (*tablefile.Rewriter, error) { return tablefile.OpenRewriter(ctx, m.in, m.read) })
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	p, err := m.planRewrite(r)
	if err != nil {
		return nil, nil, err
	}
	x := &explanation{Columns: p.explain(), Sample: []sampleCell{}}
	if err := p.explainChunks(ctx, r, x.Columns); err != nil {
		return nil, nil, err
	}
	for i := range x.Columns {
		if err := r.Unreadable(i); err != nil {
			x.Columns[i].Type, x.Columns[i].OutputType = "unknown", "unknown"
			x.Columns[i].Warnings = append(x.Columns[i].Warnings, "cannot be decoded, only copied: "+err.Error())
		}
	}
	if sample > 0 && len(p.masked) > 0 {
		x.Sample, err = m.sampleRewrite(ctx, r, p, sample)
	}
	return p, x, err
}

// explainChunks says how the column chunks of every column get into the new
// file.
func (p *plan) explainChunks(ctx context.Context, r *tablefile.Rewriter, columns []columnExplanation) error {
	if !p.byChunks() {
		for i := range columns {
			columns[i].Chunks = "encoded (rows are filtered, or fields within a column are masked)"
		}
		return nil
	}
	ways, err := r.Ways(ctx, p.replacements())
	for i, w := range ways {
		columns[i].Chunks = chunkText(w)
	}
	return err
}

// explainChunksOf is explainChunks for the file at path.
func (p *plan) explainChunksOf(ctx context.Context, path string, opts tablefile.ReadOptions, columns []columnExplanation) error {
	r, err := await(ctx, func() (*tablefile.Rewriter, error) { return tablefile.OpenRewriter(ctx, path, opts) })
	if err != nil {
		return err
	}
	defer r.Close()
	return p.explainChunks(ctx, r, columns)
}

// sampleRewrite samples a table of the columns alone that are masked or read.
func (m *masking) sampleRewrite(ctx context.Context, r *tablefile.Rewriter, p *plan, n int) ([]sampleCell, error) {
	var columns []int
	for _, c := range p.masked {
		if columns = append(columns, c.index); c.rows != nil {
			columns = append(columns, c.rows.Reads()...)
		}
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	reader, err := r.Columns(ctx, columns...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	alone, err := newPlan(reader.Schema(), m.sets, m.options())
	if err != nil {
		return nil, err
	}
	return alone.sample(ctx, reader, n)
}

// chunkText says how the column chunks of a column get into the new file.
func chunkText(w tablefile.ColumnWays) string {
	text := ""
	for way, n := range w.Chunks {
		if n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", n, tablefile.Way(way))
	}
	if w.Why != "" {
		text += " (" + w.Why + ")"
	}
	if text == "" {
		return "none"
	}
	return text
}
