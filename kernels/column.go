package kernels

import (
	"encoding/binary"
	"fmt"
)

// Offset is the integer type of a column's offsets.
type Offset interface{ ~int32 | ~int64 }

// ViewInline is the longest value that a View holds in itself.
const ViewInline = 12

// View is one value of an Arrow view layout, 16 bytes, little-endian: the
// length, then either the value itself (up to ViewInline bytes) or four bytes
// of prefix, a buffer index and an offset into that buffer.
type View [16]byte

// Len is the length of the value in bytes.
func (v *View) Len() int { return int(int32(binary.LittleEndian.Uint32(v[0:]))) }

// Ref is where a value that is not inline lies.
func (v *View) Ref() (buffer, offset int) {
	return int(int32(binary.LittleEndian.Uint32(v[8:]))), int(int32(binary.LittleEndian.Uint32(v[12:])))
}

// Column is a read-only view of rows of bytes. It owns nothing: the buffers
// must stay unchanged while a call works on it, and nothing of them is kept
// after the call. A Column is a value; copies are cheap and safe to share.
//
// Build one with Offsets32, Offsets64, FixedWidth or Views, and narrow it with
// Select. Validate once per column: Row and Hash.Sum trust a validated column.
type Column struct {
	kind    columnKind
	rows    int // rows of the layout, before any selection
	width   int
	data    []byte
	off32   []int32
	off64   []int64
	views   []View
	buffers [][]byte
	sel     []int32
	picked  bool // a selection is set; an empty one selects nothing
}

type columnKind uint8

const (
	kindFixed columnKind = iota
	kindOff32
	kindOff64
	kindViews
)

// Offsets32 is a column of len(offsets)-1 rows; row i is
// data[offsets[i]:offsets[i+1]]. The first offset need not be 0. Empty offsets
// are a column of no rows.
func Offsets32(data []byte, offsets []int32) Column {
	return Column{kind: kindOff32, rows: max(len(offsets)-1, 0), data: data, off32: offsets}
}

// Offsets64 is Offsets32 with 64-bit offsets.
func Offsets64(data []byte, offsets []int64) Column {
	return Column{kind: kindOff64, rows: max(len(offsets)-1, 0), data: data, off64: offsets}
}

// FixedWidth is a column of rows values of width bytes each, one after the
// other. Width 0 is allowed: every row is empty.
func FixedWidth(data []byte, width, rows int) Column {
	return Column{kind: kindFixed, rows: rows, width: width, data: data}
}

// Views is a column in Arrow's view layout: values of up to 12 bytes lie in
// the view, longer ones in one of the buffers.
func Views(views []View, buffers [][]byte) Column {
	return Column{kind: kindViews, rows: len(views), views: views, buffers: buffers}
}

// Select narrows the column to the given rows, in the given order; row i of
// the result is row rows[i] of c. It replaces an earlier selection.
func (c Column) Select(rows []int32) Column {
	c.sel, c.picked = rows, true
	return c
}

// Len is the number of rows to work on: those selected, or all.
func (c *Column) Len() int {
	if c.picked {
		return len(c.sel)
	}
	return c.rows
}

// Row is the i-th row to work on, 0 <= i < Len. The slice aliases the buffers
// and ends where the value ends (its capacity too).
func (c *Column) Row(i int) []byte {
	if c.picked {
		i = int(c.sel[i])
	}
	switch c.kind {
	case kindOff32:
		lo, hi := c.off32[i], c.off32[i+1]
		return c.data[lo:hi:hi]
	case kindOff64:
		lo, hi := c.off64[i], c.off64[i+1]
		return c.data[lo:hi:hi]
	case kindViews:
		v := &c.views[i]
		n := v.Len()
		if n <= ViewInline {
			return v[4 : 4+n : 4+n]
		}
		b, o := v.Ref()
		return c.buffers[b][o : o+n : o+n]
	default:
		lo := i * c.width
		return c.data[lo : lo+c.width : lo+c.width]
	}
}

// Validate checks once what Row and the backends then trust: offsets that
// never decrease and stay inside the data, views inside their buffers, a fixed
// width that the data can hold, a selection inside the rows. The error wraps
// ErrColumn and names the row.
func (c *Column) Validate() error {
	var err error
	switch c.kind {
	case kindOff32:
		err = validateOffsets(c.off32, len(c.data))
	case kindOff64:
		err = validateOffsets(c.off64, len(c.data))
	case kindViews:
		err = c.validateViews()
	default:
		err = c.validateFixed()
	}
	if err != nil {
		return err
	}
	for i, r := range c.sel {
		if r < 0 || int(r) >= c.rows {
			return fmt.Errorf("%w: selection entry %d names row %d of %d", ErrColumn, i, r, c.rows)
		}
	}
	return nil
}

func validateOffsets[O Offset](offsets []O, size int) error {
	if len(offsets) == 0 {
		return nil
	}
	// The sign of bad is that of any negative offset and of any step down;
	// where no offset is negative, no step can wrap.
	prev, rest := offsets[0], offsets[1:]
	bad := prev
	for ; len(rest) >= 4; rest = rest[4:] {
		a, b, c, d := rest[0], rest[1], rest[2], rest[3]
		bad |= a | (a - prev) | b | (b - a) | c | (c - b) | d | (d - c)
		prev = d
	}
	for _, o := range rest {
		bad |= o | (o - prev)
		prev = o
	}
	if bad < 0 {
		return badOffsets(offsets)
	}
	if int64(prev) > int64(size) {
		return fmt.Errorf("%w: last offset %d lies outside %d bytes of data", ErrColumn, prev, size)
	}
	return nil
}

// badOffsets names the first row that has an offset wrong.
func badOffsets[O Offset](offsets []O) error {
	if offsets[0] < 0 {
		return fmt.Errorf("%w: first offset %d is negative", ErrColumn, offsets[0])
	}
	i := 1
	for offsets[i] >= offsets[i-1] {
		i++
	}
	return fmt.Errorf("%w: row %d ends at offset %d, before its start %d", ErrColumn, i-1, offsets[i], offsets[i-1])
}

func (c *Column) validateFixed() error {
	if c.width < 0 || c.rows < 0 {
		return fmt.Errorf("%w: width %d, %d rows", ErrColumn, c.width, c.rows)
	}
	// Divide instead of multiplying: rows*width may not fit an int.
	if c.width > 0 && c.rows > len(c.data)/c.width {
		return fmt.Errorf("%w: %d rows of width %d need more than %d bytes of data", ErrColumn, c.rows, c.width, len(c.data))
	}
	return nil
}

func (c *Column) validateViews() error {
	for i := range c.views {
		v := &c.views[i]
		n := v.Len()
		if n < 0 {
			return fmt.Errorf("%w: view of row %d has length %d", ErrColumn, i, n)
		}
		if n <= ViewInline {
			continue
		}
		b, o := v.Ref()
		if b < 0 || b >= len(c.buffers) {
			return fmt.Errorf("%w: view of row %d names buffer %d of %d", ErrColumn, i, b, len(c.buffers))
		}
		if o < 0 || o > len(c.buffers[b])-n {
			return fmt.Errorf("%w: view of row %d lies outside its buffer", ErrColumn, i)
		}
	}
	return nil
}
