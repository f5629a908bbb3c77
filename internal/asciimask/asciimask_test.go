package asciimask_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/internal/asciimask"
	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/guardbuf"
	"github.com/arrowmask/arrowmask/internal/race"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m)) }

// reps are the replacements of a mask: upper, lower, digit, other.
type reps [4]rune

const keep = asciimask.Keep

// masks cover every class kept and replaced, NUL and DEL as replacements, and
// replacements that are themselves of a class.
var masks = []reps{
	{'X', 'x', 'n', keep},
	{keep, keep, keep, keep},
	{'*', '*', '*', '*'},
	{keep, 'x', keep, '.'},
	{'A', keep, '9', 0},
	{0x7f, 'Z', keep, keep},
	{keep, keep, '0', ' '},
}

func newMask(t testing.TB, r reps) *asciimask.Mask {
	t.Helper()
	m, ok := asciimask.New(r[0], r[1], r[2], r[3])
	if !ok {
		t.Fatalf("no mask of %q", r)
	}
	return m
}

// naive masks byte by byte, by the classes that Go's own tables give.
func naive(r reps, src []byte) []byte {
	var out []byte
	for _, b := range src {
		if b >= utf8.RuneSelf {
			break
		}
		rep := r[3]
		switch c := rune(b); {
		case unicode.IsUpper(c):
			rep = r[0]
		case unicode.IsLower(c):
			rep = r[1]
		case unicode.IsDigit(c):
			rep = r[2]
		}
		if rep == keep {
			rep = rune(b)
		}
		out = append(out, byte(rep))
	}
	return out
}

// TestEveryByte puts each byte value at each place of two wide registers.
func TestEveryByte(t *testing.T) {
	backendtest.RunASCIIMask(t, func(t *testing.T, b *asciimask.Backend) {
		for _, r := range masks {
			m := newMask(t, r)
			src, dst := make([]byte, 128), make([]byte, 128)
			for place := range src {
				for value := range 256 {
					for i := range src {
						src[i] = "aZ5-"[i%4]
					}
					src[place] = byte(value)
					clear(dst)
					check(t, b, r, m, dst, src)
				}
			}
		}
	})
}

// check applies the mask and compares with the naive loop; of dst nothing else
// may have changed.
func check(t *testing.T, b *asciimask.Backend, r reps, m *asciimask.Mask, dst, src []byte) {
	t.Helper()
	want := naive(r, src)
	want = want[:min(len(want), len(dst))]
	rest := bytes.Clone(dst[len(want):])
	if n := b.Apply(m, dst, src); n != len(want) {
		t.Fatalf("mask %q of %q: %d bytes, want %d", r, src, n, len(want))
	}
	if !bytes.Equal(dst[:len(want)], want) {
		t.Fatalf("mask %q of %q: %q, want %q", r, src, dst[:len(want)], want)
	}
	if !bytes.Equal(dst[len(want):], rest) {
		t.Fatalf("mask %q of %q: bytes after the %d of the answer were written", r, src, len(want))
	}
}

// TestLengths takes every length with source and destination against either
// guard page, all ASCII and with a byte that is not at every place.
func TestLengths(t *testing.T) {
	backendtest.RunASCIIMask(t, func(t *testing.T, b *asciimask.Backend) {
		const longest = 300
		in, out := guardbuf.New(t, longest), guardbuf.New(t, longest)
		m := newMask(t, masks[0])
		for n := range longest + 1 {
			for _, place := range []func(*guardbuf.Pair, int) []byte{(*guardbuf.Pair).Head, (*guardbuf.Pair).Tail} {
				src, dst := place(in, n), place(out, n)
				for i := range src {
					src[i] = byte(i*131+n) & 0x7f
				}
				check(t, b, masks[0], m, dst, src)
				out.Check(t, dst)
				for stop := range src {
					was := src[stop]
					src[stop] |= 0x80
					clear(dst)
					check(t, b, masks[0], m, dst, src)
					src[stop] = was
				}
				out.Check(t, dst)
			}
		}
	})
}

func TestAlignment(t *testing.T) {
	backendtest.RunASCIIMask(t, func(t *testing.T, b *asciimask.Backend) {
		m := newMask(t, masks[3])
		src, dst := make([]byte, 64+200), make([]byte, 64+200)
		for i := range src {
			src[i] = byte(i*7) & 0x7f
		}
		for s := range 64 {
			for d := range 64 {
				clear(dst)
				check(t, b, masks[3], m, dst[d:d+200], src[s:s+200])
			}
		}
	})
}

