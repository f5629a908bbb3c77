package arrowudf

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

// gather is the vector of the given rows of v, in that order; row -1 is NULL.
// Values of variable width are not copied: the result refers to them through
// views, whatever the layout of v. A value of 2 GiB or more is refused.
func gather(v *mask.Vector, rows []int32) (*mask.Vector, error) {
	out := &mask.Vector{Type: v.Type, Len: len(rows)}
	if v.Type.Kind == mask.Null {
		out.Nulls = out.Len
		return out, nil
	}
	out.Valid = make([]byte, (len(rows)+7)/8)
	for i, r := range rows {
		if r >= 0 && !v.IsNull(int(r)) {
			out.Valid[i>>3] |= 1 << (i & 7)
		} else {
			out.Nulls++
		}
	}
	if out.Nulls == 0 {
		out.Valid = nil
	}
	if v.Layout != mask.LayoutFixed {
		if err := validate(v); err != nil {
			return nil, err
		}
		return out, gatherViews(out, v, rows)
	}
	if width := valueWidth(v.Type); width > 0 {
		out.Data = make([]byte, len(rows)*width)
		for i, r := range rows {
			if r >= 0 && !v.IsNull(int(r)) {
				copy(out.Data[i*width:], v.Data[int(r)*width:][:width])
			}
		}
	}
	return out, nil
}

// validate checks what gatherViews reads; package mask checks the views that
// come of it.
func validate(v *mask.Vector) error {
	var c kernels.Column
	switch v.Layout {
	case mask.LayoutOffsets32:
		c = kernels.Offsets32(v.Data, v.Offsets32)
	case mask.LayoutOffsets64:
		c = kernels.Offsets64(v.Data, v.Offsets64)
	}
	return c.Validate()
}

// gatherWindow is where a buffer is cut for views, whose 32-bit offsets do not
// reach further: window k begins at k*gatherWindow.
const gatherWindow = 1 << 30

func gatherViews(out, v *mask.Vector, rows []int32) error {
	out.Layout = mask.LayoutViews
	out.Views = make([]kernels.View, len(rows))
	if v.Layout == mask.LayoutViews {
		out.Buffers = v.Buffers
	} else {
		for lo := 0; lo < len(v.Data); lo += gatherWindow {
			out.Buffers = append(out.Buffers, v.Data[lo:])
		}
	}
	for i, r := range rows {
		if r < 0 || v.IsNull(int(r)) {
			continue
		}
		var lo, hi int64
		switch v.Layout {
		case mask.LayoutViews:
			out.Views[i] = v.Views[r]
			continue
		case mask.LayoutOffsets32:
			lo, hi = int64(v.Offsets32[r]), int64(v.Offsets32[r+1])
		default:
			lo, hi = v.Offsets64[r], v.Offsets64[r+1]
		}
		if hi-lo > math.MaxInt32 {
			return fmt.Errorf("%w: dictionary value %d is longer than 2 GiB", ErrArray, r)
		}
		out.Views[i] = makeView(v.Data[lo:hi], int(lo/gatherWindow), int(lo%gatherWindow))
	}
	return nil
}

// makeView is the view of a value of less than 2 GiB, which lies at offset off
// of buffer buf unless the view itself can hold it.
func makeView(value []byte, buf, off int) (v kernels.View) {
	binary.LittleEndian.PutUint32(v[0:], uint32(len(value)))
	copy(v[4:], value[:min(len(value), kernels.ViewInline)])
	if len(value) > kernels.ViewInline {
		binary.LittleEndian.PutUint32(v[8:], uint32(buf))
		binary.LittleEndian.PutUint32(v[12:], uint32(off))
	}
	return v
}
