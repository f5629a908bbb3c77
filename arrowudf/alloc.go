package arrowudf

import (
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// allocator hands out memory of an arrow allocator and remembers what is still
// its own, so that an evaluation that fails anywhere gives everything back. A
// slice becomes the caller's when buffer wraps it.
type allocator struct {
	mem  memory.Allocator
	mu   sync.Mutex
	live [][]byte // a handful: the buffers of one result
}

// Allocate returns size bytes that may hold anything; nil for none.
func (a *allocator) Allocate(size int) []byte {
	if size == 0 {
		return nil
	}
	var b []byte
	if r, ok := a.mem.(*Recycler); ok {
		b, _ = r.take(size)
	} else {
		b = a.mem.Allocate(size)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live = append(a.live, b)
	return b
}

// Free gives one slice back early.
func (a *allocator) Free(b []byte) {
	if whole, ok := a.forget(b); ok {
		a.mem.Free(whole)
	}
}

// zeroed is Allocate with every byte 0.
func (a *allocator) zeroed(size int) []byte {
	b := a.Allocate(size)
	clear(b)
	return b
}

// buffer wraps b, which begins a slice that Allocate returned, or is any slice
// of the Go heap. Bytes of the allocation after b are zeroed: nobody wrote
// them, so they may be anybody's. The caller owns the reference.
func (a *allocator) buffer(b []byte) *memory.Buffer {
	buf := a.bufferValue(b)
	return &buf
}

// bufferValue is buffer for a place that the caller has.
func (a *allocator) bufferValue(b []byte) memory.Buffer {
	whole, ok := a.forget(b)
	if !ok {
		return *memory.NewBufferBytes(b)
	}
	if len(b) == len(whole) {
		return *memory.NewBufferWithAllocator(whole, a.mem)
	}
	clear(whole[len(b):])
	buf := memory.NewBufferWithAllocator(whole, a.mem)
	defer buf.Release()
	return *memory.SliceBuffer(buf, 0, len(b))
}

func (a *allocator) forget(b []byte) ([]byte, bool) {
	if cap(b) == 0 {
		return nil, false
	}
	first := &b[:1][0]
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, whole := range a.live {
		if &whole[0] == first {
			a.live = slices.Delete(a.live, i, i+1)
			return whole, true
		}
	}
	return nil, false
}

// close frees whatever was not wrapped.
func (a *allocator) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.live {
		a.mem.Free(b)
	}
	clear(a.live)
	a.live = a.live[:0]
}
