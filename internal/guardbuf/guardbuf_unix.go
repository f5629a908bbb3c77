//go:build linux || darwin || freebsd || netbsd || openbsd

package guardbuf

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
)

// Guarded says that touching a byte outside a buffer faults.
const Guarded = true

// Pair is one memory area between two pages that cannot be read or written.
type Pair struct {
	pages []byte // those that can be, in the middle
}

// New maps an area for buffers of up to size bytes; the test unmaps it.
func New(t testing.TB, size int) *Pair {
	t.Helper()
	page := unix.Getpagesize()
	inside := max((size+page-1)/page, 1) * page
	all, err := unix.Mmap(-1, 0, inside+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("guardbuf: mmap: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Errorf("guardbuf: munmap: %v", err)
		}
	})
	for _, guard := range [][]byte{all[:page], all[page+inside:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatalf("guardbuf: mprotect: %v", err)
		}
	}
	return &Pair{all[page : page+inside : page+inside]}
}

// Head is n bytes right behind the lower guard; the bytes after them are Fill.
func (p *Pair) Head(n int) []byte {
	p.fill()
	return p.pages[:n:n]
}

// Tail is n bytes right before the upper guard; the bytes before them are Fill.
func (p *Pair) Tail(n int) []byte {
	p.fill()
	return p.pages[len(p.pages)-n:]
}

func (p *Pair) fill() {
	for i := range p.pages {
		p.pages[i] = Fill
	}
}

// Check fails the test when a byte that shares the pages of buf, the latest
// Head or Tail, but lies outside it was written.
func (p *Pair) Check(t testing.TB, buf []byte) {
	t.Helper()
	var outside []byte
	switch {
	case len(buf) > 0 && &buf[0] == &p.pages[0]:
		outside = p.pages[len(buf):]
	default:
		outside = p.pages[:len(p.pages)-len(buf)]
	}
	if bytes.Count(outside, []byte{Fill}) != len(outside) {
		t.Errorf("guardbuf: bytes beside a buffer of %d bytes were written", len(buf))
	}
}
