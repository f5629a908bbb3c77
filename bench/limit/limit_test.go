package limit

import (
	"crypto"
	"math"
	"testing"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestChain: the loop does the number of operations that the clock counts.
func TestChain(t *testing.T) {
	const a, b = 3, 5
	want := uint64(7)
	for range 3 * chainSteps / 2 {
		want = (want + a) ^ b
	}
	if got := chain(3, 7, a, b); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// TestCacheRows: what a chunk touches fits a first-level cache of 32 KiB, and
// leaves no lane of any backend empty.
func TestCacheRows(t *testing.T) {
	for _, alg := range kernels.Algs() {
		rows := cacheRows(alg)
		if touched := rows * (alg.BlockSize() + 3*alg.Size() + 16); rows < 1 || touched > 24<<10 {
			t.Errorf("%s: %d rows touch %d bytes", alg, rows, touched)
		}
		for _, b := range kernels.All(alg) {
			if rows%b.Lanes != 0 {
				t.Errorf("%s: %d rows do not fill the %d lanes of %s", alg, rows, b.Lanes, b.Name)
			}
		}
	}
}

// TestProbes: every probe runs, for every digest whose backend has steps.
func TestProbes(t *testing.T) {
	for _, d := range digests {
		b, err := kernels.Active(d.alg)
		if err != nil {
			t.Fatal(err)
		}
		probes, err := all(t.Context(), b, d.std, 32)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range probes {
			if _, err := p.Run(1); err != nil || p.Units < 1 {
				t.Errorf("%s %s: %v units, %v", d.alg, p.Name, p.Units, err)
			}
		}
	}
	std, err := kernels.ByName(kernels.SHA256, "std")
	if err != nil {
		t.Fatal(err)
	}
	if probes, err := all(t.Context(), std, crypto.SHA256, 32); probes != nil || err != nil {
		t.Errorf("a backend without steps has %d probes, %v", len(probes), err)
	}
}

// TestRecords: figures that are easy to check by hand.
func TestRecords(t *testing.T) {
	series := func(x float64) rounds.Timing {
		return rounds.Timing{Rounds: []float64{2 * x, x, x}, Min: x, Median: x} // the first round was disturbed
	}
	table := table{alg: kernels.SHA256, backend: "b", n: 32, blocks: 1, took: map[string]rounds.Timing{
		clock: series(0.5), stream: series(40), compress: series(20), "gather": series(1), "pack": series(2), "hex": series(1),
		"all": series(25), whole: series(30), call: series(40), recycled: series(35),
	}}
	got := map[string]result.Record{}
	for _, r := range table.records() {
		got[r.Get("part")+"/"+r.Get("stage")+"/"+r.Side] = r
	}
	if len(got) != 2+len(stages) {
		t.Errorf("%d records", len(got))
	}
	kernel, std := got["kernel//arrowmask"], got["kernel//go-std"]
	if kernel.Min != 20 || kernel.Median != 20 || kernel.Rounds != 3 || kernel.Extra["cycles"] != 40 || kernel.Extra["ghz"] != 2 || kernel.Unit != "ns/block" {
		t.Errorf("kernel: %v", kernel)
	}
	if std.Median != 40 || std.Ratio != 2 || std.Extra["ratio_median"] != 2 || std.Extra["cycles"] != 80 {
		t.Errorf("std: %v", std)
	}
	call, buffers := got["stages/call/arrowmask"], got["stages/buffers/arrowmask"]
	if call.Median != 40 || call.Extra["over_kernel"] != 2 || call.Extra["cycles"] != 80 || call.Unit != "ns/row" {
		t.Errorf("call: %v", call)
	}
	if buffers.Median != 10 || buffers.Min != 10 || math.Abs(buffers.Extra["cycles"]-20) > 1e-9 {
		t.Errorf("buffers: %v", buffers)
	}
	table.blocks = 2
	records := table.records()
	if len(records) != 1+len(stages) || records[0].Median != 10 || records[0].Get("blocks") != "2" {
		t.Errorf("rows of two blocks: %v", records)
	}
}
