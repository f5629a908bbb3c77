package rival

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/internal/kernelbench"
)

// ErrColumn is wrapped by errors about a column's file.
var ErrColumn = errors.New("malformed column")

// Column is rows of text in Arrow's layout.
type Column struct {
	Name    string // a word: its place in commands and the len of a cell
	Data    []byte
	Offsets []int32 // one more than rows
}

// Columns are the two that are measured: rows of 32 bytes, and rows of 10 to 40
// bytes, mixed evenly.
func Columns(rows int) []*Column {
	return []*Column{
		newColumn("32", rows, func(*rand.Rand) int { return 32 }),
		newColumn("10-40", rows, func(rng *rand.Rand) int { return 10 + rng.IntN(31) }),
	}
}

func newColumn(name string, rows int, length func(*rand.Rand) int) *Column {
	data, offsets := kernelbench.Column(rows, 1, length)
	return &Column{Name: name, Data: data, Offsets: offsets}
}

// Rows is their number.
func (c *Column) Rows() int { return len(c.Offsets) - 1 }

// Row is the bytes of one row.
func (c *Column) Row(i int) []byte { return c.Data[c.Offsets[i]:c.Offsets[i+1]] }

// batches are the rows as arrays of size rows each, the last with what is left.
// They share the column's memory, which is Go's.
func (c *Column) batches(size int) []arrow.Array {
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.Offsets))
	whole := array.NewData(arrow.BinaryTypes.String, c.Rows(), []*memory.Buffer{nil, offsets, memory.NewBufferBytes(c.Data)}, nil, 0, 0)
	var out []arrow.Array
	for lo := 0; lo < c.Rows(); lo += size {
		out = append(out, array.MakeFromData(array.NewSliceData(whole, int64(lo), int64(min(lo+size, c.Rows())))))
	}
	return out
}

// WriteFile writes the column for programs: the number of rows and of bytes
// (int64), the offsets (int32) and the bytes, all little-endian.
func (c *Column) WriteFile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for _, part := range []any{int64(c.Rows()), int64(len(c.Data)), c.Offsets, c.Data} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// ReadColumn reads what WriteFile wrote. Errors wrap ErrColumn or are those of
// reading.
func ReadColumn(name, path string) (*Column, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(b)
	var rows, size int64
	if err := errors.Join(binary.Read(r, binary.LittleEndian, &rows), binary.Read(r, binary.LittleEndian, &size)); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrColumn, path, err)
	}
	if rows < 0 || rows >= int64(len(b))/4 || size < 0 || 16+4*(rows+1)+size != int64(len(b)) {
		return nil, fmt.Errorf("%w: %s: %d rows of %d bytes in a file of %d", ErrColumn, path, rows, size, len(b))
	}
	c := &Column{Name: name, Offsets: make([]int32, rows+1), Data: make([]byte, size)}
	if err := binary.Read(r, binary.LittleEndian, c.Offsets); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, c.Data); err != nil {
		return nil, err
	}
	if c.Offsets[0] != 0 || int64(c.Offsets[rows]) != size {
		return nil, fmt.Errorf("%w: %s: offsets from %d to %d of %d bytes", ErrColumn, path, c.Offsets[0], c.Offsets[rows], size)
	}
	return c, nil
}
