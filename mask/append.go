package mask

import (
	"fmt"
	"sync/atomic"
)

// rowAppender makes text of any length out of a row, where the length is not
// known before the text.
type rowAppender interface {
	// appendRow appends what becomes of row. Once dst is longer than most the
	// answer is not used, and may end there.
	appendRow(dst, row []byte, most int) []byte
}

// appendStep runs a rowAppender in one pass. Each chunk of rows is written
// where its input would fit, or goes on in memory of its own; once the size of
// the whole is known, the chunks are put together in the output.
type appendStep struct{ rows rowAppender }

func (a appendStep) eval(r *run, in *Vector) (*Vector, error) {
	out := r.textVector(Type{Kind: Text}, in.Len)
	most := maxSize
	if out.Layout == LayoutOffsets32 {
		most = int(r.limit)
	}
	var (
		chunks = (in.Len + chunkRows - 1) / chunkRows
		starts = make([]int, chunks+1)
		parts  = make([][]byte, chunks)
		done   atomic.Int64 // bytes of the chunks that are written
	)
	for c := range chunks {
		starts[c+1] = starts[c] + in.size(c*chunkRows, min(in.Len, (c+1)*chunkRows))
		if starts[c+1] > most {
			clear(starts) // no room beforehand: most of it may not be needed
			break
		}
	}
	room := make([]byte, starts[chunks])
	err := r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		dst := room[starts[c]:starts[c]:starts[c+1]]
		most := most - int(done.Load())
		col := in.column(lo, hi)
		for i := range hi - lo {
			if !in.IsNull(lo + i) {
				dst = a.rows.appendRow(dst, col.Row(i), most)
			}
			if len(dst) > most {
				return r.moreThanFits()
			}
			if out.Layout == LayoutOffsets64 {
				out.Offsets64[lo+i+1] = int64(len(dst))
			} else {
				out.Offsets32[lo+i+1] = int32(len(dst))
			}
		}
		parts[c] = dst
		done.Add(int64(len(dst)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := 0
	for c, p := range parts {
		starts[c] = total
		if total += len(p); total > most {
			return nil, r.moreThanFits()
		}
	}
	r.copyNulls(out, in)
	out.Data = r.bytes(total)
	err = r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		copy(out.Data[starts[c]:], parts[c])
		if out.Layout == LayoutOffsets64 {
			shift(out.Offsets64[lo+1:hi+1], int64(starts[c]))
		} else {
			shift(out.Offsets32[lo+1:hi+1], int32(starts[c]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// moreThanFits is tooLarge where the work ended before the size was known.
func (r *run) moreThanFits() error {
	return fmt.Errorf("%s: %w: more than the %d bytes that fit 32-bit offsets", r.step, ErrTooLarge, r.limit)
}

// size is the bytes of the rows lo to hi of text, or more where a NULL has some.
func (v *Vector) size(lo, hi int) int {
	if lo == hi {
		return 0
	}
	switch v.Layout {
	case LayoutOffsets32:
		return int(v.Offsets32[hi] - v.Offsets32[lo])
	case LayoutOffsets64:
		return int(v.Offsets64[hi] - v.Offsets64[lo])
	}
	n := 0
	for i := lo; i < hi; i++ {
		if !v.IsNull(i) {
			n += v.Views[i].Len()
		}
	}
	return n
}
