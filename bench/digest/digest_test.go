package digest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/bench/column"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestCells: each cell is there once, and the quick ones are among them.
func TestCells(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cells() {
		seen[fmt.Sprint(c.keys())] = true
	}
	if want := 4 * 2 * 10 * 2; len(seen) != want || len(cells()) != want {
		t.Errorf("%d cells, %d of them different, want %d", len(cells()), len(seen), want)
	}
	for _, c := range quickCells() {
		if !seen[fmt.Sprint(c.keys())] {
			t.Errorf("%v is in the quick run only", c.keys())
		}
	}
}

// TestSizes: whole batches, and a million rows where they are short.
func TestSizes(t *testing.T) {
	for _, c := range cells() {
		rows, batch := c.size(false)
		if rows%batch != 0 || rows/batch < 4 {
			t.Errorf("%v: %d rows in batches of %d", c.keys(), rows, batch)
		}
		if c.length <= 64 && rows != 1<<20 {
			t.Errorf("%v: %d rows", c.keys(), rows)
		}
		if rows, batch := c.size(true); rows%batch != 0 || rows < batch {
			t.Errorf("%v quick: %d rows in batches of %d", c.keys(), rows, batch)
		}
	}
}

func TestEmailLengths(t *testing.T) {
	c := newCell(kernels.SHA256, false, email, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	least, most, sum := 1<<20, 0, 0
	const n = 10000
	for range n {
		l := c.rowLength(rng)
		least, most, sum = min(least, l), max(most, l), sum+l
	}
	// 3-9, a dot, 4-10, up to 3 digits, 12 or 17.
	if mean := float64(sum) / n; least != 20 || most != 40 || mean < 27 || mean > 30 {
		t.Errorf("from %d to %d, mean %.1f", least, most, mean)
	}
}

// few are the rows of a test's cell.
func few(c cell) *rows {
	return &rows{batch: 100, batches: []*column.Batch{column.New(100, 1, c.rowLength), column.New(100, 2, c.rowLength)}}
}

// TestRun: every side of every digest, output and number of threads agrees on a
// few rows, and has its record.
func TestRun(t *testing.T) {
	for _, alg := range algs {
		for _, raw := range []bool{false, true} {
			for _, threads := range []int{1, 3} {
				c := newCell(alg, raw, email, threads)
				col := few(c)
				race := c.race(t.Context(), col)
				race.Least = 0
				if err := (rounds.Sweep{Rounds: 2}).Run(t.Context(), []*rounds.Cell{race}); err != nil {
					t.Fatal(err)
				}
				records := c.records(race.Timings(), col)
				want := []string{result.Ours, "go-std", "sha256-simd"}
				if alg != kernels.SHA256 {
					want = want[:2]
				}
				if len(records) != len(want) {
					t.Fatalf("%v: %v", c.keys(), records)
				}
				for i, r := range records {
					ours := i == 0
					layers := ours && threads == 1 && !raw
					if r.Side != want[i] || r.Rounds != 2 || r.Extra["rows"] != 200 || r.Extra["batch"] != 100 ||
						layers != (r.Extra[bare] > 0) || layers != (r.Extra[fresh] > 0) || ours == (r.Ratio > 0) {
						t.Errorf("%v", r)
					}
				}
			}
		}
	}
}

// TestCompare: a side whose output is wrong is not timed.
func TestCompare(t *testing.T) {
	c := newCell(kernels.MD5, false, 8, 1)
	col := few(c)
	ways, err := c.ways(t.Context(), col.batch)
	if err != nil {
		t.Fatal(err)
	}
	right := ways[1].hash
	calls := 0
	ways[1].hash = func(b *column.Batch) ([]byte, func(), error) {
		out, free, err := right(b)
		if calls++; calls == 2 {
			out[len(out)-1] ^= 1
		}
		return out, free, err
	}
	if err := compare(ways, col.batches); !errors.Is(err, rival.ErrOutput) || !strings.Contains(err.Error(), "batch 1") || !strings.Contains(err.Error(), "go-std: row 99") {
		t.Errorf("%v", err)
	}
}
