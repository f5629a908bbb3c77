package kernels_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/guardbuf"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestLengths compares with the standard library for every length from 0 to
// 300 in one batch, ascending, descending and alone, and in every layout.
func TestLengths(t *testing.T) {
	rows := messages(upTo(300)...)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		expect := want(b.Alg, nil, rows)
		for name, col := range layouts(rows) {
			diff(t, name, size, sum(t, h, &col), expect, rows)
		}
		col := offsets32(rows, 1)
		one := make([]byte, size)
		for i := range rows {
			if err := h.Sum(one, &col, i, i+1); err != nil {
				t.Fatal(err)
			}
			diff(t, "alone", size, one, expect[i*size:(i+1)*size], rows[i:i+1])
		}
	})
}

// TestEqualLengths fills every lane with rows of one length, by offsets and as
// fixed width, in batches of 0 to 33 rows.
func TestEqualLengths(t *testing.T) {
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		for _, n := range append(boundaries, 1000, 4096) {
			lengths := make([]int, 33)
			for i := range lengths {
				lengths[i] = n
			}
			rows := messages(lengths...)
			expect := want(b.Alg, nil, rows)
			for _, count := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33} {
				for _, col := range []kernels.Column{
					offsets32(rows[:count], count),
					kernels.FixedWidth(bytes.Join(rows[:count], nil), n, count),
				} {
					what := fmt.Sprintf("%d rows of %d bytes", count, n)
					diff(t, what, size, sum(t, h, &col), expect[:count*size], rows)
				}
			}
		}
	})
}

// TestB04RaggedLanes: rows of mixed lengths, few long ones among short ones,
// rows without bytes between others, and the same message in all lanes.
func TestB04RaggedLanes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mixed := make([]int, 1000)
	for i := range mixed {
		mixed[i] = boundaries[random.IntN(len(boundaries))]
	}
	patterns := map[string][]int{
		"one of sixteen is active": {0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"odd ones are active":      {0, 90, 0, 91, 0, 92, 0, 93, 0, 94, 0, 95, 0, 96, 0, 97},
		"seventeen":                {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
		"thirty-one":               upTo(30),
		"boundaries":               boundaries,
		"one long":                 {3, 3, 3, 70000, 3, 3, 3, 3, 3, 3, 3, 3},
		"long ones at the ends":    append(append([]int{5000}, make([]int, 40)...), 9000),
		"mixed":                    mixed,
	}
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		for name, lengths := range patterns {
			rows := messages(lengths...)
			expect := want(b.Alg, nil, rows)
			for layout, col := range layouts(rows) {
				diff(t, name+", "+layout, size, sum(t, h, &col), expect, rows)
			}
		}
		same := bytes.Split(bytes.Repeat([]byte("the same in all lanes,"), 64), []byte(","))
		col := offsets32(same, 0)
		diff(t, "same", size, sum(t, h, &col), want(b.Alg, nil, same), same)
	})
}

// TestB04LongRows: lengths around 1 KiB, 4 KiB and 64 KiB beside short rows.
func TestB04LongRows(t *testing.T) {
	rows := messages(1023, 7, 1024, 1025, 0, 4095, 4096, 4097, 32, 65535, 65536, 65537, 1)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		expect := want(b.Alg, nil, rows)
		for name, col := range layouts(rows) {
			diff(t, name, b.Alg.Size(), sum(t, kernels.New(b), &col), expect, rows)
		}
	})
}

// TestB04Alignment puts rows and digests at every address modulo 64.
func TestB04Alignment(t *testing.T) {
	rows := messages(0, 1, 31, 32, 33, 55, 56, 64, 100, 120, 128, 200)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		expect := want(b.Alg, nil, rows)
		dst := make([]byte, 64+len(expect))
		for at := range 64 {
			col := offsets32(rows, at)
			out := dst[at:][:len(expect)]
			if err := h.Sum(out, &col, 0, col.Len()); err != nil {
				t.Fatal(err)
			}
			diff(t, fmt.Sprintf("at %d", at), size, out, expect, rows)
		}
	})
}

