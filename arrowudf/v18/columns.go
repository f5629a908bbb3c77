package v18

import (
	"context"
	"errors"
	"fmt"
	"slices"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	array18 "github.com/apache/arrow-go/v18/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
)

// Sentinels of ColumnMasks, beside those of arrowudf and mask.
var (
	// ErrColumn: a mask names no column, or one that the schema has twice, or
	// one that has a mask already.
	ErrColumn = errors.New("cannot mask column")
	// ErrSchema: a batch does not have the schema that the masks were made for.
	ErrSchema = errors.New("schema mismatch")
)

// ColumnMask says which column gets which expression. {col} is the column, any
// other name in braces is the column of that name, letter case included:
// hash_row({col}, {email}). Whatever other masks do, an expression reads the
// values of the batch as it came.
type ColumnMask struct {
	Column string // exact name of a top-level column
	Expr   string
}

// ColumnMasks masks some columns of record batches of one schema. It is
// read-only and safe for any number of goroutines.
type ColumnMasks struct {
	in, out *arrow18.Schema
	funcs   []*ColumnsFunc // by column; nil: handed through
}

// NewColumnMasks compiles every expression for its column before any row is
// seen. Errors name the column; a column that is not there, or there twice, or
// named by two masks wraps ErrColumn. An expression that names a column that is
// not there, or there twice, wraps mask.ErrColumn and lists the columns.
func NewColumnMasks(schema *arrow18.Schema, masks []ColumnMask, opts arrowudf.Options) (*ColumnMasks, error) {
	m := &ColumnMasks{in: schema, funcs: make([]*ColumnsFunc, schema.NumFields())}
	before := schema.Fields()
	fields := slices.Clone(before)
	for _, cm := range masks {
		at := schema.FieldIndices(cm.Column)
		switch {
		case len(at) == 0:
			return nil, fmt.Errorf("%w: no column %q", ErrColumn, cm.Column)
		case len(at) > 1:
			return nil, fmt.Errorf("%w: %d columns are named %q", ErrColumn, len(at), cm.Column)
		case m.funcs[at[0]] != nil:
			return nil, fmt.Errorf("%w: %q has two masks", ErrColumn, cm.Column)
		}
		f, err := CompileColumns(cm.Expr, before, at[0], opts)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", cm.Column, err)
		}
		m.funcs[at[0]] = f
		field := before[at[0]]
		for _, i := range f.Reads() {
			field.Nullable = field.Nullable || before[i].Nullable
		}
		fields[at[0]] = maskedField(field, f)
	}
	if len(masks) == 0 {
		m.out = schema
		return m, nil
	}
	meta := safeMetadata(schema.Metadata())
	m.out = arrow18.NewSchemaWithEndian(fields, &meta, schema.Endianness())
	return m, nil
}

// Schema is the schema of every result: same columns in the same order, a
// masked one with the type of its result, nullable where the mask can answer
// NULL. Metadata is kept but for entries that may quote values or describe what
// is no longer so: Arrow's, pandas', Parquet's and Spark's own, and whatever is
// named after statistics, extremes, dictionaries or samples. Metadata of
// columns without a mask is kept whole.
func (m *ColumnMasks) Schema() *arrow18.Schema { return m.out }

// Func is the compiled mask of column i, nil when it is handed through.
func (m *ColumnMasks) Func(i int) *ColumnsFunc { return m.funcs[i] }

// Mask is a new batch with the masked columns replaced. Columns without a mask
// are the same arrays. The result is the caller's to release, as is batch.
func (m *ColumnMasks) Mask(ctx context.Context, batch arrow18.RecordBatch) (arrow18.RecordBatch, error) {
	if err := m.check(batch); err != nil {
		return nil, err
	}
	cols := slices.Clone(batch.Columns())
	defer func() {
		for i, f := range m.funcs {
			if f != nil && cols[i] != batch.Column(i) {
				cols[i].Release()
			}
		}
	}()
	for i, f := range m.funcs {
		if f == nil {
			continue
		}
		out, err := f.callBatch(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", m.in.Field(i).Name, err)
		}
		cols[i] = out
	}
	var meta arrow18.Metadata
	if b, ok := batch.(arrow18.RecordBatchWithMetadata); ok {
		meta = b.Metadata()
		if m.out != m.in {
			meta = safeMetadata(meta)
		}
	}
	return array18.NewRecordBatchWithMetadata(m.out, cols, batch.NumRows(), meta), nil
}

func (m *ColumnMasks) check(batch arrow18.RecordBatch) error {
	if int(batch.NumCols()) != m.in.NumFields() {
		return fmt.Errorf("%w: batch of %d columns, masks for %d", ErrSchema, batch.NumCols(), m.in.NumFields())
	}
	for i := range m.funcs {
		want := m.in.Field(i)
		if name := batch.ColumnName(i); name != want.Name {
			return fmt.Errorf("%w: column %d is %q, masks are for %q", ErrSchema, i, name, want.Name)
		}
		if dt := batch.Column(i).DataType(); !arrow18.TypeEqual(dt, want.Type) {
			return fmt.Errorf("%w: column %q is of %s, masks are for %s", ErrSchema, want.Name, dt, want.Type)
		}
	}
	return nil
}

func maskedField(in arrow18.Field, f interface {
	OutType() arrow18.DataType
	Nullable() bool
}) arrow18.Field {
	return arrow18.Field{
		Name:     in.Name,
		Type:     f.OutType(),
		Nullable: in.Nullable || f.Nullable(),
		Metadata: safeMetadata(in.Metadata),
	}
}

// safeMetadata leaves out what may quote a value of a masked column, or what
// describes the column before it was masked.
func safeMetadata(md arrow18.Metadata) arrow18.Metadata {
	return arrow18.NewMetadata(arrowudf.SafeMetadata(md.Keys(), md.Values()))
}
