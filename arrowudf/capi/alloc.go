//go:build cgo

package main

// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"sync"
	"unsafe"

	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
)

// allocator is an arrow allocator of malloc's memory. What an evaluation leaves
// in such memory goes to C as it is: adopt takes a block off the books, and the
// release of the Go side does not free it any more.
type allocator struct {
	mu   sync.Mutex
	live map[unsafe.Pointer]struct{}
}

func newAllocator() *allocator { return &allocator{live: map[unsafe.Pointer]struct{}{}} }

// Allocate is size bytes that may hold anything. Without memory it panics, as
// arrow's allocators do; the evaluation returns that as an error.
func (a *allocator) Allocate(size int) []byte {
	if size == 0 {
		return nil
	}
	p := C.am_malloc(C.size_t(size))
	if p == nil {
		panic(cdata.ErrMemory)
	}
	a.mu.Lock()
	a.live[p] = struct{}{}
	a.mu.Unlock()
	return unsafe.Slice((*byte)(p), size)
}

// Reallocate moves the bytes to a block of another size.
func (a *allocator) Reallocate(size int, b []byte) []byte {
	if size == len(b) {
		return b
	}
	to := a.Allocate(size)
	copy(to, b)
	a.Free(b)
	return to
}

// Free gives a block back unless it was adopted.
func (a *allocator) Free(b []byte) {
	if a.adopt(b) {
		C.free(unsafe.Pointer(unsafe.SliceData(b)))
	}
}

// adopt takes the block that b begins off the books; false where b begins none.
func (a *allocator) adopt(b []byte) bool {
	p := unsafe.Pointer(unsafe.SliceData(b))
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.live[p]
	delete(a.live, p)
	return ok
}

// exporter is one that does not copy what a evaluated.
func (a *allocator) exporter() *cdata.Exporter {
	e := exporter
	e.Adopt = a.adopt
	return &e
}
