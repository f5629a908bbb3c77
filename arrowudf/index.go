package arrowudf

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
)

// indexKind reads and writes integers of one type: indices of dictionaries and
// run ends.
type indexKind struct {
	width int
	max   uint64
	// each calls f with every integer of b; a negative one shows as a huge one.
	each func(b []byte, f func(i int, v uint64) error) error
	// fill sets every integer of b.
	fill func(b []byte, f func(i int) uint64)
}

var indexKinds = map[arrow.Type]indexKind{
	arrow.INT8:   newIndexKind[int8](math.MaxInt8),
	arrow.INT16:  newIndexKind[int16](math.MaxInt16),
	arrow.INT32:  newIndexKind[int32](math.MaxInt32),
	arrow.INT64:  newIndexKind[int64](math.MaxInt64),
	arrow.UINT8:  newIndexKind[uint8](math.MaxUint8),
	arrow.UINT16: newIndexKind[uint16](math.MaxUint16),
	arrow.UINT32: newIndexKind[uint32](math.MaxUint32),
	arrow.UINT64: newIndexKind[uint64](math.MaxUint64 - 1), // max+1 is a count
}

func newIndexKind[T integer](limit uint64) indexKind {
	return indexKind{
		width: len(bytesOf(make([]T, 1))),
		max:   limit,
		each: func(b []byte, f func(int, uint64) error) error {
			for i, v := range integersOf[T](b) {
				if err := f(i, uint64(v)); err != nil {
					return err
				}
			}
			return nil
		},
		fill: func(b []byte, f func(int) uint64) {
			s := integersOf[T](b)
			for i := range s {
				s[i] = T(f(i))
			}
			copy(b, bytesOf(s)) // b itself, unless it is unaligned
		},
	}
}
