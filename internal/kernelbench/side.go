package kernelbench

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// chunk is how many rows a caller hashes before it encodes them: the digests
// stay in the L1 cache.
const chunk = 512

// maxData bounds a column's memory in bytes: longer columns repeat their rows,
// by a selection.
const maxData = 64 << 20

// side is one thread's column and output.
type side struct {
	hash    *kernels.Hash
	rows    int
	raw     bool
	col     kernels.Column
	data    []byte // the column's buffers, for the row loop
	offsets []int32
	out     []byte
	width   int // bytes of out a row
	digests [chunk * kernels.MaxSize]byte
	err     error
}

// newSide makes a column of rows rows of n letters and digits each.
func newSide(b *kernels.Backend, n, rows int, raw bool, seed uint64) *side {
	own := rows
	if n > 0 {
		own = max(1, min(rows, maxData/n))
	}
	s := &side{hash: kernels.New(b), rows: rows, raw: raw}
	s.data, s.offsets = Column(own, seed, func(rng *rand.Rand) int {
		if n == Mixed {
			return 10 + rng.IntN(31)
		}
		return n
	})
	s.col = kernels.Offsets32(s.data, s.offsets)
	if own < rows {
		sel := make([]int32, rows)
		for i := range sel {
			sel[i] = int32(i % own)
		}
		s.col = s.col.Select(sel)
	}
	s.width = width(b.Alg, raw)
	s.out = make([]byte, rows*s.width)
	return s
}

// ours is rows lo to hi by the backend.
func (s *side) ours(lo, hi int) {
	size := s.hash.Size()
	for ; lo < hi; lo += chunk {
		end := min(lo+chunk, hi)
		out := s.out[lo*s.width : end*s.width]
		if s.raw {
			s.sum(out, nil, lo, end)
			continue
		}
		digests := s.digests[:(end-lo)*size]
		s.sum(digests, out, lo, end)
		hexenc.Lower(out, digests)
	}
}

func (s *side) sum(dst, text []byte, lo, hi int) {
	if err := s.hash.SumAhead(dst, text, &s.col, lo, hi); err != nil {
		s.err = err
	}
}

// std is the same row after row.
func (s *side) std(lo, hi int) {
	out := s.out[lo*s.width : hi*s.width]
	for own := len(s.offsets) - 1; lo < hi; {
		first := lo % own
		last := min(own, first+hi-lo)
		out = RowLoop(out, s.hash.Alg(), s.raw, s.data, s.offsets[first:last+1])
		lo += last - first
	}
}

// check compares the two ways on the first rows.
func (s *side) check() error {
	n := min(s.rows, chunk)
	s.ours(0, n)
	if s.err != nil {
		return s.err
	}
	ours := bytes.Clone(s.out[:n*s.width])
	s.std(0, n)
	if !bytes.Equal(ours, s.out[:n*s.width]) {
		return fmt.Errorf("kernelbench: %s: wrong output of backend %s", s.hash.Alg(), s.hash.Backend().Name)
	}
	return nil
}
