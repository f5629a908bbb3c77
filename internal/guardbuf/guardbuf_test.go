package guardbuf

import (
	"runtime/debug"
	"testing"
	"unsafe"
)

// at is the byte i places from the start of b, inside it or not.
func at(b []byte, i int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) }

func faults(f func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() != nil }()
	f()
	return false
}

var sink byte

// TestGuards touches the byte before and the byte after.
func TestGuards(t *testing.T) {
	if !Guarded {
		t.Skip("no guard pages on this system")
	}
	p := New(t, 5000)
	for _, n := range []int{0, 1, 4096, 5000} {
		head, tail := p.Head(n), p.Tail(n)
		if len(head) != n || cap(head) != n || len(tail) != n || cap(tail) != n {
			t.Errorf("%d bytes: lengths %d and %d, room %d and %d", n, len(head), len(tail), cap(head), cap(tail))
		}
		if n > 0 {
			for _, b := range [][]byte{head, tail} {
				if faults(func() { sink = b[0]; b[n-1] = 1 }) {
					t.Errorf("%d bytes: the buffer itself faults", n)
				}
			}
			if !faults(func() { sink = *at(head, -1) }) || !faults(func() { *at(head, -1) = 0 }) {
				t.Errorf("%d bytes: the byte before can be touched", n)
			}
			if !faults(func() { sink = *at(tail, n) }) || !faults(func() { *at(tail, n) = 0 }) {
				t.Errorf("%d bytes: the byte after can be touched", n)
			}
		}
	}
}

// spy catches what Check says.
type spy struct {
	testing.TB
	failed bool
}

func (s *spy) Helper()               {}
func (s *spy) Errorf(string, ...any) { s.failed = true }

func TestCheck(t *testing.T) {
	p := New(t, 100)
	for _, c := range []struct {
		name    string
		buf     []byte
		outside int // offset of a byte that shares the pages
	}{
		{"head", p.Head(10), 10}, {"tail", p.Tail(10), -1},
	} {
		buf := c.buf
		p.fill()
		clear(buf)
		s := &spy{TB: t}
		if p.Check(s, buf); s.failed {
			t.Errorf("%s: an untouched margin was reported", c.name)
		}
		*at(buf, c.outside) = 0
		if p.Check(s, buf); !s.failed {
			t.Errorf("%s: a written margin was not reported", c.name)
		}
	}
}
