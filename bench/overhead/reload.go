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
//	arrowmask  the snapshot behind an atomic pointer; a query keeps its own
//	rwmutex    the snapshot behind a read-write lock, taken for every batch
//
// "still" is the same without swaps. A reader looks the plan up for every
// batch.
const (
	reloadReaders  = 8
	reloadPolicies = 10000
	reloadRows     = 256
	reloadMasked   = 4
	reloadEvery    = 10 * time.Millisecond
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
			if err := r.take(b, sides[i].store(), sides[i].swaps, &seen[i]); err != nil {
				return fmt.Errorf("%s: %w", sides[i].name, err)
			}
		}
	}
	var table [][]string
	key := result.Keys("work", "reload", "readers", reloadReaders, "policies", reloadPolicies)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.50}, {"p99", 0.99}, {"p99.9", 0.999}} {
		var vs []value
		for i, s := range sides {
			vs = append(vs, value{side: s.name, x: seen[i].quantile(q.at), extra: map[string]float64{"batches": float64(len(seen[i].times)), "mixed": float64(seen[i].mixed)}})
		}
		if err := b.values(append(key[:len(key):len(key)], result.Key{Name: "quantile", Value: q.name}), "ns", vs...); err != nil {
			return err
		}
	}
	for i, s := range sides {
		t := &seen[i]
		table = append(table, []string{
			s.name, fmt.Sprint(len(t.times)), fmt.Sprint(t.swapped), result.Figure(t.quantile(0.5) / 1e3), result.Figure(t.quantile(0.99) / 1e3),
			result.Figure(t.quantile(0.999) / 1e3), result.Figure(float64(t.pause) / 1e3), fmt.Sprint(t.mixed),
		})
	}
	b.table(fmt.Sprintf("Reloading %d policies every %v under %d readers; batches of %d rows, %d columns masked; us", reloadPolicies, reloadEvery, reloadReaders, reloadRows, reloadMasked),
		[]string{"side", "batches", "swaps", "p50", "p99", "p99.9", "longest GC pause", "mixed"}, table,
		"With more readers than cores, the tail is that of the scheduler: compare the sides, not the machine.")
	b.budget("O9", "p99-under-reload-by-still", "x", 1.25, seen[0].quantile(0.99)/seen[1].quantile(0.99))
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

// tally is what the takes of one side gave.
type tally struct {
	times   []int64 // ns of every batch
	sorted  bool
	swapped int
	mixed   int
	pause   time.Duration
}

func (t *tally) quantile(q float64) float64 {
	if !t.sorted {
		slices.Sort(t.times)
		t.sorted = true
	}
	return quantile(t.times, q)
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
	// want is a column as each version masks it.
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

// take runs the readers for a while and adds what they saw.
func (r *reloadTable) take(b *bench, store snapshots, swaps bool, t *tally) error {
	const length = 300 * time.Millisecond
	store.set(policy.NewSnapshot(r.rules[0]))
	var stop atomic.Bool
	var wg sync.WaitGroup
	readers := make([]reloadReader, reloadReaders)
	errs := make([]error, reloadReaders)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() && errs[i] == nil {
				errs[i] = readers[i].batch(b, r, store)
			}
		}()
	}
	for n := 1; n <= int(length/reloadEvery); n++ {
		time.Sleep(reloadEvery)
		if swaps {
			store.set(policy.NewSnapshot(r.rules[n%2]))
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
		t.times = append(t.times, readers[i].times...)
		t.mixed += readers[i].mixed
	}
	return errors.Join(errs...)
}

// reloadReader is one goroutine's.
type reloadReader struct {
	times  []int64
	mixed  int
	plan   *policy.Plan
	masker *arrowudf.Masker
}

// batch masks one batch by the snapshot of the moment and looks at the result.
func (d *reloadReader) batch(b *bench, r *reloadTable, store snapshots) error {
	start := time.Now()
	s := store.get()
	p, err := s.Plan(ann, r.table, time.Time{})
	if err != nil {
		return err
	}
	if p != d.plan {
		if d.masker, err = arrowudf.NewMasker(p, r.schema, arrowudf.Options{}); err != nil {
			return err
		}
		d.plan = p
	}
	out, err := d.masker.Mask(b.ctx, r.batch)
	if err != nil {
		return err
	}
	d.times = append(d.times, time.Since(start).Nanoseconds())
	version := 0
	if s.Rules() == policy.Rules(r.rules[1]) {
		version = 1
	}
	for i := range reloadMasked {
		if !array.Equal(out.Column(i), r.want[version].Column(i)) {
			d.mixed++
			break
		}
	}
	out.Release()
	return nil
}
