package v18

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"
	arrow17 "github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/internal/rowtake"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// Masker is arrowudf.Masker over v18 record batches.
type Masker struct {
	plan   *policy.Plan
	opts   arrowudf.Options
	in     *arrow18.Schema
	out    *arrow18.Schema
	masked []maskedColumn
	filter *arrowudf.RowFilter
	shapes []*rowtake.Shape // of every column, for a filter; of a nested one, for NULLs
	seen   atomic.Pointer[arrow18.Schema]
	pool   sync.Pool // of *maskScratch
}

// maskedColumn is a column with a mask: a function; one that reads other columns
// too; masks of fields within; or none, which is NULL in every row.
type maskedColumn struct {
	index  int
	fn     *Func
	rows   *ColumnsFunc
	fields []fieldMask
	why    *policy.Reason
}

// maskScratch is what a batch with a filter needs for a while.
type maskScratch struct {
	keep []byte
	runs []rowtake.Run
	data []arrow17.ArrayData
}

// NewMasker binds a plan to a schema; see arrowudf.NewMasker.
func NewMasker(plan *policy.Plan, schema *arrow18.Schema, opts arrowudf.Options) (m *Masker, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, recovered(p)
		}
	}()
	if plan == nil || schema == nil {
		return nil, fmt.Errorf("%w: no plan or no schema", policy.ErrSchema)
	}
	if opts.Mem == nil {
		opts.Mem = memory18.DefaultAllocator
	}
	m = &Masker{plan: plan, opts: opts, in: schema, out: schema}
	m.pool.New = func() any { return &maskScratch{} }
	table, err := policy.NewTable(policy.SplitName(plan.Table), "", Columns(schema))
	if err != nil {
		return nil, err
	}
	if err := plan.Check(table); err != nil {
		return nil, err
	}
	if plan.Empty() {
		return m, nil
	}
	m.shapes = make([]*rowtake.Shape, schema.NumFields())
	fields := schema.Fields()
	for i := range plan.Masks {
		c := &plan.Masks[i]
		if err := m.bind(c, &fields[c.Index]); err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", c.Why, c.Name, err)
		}
	}
	if plan.Filter != nil {
		typeOf := func(i int) (arrow17.DataType, error) { return filterType(schema.Field(i).Type) }
		if m.filter, err = arrowudf.NewRowFilter(plan.Filter, table, typeOf); err != nil {
			return nil, fmt.Errorf("%s: %w", plan.FilterWhy, err)
		}
		// Statistics of a column tell of the rows that are left out.
		for i := range fields {
			fields[i].Metadata = safeMetadata(fields[i].Metadata)
			if m.shapes[i], err = shapeOf(schema.Field(i).Type); err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", plan.FilterWhy, fields[i].Name, err)
			}
		}
	}
	meta := safeMetadata(schema.Metadata())
	m.out = arrow18.NewSchemaWithEndian(fields, &meta, schema.Endianness())
	return m, nil
}

// bind compiles the mask of a column and adapts its field.
func (m *Masker) bind(c *policy.ColumnMask, field *arrow18.Field) error {
	field.Metadata = safeMetadata(field.Metadata)
	var err error
	if maskType(field.Type).Kind == mask.Nested {
		if m.shapes[c.Index], err = shapeOf(field.Type); err != nil {
			return err
		}
	}
	if len(c.Path) > 0 {
		return m.bindField(c, field)
	}
	column := maskedColumn{index: c.Index, why: c.Why}
	if len(c.Mask.Others()) > 0 {
		column.rows, err = m.compileRows(c, field)
	} else {
		column.fn, err = m.compile(c.Mask, field)
	}
	if err != nil {
		return err
	}
	m.masked = append(m.masked, column)
	return nil
}

// compile compiles a mask for a field and adapts the field to what comes out.
// The function is nil for a nested field, which becomes NULL.
func (m *Masker) compile(c *policy.Mask, field *arrow18.Field) (*Func, error) {
	if maskType(field.Type).Kind == mask.Nested {
		if !arrowudf.AllNull(c) {
			return nil, fmt.Errorf("%w: %w: %s can be masked by NULL only", policy.ErrClosed, mask.ErrType, field.Type)
		}
		field.Nullable = true
		return nil, nil
	}
	in := field.Type
	return keepType(c, field, m.opts, func(expr string, o arrowudf.Options) (*Func, error) { return Compile(expr, in, o) })
}

