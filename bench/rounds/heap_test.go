package rounds

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestGrowth: no collection falls into a turn, some fall between them, what a side
// allocates is counted, and the collector is as it was afterwards.
func TestGrowth(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // were it to run by itself, it would often
	const size, growth, passes = 1 << 20, 8 << 20, 40
	var (
		kept   []byte
		stats  runtime.MemStats
		cycles = func() uint32 { runtime.ReadMemStats(&stats); return stats.NumGC }
	)
	first, within, most := uint32(0), uint32(0), uint64(0)
	run := func() error {
		before := cycles()
		if first == 0 {
			first = before
		}
		for range 4 {
			kept = make([]byte, size)
		}
		within += cycles() - before
		most = max(most, stats.HeapAlloc)
		return nil
	}
	runtime.GC()
	runtime.ReadMemStats(&stats)
	start := stats.HeapAlloc
	m := Match{Passes: passes, Growth: growth}
	play(t, &m, 2, []Side{{Name: "a", Units: 2, Run: Clocked(run)}, {Name: "b", Units: 1, Run: Clocked(func() error { return nil })}})
	runtime.KeepAlive(kept)
	if within != 0 {
		t.Errorf("%d collections within turns", within)
	}
	if between := cycles() - first; between < passes/4 {
		t.Errorf("%d collections between turns", between)
	}
	if limit := start + growth + 6*size; most > limit {
		t.Errorf("%d bytes held, more than %d", most, limit)
	}
	a, b := m.Timings()[0].Allocated, m.Timings()[1].Allocated
	if a < 2*size || a > 2.1*size || b > size/100 {
		t.Errorf("%.0f and %.0f bytes a unit, want %d and hardly any", a, b, 2*size)
	}
	if percent := debug.SetGCPercent(10); percent != 10 {
		t.Errorf("the collector is left at %d %%", percent)
	}
	m = Match{Passes: passes}
	play(t, &m, 1, []Side{{Name: "a", Units: 1, Run: Clocked(run)}})
	if m.Timings()[0].Allocated != 0 {
		t.Error("counted though the collector is left alone")
	}
}
