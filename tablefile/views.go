package tablefile

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// plainViews gives the schema with top-level views of text and binary as plain text and binary, which is what Parquet can hold.
func plainViews(s *arrow.Schema) *arrow.Schema {
	fields := make([]arrow.Field, s.NumFields())
	for i, f := range s.Fields() {
		switch f.Type.ID() {
		case arrow.STRING_VIEW:
			f.Type = arrow.BinaryTypes.String
		case arrow.BINARY_VIEW:
			f.Type = arrow.BinaryTypes.Binary
		}
		fields[i] = f
	}
	return arrow.NewSchema(fields, nil)
}

// plainViewBatch copies the views of batch to the plain columns of sc. The caller releases the result.
func plainViewBatch(sc *arrow.Schema, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, batch.NumCols())
	for i, c := range batch.Columns() {
		view, ok := c.(array.ViewLike)
		if !ok {
			c.Retain()
			cols[i] = c
		} else {
			var err error
			if cols[i], err = copyViews(view, sc.Field(i).Type); err != nil {
				return nil, fmt.Errorf("column %q: %w", sc.Field(i).Name, err)
			}
		}
		defer cols[i].Release()
	}
	return array.NewRecordBatch(sc, cols, batch.NumRows()), nil
}

func copyViews(view array.ViewLike, to arrow.DataType) (arrow.Array, error) {
	rows := view.Len()
	value := func(int) []byte { return nil }
	switch v := view.(type) {
	case *array.StringView:
		value = func(i int) []byte { return []byte(v.Value(i)) }
	case *array.BinaryView:
		value = v.Value
	}
	var total int64
	for i := range rows {
		if view.IsValid(i) {
			total += int64(view.ValueHeader(i).Len())
		}
	}
	if total > math.MaxInt32 {
		return nil, fmt.Errorf("%w: a batch with more than 2 GiB of text; ask for batches of fewer rows", ErrUnsupported)
	}
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(rows)
	b.ReserveData(int(total))
	for i := range rows {
		if view.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(value(i))
		}
	}
	bin := b.NewBinaryArray()
	defer bin.Release()
	data := array.NewData(to, rows, bin.Data().Buffers(), nil, bin.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}
