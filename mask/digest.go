package mask

import (
	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// digests puts the digests of the valid rows among lo to hi into the scratch,
// one after the other. Only valid rows are hashed.
func (s *scratch) digests(h summer, in *Vector, lo, hi int) ([]byte, error) {
	return s.digestsAhead(h, nil, in, lo, hi)
}

// digestsAhead is digests when text is where the digests' hex text goes next;
// a kernels.Hash wants to know.
func (s *scratch) digestsAhead(h summer, text []byte, in *Vector, lo, hi int) ([]byte, error) {
	n := hi - lo
	s.col = in.column(lo, hi)
	if in.Nulls > 0 {
		picked := s.valid(in, lo, hi)
		n, s.col = len(picked), s.col.Select(picked)
	}
	s.used = n * h.Size()
	sums := s.sums[:s.used]
	if k, ok := h.(*kernels.Hash); ok {
		return sums, k.SumAhead(sums, text, &s.col, 0, n)
	}
	return sums, h.Sum(sums, &s.col, 0, n)
}

// valid lists the rows among lo to hi that are not NULL, counted from lo.
func (s *scratch) valid(in *Vector, lo, hi int) []int32 {
	n := 0
	for i := range hi - lo {
		if !in.IsNull(lo + i) {
			s.rows[n] = int32(i)
			n++
		}
	}
	return s.rows[:n]
}

// summer writes the digests of the rows lo to hi of a column, one after the
// other; a *kernels.Hash is one.
type summer interface {
	Size() int
	Sum(dst []byte, col *kernels.Column, lo, hi int) error
}

// hexDigest is a digest as hex text, in lower case unless upper.
type hexDigest struct {
	hash  summer
	upper bool
	null  []byte // what stands for NULL; nil: NULL
}

func (d hexDigest) sizes(lens []int, in *Vector, lo, hi int) {
	width := 2 * d.hash.Size()
	for i := range lens {
		lens[i] = width
		if d.null == nil && in.IsNull(lo+i) {
			lens[i] = 0
		}
	}
}

func (d hexDigest) encode(dst, sums []byte) {
	if d.upper {
		hexenc.Upper(dst, sums)
	} else {
		hexenc.Lower(dst, sums)
	}
}

func (d hexDigest) write(dst []byte, in *Vector, lo, hi int) error {
	s := getScratch()
	defer s.put()
	sums, err := s.digestsAhead(d.hash, dst, in, lo, hi)
	if err != nil {
		return err
	}
	if d.null == nil || in.Nulls == 0 {
		d.encode(dst, sums)
		return nil
	}
	size, done := d.hash.Size(), 0
	for i := lo; i < hi; i++ {
		cell := dst[(i-lo)*2*size:][:2*size]
		if in.IsNull(i) {
			copy(cell, d.null)
			continue
		}
		d.encode(cell, sums[done:done+size])
		done += size
	}
	return nil
}

// rawDigest is a digest as binary of fixed width.
type rawDigest struct{ hash summer }

func (d rawDigest) eval(r *run, in *Vector) (*Vector, error) {
	w := d.hash.Size()
	size, err := r.fixed(in.Len, w)
	if err != nil {
		return nil, err
	}
	out := &Vector{Type: Type{Kind: Binary, Width: w}, Len: in.Len}
	r.copyNulls(out, in)
	out.Data = r.bytes(size)
	err = r.each(in.Len, chunkRows, func(_, lo, hi int) error {
		s := getScratch()
		defer s.put()
		dst := out.Data[lo*w : hi*w]
		sums, err := s.digests(d.hash, in, lo, hi)
		if err != nil {
			return err
		}
		if in.Nulls == 0 {
			copy(dst, sums)
			return nil
		}
		clear(dst)
		for i, row := range s.valid(in, lo, hi) {
			copy(dst[int(row)*w:], sums[i*w:(i+1)*w])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// hexText is the bytes themselves in hex.
type hexText struct{ upper bool }

func (h hexText) sizes(lens []int, in *Vector, lo, hi int) {
	rowLens(lens, in, lo, hi)
	for i := range lens {
		lens[i] *= 2
	}
}

func (h hexText) write(dst []byte, in *Vector, lo, hi int) error {
	encode := hexenc.Lower
	if h.upper {
		encode = hexenc.Upper
	}
	col, at := in.column(lo, hi), 0
	for i := range hi - lo {
		if in.IsNull(lo + i) {
			continue
		}
		row := col.Row(i)
		encode(dst[at:at+2*len(row)], row)
		at += 2 * len(row)
	}
	return nil
}
