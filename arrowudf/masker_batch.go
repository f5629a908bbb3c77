package arrowudf

import (
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// maskedBatch is a record batch whose columns the masker has checked against
// the schema once and for all. Arrow's own constructor compares every type of
// every batch again, with an allocation for each.
type maskedBatch struct {
	schema *arrow.Schema
	cols   []arrow.Array
	rows   int64
	refs   atomic.Int64
}

// newBatch takes over the caller's references to the columns.
func newBatch(schema *arrow.Schema, cols []arrow.Array, rows int64) *maskedBatch {
	b := &maskedBatch{schema: schema, cols: cols, rows: rows}
	b.refs.Store(1)
	return b
}

func (b *maskedBatch) Retain() { b.refs.Add(1) }

func (b *maskedBatch) Release() {
	if b.refs.Add(-1) == 0 {
		for _, c := range b.cols {
			c.Release()
		}
		b.cols = nil
	}
}

func (b *maskedBatch) Schema() *arrow.Schema    { return b.schema }
func (b *maskedBatch) NumRows() int64           { return b.rows }
func (b *maskedBatch) NumCols() int64           { return int64(len(b.cols)) }
func (b *maskedBatch) Columns() []arrow.Array   { return b.cols }
func (b *maskedBatch) Column(i int) arrow.Array { return b.cols[i] }
func (b *maskedBatch) ColumnName(i int) string  { return b.schema.Field(i).Name }

// plain is the same batch of arrow's own make, for what is rarely called.
func (b *maskedBatch) plain() arrow.Record { return array.NewRecord(b.schema, b.cols, b.rows) }

func (b *maskedBatch) SetColumn(i int, col arrow.Array) (arrow.Record, error) {
	p := b.plain()
	defer p.Release()
	return p.SetColumn(i, col)
}

func (b *maskedBatch) NewSlice(i, j int64) arrow.Record {
	p := b.plain()
	defer p.Release()
	return p.NewSlice(i, j)
}

func (b *maskedBatch) MarshalJSON() ([]byte, error) {
	p := b.plain()
	defer p.Release()
	return p.MarshalJSON()
}
