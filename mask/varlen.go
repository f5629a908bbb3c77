package mask

import (
	"fmt"
	"math"

	"github.com/arrowmask/arrowmask/kernels"
)

// chunkRows is the rows of text worked on at a time: few enough for their
// digests to stay in the first-level cache, and a multiple of 8 so that no two
// chunks share a byte of a bitmap.
const chunkRows = 512

// textOp makes a value of any length out of each row. Its two passes see the
// same rows; NULL rows are of size 0 and write nothing.
type textOp interface {
	// sizes stores the output bytes of row lo+i in lens[i].
	sizes(lens []int, in *Vector, lo, hi int)
	// write fills dst with the outputs of the rows lo to hi, one after the
	// other; dst has the sum of their sizes.
	write(dst []byte, in *Vector, lo, hi int) error
}

// textStep runs a textOp in two passes: sizes first, so that the output is
// bounded before it is allocated, then the bytes, straight into their place.
type textStep struct {
	op    textOp
	out   Type
	whole bool // NULLs get a value too
}

func (t textStep) eval(r *run, in *Vector) (*Vector, error) {
	if m, ok := t.op.(*textMask); ok {
		if out, err := m.onePass(r, t.out, in); out != nil || err != nil {
			return out, err
		}
	}
	out := r.textVector(t.out, in.Len)
	starts := make([]int, (in.Len+chunkRows-1)/chunkRows)

	err := r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		s := getScratch()
		defer s.put()
		lens := s.lens[:hi-lo]
		t.op.sizes(lens, in, lo, hi)
		// Ends within the chunk for now. They may wrap in 32 bits only when
		// the whole is refused below.
		end := 0
		for i, n := range lens {
			if end += n; out.Layout == LayoutOffsets64 {
				out.Offsets64[lo+i+1] = int64(end)
			} else {
				out.Offsets32[lo+i+1] = int32(end)
			}
		}
		starts[c] = end
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := 0
	for c, n := range starts {
		if starts[c] = total; n > maxSize-total {
			return nil, r.tooLarge(math.MaxInt)
		}
		total += n
	}
	if out.Layout == LayoutOffsets32 && int64(total) > r.limit {
		return nil, r.tooLarge(total)
	}
	if !t.whole {
		r.copyNulls(out, in)
	}
	out.Data = r.bytes(total)

	err = r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		start, end := starts[c], total
		if c+1 < len(starts) {
			end = starts[c+1]
		}
		if out.Layout == LayoutOffsets64 {
			shift(out.Offsets64[lo+1:hi+1], int64(start))
		} else {
			shift(out.Offsets32[lo+1:hi+1], int32(start))
		}
		return t.op.write(out.Data[start:end:end], in, lo, hi)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func shift[O kernels.Offset](offsets []O, by O) {
	for i := range offsets {
		offsets[i] += by
	}
}

func (r *run) tooLarge(total int) error {
	return fmt.Errorf("%s: %w: %d bytes, %d fit 32-bit offsets", r.step, ErrTooLarge, total, r.limit)
}

// textVector is a vector with offsets, still all zero, and no data.
func (r *run) textVector(t Type, rows int) *Vector {
	v := &Vector{Type: t, Len: rows}
	if r.wide {
		v.Layout, v.Offsets64 = LayoutOffsets64, make([]int64, rows+1)
	} else {
		v.Layout, v.Offsets32 = LayoutOffsets32, make([]int32, rows+1)
	}
	return v
}

// copyNulls gives out the NULLs of in, in a bitmap of its own.
func (r *run) copyNulls(out, in *Vector) {
	if out.Nulls = in.Nulls; in.Nulls == 0 {
		return
	}
	out.Valid = r.bytes(bitmapSize(in.Len))
	copyBits(out.Valid, in.Valid, in.ValidOffset, in.Len)
}

// copyText is the identity in a fresh buffer.
type copyText struct{}

func (copyText) sizes(lens []int, in *Vector, lo, hi int) { rowLens(lens, in, lo, hi) }

func (copyText) write(dst []byte, in *Vector, lo, hi int) error {
	col, at := in.column(lo, hi), 0
	for i := range hi - lo {
		if !in.IsNull(lo + i) {
			at += copy(dst[at:], col.Row(i))
		}
	}
	return nil
}

// rowLens stores the length of each row, 0 for NULL.
func rowLens(lens []int, in *Vector, lo, hi int) {
	col := in.column(lo, hi)
	for i := range lens {
		lens[i] = 0
		if !in.IsNull(lo + i) {
			lens[i] = len(col.Row(i))
		}
	}
}
