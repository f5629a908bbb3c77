package blake2b_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/blake2b"
	"github.com/arrowmask/arrowmask/internal/race"
	"github.com/arrowmask/arrowmask/kernels"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m)) }

// row is a message of n bytes.
func row(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(7*i + n)
	}
	return b
}

// column is rows one after the other.
func column(rows ...[]byte) *kernels.Column {
	offsets := []int32{0}
	for _, r := range rows {
		offsets = append(offsets, offsets[len(offsets)-1]+int32(len(r)))
	}
	col := kernels.Offsets32(bytes.Join(rows, nil), offsets)
	return &col
}

// count is n bytes that count up.
func count(from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from + i)
	}
	return b
}

var salt, person = count(1, blake2b.SaltSize), count(101, blake2b.SaltSize)

// TestPublished are digests without a salt: of RFC 7693's "abc" and of nothing,
// as b2sum -l 256 prints them.
func TestPublished(t *testing.T) {
	backendtest.RunBLAKE2b(t, func(t *testing.T, b *blake2b.Backend) {
		dst := make([]byte, 2*blake2b.Size)
		b.Sum(blake2b.Begin(nil, nil), dst, column(nil, []byte("abc")), 0, 2)
		const want = "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" +
			"bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"
		if got := hex.EncodeToString(dst); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestEveryLength: the digests of rows of 0 to 599 bytes, all hashed together,
// against Python's hashlib:
//
//	h = hashlib.sha256()
//	for n in range(600):
//	    row = bytes((7*i + n) % 256 for i in range(n))
//	    h.update(hashlib.blake2b(row, digest_size=32, salt=salt, person=person).digest())
func TestEveryLength(t *testing.T) {
	var rows [][]byte
	for n := range 600 {
		rows = append(rows, row(n))
	}
	for _, c := range []struct {
		salt, person []byte
		want         string
	}{
		{nil, nil, "060ebd1460a3e1080bc3909087914a2063020fa6a71b846e978cafbaa13c52bc"},
		{salt, nil, "b00661bce05ed02de7c632433de636833668a155e4c54d21d99e847c4eb01504"},
		{nil, salt, "f3f8970e75f78179458c7b66b67102ebaa92a24818eec2d372431932f4408cf3"},
		{salt, person, "7bd9ff1b905f907b3261841a73ec342485e5576e2d75810c25e6d7a324a73baa"},
	} {
		backendtest.RunBLAKE2b(t, func(t *testing.T, b *blake2b.Backend) {
			dst := make([]byte, len(rows)*blake2b.Size)
			b.Sum(blake2b.Begin(c.salt, c.person), dst, column(rows...), 0, len(rows))
			if got := fmt.Sprintf("%x", sha256.Sum256(dst)); got != c.want {
				t.Errorf("salt %x, personalisation %x: %s, want %s", c.salt, c.person, got, c.want)
			}
		})
	}
}

// TestAnyCompany: a row's digest does not depend on what is hashed beside it:
// any number of rows of any lengths in any order, many at a block's edge.
func TestAnyCompany(t *testing.T) {
	const longest = 5*128 + 1
	alone := make([][]byte, longest+1)
	begin := blake2b.Begin(salt, nil)
	for n := range alone {
		alone[n] = make([]byte, blake2b.Size)
		for _, b := range blake2b.All() {
			if b.Name == "generic" {
				b.Sum(begin, alone[n], column(row(n)), 0, 1)
			}
		}
	}
	backendtest.RunBLAKE2b(t, func(t *testing.T, b *blake2b.Backend) {
		rng := rand.New(rand.NewPCG(1, 1))
		for range 300 {
			rows, want := [][]byte{}, []byte{}
			for range rng.IntN(40) {
				n := rng.IntN(longest + 1)
				if rng.IntN(2) == 0 {
					n = min(longest, max(0, 128*rng.IntN(6)+rng.IntN(3)-1))
				}
				rows, want = append(rows, row(n)), append(want, alone[n]...)
			}
			lo := rng.IntN(len(rows) + 1)
			hi := lo + rng.IntN(len(rows)-lo+1)
			dst := bytes.Repeat([]byte{0xee}, (hi-lo)*blake2b.Size+100)
			b.Sum(begin, dst, column(rows...), lo, hi)
			if got := dst[:(hi-lo)*blake2b.Size]; !bytes.Equal(got, want[lo*blake2b.Size:hi*blake2b.Size]) {
				t.Fatalf("rows %d to %d of %d: %x, want %x", lo, hi, len(rows), got, want)
			}
			if rest := dst[(hi-lo)*blake2b.Size:]; !bytes.Equal(rest, bytes.Repeat([]byte{0xee}, 100)) {
				t.Fatalf("rows %d to %d: bytes after the digests were written", lo, hi)
			}
		}
	})
}

// TestGoroutines: one state serves any number of them.
func TestGoroutines(t *testing.T) {
	var rows [][]byte
	for n := range 400 {
		rows = append(rows, row(n))
	}
	backendtest.RunBLAKE2b(t, func(t *testing.T, b *blake2b.Backend) {
		begin, col := blake2b.Begin(salt, nil), column(rows...)
		want := make([]byte, len(rows)*blake2b.Size)
		b.Sum(begin, want, col, 0, len(rows))
		got := make([]byte, len(want))
		var wg sync.WaitGroup
		for lo := 0; lo < len(rows); lo += 100 {
			wg.Go(func() { b.Sum(begin, got[lo*blake2b.Size:], col, lo, lo+100) })
		}
		wg.Wait()
		if !bytes.Equal(got, want) {
			t.Error("four goroutines differ from one")
		}
	})
}

func TestNoAllocation(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	rows := [][]byte{}
	for n := range 300 {
		rows = append(rows, row(n))
	}
	backendtest.RunBLAKE2b(t, func(t *testing.T, b *blake2b.Backend) {
		begin, col, dst := blake2b.Begin(salt, nil), column(rows...), make([]byte, len(rows)*blake2b.Size)
		if n := testing.AllocsPerRun(50, func() { b.Sum(begin, dst, col, 0, len(rows)) }); n != 0 {
			t.Errorf("%v allocations a call", n)
		}
	})
}

// FuzzRows cuts data into rows at its bytes of value 0 and compares every backend
// with the portable one.
func FuzzRows(f *testing.F) {
	f.Add([]byte(nil), []byte("0123456789abcdef"))
	f.Add(bytes.Repeat([]byte{1, 2, 3, 0}, 100), []byte("0123456789abcdef"))
	f.Add(append(bytes.Repeat([]byte{9}, 128), append([]byte{0}, bytes.Repeat([]byte{8}, 129)...)...), []byte("sixteen bytes!!!"))
	f.Fuzz(func(t *testing.T, data, salt []byte) {
		if len(salt) < blake2b.SaltSize {
			return
		}
		rows := bytes.Split(data, []byte{0})
		begin, col := blake2b.Begin(salt, nil), column(rows...)
		var all [][]byte
		for _, b := range blake2b.All() {
			if b.Available() {
				dst := make([]byte, len(rows)*blake2b.Size)
				b.Sum(begin, dst, col, 0, len(rows))
				all = append(all, dst)
			}
		}
		for _, got := range all[1:] {
			if !bytes.Equal(got, all[0]) {
				t.Fatalf("%d rows: backends differ", len(rows))
			}
		}
	})
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{8, 36, 128, 1024} {
		rows := make([][]byte, 512)
		for i := range rows {
			rows[i] = row(n)
		}
		begin, col, dst := blake2b.Begin(salt, nil), column(rows...), make([]byte, len(rows)*blake2b.Size)
		for _, backend := range blake2b.All() {
			b.Run(fmt.Sprintf("backend=%s/rows=512/len=%d", backend.Name, n), func(b *testing.B) {
				if !backend.Available() {
					b.Skip("needs " + backend.Needs.String())
				}
				b.SetBytes(int64(len(rows) * n))
				b.ReportAllocs()
				for b.Loop() {
					backend.Sum(begin, dst, col, 0, len(rows))
				}
				b.ReportMetric(float64(b.N)*float64(len(rows))/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