// compileRows is compile for a mask that reads other columns of the batch, whose
// NULLs may make the result NULL.
func (m *Masker) compileRows(c *policy.ColumnMask, field *arrow18.Field) (*ColumnsFunc, error) {
	fields := m.in.Fields()
	fn, err := keepType(c.Mask, field, m.opts, func(expr string, o arrowudf.Options) (*ColumnsFunc, error) {
		return CompileColumns(expr, fields, c.Index, o)
	})
	if err != nil {
		return nil, err
	}
	for _, i := range fn.Reads() {
		field.Nullable = field.Nullable || fields[i].Nullable
	}
	return fn, nil
}

// keepType compiles a mask that keeps the type of its field, with a cast back
// where integers are widened, and adapts the field to what comes out.
func keepType[F interface {
	OutType() arrow18.DataType
	Nullable() bool
}](c *policy.Mask, field *arrow18.Field, o arrowudf.Options, compile func(expr string, o arrowudf.Options) (F, error)) (fn F, err error) {
	o.Dialect = c.Dialect
	if fn, err = compile(c.Expr, o); err != nil {
		return fn, err
	}
	in, out := maskType(field.Type), maskType(fn.OutType())
	if expr, ok := arrowudf.CastBack(c.Expr, in, out); ok {
		if fn, err = compile(expr, o); err != nil {
			return fn, err
		}
		out = in
	}
	if in != out {
		return fn, fmt.Errorf("%w: %w: the mask %s turns %s into %s", policy.ErrClosed, mask.ErrType, c.Expr, in, out)
	}
	field.Type, field.Nullable = fn.OutType(), field.Nullable || fn.Nullable()
	return fn, nil
}

// Plan is the plan that is carried out.
func (m *Masker) Plan() *policy.Plan { return m.plan }

// Schema is the schema of every result; see arrowudf.Masker.Schema.
func (m *Masker) Schema() *arrow18.Schema { return m.out }

// Func is the compiled form of mask i of the plan; nil for NULL of a nested
// column or field, and where ColumnsFunc is not.
func (m *Masker) Func(i int) *Func {
	fn, _ := m.function(i)
	return fn
}

// ColumnsFunc is the compiled form of mask i of the plan where that reads other
// columns of the table; nil of others.
func (m *Masker) ColumnsFunc(i int) *ColumnsFunc {
	_, rows := m.function(i)
	return rows
}

func (m *Masker) function(i int) (*Func, *ColumnsFunc) {
	for _, c := range m.masked {
		if i == 0 && c.fields == nil {
			return c.fn, c.rows
		}
		if i < len(c.fields) {
			return c.fields[i].fn, nil
		}
		i -= max(1, len(c.fields))
	}
	return nil, nil
}

// Mask is a batch as the plan lets it be seen; see arrowudf.Masker.Mask. The
// batch's own metadata is kept as that of the schema is.
func (m *Masker) Mask(ctx context.Context, batch arrow18.RecordBatch) (arrow18.RecordBatch, error) {
	if s := batch.Schema(); s != m.in && s != m.seen.Load() {
		if err := m.check(s); err != nil {
			return nil, err
		}
		m.seen.Store(s)
	}
	if len(m.masked) == 0 && m.filter == nil {
		batch.Retain()
		return batch, nil
	}
	return m.apply(ctx, batch)
}

// check compares columns by name and type. Metadata may differ.
func (m *Masker) check(s *arrow18.Schema) error {
	if s.NumFields() != m.in.NumFields() {
		return fmt.Errorf("%w: batch of %d columns, masks for %d", policy.ErrSchema, s.NumFields(), m.in.NumFields())
	}
	for i := range s.NumFields() {
		got, want := s.Field(i), m.in.Field(i)
		if got.Name != want.Name {
			return fmt.Errorf("%w: column %d is %q, masks are for %q", policy.ErrSchema, i, got.Name, want.Name)
		}
		if !sameType(got.Type, want.Type) {
			return fmt.Errorf("%w: column %q is of %s, masks are for %s", policy.ErrSchema, want.Name, got.Type, want.Type)
		}
	}
	return nil
}

