package kernels

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSmallBatches: every number of rows up to the lanes, even and uneven, in
// each of the ways that the costs make small take.
func TestSmallBatches(t *testing.T) {
	for _, alg := range []Alg{MD5, SHA224, SHA384} {
		for mixName, mix := range lengthMixes {
			for manyName, many := range costMixes {
				for fewName, few := range costMixes {
					for _, exact := range []bool{true, false} {
						k := portableKernel(alg, 7, many)
						k.fewer = portableKernel(alg, 2, few)
						k.exact, k.fewer.exact = exact, exact
						rng := rand.New(rand.NewPCG(uint64(alg), 3))
						for rows := range k.lanes + 1 {
							col := testColumn(rng, rows, mix(rng))
							got := make([]byte, rows*alg.Size())
							k.sum(got, &col, 0, rows, nil)
							if !bytes.Equal(got, plainDigests(alg, &col, nil)) {
								t.Fatalf("%s, costs %s and %s, exact %v: wrong digests of %d rows %s", alg, manyName, fewName, exact, rows, mixName)
							}
						}
					}
				}
			}
		}
	}
}

// TestLockstepLeavesNothing: what a small batch left behind is cleared.
func TestLockstepLeavesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, blocks := range []int{1, 2, 9} {
		k := portableKernel(SHA224, 4, costMixes["even"])
		k.exact = false // rows at the end are copied aside
		col := testColumn(rng, 3, func() int { return 64*blocks - 20 })
		s := new(laneScratch)
		j := job{laneKernel: k, laneScratch: s, col: &col}
		if g := j.gather(3); g.rest > 0 {
			t.Fatalf("%d rows cannot be copied aside", g.rest)
		}
		got := make([]byte, 3*28)
		j.lockstep(got, k.measure(&col, 0, 3))
		if !bytes.Equal(got, plainDigests(SHA224, &col, nil)) {
			t.Errorf("%d blocks: wrong digests", blocks)
		}
		if s.staged == 0 || s.spilled == 0 || s.cutUsed == 0 {
			t.Errorf("%d blocks: %d, %d, %d bytes used", blocks, s.staged, s.spilled, s.cutUsed)
		}
		s.wipe()
		for area, b := range map[string][]byte{"stage": s.stage[:], "spill": s.spill[:], "cut": s.cut[:]} {
			if i := bytes.IndexFunc(b, func(r rune) bool { return r != 0 }); i >= 0 {
				t.Errorf("%d blocks: byte %d of %s is left", blocks, i, area)
			}
		}
	}
}

// TestMeasure: by offsets and row by row it is the same.
func TestMeasure(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	k := portableKernel(SHA256, 4, costMixes["even"])
	col := testColumn(rng, 30, func() int { return rng.IntN(400) })
	all := make([]int32, 30)
	for i := range all {
		all[i] = int32(i)
	}
	picked := col.Select(all)
	for lo := range 30 {
		for hi := lo + 1; hi <= 30; hi++ {
			got := k.measure(&col, lo, hi)
			want := batch{rows: hi - lo, least: 1 << 30}
			for i := lo; i < hi; i++ {
				n := (len(col.Row(i)) + 1 + 8 + 63) / 64
				want.blocks, want.least, want.most = want.blocks+n, min(want.least, n), max(want.most, n)
			}
			if got != want || k.measure(&picked, lo, hi) != want {
				t.Fatalf("rows %d to %d: %+v and %+v, want %+v", lo, hi, got, k.measure(&picked, lo, hi), want)
			}
		}
	}
}

// TestSelfTestOfPieces: a backend that is wrong with few rows only is found out.
func TestSelfTestOfPieces(t *testing.T) {
	b := newGeneric(SHA256)
	right := b.sum
	b.sum = func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		right(dst, col, lo, hi, mac)
		if hi-lo == 5 {
			dst[0] ^= 1
		}
	}
	if err := b.selfTest(); !errors.Is(err, ErrSelfTest) || !strings.Contains(err.Error(), "small batch") {
		t.Error(err)
	}
}

// TestLeastWorth: below it no even batch is for the lanes, and at it one is.
func TestLeastWorth(t *testing.T) {
	k := portableKernel(SHA256, 16, laneCost{step: 230, block: 33, row: 30})
	if got := k.leastWorth(); got != 5 {
		t.Errorf("%d, want 5", got)
	}
	k.fewer = portableKernel(SHA256, 2, laneCost{step: 48, block: 33, row: 30})
	if got := k.leastWorth(); got != 2 {
		t.Errorf("with fewer lanes: %d, want 2", got)
	}
}
