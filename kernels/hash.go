package kernels

import "fmt"

// Hash is an algorithm bound to a backend and, for HMAC, to a key. It is
// read-only after construction and safe for any number of goroutines.
type Hash struct {
	alg     Alg
	backend *Backend
	mac     *macKey // nil for a plain digest
}

// New binds a backend's algorithm for plain digests.
func New(b *Backend) *Hash { return &Hash{alg: b.Alg, backend: b} }

// Alg is the algorithm.
func (h *Hash) Alg() Alg { return h.alg }

// Backend is the backend in use.
func (h *Hash) Backend() *Backend { return h.backend }

// Size is the length of one digest in bytes.
func (h *Hash) Size() int { return h.alg.Size() }

// Sum writes the digests of rows lo <= i < hi of col to dst, one after the
// other in row order: row i at dst[(i-lo)*Size()]. The column must have passed
// Validate. dst must hold (hi-lo)*Size() bytes and must not overlap the
// column's buffers. The result depends on nothing but the rows' bytes: not on
// the range, the neighbours or the alignment. Nothing is allocated.
//
// Errors wrap ErrBuffer; then nothing was written.
func (h *Hash) Sum(dst []byte, col *Column, lo, hi int) error {
	if lo < 0 || hi < lo || hi > col.Len() {
		return fmt.Errorf("%w: rows %d to %d of %d", ErrBuffer, lo, hi, col.Len())
	}
	need := (hi - lo) * h.Size()
	if len(dst) < need {
		return fmt.Errorf("%w: %d rows of %s need %d bytes, have %d", ErrBuffer, hi-lo, h.alg, need, len(dst))
	}
	h.backend.sum(dst[:need], col, lo, hi, h.mac)
	return nil
}
