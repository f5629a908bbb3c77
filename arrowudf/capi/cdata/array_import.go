package cdata

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// ImportArray views an array as data of type dt, without copying values and
// without taking it over: the caller releases a after the last use of the data.
// Every offset, view and index is checked first.
func ImportArray(a *Array, dt arrow.DataType) (arrow.ArrayData, error) {
	if a == nil || a.Release == 0 {
		return nil, fmt.Errorf("%w: array is missing or released", ErrInvalid)
	}
	return importArray(a, dt, 0)
}

// source is an array that is being imported.
type source struct {
	*Array
	dt   arrow.DataType
	end  int // offset + length
	bufs []*memory.Buffer
}

func (s *source) fail(format string, args ...any) error {
	return fmt.Errorf("%w: array of %s: %s", ErrInvalid, s.dt, fmt.Sprintf(format, args...))
}

func importArray(a *Array, dt arrow.DataType, depth int) (arrow.ArrayData, error) {
	s := &source{Array: a, dt: dt}
	if depth > maxDepth {
		return nil, s.fail("nested deeper than %d", maxDepth)
	}
	if a.Length < 0 || a.Offset < 0 || a.Length > maxExtent || a.Offset > maxExtent-a.Length {
		return nil, s.fail("length %d, offset %d", a.Length, a.Offset)
	}
	s.end = int(a.Offset + a.Length)
	children, err := s.importChildren(depth)
	if err != nil {
		return nil, err
	}
	if err := s.importBuffers(children); err != nil {
		return nil, err
	}
	nulls, err := s.nulls()
	if err != nil {
		return nil, err
	}
	if dict, ok := dt.(*arrow.DictionaryType); ok {
		d, err := s.importDictionary(dict, depth)
		if err != nil {
			return nil, err
		}
		return array.NewDataWithDictionary(dt, int(a.Length), s.bufs, nulls, int(a.Offset), d), nil
	}
	if a.Dictionary != 0 {
		return nil, s.fail("has a dictionary")
	}
	return array.NewData(dt, int(a.Length), s.bufs, children, nulls, int(a.Offset)), nil
}

// nulls is the number of NULL rows, counted: that of the producer is only
// checked for sense.
func (s *source) nulls() (int, error) {
	n := int(s.Length)
	if s.NullCount < -1 || s.NullCount > s.Length {
		return 0, s.fail("null count %d of %d rows", s.NullCount, n)
	}
	switch s.dt.ID() {
	case arrow.NULL:
		return n, nil
	case arrow.RUN_END_ENCODED, arrow.SPARSE_UNION, arrow.DENSE_UNION:
		return 0, nil // they have no validity of their own
	}
	if len(s.bufs) > 0 && s.bufs[0] != nil {
		return n - bitutil.CountSetBits(s.bufs[0].Bytes(), int(s.Offset), n), nil
	}
	if s.NullCount > 0 {
		return 0, s.fail("null count %d without a validity bitmap", s.NullCount)
	}
	return 0, nil
}

// buffer takes n bytes of buffer i. A producer may leave out one that no row
// needs.
func (s *source) buffer(i, n int) ([]byte, error) {
	p := element(&s.Buffers, i)
	if *p == 0 && n > 0 {
		return nil, s.fail("buffer %d is missing", i)
	}
	b := view(p, n)
	s.bufs = append(s.bufs, memory.NewBufferBytes(b))
	return b, nil
}

// count makes sure that there are as many buffers as the type has.
func (s *source) count(ok bool) error {
	if !ok || s.NBuffers < 0 || s.NBuffers > maxCount || s.NBuffers > 0 && s.Buffers == 0 {
		return s.fail("%d buffers", s.NBuffers)
	}
	return nil
}

// validity takes buffer 0, a bitmap that may be left out.
func (s *source) validity() {
	p := element(&s.Buffers, 0)
	if *p == 0 || s.Length == 0 {
		s.bufs = append(s.bufs, nil)
		return
	}
	s.bufs = append(s.bufs, memory.NewBufferBytes(view(p, (s.end+7)/8)))
}

// valid reports whether row i, counted without the offset, is not NULL.
func (s *source) valid(i int) bool {
	if s.bufs[0] == nil {
		return true
	}
	return s.bufs[0].Bytes()[i>>3]>>(i&7)&1 == 1
}

// bytes is n values of width bytes.
func (s *source) bytes(n, width int) (int, error) {
	if hi, lo := bits.Mul64(uint64(n), uint64(width)); hi == 0 && lo <= maxExtent {
		return int(lo), nil
	}
	return 0, s.fail("%d values of %d bytes", n, width)
}

func (s *source) importBuffers(children []arrow.ArrayData) error {
	if s.dt.ID() == arrow.NULL || s.dt.ID() == arrow.RUN_END_ENCODED {
		// No buffers; some producers write an empty place for a bitmap.
		if err := s.count(s.NBuffers <= 1); err != nil {
			return err
		}
		s.bufs = []*memory.Buffer{nil}
		if s.dt.ID() == arrow.RUN_END_ENCODED {
			return s.checkRuns(children)
		}
		return nil
	}
	switch s.dt.ID() {
	case arrow.SPARSE_UNION, arrow.DENSE_UNION:
		return s.importUnion(children)
	case arrow.STRUCT, arrow.FIXED_SIZE_LIST:
		if err := s.count(s.NBuffers == 1); err != nil {
			return err
		}
		s.validity()
		return s.checkExtents(children)
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return s.importViews()
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return s.importText()
	case arrow.LIST, arrow.MAP, arrow.LARGE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return s.importList(children[0].Len())
	}
	width := s.dt
	if d, ok := s.dt.(*arrow.DictionaryType); ok {
		width = d.IndexType
	}
	fixed, ok := width.(arrow.FixedWidthDataType)
	if !ok {
		return fmt.Errorf("%w: %s", ErrType, s.dt)
	}
	if err := s.count(s.NBuffers == 2); err != nil {
		return err
	}
	s.validity()
	rows := s.end
	if s.Length == 0 {
		rows = 0
	}
	n, err := s.bytes(rows, max(fixed.BitWidth(), 0))
	if err != nil {
		return err
	}
	_, err = s.buffer(1, (n+7)/8)
	return err
}

func (s *source) importDictionary(dt *arrow.DictionaryType, depth int) (*array.Data, error) {
	if s.Dictionary == 0 {
		return nil, s.fail("no dictionary")
	}
	d := (*Array)(pointer(&s.Dictionary))
	if d.Release == 0 {
		return nil, s.fail("dictionary was released")
	}
	values, err := importArray(d, dt.ValueType, depth+1)
	if err != nil {
		return nil, err
	}
	width := dt.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	index := s.bufs[1].Bytes()
	if s.Length == 0 {
		return values.(*array.Data), nil
	}
	for i := int(s.Offset); i < s.end; i++ {
		// A negative index reads as a huge one here, which no dictionary has.
		if at := unsigned(index[i*width:], width); at >= uint64(values.Len()) && s.valid(i) {
			return nil, s.fail("row %d refers to no value of the dictionary of %d", i-int(s.Offset), values.Len())
		}
	}
	return values.(*array.Data), nil
}
