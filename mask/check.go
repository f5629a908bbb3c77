package mask

import (
	"fmt"

	"github.com/arrowmask/arrowmask/kernels"
)

// check validates a column once, so that everything after it can trust it, and
// sets the exact number of NULLs (and no bitmap when there are none): it is for
// a copy of the caller's description. Bytes under NULLs are never looked at.
// Errors wrap ErrVector or ErrType and give row numbers, never values.
func (v *Vector) check() error {
	switch {
	case v.Type.Kind == Invalid || v.Type.Kind >= Nested:
		return fmt.Errorf("%w: %s", ErrType, v.Type)
	case v.Type.Width != 0 && v.Type.Kind != Binary || v.Type.Width < 0:
		return fmt.Errorf("%w: width %d of %s", ErrType, v.Type.Width, v.Type.Kind)
	case v.Len < 0 || v.Len > maxSize:
		return fmt.Errorf("%w: %d rows", ErrVector, v.Len)
	}
	if err := v.checkNulls(); err != nil {
		return err
	}
	if v.Type.Kind == Null {
		return nil
	}
	if v.Type.bytes() {
		return v.checkBytes()
	}
	if w := v.Type.size(); w > 0 && v.Len > len(v.Data)/w {
		return fmt.Errorf("%w: %d rows of %s need more than %d bytes of data", ErrVector, v.Len, v.Type, len(v.Data))
	}
	return nil
}

func (v *Vector) checkNulls() error {
	switch {
	case v.Type.Kind == Null:
		v.Valid, v.Nulls = nil, v.Len
		return nil
	case v.Valid == nil:
		v.Nulls = 0
		return nil
	}
	// Compare in bytes: the sum of offset and length may not fit an int.
	if v.ValidOffset < 0 || v.ValidOffset>>3 > len(v.Valid) ||
		v.Len > (len(v.Valid)-v.ValidOffset>>3)*8-v.ValidOffset&7 {
		return fmt.Errorf("%w: a bitmap of %d bytes does not hold %d rows from bit %d", ErrVector, len(v.Valid), v.Len, v.ValidOffset)
	}
	if v.Nulls = countZeros(v.Valid, v.ValidOffset, v.Len); v.Nulls == 0 {
		v.Valid = nil
	}
	return nil
}

func (v *Vector) checkBytes() error {
	have := v.Len + 1
	switch v.Layout {
	case LayoutOffsets32:
		have = len(v.Offsets32)
	case LayoutOffsets64:
		have = len(v.Offsets64)
	case LayoutViews:
		have = len(v.Views) + 1
	case LayoutFixed:
		if v.Type.Kind == Text {
			return fmt.Errorf("%w: text has no fixed width", ErrVector)
		}
	default:
		return fmt.Errorf("%w: no layout %d", ErrVector, v.Layout)
	}
	if v.Type.Width != 0 && v.Layout != LayoutFixed {
		return fmt.Errorf("%w: %s is not laid out in a fixed width", ErrVector, v.Type)
	}
	// Arrow lets an empty column leave its offsets out.
	if have != v.Len+1 && (have != 0 || v.Len != 0) {
		return fmt.Errorf("%w: %d offsets for %d rows", ErrVector, have, v.Len)
	}
	if v.Layout == LayoutViews && v.Nulls > 0 {
		return v.checkViews()
	}
	col := v.column(0, v.Len)
	if err := col.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrVector, err)
	}
	return nil
}

// checkViews checks row by row, because the view of a NULL may be anything.
func (v *Vector) checkViews() error {
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		one := v.column(i, i+1)
		if err := one.Validate(); err != nil {
			return fmt.Errorf("%w: row %d: %w", ErrVector, i, err)
		}
	}
	return nil
}

// column is the rows lo to hi of a Text or Binary vector as kernels see them.
func (v *Vector) column(lo, hi int) kernels.Column {
	switch v.Layout {
	case LayoutOffsets32:
		if len(v.Offsets32) == 0 {
			return kernels.Offsets32(nil, nil)
		}
		return kernels.Offsets32(v.Data, v.Offsets32[lo:hi+1])
	case LayoutOffsets64:
		if len(v.Offsets64) == 0 {
			return kernels.Offsets64(nil, nil)
		}
		return kernels.Offsets64(v.Data, v.Offsets64[lo:hi+1])
	case LayoutViews:
		return kernels.Views(v.Views[lo:hi], v.Buffers)
	default:
		w := v.Type.Width
		if w > 0 && hi > len(v.Data)/w {
			return kernels.FixedWidth(v.Data, w, v.Len) // Validate names what is wrong
		}
		return kernels.FixedWidth(v.Data[lo*w:], w, hi-lo)
	}
}
