package kernelbench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/arrowmask/arrowmask/kernels"
)

// maxData bounds a column's memory in bytes: longer columns repeat their rows,
// by a selection.
const maxData = 64 << 20

// side is one thread's column and output.
type side struct {
	hasher  Hasher
	rows    int
	col     kernels.Column
	data    []byte // the column's buffers, for the row loop
	offsets []int32
	out     []byte
	width   int // bytes of out a row
	err     error
	took    time.Duration // by the last turn
	turns   chan func()   // of its own thread, when there are several
}

// newSide makes a column of rows rows of n letters and digits each.
func newSide(b *kernels.Backend, n, rows int, raw bool, seed uint64) *side {
	own := rows
	if n > 0 {
		own = max(1, min(rows, maxData/n))
	}
	s := &side{hasher: Hasher{Hash: kernels.New(b), Raw: raw}, rows: rows}
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
	// Outputs of two threads must not share a cache line, nor a pair of them.
	const apart = 128
	s.out = make([]byte, apart+rows*s.width+apart)[apart:][:rows*s.width]
	return s
}

// ours is rows lo to hi by the backend.
func (s *side) ours(lo, hi int) {
	if err := s.hasher.Digest(s.out[lo*s.width:hi*s.width], &s.col, lo, hi); err != nil {
		s.err = err
	}
}

// std is the same row after row.
func (s *side) std(lo, hi int) {
	out := s.out[lo*s.width : hi*s.width]
	for own := len(s.offsets) - 1; lo < hi; {
		first := lo % own
		last := min(own, first+hi-lo)
		out = RowLoop(out, s.hasher.Hash.Alg(), s.hasher.Raw, s.data, s.offsets[first:last+1])
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
		return fmt.Errorf("kernelbench: %s: wrong output of backend %s", s.hasher.Hash.Alg(), s.hasher.Hash.Backend().Name)
	}
	return nil
}
