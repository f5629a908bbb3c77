package overhead

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

// reload masks batches from eight goroutines while the policies, ten thousand
// of them, are swapped every ten milliseconds. The two versions mask by NULL
// and by a hash, so a batch that is of both can be seen.
//
//	arrowmask  the snapshot behind an atomic pointer
//	rwmutex    the snapshot behind a read-write lock
//
// "still" is the same without swaps, with each version for half of the time. A
// reader is a query after the other: it takes the snapshot of the moment, finds
// plan and masker, and keeps them for its batches, whatever is swapped. Every
// batch asks for the current snapshot,
// as a reader does that wants to know whether it is behind.
const (
	reloadReaders  = 8
	reloadPolicies = 10000
	reloadRows     = 256
	reloadMasked   = 4
	reloadEvery    = 10 * time.Millisecond
	reloadBatches  = 256 // of a query
)

func reload(b *bench) error {
	r, err := newReload(b)
	if err != nil {
		return err
	}
	sides := []struct {
		name  string
		swaps bool
		store func() snapshots
	}{
		{result.Ours, true, func() snapshots { return &atomicStore{} }},
		{"still", false, func() snapshots { return &atomicStore{} }},
		{"rwmutex", true, func() snapshots { return &lockedStore{} }},
		{"rwmutex-still", false, func() snapshots { return &lockedStore{} }},
	}
	seen := make([]tally, len(sides))
	const takes = 6
	for take := range takes {
		for turn := range sides {
			i := (take + turn) % len(sides)
			if err := r.take(b, sides[i].store(), sides[i].swaps, take%2, &seen[i]); err != nil {
				return fmt.Errorf("%s: %w", sides[i].name, err)
			}
		}
	}
	var table [][]string
	key := result.Keys("work", "reload", "readers", reloadReaders, "policies", reloadPolicies)
	for i, s := range sides {
		t := &seen[i]
		slices.Sort(t.batches)
		slices.Sort(t.starts)
		line := []string{s.name, fmt.Sprint(len(t.batches)), fmt.Sprint(t.swapped)}
		extra := map[string]float64{"batches": float64(len(t.batches)), "queries": float64(len(t.starts)), "swaps": float64(t.swapped), "mixed": float64(t.mixed)}
		for _, q := range []struct {
			of, name string
			times    []int64
			at       float64
		}{
			{"batch", "p50", t.batches, 0.50}, {"batch", "p99", t.batches, 0.99}, {"batch", "p99.9", t.batches, 0.999},
			{"start", "p50", t.starts, 0.50}, {"start", "p99", t.starts, 0.99},
		} {
			ns := quantile(q.times, q.at)
			k := append(key[:len(key):len(key)], result.Key{Name: "of", Value: q.of}, result.Key{Name: "quantile", Value: q.name})
			if err := b.values(k, "ns", value{side: s.name, x: ns, extra: extra}); err != nil {
				return err
			}
			line = append(line, result.Figure(ns/1e3))
		}
		table = append(table, append(line, result.Figure(float64(t.pause)/1e3), fmt.Sprint(t.mixed)))
	}
	b.table(fmt.Sprintf("Reloading %d policies every %v under %d readers; batches of %d rows, %d columns masked; us", reloadPolicies, reloadEvery, reloadReaders, reloadRows, reloadMasked),
		[]string{"side", "batches", "swaps", "batch p50", "p99", "p99.9", "start of a query p50", "p99", "longest GC pause", "mixed"}, table,
		"With more readers than cores, the tail is that of the scheduler: compare the sides, not the machine.")
	b.budget("O9", "p99-under-reload-by-still", "x", 1.25, quantile(seen[0].batches, 0.99)/quantile(seen[1].batches, 0.99))
	b.budget("O9", "mixed-batches", "batches", 0, float64(seen[0].mixed))
	return nil
}

// snapshots is where readers find the current snapshot.
type snapshots interface {
	get() *policy.Snapshot
	set(*policy.Snapshot)
}

type atomicStore struct{ live policy.Live }

func (s *atomicStore) get() *policy.Snapshot {
	now, _ := s.live.Snapshot() // set before the first reader
	return now
}
func (s *atomicStore) set(n *policy.Snapshot) { s.live.Swap(n) }

type lockedStore struct {
	mu  sync.RWMutex
	now *policy.Snapshot
}

