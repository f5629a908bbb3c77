package rounds

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestGrowth: no collection falls into a run, some fall between them, within turns
// too, what a side allocates is counted, and the collector is as it was afterwards.
func TestGrowth(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // were it to run by itself, it would often
	const size, growth, passes, runs = 1 << 20, 8 << 20, 10, 6
	var (
		kept   []byte
		stats  runtime.MemStats
		cycles = func() uint32 { runtime.ReadMemStats(&stats); return stats.NumGC }
	)
	first, within, most, count := uint32(0), uint32(0), uint64(0), 0
	run := func() error {
		before := cycles()
		if first == 0 {
			first = before
		}
		for range 4 {
			kept = make([]byte, size)
		}
		within += cycles() - before
		if count++; count > runs+1 { // the warm-up has none
			most = max(most, stats.HeapAlloc)
		}
		return nil
	}
	runtime.GC()
	runtime.ReadMemStats(&stats)
	start := stats.HeapAlloc
	m := Match{Passes: passes, Growth: growth}
	play(t, &m, 2, []Side{{Name: "a", Units: 2, Turn: runs, Run: Clocked(run)}, {Name: "b", Units: 1, Run: Clocked(func() error { return nil })}})
	runtime.KeepAlive(kept)
	if within != 0 {
		t.Errorf("%d collections within runs", within)
	}
	// A turn allocates three times as much as the heap may grow by.
	if m.sides[0].once != 2 || m.sides[1].once != m.sides[1].runs {
		t.Errorf("%d of %d, %d of %d runs in a row", m.sides[0].once, m.sides[0].runs, m.sides[1].once, m.sides[1].runs)
	}
	if between := cycles() - first; between < 2*passes {
		t.Errorf("%d collections between runs", between)
	}
	if limit := start + 2*growth + 5*size; most > limit {
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