// TestB04GuardPages: for every length a batch whose data ends, then begins, at
// a page that cannot be read, and whose digests do at one that cannot be
// written.
func TestB04GuardPages(t *testing.T) {
	if !guardbuf.Guarded {
		t.Log("no guard pages on this system: only writes are checked")
	}
	const longest, count = 256, 19
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		in, out := guardbuf.New(t, longest*count), guardbuf.New(t, count*size)
		for n := range longest + 1 {
			// One row, a few, many, and a ragged batch that ends in a row of n bytes.
			for _, lengths := range [][]int{{n}, {n, n, n}, {n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n}, {256, 0, 1, n / 2, n}} {
				rows := messages(lengths...)
				flat := bytes.Join(rows, nil)
				expect := want(b.Alg, nil, rows)
				for _, place := range []func(*guardbuf.Pair, int) []byte{(*guardbuf.Pair).Head, (*guardbuf.Pair).Tail} {
					data, dst := place(in, len(flat)), place(out, len(expect))
					copy(data, flat)
					offsets := []int32{0}
					for _, r := range rows {
						offsets = append(offsets, offsets[len(offsets)-1]+int32(len(r)))
					}
					for _, col := range []kernels.Column{
						kernels.Offsets32(data, offsets),
						kernels.Offsets32(data, offsets).Select(firstRows(len(rows))),
					} {
						if err := h.Sum(dst, &col, 0, len(rows)); err != nil {
							t.Fatal(err)
						}
						diff(t, "guarded", size, dst, expect, rows)
						out.Check(t, dst)
					}
				}
			}
		}
	})
}

// TestB07Counters: lengths where a counter of 16 bits would wrap; SHA-256 of
// '0' repeated begins as published with the fault.
func TestB07Counters(t *testing.T) {
	rows := [][]byte{
		[]byte(strings.Repeat("0", 65535)), []byte(strings.Repeat("0", 65536)), []byte(strings.Repeat("0", 65537)),
	}
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		col := offsets64(rows, 0)
		got := sum(t, kernels.New(b), &col)
		diff(t, "65,536", b.Alg.Size(), got, want(b.Alg, nil, rows), rows)
		if b.Alg == kernels.SHA256 {
			if begin := fmt.Sprintf("%x %x", got[32:36], got[64:68]); begin != "34dd6758 59732891" {
				t.Errorf("digests begin %s", begin)
			}
		}
	})
}

// TestB27FirstOffset: the values of a slice begin where its offsets say, not at
// the start of the data.
func TestB27FirstOffset(t *testing.T) {
	data := []byte("skip!fiveBsixBsx")
	rows := [][]byte{data[5:9], data[9:15]}
	whole := kernels.Offsets32(data, []int32{0, 5, 9, 15})
	for _, col := range []kernels.Column{
		kernels.Offsets32(data, []int32{5, 9, 15}),
		kernels.Offsets64(data, []int64{5, 9, 15}),
	} {
		if err := col.Validate(); err != nil {
			t.Fatal(err)
		}
		backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
			h, size := kernels.New(b), b.Alg.Size()
			expect := want(b.Alg, nil, rows)
			diff(t, "slice", size, sum(t, h, &col), expect, rows)
			part := make([]byte, 2*size)
			if err := h.Sum(part, &whole, 1, 3); err != nil {
				t.Fatal(err)
			}
			diff(t, "range of the whole", size, part, expect, rows)
		})
	}
}

// TestRanges: any split of the rows gives the same digests.
func TestRanges(t *testing.T) {
	rows := messages(append(upTo(80), boundaries...)...)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		expect := want(b.Alg, nil, rows)
		for name, col := range layouts(rows) {
			for _, step := range []int{1, 2, 7, 31, len(rows)} {
				got := make([]byte, len(expect))
				for lo := 0; lo < len(rows); lo += step {
					hi := min(lo+step, len(rows))
					if err := h.Sum(got[lo*size:], &col, lo, hi); err != nil {
						t.Fatal(err)
					}
				}
				diff(t, fmt.Sprintf("%s by %d", name, step), size, got, expect, rows)
			}
		}
	})
}

// TestOutputEndsWhereRowsEnd: bytes of dst past the digests are left alone,
// and no rows write nothing.
func TestOutputEndsWhereRowsEnd(t *testing.T) {
	rows := messages(3, 40, 70)
	col := offsets32(rows, 0)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		for n := range len(rows) + 1 {
			dst := bytes.Repeat([]byte{0xA5}, 4*size)
			if err := h.Sum(dst, &col, 0, n); err != nil {
				t.Fatal(err)
			}
			if rest := dst[n*size:]; bytes.Count(rest, []byte{0xA5}) != len(rest) {
				t.Errorf("%d rows wrote past their digests", n)
			}
		}
		if err := h.Sum(nil, &col, 1, 1); err != nil {
			t.Errorf("no rows into no buffer: %v", err)
		}
	})
}
