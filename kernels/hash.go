package kernels

import (
	"fmt"
	"io"
)

// Hash is an algorithm bound to a backend and, for HMAC, to a key. It is
// read-only after construction and safe for any number of goroutines. Printing
// it, with any verb, shows the algorithm and the backend and never the key.
type Hash struct {
	alg     Alg
	backend *Backend
	mac     *macKey // nil for a plain digest

	// Worked out once, since a call with one row takes little more than they do.
	size    int
	refused string // why the backend cannot be used; empty when it can
	row     func(dst, row []byte)
}

// New binds a backend's algorithm for plain digests. Sum refuses to run when
// the backend is not available.
func New(b *Backend) *Hash {
	return &Hash{alg: b.Alg, backend: b, size: b.Alg.Size(), refused: b.Reason(), row: b.row}
}

// Alg is the algorithm.
func (h *Hash) Alg() Alg { return h.alg }

// Backend is the backend in use.
func (h *Hash) Backend() *Backend { return h.backend }

// Size is the length of one digest in bytes.
func (h *Hash) Size() int { return h.size }

// String is the algorithm and the backend: "hmac-sha256/std". Of the key it
// says nothing.
func (h Hash) String() string {
	name := h.alg.String()
	if h.mac != nil {
		name = "hmac-" + name
	}
	return name + "/" + h.backend.Name
}

// Format prints String whatever the verb, so that %v, %+v and %#v do not walk
// into the key.
func (h Hash) Format(f fmt.State, _ rune) { io.WriteString(f, h.String()) }

// Sum writes the digests of rows lo <= i < hi of col to dst, one after the
// other in row order: row i at dst[(i-lo)*Size()]. The column must have passed
// Validate. dst must hold (hi-lo)*Size() bytes and must not overlap the
// column's buffers; bytes of dst past that are left alone. The result depends
// on nothing but the rows' bytes: not on the range, the neighbours or the
// alignment. Nothing is allocated, and nothing of the caller's is kept after
// the return. (The compiler puts *col on the heap: callers that make a column
// for every batch may keep one variable for it.)
//
// Errors wrap ErrBuffer or ErrUnsupportedBackend; then nothing was written.
func (h *Hash) Sum(dst []byte, col *Column, lo, hi int) error {
	return h.SumAhead(dst, nil, col, lo, hi)
}

// SumAhead is Sum for callers that turn the digests into hex text next: text
// is where it will go, twice the digests' length. Some backends ask for that
// memory while they compute, so that writing there does not have to wait. It
// is a hint: nothing of text is read or written, and a text of any other
// length is as good as none.
func (h *Hash) SumAhead(dst, text []byte, col *Column, lo, hi int) error {
	if lo < 0 || hi < lo || hi > col.Len() {
		return fmt.Errorf("%w: rows %d to %d of %d", ErrBuffer, lo, hi, col.Len())
	}
	n := hi - lo
	// As many rows as bytes are too many in any case, and fewer cannot wrap.
	if n > len(dst) || uint64(n)*uint64(h.size) > uint64(len(dst)) {
		return fmt.Errorf("%w: %d rows of %s need %d bytes each, have %d", ErrBuffer, n, h.alg, h.size, len(dst))
	}
	if h.refused != "" {
		return fmt.Errorf("%w: %s of %s: %s", ErrUnsupportedBackend, h.backend.Name, h.alg, h.refused)
	}
	need := n * h.size
	switch k := h.backend.kernel; {
	case n == 0:
	case n == 1 && h.row != nil:
		h.row(dst[:need:need], col.Row(lo))
	case k != nil:
		if len(text) != 2*need {
			text = nil
		}
		k.sumAhead(dst[:need:need], text, col, lo, hi, h.mac)
	default:
		h.backend.sum(dst[:need:need], col, lo, hi, h.mac)
	}
	return nil
}
