package kernels_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/guardbuf"
	"github.com/arrowmask/arrowmask/kernels"
)

// repeated is n times each of the lengths, one after the other.
func repeated(n int, lengths ...int) []int {
	var all []int
	for range n {
		all = append(all, lengths...)
	}
	return all
}

// TestPaddingBlock: rows of one length, 0 to 320, that end in a block of nothing
// but padding or do not, in batches that fill groups and leave some over; rows
// of that length beside others of as many blocks, so that a group holds both;
// and two lengths in turn.
func TestPaddingBlock(t *testing.T) {
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size, block := kernels.New(b), b.Alg.Size(), b.Alg.BlockSize()
		for n := range 321 {
			near := n - n%block + block - 1 - n%7
			for name, lengths := range map[string][]int{
				"equal":          repeated(35, n),
				"one differs":    append(repeated(17, n), n^1),
				"two in a group": repeated(9, n, near),
				"two by turns":   repeated(17, n, n/2),
			} {
				rows := messages(lengths...)
				col := offsets32(rows, n%3)
				diff(t, fmt.Sprintf("%d bytes, %s", n, name), size, sum(t, h, &col), want(b.Alg, nil, rows), rows)
			}
		}
	})
}

// TestPaddingBlockHMAC: the same with a key's block before each row.
func TestPaddingBlockHMAC(t *testing.T) {
	key := message(32, 1)
	backendtest.RunKeyed(t, func(t *testing.T, b *kernels.Backend) {
		h, plain := hmacOf(t, b, key), kernels.New(b)
		for n := range 260 {
			rows := messages(repeated(37, n)...)
			col := offsets32(rows, 0)
			what := fmt.Sprintf("%d bytes", n)
			diff(t, what, b.Alg.Size(), sum(t, h, &col), want(b.Alg, key, rows), rows)
			// The plain digest's last block has another length in it.
			diff(t, what+", plain", b.Alg.Size(), sum(t, plain, &col), want(b.Alg, nil, rows), rows)
		}
	})
}

// TestB04PaddingBlock: rows of one length, full groups of them, with nothing
// before the first and nothing behind the last.
func TestB04PaddingBlock(t *testing.T) {
	const longest, count = 300, 48
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		in, out := guardbuf.New(t, longest*count), guardbuf.New(t, count*size)
		for n := range longest + 1 {
			rows := messages(repeated(count, n)...)
			flat := bytes.Join(rows, nil)
			expect := want(b.Alg, nil, rows)
			for _, place := range []func(*guardbuf.Pair, int) []byte{(*guardbuf.Pair).Head, (*guardbuf.Pair).Tail} {
				data, dst := place(in, len(flat)), place(out, len(expect))
				copy(data, flat)
				col := kernels.FixedWidth(data, n, count)
				if err := h.Sum(dst, &col, 0, count); err != nil {
					t.Fatal(err)
				}
				diff(t, fmt.Sprintf("%d bytes, guarded", n), size, dst, expect, rows)
				out.Check(t, dst)
			}
		}
	})
}
