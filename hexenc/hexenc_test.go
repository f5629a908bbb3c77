package hexenc_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/guardbuf"
	"github.com/arrowmask/arrowmask/internal/race"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m)) }

// TestEveryByte holds the encoding to its definition, without another encoder.
func TestEveryByte(t *testing.T) {
	backendtest.RunHex(t, func(t *testing.T, b *hexenc.Backend) {
		src := make([]byte, 256)
		var want strings.Builder
		for i := range src {
			src[i] = byte(i)
			fmt.Fprintf(&want, "%02x", i)
		}
		dst := make([]byte, 512)
		b.Lower(dst, src)
		if string(dst) != want.String() {
			t.Errorf("lower: %s", dst)
		}
		b.Upper(dst, src)
		if string(dst) != strings.ToUpper(want.String()) {
			t.Errorf("upper: %s", dst)
		}
	})
}

// TestLengths compares with encoding/hex for every length, with source and
// destination against either guard page.
func TestLengths(t *testing.T) {
	backendtest.RunHex(t, func(t *testing.T, b *hexenc.Backend) {
		const longest = 300
		in, out := guardbuf.New(t, longest), guardbuf.New(t, 2*longest)
		for n := range longest + 1 {
			for _, place := range []func(*guardbuf.Pair, int) []byte{(*guardbuf.Pair).Head, (*guardbuf.Pair).Tail} {
				src, dst := place(in, n), place(out, 2*n)
				for i := range src {
					src[i] = byte(i*131 + n)
				}
				want := hex.EncodeToString(src)
				b.Lower(dst, src)
				if string(dst) != want {
					t.Fatalf("lower, %d bytes: %s, want %s", n, dst, want)
				}
				b.Upper(dst, src)
				if string(dst) != strings.ToUpper(want) {
					t.Fatalf("upper, %d bytes: %s, want %s", n, dst, strings.ToUpper(want))
				}
				out.Check(t, dst)
			}
		}
	})
}

func TestAlignment(t *testing.T) {
	backendtest.RunHex(t, func(t *testing.T, b *hexenc.Backend) {
		src, dst := make([]byte, 64+64), make([]byte, 64+128)
		for i := range src {
			src[i] = byte(i * 7)
		}
		for s := range 64 {
			for d := range 64 {
				b.Lower(dst[d:], src[s:s+32])
				if got, want := string(dst[d:d+64]), hex.EncodeToString(src[s:s+32]); got != want {
					t.Fatalf("source at %d, destination at %d: %s, want %s", s, d, got, want)
				}
			}
		}
	})
}

// TestShortDestination: a destination that is too short is refused before the
// first byte.
func TestShortDestination(t *testing.T) {
	backendtest.RunHex(t, func(t *testing.T, b *hexenc.Backend) {
		dst := make([]byte, 63, 64)
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
			for _, c := range dst {
				if c != 0 {
					t.Fatal("bytes were written")
				}
			}
		}()
		b.Lower(dst, make([]byte, 32))
	})
}

func TestLongerDestinationKeepsItsEnd(t *testing.T) {
	dst := []byte("............")
	hexenc.Lower(dst, []byte{0xab, 0xcd})
	if string(dst) != "abcd........" {
		t.Errorf("lower: %q", dst)
	}
	hexenc.Upper(dst, []byte{0xab})
	if string(dst) != "ABcd........" {
		t.Errorf("upper: %q", dst)
	}
}

func TestNoAllocation(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	backendtest.RunHex(t, func(t *testing.T, b *hexenc.Backend) {
		src, dst := make([]byte, 512*32), make([]byte, 512*64)
		if n := testing.AllocsPerRun(100, func() { b.Lower(dst, src); b.Upper(dst, src) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func FuzzHex(f *testing.F) {
	for _, n := range []int{0, 1, 3, 4, 5, 16, 33} {
		f.Add(make([]byte, n))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		want := hex.EncodeToString(src)
		dst := make([]byte, 2*len(src))
		for _, b := range hexenc.All() {
			if !b.Available() {
				continue
			}
			if b.Lower(dst, src); string(dst) != want {
				t.Errorf("%s, lower: %s, want %s", b.Name, dst, want)
			}
			if b.Upper(dst, src); string(dst) != strings.ToUpper(want) {
				t.Errorf("%s, upper: %s, want the upper case of %s", b.Name, dst, want)
			}
		}
	})
}

// BenchmarkHex encodes 512 digests a call; bytes are those of the output.
func BenchmarkHex(b *testing.B) {
	for _, width := range []int{16, 20, 32, 64} {
		src, dst := make([]byte, 512*width), make([]byte, 1024*width)
		run := func(name string, encode func(dst, src []byte)) {
			b.Run(fmt.Sprintf("backend=%s/width=%d", name, width), func(b *testing.B) {
				b.SetBytes(int64(len(dst)))
				b.ReportAllocs()
				for b.Loop() {
					encode(dst, src)
				}
			})
		}
		for _, h := range hexenc.All() {
			if h.Available() {
				run(h.Name, h.Lower)
			}
		}
		run("encoding/hex", func(dst, src []byte) { hex.Encode(dst, src) })
	}
}
