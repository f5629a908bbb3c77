package arrowudf

import (
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// allocator hands out memory of an arrow allocator and remembers what is still
// its own, so that an evaluation that fails anywhere gives everything back. A
// slice becomes the caller's when buffer wraps it.
type allocator struct {
	mem  memory.Allocator
	mu   sync.Mutex
	live map[*byte][]byte
}

func newAllocator(mem memory.Allocator) *allocator {
	return &allocator{mem: mem, live: map[*byte][]byte{}}
}

// Allocate returns size bytes that may hold anything; nil for none.
func (a *allocator) Allocate(size int) []byte {
	if size == 0 {
		return nil
	}
	b := a.mem.Allocate(size)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[&b[0]] = b
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
	whole, ok := a.forget(b)
	if !ok {
		return memory.NewBufferBytes(b)
	}
	buf := memory.NewBufferWithAllocator(whole, a.mem)
	if len(b) == len(whole) {
		return buf
	}
	clear(whole[len(b):])
	part := memory.SliceBuffer(buf, 0, len(b))
	buf.Release()
	return part
}

func (a *allocator) forget(b []byte) ([]byte, bool) {
	if cap(b) == 0 {
		return nil, false
	}
	key := &b[:1][0]
	a.mu.Lock()
	defer a.mu.Unlock()
	whole, ok := a.live[key]
	if ok {
		delete(a.live, key)
	}
	return whole, ok
}

// close frees whatever was not wrapped.
func (a *allocator) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, b := range a.live {
		a.mem.Free(b)
		delete(a.live, key)
	}
}
