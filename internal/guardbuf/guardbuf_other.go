//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package guardbuf

import (
	"bytes"
	"testing"
)

// Guarded says that touching a byte outside a buffer faults. Here it does not:
// writes are found by Check, reads are not.
const Guarded = false

// Pair is one memory area with known bytes on both sides.
type Pair struct{ pages []byte }

const margin = 256

// New makes an area for buffers of up to size bytes.
func New(_ testing.TB, size int) *Pair { return &Pair{make([]byte, size+2*margin)} }

// Head is n bytes at the area's start; the bytes after them are Fill.
func (p *Pair) Head(n int) []byte {
	p.fill()
	return p.pages[margin : margin+n : margin+n]
}

// Tail is n bytes at the area's end; the bytes before them are Fill.
func (p *Pair) Tail(n int) []byte {
	p.fill()
	end := len(p.pages) - margin
	return p.pages[end-n : end : end]
}

func (p *Pair) fill() {
	for i := range p.pages {
		p.pages[i] = Fill
	}
}

// Check fails the test when a byte outside buf, the latest Head or Tail, was
// written.
func (p *Pair) Check(t testing.TB, buf []byte) {
	t.Helper()
	lo := margin
	if len(buf) > 0 && &buf[0] != &p.pages[margin] {
		lo = len(p.pages) - margin - len(buf)
	}
	outside := append(append([]byte(nil), p.pages[:lo]...), p.pages[lo+len(buf):]...)
	if bytes.Count(outside, []byte{Fill}) != len(outside) {
		t.Errorf("guardbuf: bytes beside a buffer of %d bytes were written", len(buf))
	}
}
