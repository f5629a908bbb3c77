package digest

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// column is rows in batches, as Arrow has them. Its memory is Go's: there is
// nothing to release.
type column struct {
	length      int // of the cell
	rows, batch int
	batches     []batch
}

// batch is one array, and the buffers that it lies in.
type batch struct {
	data    []byte
	offsets []int32
	array   arrow.Array
	plain   kernels.Column
}

// newColumn makes the rows of a cell. They depend on nothing but its length
// and the number of rows.
func newColumn(c cell, rows, size int) column {
	col := column{length: c.length, rows: rows, batch: size}
	for i := range rows / size {
		data, offsets := kernelbench.Column(size, uint64(i), c.rowLength)
		d := array.NewData(arrow.BinaryTypes.String, size, []*memory.Buffer{
			nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(data),
		}, nil, 0, 0)
		col.batches = append(col.batches, batch{
			data: data, offsets: offsets,
			array: array.NewStringData(d), plain: kernels.Offsets32(data, offsets),
		})
	}
	return col
}

// is reports whether the column is that of a cell.
func (c *column) is(length, rows int) bool {
	return c.rows == rows && c.length == length
}
