package arrowudf

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/mask"
)

// vector views array data of a plain type as buffers, without copying values.
// Slices are honoured; the caller's null count is not trusted. What it cannot
// check cheaply (offsets that decrease, views outside their buffers) package
// mask checks before it reads a value.
func vector(d arrow.ArrayData, dt arrow.DataType, t mask.Type) (*mask.Vector, error) {
	v := &mask.Vector{}
	return v, vectorTo(v, d, dt, t)
}

// vectorTo is vector in a place that the caller has.
func vectorTo(v *mask.Vector, d arrow.ArrayData, dt arrow.DataType, t mask.Type) error {
	if err := checkExtent(d); err != nil {
		return err
	}
	n, off := d.Len(), d.Offset()
	*v = mask.Vector{Type: t, Len: n}
	if t.Kind == mask.Null {
		v.Nulls = n
		return nil
	}
	var err error
	if v.Valid, err = validity(d); err != nil {
		return err
	}
	if v.Valid != nil {
		v.ValidOffset, v.Nulls = off, -1
	}
	switch dt.ID() {
	case arrow.STRING, arrow.BINARY:
		v.Layout, v.Data = mask.LayoutOffsets32, buffer(d, 2)
		v.Offsets32, err = window(integersOf[int32](buffer(d, 1)), off, n, 1, "offsets")
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		v.Layout, v.Data = mask.LayoutOffsets64, buffer(d, 2)
		v.Offsets64, err = window(integersOf[int64](buffer(d, 1)), off, n, 1, "offsets")
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		v.Layout = mask.LayoutViews
		for i := 2; i < len(d.Buffers()); i++ {
			v.Buffers = append(v.Buffers, buffer(d, i))
		}
		v.Views, err = window(viewsOf(buffer(d, 1)), off, n, 0, "views")
	default:
		v.Data, err = fixedValues(d, dt, t)
	}
	return err
}

// fixedValues is the values of a type of fixed width, nil where no mask reads
// them. They must be there all the same: a length that no buffer bears out is
// not to be believed.
func fixedValues(d arrow.ArrayData, dt arrow.DataType, t mask.Type) ([]byte, error) {
	if dt.ID() == arrow.BOOL {
		if have := len(buffer(d, 1)); d.Len() > 0 && (d.Offset()+d.Len()-1)/8 >= have {
			return nil, fmt.Errorf("%w: %d bytes of booleans for rows %d to %d", ErrArray, have, d.Offset(), d.Offset()+d.Len())
		}
		return nil, nil
	}
	width := storageBytes(dt, 1)
	if width == 0 {
		return nil, nil
	}
	b, err := fixedWindow(buffer(d, 1), d.Offset(), d.Len(), width)
	if valueWidth(t) == 0 {
		b = nil
	}
	return b, err
}

// checkExtent makes offset+length+1 safe to compute.
func checkExtent(d arrow.ArrayData) error {
	if n, off := d.Len(), d.Offset(); n < 0 || off < 0 || off > math.MaxInt-n-1 {
		return fmt.Errorf("%w: offset %d, length %d", ErrArray, off, n)
	}
	return nil
}

// valueWidth is the bytes a value of the kinds whose values a mask may read;
// 0 for text and binary of variable width, and for kinds that are only ever
// answered with NULL.
func valueWidth(t mask.Type) int {
	switch t.Kind {
	case mask.Binary:
		return t.Width
	case mask.Int8, mask.Uint8:
		return 1
	case mask.Int16, mask.Uint16:
		return 2
	case mask.Int32, mask.Uint32, mask.Date32:
		return 4
	case mask.Int64, mask.Uint64, mask.Date64:
		return 8
	}
	return 0
}

// buffer is the bytes of buffer i; nil when the producer left it out.
func buffer(d arrow.ArrayData, i int) []byte {
	if bufs := d.Buffers(); i < len(bufs) && bufs[i] != nil {
		return bufs[i].Bytes()
	}
	return nil
}

// validity is the whole bitmap, nil when no row is NULL. It is indexed from the
// array's offset, which need not be a multiple of 8.
func validity(d arrow.ArrayData) ([]byte, error) {
	b := buffer(d, 0)
	if len(b) == 0 {
		return nil, nil
	}
	if d.Len() > 0 && (d.Offset()+d.Len()-1)/8 >= len(b) {
		return nil, fmt.Errorf("%w: validity of %d bytes for rows %d to %d", ErrArray, len(b), d.Offset(), d.Offset()+d.Len())
	}
	return b, nil
}

// window cuts elements off to off+n+extra out of all. An array of no rows may
// have no offsets at all.
func window[T any](all []T, off, n, extra int, what string) ([]T, error) {
	if n == 0 {
		return make([]T, extra), nil
	}
	if off+n+extra > len(all) {
		return nil, fmt.Errorf("%w: %d %s for rows %d to %d", ErrArray, len(all), what, off, off+n)
	}
	return all[off : off+n+extra : off+n+extra], nil
}

func fixedWindow(b []byte, off, n, width int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	// Divide instead of multiplying: the product may not fit an int.
	if off+n > len(b)/width {
		return nil, fmt.Errorf("%w: %d bytes of width %d for rows %d to %d", ErrArray, len(b), width, off, off+n)
	}
	return b[off*width : (off+n)*width : (off+n)*width], nil
}
