package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/v18"
	"github.com/arrowmask/arrowmask/mask"
)

// plan is what becomes of every column of a table, decided before the first
// row is read.
type plan struct {
	in       *arrow.Schema
	masks    masker
	masked   []*maskedColumn // in the order of the table
	policies *policyPlan     // nil: by --set
	rowsRead atomic.Int64
}

// masker is what carries a plan out: v18.ColumnMasks or v18.Masker.
type masker interface {
	Schema() *arrow.Schema
	Mask(context.Context, arrow.RecordBatch) (arrow.RecordBatch, error)
}

// maskedColumn is a column that a --set or a policy masks.
type maskedColumn struct {
	index    int
	name     string
	source   string // the expression as written
	in, out  arrow.Field
	fn       *v18.Func        // nil: by rows, or a nested column masked by NULL
	rows     *v18.ColumnsFunc // of an expression that reads other columns; else nil
	policy   *policyRef
	notes    []string
	nullsIn  atomic.Int64
	nullsOut atomic.Int64
}

// newPlan binds the sets to the columns of a table. A set that names no column
// is an error: what it should have protected would come out clear.
func newPlan(schema *arrow.Schema, sets []set, opts arrowudf.Options) (*plan, error) {
	p := &plan{in: schema}
	var masks []v18.ColumnMask
	for _, s := range sets {
		index, err := findColumn(schema, s.column)
		if err != nil {
			return nil, err
		}
		masks = append(masks, v18.ColumnMask{Column: s.column, Expr: s.source})
		p.masked = append(p.masked, &maskedColumn{index: index, name: s.column, source: s.source, in: schema.Field(index)})
	}
	slices.SortFunc(p.masked, func(a, b *maskedColumn) int { return a.index - b.index })
	m, err := v18.NewColumnMasks(schema, masks, opts)
	if err != nil {
		return nil, err
	}
	p.masks = m
	for _, c := range p.masked {
		f := m.Func(c.index)
		if c.out, c.notes = m.Schema().Field(c.index), f.Notes(); slices.Equal(f.Reads(), []int{c.index}) {
			c.fn = f.One()
		} else {
			c.rows = f
		}
		if twin := caseTwin(schema, c.index); twin != "" {
			c.notes = append(c.notes, fmt.Sprintf("column %q differs from it in letter case only; this --set does not mask that one", twin))
		}
	}
	return p, nil
}

// uses lists the digests of a column's expression.
func (c *maskedColumn) uses() []mask.Use {
	switch {
	case c.fn != nil:
		return c.fn.Uses()
	case c.rows != nil:
		return c.rows.Uses()
	}
	return nil
}

// findColumn finds the one column of that name, letter case included.
func findColumn(schema *arrow.Schema, name string) (int, error) {
	switch at := schema.FieldIndices(name); len(at) {
	case 1:
		return at[0], nil
	case 0:
		return 0, fmt.Errorf("--set names column %q, which is not there; the columns are %s", name, columnList(schema))
	default:
		return 0, fmt.Errorf("--set names column %q, which is there %d times: which one is meant cannot be said", name, len(at))
	}
}

// maxListed bounds how many column names an error lists.
const maxListed = 50

func columnList(schema *arrow.Schema) string {
	var names []string
	for i, f := range schema.Fields() {
		if i == maxListed {
			names = append(names, fmt.Sprintf("and %d more", schema.NumFields()-i))
			break
		}
		names = append(names, showText(f.Name))
	}
	return strings.Join(names, ", ")
}

// caseTwin is another column with the same name but for letter case.
func caseTwin(schema *arrow.Schema, index int) string {
	name := schema.Field(index).Name
	for _, f := range schema.Fields() {
		if f.Name != name && strings.EqualFold(f.Name, name) {
			return f.Name
		}
	}
	return ""
}

// unmasked lists the columns that pass through.
func (p *plan) unmasked() []string {
	names := []string{}
	for i, f := range p.in.Fields() {
		if !slices.ContainsFunc(p.masked, func(c *maskedColumn) bool { return c.index == i }) {
			names = append(names, f.Name)
		}
	}
	return names
}

// apply masks one batch and counts its NULLs. It is safe for any number of
// goroutines.
func (p *plan) apply(ctx context.Context, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	out, err := p.masks.Mask(ctx, batch)
	if err != nil {
		return nil, err
	}
	p.rowsRead.Add(batch.NumRows())
	for _, c := range p.masked {
		c.nullsIn.Add(int64(nulls(batch.Column(c.index))))
		c.nullsOut.Add(int64(nulls(out.Column(c.index))))
	}
	return out, nil
}

// nulls counts the rows that are NULL, also where the layout keeps that in a
// dictionary or in runs.
func nulls(a arrow.Array) int {
	switch a := a.(type) {
	case *array.Dictionary:
		if a.Dictionary().NullN() == 0 {
			return a.NullN()
		}
	case *array.RunEndEncoded:
		if a.Values().NullN() == 0 {
			return 0
		}
	case *array.Null:
		return a.Len()
	case array.ExtensionArray:
		return nulls(a.Storage())
	default:
		return a.NullN()
	}
	n := 0
	for i := range a.Len() {
		if isNull(a, i) {
			n++
		}
	}
	return n
}

// isNull reports whether row i is NULL in any layout.
func isNull(a arrow.Array, i int) bool {
	switch a := a.(type) {
	case *array.Dictionary:
		return a.IsNull(i) || isNull(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return isNull(a.Values(), a.GetPhysicalIndex(i))
	case *array.Null:
		return true
	case array.ExtensionArray:
		return isNull(a.Storage(), i)
	}
	return a.IsNull(i)
}