// TestShorterOfTheTwo: the shorter of source and destination ends the work,
// and room beyond the length of dst does not count.
func TestShorterOfTheTwo(t *testing.T) {
	backendtest.RunASCIIMask(t, func(t *testing.T, b *asciimask.Backend) {
		m := newMask(t, masks[0])
		src := bytes.Repeat([]byte("Ab1-"), 50)
		for _, sizes := range [][2]int{{0, 200}, {200, 0}, {1, 200}, {63, 200}, {100, 65}, {65, 100}, {200, 199}} {
			room := make([]byte, 200)
			check(t, b, masks[0], m, room[:sizes[0]], src[:sizes[1]])
			if n := min(sizes[0], sizes[1]); !bytes.Equal(room[n:], make([]byte, 200-n)) {
				t.Errorf("%d bytes to %d: the room behind was written", sizes[1], sizes[0])
			}
		}
	})
}

// TestLongerThanACall crosses the bound of one assembly call.
func TestLongerThanACall(t *testing.T) {
	backendtest.RunASCIIMask(t, func(t *testing.T, b *asciimask.Backend) {
		m := newMask(t, masks[0])
		const call = 256 << 10
		src := bytes.Repeat([]byte("Ab1-zZ09"), 2*call/8+16)
		dst := make([]byte, len(src))
		for _, n := range []int{call - 1, call, call + 1, call + 31, call + 40, 2*call + 100} {
			clear(dst)
			check(t, b, masks[0], m, dst[:n], src[:n])
		}
		for _, stop := range []int{call - 1, call, call + 1, 2 * call} {
			src[stop] |= 0x80
			clear(dst)
			check(t, b, masks[0], m, dst, src)
			src[stop] &= 0x7f
		}
	})
}

func TestNewRefusesWhatIsNotASCII(t *testing.T) {
	for _, r := range []rune{0x80, 'é', -2, unicode.MaxRune} {
		for at := range 4 {
			c := reps{'X', 'x', 'n', keep}
			c[at] = r
			if _, ok := asciimask.New(c[0], c[1], c[2], c[3]); ok {
				t.Errorf("%q: a mask was made", c)
			}
		}
	}
}

func TestTable(t *testing.T) {
	for _, r := range masks {
		m := newMask(t, r)
		for b := range utf8.RuneSelf {
			if got, want := m.Table()[b], naive(r, []byte{byte(b)})[0]; got != want {
				t.Errorf("mask %q of %q: %q, want %q", r, b, got, want)
			}
		}
	}
}

func TestActiveIsBestAvailable(t *testing.T) {
	for _, b := range asciimask.All() {
		if b.Available() {
			if asciimask.Active() != b {
				t.Errorf("active is %s, best available is %s", asciimask.Active().Name, b.Name)
			}
			return
		}
	}
	t.Error("no backend available")
}

func TestNoAllocation(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	backendtest.RunASCIIMask(t, func(t *testing.T, b *asciimask.Backend) {
		m := newMask(t, masks[0])
		src, dst := make([]byte, 1000), make([]byte, 1000)
		if n := testing.AllocsPerRun(100, func() { b.Apply(m, dst, src) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("Plain text, 40 bytes and a few more 0123456789"), uint8(0))
	f.Add(append(bytes.Repeat([]byte("a"), 100), 0xff, 'a'), uint8(1))
	f.Fuzz(func(t *testing.T, src []byte, which uint8) {
		r := masks[int(which)%len(masks)]
		m := newMask(t, r)
		want := naive(r, src)
		for _, b := range asciimask.All() {
			if !b.Available() {
				continue
			}
			dst := make([]byte, len(src))
			if n := b.Apply(m, dst, src); n != len(want) || !bytes.Equal(dst[:n], want) {
				t.Errorf("%s: mask %q of %q: %q, want %q", b.Name, r, src, dst[:n], want)
			}
		}
	})
}

// BenchmarkApply masks buffers of ASCII; copy is the bound.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{8, 25, 16 << 10, 16 << 20} {
		src, dst := bytes.Repeat([]byte("Ab1-"), size/4+1)[:size], make([]byte, size)
		m := newMask(b, masks[0])
		run := func(name string, apply func(m *asciimask.Mask, dst, src []byte) int) {
			b.Run(fmt.Sprintf("size=%d/backend=%s", size, name), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					apply(m, dst, src)
				}
			})
		}
		for _, backend := range asciimask.All() {
			if backend.Available() {
				run(backend.Name, backend.Apply)
			}
		}
		run("copy", func(_ *asciimask.Mask, dst, src []byte) int { return copy(dst, src) })
	}
}