func (m *Masker) apply(ctx context.Context, batch arrow18.RecordBatch) (out arrow18.RecordBatch, err error) {
	rows := int(batch.NumRows())
	cols := make([]arrow18.Array, batch.NumCols())
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, recovered(p)
		}
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	var s *maskScratch
	if m.filter != nil {
		s = m.pool.Get().(*maskScratch)
		defer m.pool.Put(s)
		if rows, err = m.choose(ctx, batch, s); err != nil {
			return nil, fmt.Errorf("%s: %w", m.plan.FilterWhy, err)
		}
	}
	next, all := 0, batch.Columns()
	for i := range cols {
		switch {
		case next < len(m.masked) && m.masked[next].index == i:
			next++
		case s == nil:
			cols[i] = all[i]
			cols[i].Retain()
		default:
			if cols[i], err = takeRows(all[i], m.shapes[i], s.runs, m.opts.Mem); err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", m.plan.FilterWhy, m.in.Field(i).Name, err)
			}
		}
	}
	for k := range m.masked {
		c := &m.masked[k]
		if cols[c.index], err = m.mask(ctx, all, c, rows, s); err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", c.why, m.in.Field(c.index).Name, err)
		}
	}
	var meta arrow18.Metadata
	if b, ok := batch.(arrow18.RecordBatchWithMetadata); ok {
		meta = safeMetadata(b.Metadata())
	}
	out, cols = newBatch(m.out, cols, int64(rows), meta), nil
	return out, nil
}

// choose evaluates the filter into the scratch's runs.
func (m *Masker) choose(ctx context.Context, batch arrow18.RecordBatch, s *maskScratch) (kept int, err error) {
	n := int(batch.NumRows())
	if need := (n + 7) / 8; cap(s.keep) < need {
		s.keep = make([]byte, need)
	} else {
		s.keep = s.keep[:need]
	}
	s.data = s.data[:0]
	defer func() {
		for _, d := range s.data {
			d.Release()
		}
		clear(s.data)
	}()
	for _, i := range m.filter.Columns() {
		in17, err := filterType(m.in.Field(i).Type)
		if err != nil {
			return 0, err
		}
		cut := array18.NewSliceData(batch.Column(i).Data(), 0, int64(n))
		s.data = append(s.data, dataToV17(cut, in17, true))
		cut.Release()
	}
	if kept, err = m.filter.Keep(ctx, n, s.data, s.keep); err != nil {
		return 0, err
	}
	s.runs = rowtake.Runs(s.runs[:0], s.keep, n)
	return kept, nil
}

// mask is a column with its mask applied to the rows of s, or to all rows where
// no filter chose some.
func (m *Masker) mask(ctx context.Context, all []arrow18.Array, c *maskedColumn, rows int, s *maskScratch) (arrow18.Array, error) {
	col := all[c.index]
	switch {
	case c.rows != nil:
		return m.maskRows(ctx, all, c, rows, s)
	case c.fields != nil:
		runs := []rowtake.Run{{Lo: 0, Hi: rows}}
		if s != nil {
			runs = s.runs
		}
		return m.maskFields(ctx, col, c, runs)
	case c.fn == nil:
		return nullRows(m.in.Field(c.index).Type, m.shapes[c.index], rows, m.opts.Mem)
	case s == nil && col.Len() == rows:
		return c.fn.Call(ctx, col)
	}
	raw, err := m.raw(all, c.index, rows, s)
	if err != nil {
		return nil, err
	}
	defer raw.Release()
	return c.fn.Call(ctx, raw)
}

// maskRows masks a column by several, each as it came.
func (m *Masker) maskRows(ctx context.Context, all []arrow18.Array, c *maskedColumn, rows int, s *maskScratch) (arrow18.Array, error) {
	in := make([]arrow18.Array, len(all))
	for _, i := range c.rows.Reads() {
		var err error
		if in[i], err = m.raw(all, i, rows, s); err != nil {
			return nil, err
		}
		defer in[i].Release()
	}
	return c.rows.Call(ctx, in)
}

// raw is the rows of s of column i, as it came: all rows of the batch where no
// filter chose some. The caller releases it.
func (m *Masker) raw(all []arrow18.Array, i, rows int, s *maskScratch) (arrow18.Array, error) {
	if s != nil {
		return takeRows(all[i], m.shapes[i], s.runs, m.opts.Mem)
	}
	// A batch may hold columns longer than itself.
	return array18.NewSlice(all[i], 0, int64(rows)), nil
}

// recovered turns a panic into an error. What it says might quote a cell.
func recovered(p any) error {
	if e, ok := p.(runtime.Error); ok {
		return fmt.Errorf("%w: masker: %s", mask.ErrInternal, e.Error())
	}
	return fmt.Errorf("%w: masker: unexpected panic", mask.ErrInternal)
}
