package arrowudf

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	// recyclerLimit is how many bytes the zero Recycler keeps.
	recyclerLimit = 64 << 20
	// recycledBlocks is how many blocks are kept at most, so that looking
	// through them stays short.
	recycledBlocks = 256
	// leastRecycled is the smallest block that is kept: a page. Go's own memory
	// is quick for less.
	leastRecycled = 4096
	// alignment is what Arrow asks of buffers.
	alignment = 64
)

// Recycler is an arrow allocator that gives buffers out again after their last
// Release instead of leaving them to the garbage collector. For a large batch
// fresh memory costs more than many a mask: Go clears it and the system maps it
// page by page. As Options.Mem it serves callers that release each result
// before they ask for the next few. The zero value is ready and keeps up to
// 64 MiB. It serves arrow-go v18 as well, and any number of goroutines.
//
// What was released is overwritten by a later result. Text taken from an array
// without a copy, as array.String.Value does, must not be used after the
// array's Release; strings.Clone keeps it.
//
// Nobody sees what was released: Allocate returns zeroed memory, as arrow's
// default allocator does, and only the results of masks are spared that, which
// write every byte. Until then a block that is kept holds what it held:
// earlier masked output, where the Recycler is used for results alone.
//
// Memory that is never released is collected as usual. No more is kept than
// the limit: the blocks that were released longest ago go first. A Recycler
// that is no longer referred to is collected with what it keeps.
type Recycler struct {
	limit int64 // 0: recyclerLimit
	mu    sync.Mutex
	kept  int64    // bytes of free
	free  [][]byte // whole blocks, in the order of their release
}

var _ memory.Allocator = (*Recycler)(nil)

// NewRecycler is a Recycler that keeps at most limit bytes of released memory;
// 0 or less: none, which is arrow's default allocator.
func NewRecycler(limit int64) *Recycler {
	if limit <= 0 {
		limit = -1
	}
	return &Recycler{limit: limit}
}

// Allocate is size zeroed bytes, aligned to 64.
func (r *Recycler) Allocate(size int) []byte {
	b, used := r.take(size)
	if used {
		clear(b)
	}
	return b
}

// take is Allocate without clearing; used tells whether the bytes were somebody
// else's before. Those behind size are zero in any case.
func (r *Recycler) take(size int) (b []byte, used bool) {
	class := blockSize(size)
	if class < leastRecycled {
		return alignedBytes(size), false
	}
	if b = r.pick(class); b != nil {
		clear(b[size:])
		return b[:size], true
	}
	return alignedBytes(class)[:size], false
}

// pick takes a block of class bytes or more out of those that are free; nil
// for none.
func (r *Recycler) pick(class int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The newest that fits is the likeliest to be in a cache. One of twice the
	// size would be a waste.
	for i, b := range slices.Backward(r.free) {
		if len(b) >= class && len(b)/2 < class {
			r.free = slices.Delete(r.free, i, i+1)
			r.kept -= int64(len(b))
			return b
		}
	}
	return nil
}

// Reallocate is b with size bytes; those that are new are zero. b must not be
// used afterwards.
func (r *Recycler) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		if size > len(b) {
			clear(b[len(b):size])
		}
		return b[:size]
	}
	to, used := r.take(size)
	if n := copy(to, b); used {
		clear(to[n:])
	}
	r.Free(b)
	return to
}

// Free takes back what Allocate or Reallocate returned, once. Memory of other
// origin is left to the collector where it can be told.
func (r *Recycler) Free(b []byte) {
	b = b[:cap(b)]
	size, limit := int64(len(b)), r.limit
	if limit == 0 {
		limit = recyclerLimit
	}
	if len(b) < leastRecycled || size > limit || blockSize(len(b)) != len(b) || !isAligned(b) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.free, func(f []byte) bool { return &f[0] == &b[0] }) {
		return // it is free already: given out twice, it would be two arrays
	}
	old := 0
	for ; len(r.free)-old == recycledBlocks || r.kept+size > limit; old++ {
		r.kept -= int64(len(r.free[old]))
	}
	r.free = append(slices.Delete(r.free, 0, old), b)
	r.kept += size
}

// blockSize rounds up to a number of which only the three highest bits may be
// set, so that results of about the same size share blocks and no block is a
// quarter longer than asked for.
func blockSize(n int) int {
	if n <= leastRecycled {
		return n
	}
	step := 1 << (bits.Len(uint(n-1)) - 3)
	return (n + step - 1) &^ (step - 1)
}
