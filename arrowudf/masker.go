package arrowudf

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/internal/rowtake"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// Masker carries out a plan on the batches of one table: the row filter first,
// on raw values; then the masks, on raw values of the rows that are left. It is
// read-only and safe for any number of goroutines.
type Masker struct {
	plan   *policy.Plan
	opts   Options
	in     *arrow.Schema
	out    *arrow.Schema
	masked []maskedColumn
	filter *RowFilter
	shapes []*rowtake.Shape // of every column, for a filter; of a nested one, for NULLs
	seen   atomic.Pointer[arrow.Schema]
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
	data []arrow.ArrayData
}

// NewMasker binds a plan to a schema: every mask and the filter are compiled,
// and whatever cannot be carried out is an error before the first row, with the
// policy and the column. The plan must have been made for the columns of this
// schema, see Columns; the error wraps policy.ErrSchema otherwise.
//
// A mask keeps the type of its column (an extension type becomes its storage, a
// dictionary loses its order, a widened integer is cast back); one that would
// change it is refused. One that names other columns of the table reads them as
// they came, and comes out without a dictionary or runs. A nested column can be
// masked as a whole by NULL only, and so can a nested field; fields of structs,
// also within lists, can have any mask that reads nothing else. Everything else,
// the fields of maps and unions among it, is refused: those errors wrap
// policy.ErrClosed and mask.ErrType.
//
// The masks' own dialects count, not that of opts.
func NewMasker(plan *policy.Plan, schema *arrow.Schema, opts Options) (m *Masker, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, recovered("masker", p)
		}
	}()
	if plan == nil || schema == nil {
		return nil, fmt.Errorf("%w: no plan or no schema", policy.ErrSchema)
	}
	if opts.Mem == nil {
		opts.Mem = memory.DefaultAllocator
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
		typeOf := func(i int) (arrow.DataType, error) { return schema.Field(i).Type, nil }
		if m.filter, err = NewRowFilter(plan.Filter, table, typeOf); err != nil {
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
	m.out = arrow.NewSchemaWithEndian(fields, &meta, schema.Endianness())
	return m, nil
}

// bind compiles the mask of a column and adapts its field.
func (m *Masker) bind(c *policy.ColumnMask, field *arrow.Field) error {
	field.Metadata = safeMetadata(field.Metadata)
	var err error
	if MaskType(field.Type).Kind == mask.Nested {
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
func (m *Masker) compile(c *policy.Mask, field *arrow.Field) (*Func, error) {
	if MaskType(field.Type).Kind == mask.Nested {
		if !AllNull(c) {
			return nil, fmt.Errorf("%w: %w: %s can be masked by NULL only", policy.ErrClosed, mask.ErrType, field.Type)
		}
		field.Nullable = true
		return nil, nil
	}
	in := field.Type
	return keepType(c, field, m.opts, func(expr string, o Options) (*Func, error) { return Compile(expr, in, o) })
}

// compileRows is compile for a mask that reads other columns of the batch, whose
// NULLs may make the result NULL.
func (m *Masker) compileRows(c *policy.ColumnMask, field *arrow.Field) (*ColumnsFunc, error) {
	fields := m.in.Fields()
	fn, err := keepType(c.Mask, field, m.opts, func(expr string, o Options) (*ColumnsFunc, error) {
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
	OutType() arrow.DataType
	Nullable() bool
}](c *policy.Mask, field *arrow.Field, o Options, compile func(expr string, o Options) (F, error)) (fn F, err error) {
	o.Dialect = c.Dialect
	if fn, err = compile(c.Expr, o); err != nil {
		return fn, err
	}
	in, out := MaskType(field.Type), MaskType(fn.OutType())
	if expr, ok := CastBack(c.Expr, in, out); ok {
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

// AllNull reports whether a mask answers NULL for every row and says so in so
// many words: mask_null({col}), or NULL.
func AllNull(m *policy.Mask) bool {
	e, err := mask.Parse(m.Expr)
	if err != nil {
		return false
	}
	s := strings.ToLower(e.String())
	return s == "null" || s == "mask_null({col})"
}

var castNames = map[mask.Kind]string{mask.Int8: "tinyint", mask.Int16: "smallint", mask.Int32: "int", mask.Int64: "bigint"}

// CastBack is the expression with a cast to the type of its column around it,
// where it widens an integer as Impala's functions do. Impala puts the same
// cast around every mask.
func CastBack(expr string, in, out mask.Type) (string, bool) {
	if in == out || castNames[in.Kind] == "" || castNames[out.Kind] == "" {
		return "", false
	}
	return "cast(" + expr + " AS " + castNames[in.Kind] + ")", true
}

func safeMetadata(md arrow.Metadata) arrow.Metadata {
	return arrow.NewMetadata(SafeMetadata(md.Keys(), md.Values()))
}

// Plan is the plan that is carried out.
func (m *Masker) Plan() *policy.Plan { return m.plan }

// Schema is the schema of every result: the same columns in the same order, a
// masked one nullable where the mask can answer NULL. Metadata is kept but for
// entries that may quote values of a masked column, or of any where a filter
// leaves rows out.
func (m *Masker) Schema() *arrow.Schema { return m.out }

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

// Mask is a batch as the plan lets it be seen. Without a filter it has the same
// rows, and columns without a mask are the same arrays; where the plan is empty
// it is the very batch, retained. With a filter it has the rows for which the
// filter is TRUE, maybe none, and shares no memory with batch: nothing of the
// rows left out is within its reach. The result is the caller's to release, as
// is batch.
//
// A batch of other columns than the masker was made for is refused with an
// error that wraps policy.ErrSchema. Other errors name the policy and column.
func (m *Masker) Mask(ctx context.Context, batch arrow.Record) (arrow.Record, error) {
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
func (m *Masker) check(s *arrow.Schema) error {
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

func (m *Masker) apply(ctx context.Context, batch arrow.Record) (out arrow.Record, err error) {
	rows := int(batch.NumRows())
	cols := make([]arrow.Array, batch.NumCols())
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, recovered("masker", p)
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
	out, cols = newBatch(m.out, cols, int64(rows)), nil
	return out, nil
}

// choose evaluates the filter into the scratch's runs.
func (m *Masker) choose(ctx context.Context, batch arrow.Record, s *maskScratch) (kept int, err error) {
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
		s.data = append(s.data, array.NewSliceData(batch.Column(i).Data(), 0, int64(n)))
	}
	if kept, err = m.filter.Keep(ctx, n, s.data, s.keep); err != nil {
		return 0, err
	}
	s.runs = rowtake.Runs(s.runs[:0], s.keep, n)
	return kept, nil
}

// mask is a column with its mask applied to the rows of s, or to all rows where
// no filter chose some.
func (m *Masker) mask(ctx context.Context, all []arrow.Array, c *maskedColumn, rows int, s *maskScratch) (arrow.Array, error) {
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
func (m *Masker) maskRows(ctx context.Context, all []arrow.Array, c *maskedColumn, rows int, s *maskScratch) (arrow.Array, error) {
	in := make([]arrow.Array, len(all))
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
func (m *Masker) raw(all []arrow.Array, i, rows int, s *maskScratch) (arrow.Array, error) {
	if s != nil {
		return takeRows(all[i], m.shapes[i], s.runs, m.opts.Mem)
	}
	// A batch may hold columns longer than itself.
	return array.NewSlice(all[i], 0, int64(rows)), nil
}