func (s *lockedStore) get() *policy.Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now
}

func (s *lockedStore) set(n *policy.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = n
}

// tally is what a reader, or all of one side's, saw.
type tally struct {
	batches []int64 // ns of every one
	starts  []int64 // ns that a query needed for its plan and masker
	swapped int
	mixed   int
	pause   time.Duration
	memory  arrowudf.Recycler // of a reader's results
}

// quantile is the smallest value that a share of the sorted values does not
// exceed.
func quantile(sorted []int64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q*float64(len(sorted))+0.999999) - 1
	return float64(sorted[min(max(i, 0), len(sorted)-1)])
}

type reloadTable struct {
	rules  [2]*ranger.Rules
	schema *arrow.Schema
	table  *policy.Table
	batch  arrow.Record
	// want is the batch as each version masks it.
	want [2]arrow.Record
}

func newReload(b *bench) (*reloadTable, error) {
	r := &reloadTable{schema: textSchema(wideColumns)}
	r.batch = textBatch(random(9), r.schema, reloadRows, 4, 12)
	var err error
	if r.table, err = policy.NewTable([]string{"c", "db", "live"}, "", arrowudf.Columns(r.schema)); err != nil {
		return nil, err
	}
	for v, maskType := range []string{nullMask, hashMask} {
		policies := otherPolicies(reloadPolicies, reloadMasked)
		for i := range reloadMasked {
			policies = append(policies, maskPolicy(i, "live", fmt.Sprintf("c%d", i), maskType))
		}
		if r.rules[v], err = loadRules(v+1, policies); err != nil {
			return nil, err
		}
		m, err := bind(r.rules[v], r.table, r.schema)
		if err != nil {
			return nil, err
		}
		if r.want[v], err = m.Mask(b.ctx, r.batch); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// take runs the readers for a while, at first with the given version, and adds
// what they saw.
func (r *reloadTable) take(b *bench, store snapshots, swaps bool, version int, t *tally) error {
	const length = 300 * time.Millisecond
	store.set(policy.NewSnapshot(r.rules[version]))
	var stop atomic.Bool
	var wg sync.WaitGroup
	readers := make([]tally, reloadReaders)
	errs := make([]error, reloadReaders)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() && errs[i] == nil {
				errs[i] = readers[i].query(b, r, store, &stop)
			}
		}()
	}
	for n := 1; n <= int(length/reloadEvery); n++ {
		time.Sleep(reloadEvery)
		if swaps {
			store.set(policy.NewSnapshot(r.rules[(version+n)%2]))
			t.swapped++
		}
	}
	stop.Store(true)
	wg.Wait()
	runtime.ReadMemStats(&after)
	for i := before.NumGC; i < after.NumGC; i++ {
		t.pause = max(t.pause, time.Duration(after.PauseNs[i%uint32(len(after.PauseNs))]))
	}
	for i := range readers {
		t.batches = append(t.batches, readers[i].batches...)
		t.starts = append(t.starts, readers[i].starts...)
		t.mixed += readers[i].mixed
	}
	return errors.Join(errs...)
}

// query masks some batches by the snapshot of the moment and looks at the
// results.
func (t *tally) query(b *bench, r *reloadTable, store snapshots, stop *atomic.Bool) error {
	start := time.Now()
	s := store.get()
	p, err := s.Plan(ann, r.table, time.Time{})
	if err != nil {
		return err
	}
	m, err := arrowudf.NewMasker(p, r.schema, arrowudf.Options{Mem: &t.memory})
	if err != nil {
		return err
	}
	t.starts = append(t.starts, time.Since(start).Nanoseconds())
	want := r.want[0]
	if s.Rules() == policy.Rules(r.rules[1]) {
		want = r.want[1]
	}
	for i := 0; i < reloadBatches && !stop.Load(); i++ {
		start := time.Now()
		if store.get() == nil {
			return policy.ErrNoRules
		}
		out, err := m.Mask(b.ctx, r.batch)
		if err != nil {
			return err
		}
		t.batches = append(t.batches, time.Since(start).Nanoseconds())
		for k := range reloadMasked {
			if !array.Equal(out.Column(k), want.Column(k)) {
				t.mixed++
				break
			}
		}
		out.Release()
	}
	return nil
}
