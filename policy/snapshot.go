package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arrowmask/arrowmask/mask"
)

// Rules decide. An implementation is immutable and safe for any goroutine.
type Rules interface {
	// Version names this state of the rules; another state has another one.
	Version() string
	// Decide answers for every column of a table at once. An error closes the
	// table; it names the policy and the column.
	Decide(id *Identity, t *Table, at time.Time) (*Decision, error)
}

// Decision is what the rules say about one identity and one table.
type Decision struct {
	Columns   []ColumnDecision
	Filter    *Filter // bound; nil: every row
	FilterWhy *Reason
	Unmatched []Unmatched
	Span      Span
}

// ColumnDecision is a mask for a field of the table, or an exemption.
type ColumnDecision struct {
	Field Field
	Mask  *Mask // nil: left as it is on purpose
	Why   Reason
}

// Span is the time for which a decision holds, both ends included. A zero end
// is open. The zero Span is always.
type Span struct{ From, Until time.Time }

// Contains reports whether the decision holds at a time.
func (s Span) Contains(at time.Time) bool {
	return (s.From.IsZero() || !at.Before(s.From)) && (s.Until.IsZero() || !at.After(s.Until))
}

// And is the time for which both hold.
func (s Span) And(o Span) Span {
	if s.From.IsZero() || !o.From.IsZero() && o.From.After(s.From) {
		s.From = o.From
	}
	if s.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(s.Until) {
		s.Until = o.Until
	}
	return s
}

// Snapshot is one immutable version of the rules with a cache of the plans
// made from it. It is safe for any goroutine.
type Snapshot struct {
	rules Rules

	// plans is read without a lock: a map that is never written, replaced by a
	// longer one as plans are added. recent holds what is not in it yet; hits
	// counts how often it was asked, so that copying is paid for by use.
	plans  atomic.Pointer[map[planKey]*cached]
	mu     sync.Mutex
	recent map[planKey]*cached
	hits   int

	// What plans are made of, interned by content: plans of many tables and
	// users share their masks, filters and reasons.
	byHash  map[Hash]*Plan
	masks   map[Mask]*Mask
	reasons map[Reason]*Reason
	filters map[Hash]*Filter
}

type planKey struct{ identity, table uint64 }

// cached is a plan with what it was made for, so that a collision of hashes
// is found. Entries of one key form a list.
type cached struct {
	id    *Identity
	table *Table
	span  Span
	plan  *Plan
	next  *cached
}

// maxCached bounds the cache; past it the cache starts anew.
const maxCached = 1 << 16

// NewSnapshot wraps rules.
func NewSnapshot(r Rules) *Snapshot {
	s := &Snapshot{rules: r}
	s.reset()
	return s
}

func (s *Snapshot) reset() {
	s.plans.Store(&map[planKey]*cached{})
	s.recent = map[planKey]*cached{}
	s.byHash = map[Hash]*Plan{}
	s.masks, s.reasons, s.filters = map[Mask]*Mask{}, map[Reason]*Reason{}, map[Hash]*Filter{}
}

// Rules are the rules of the snapshot.
func (s *Snapshot) Rules() Rules { return s.rules }

// Version names the snapshot.
func (s *Snapshot) Version() string { return s.rules.Version() }

// Plan is what an identity sees of a table at a time; the zero time is now.
// The answer is cached for as long as it holds, and shared by content: equal
// plans are one *Plan. A hit costs no allocation and soon takes no lock.
//
// The error wraps the sentinel of what went wrong; the table stays closed.
func (s *Snapshot) Plan(id *Identity, t *Table, at time.Time) (*Plan, error) {
	if id == nil || id.user == "" {
		return nil, ErrIdentity
	}
	if t == nil {
		return nil, fmt.Errorf("%w: no table", ErrTable)
	}
	key := planKey{id.hash, t.hash}
	if p := find((*s.plans.Load())[key], id, t, at); p != nil {
		return p, nil
	}
	return s.miss(key, id, t, at)
}

func find(c *cached, id *Identity, t *Table, at time.Time) *Plan {
	for ; c != nil; c = c.next {
		if !c.id.equal(id) || !c.table.equal(t) {
			continue
		}
		if c.span != (Span{}) {
			if at.IsZero() {
				at = time.Now()
			}
			if !c.span.Contains(at) {
				continue
			}
		}
		return c.plan
	}
	return nil
}

func (s *Snapshot) miss(key planKey, id *Identity, t *Table, at time.Time) (*Plan, error) {
	if at.IsZero() {
		at = time.Now()
	}
	s.mu.Lock()
	p := find(s.recent[key], id, t, at)
	if p != nil {
		s.hits++
		s.publish()
	}
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	d, err := s.rules.Decide(id, t, at)
	if err != nil {
		return nil, fmt.Errorf("table %s, user %s: %w", t.name, id.user, err)
	}
	if p, err = newPlan(s.rules.Version(), t, d); err != nil {
		return nil, fmt.Errorf("table %s, user %s: %w", t.name, id.user, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p = s.intern(p)
	s.add(key, &cached{id: id, table: t, span: d.Span, plan: p})
	return p, nil
}

func (s *Snapshot) intern(p *Plan) *Plan {
	hash := hashOf(encode([]*Plan{p}))
	if q, ok := s.byHash[hash]; ok {
		return q
	}
	for i := range p.Masks {
		c := &p.Masks[i]
		c.Mask, c.Why = share(s.masks, *c.Mask, c.Mask), share(s.reasons, *c.Why, c.Why)
	}
	for i := range p.Exempt {
		c := &p.Exempt[i]
		c.Why = share(s.reasons, *c.Why, c.Why)
	}
	if p.Filter != nil {
		p.Filter = share(s.filters, p.Filter.hash, p.Filter)
	}
	if p.FilterWhy != nil {
		p.FilterWhy = share(s.reasons, *p.FilterWhy, p.FilterWhy)
	}
	s.byHash[hash] = p
	return p
}

// share is the value of a key: the first that came.
func share[K comparable, V any](m map[K]*V, k K, v *V) *V {
	if old, ok := m[k]; ok {
		return old
	}
	m[k] = v
	return v
}

func (s *Snapshot) add(key planKey, c *cached) {
	old := *s.plans.Load()
	if len(old)+len(s.recent) >= maxCached {
		s.reset()
		old = *s.plans.Load()
	}
	head, ok := s.recent[key]
	if !ok {
		head = old[key]
	}
	// Drop entries that this one replaces, whose time is over.
	var keep *cached
	for e := head; e != nil; e = e.next {
		if !(e.id.equal(c.id) && e.table.equal(c.table)) {
			keep = &cached{id: e.id, table: e.table, span: e.span, plan: e.plan, next: keep}
		}
	}
	c.next = keep
	s.recent[key] = c
	s.publish()
}

// publish moves the recent entries to the map that is read without a lock,
// once there are enough of them or they were asked for often enough.
func (s *Snapshot) publish() {
	old := *s.plans.Load()
	if 2*len(s.recent) < len(old) && s.hits < len(old) {
		return
	}
	all := make(map[planKey]*cached, len(old)+len(s.recent))
	for k, v := range old {
		all[k] = v
	}
	for k, v := range s.recent {
		all[k] = v
	}
	s.plans.Store(&all)
	s.recent, s.hits = map[planKey]*cached{}, 0
}

// newPlan turns a decision into a plan and checks all of it against its
// grammar and the table.
func newPlan(version string, t *Table, d *Decision) (*Plan, error) {
	p := &Plan{Table: t.name, Version: version, Columns: len(t.columns), Fingerprint: t.print, Filter: d.Filter, FilterWhy: d.FilterWhy, Unmatched: d.Unmatched}
	masks := map[Mask]*Mask{}
	type use struct {
		mask Mask
		typ  mask.Type
	}
	checked := map[use]bool{}
	reasons := map[Reason]*Reason{}
	for i := range d.Columns {
		c := &d.Columns[i]
		why, ok := reasons[c.Why]
		if !ok {
			why = &c.Why
			reasons[c.Why] = why
		}
		out := ColumnMask{Name: c.Field.Name, Index: c.Field.Index, Path: c.Field.Path, Why: why}
		if c.Mask == nil {
			p.Exempt = append(p.Exempt, out)
			continue
		}
		if u := (use{*c.Mask, c.Field.Type}); !checked[u] {
			if err := CheckMask(c.Mask, c.Field.Type, t.columns); err != nil {
				return nil, fmt.Errorf("%s: column %s: %w", c.Why, c.Field.Name, err)
			}
			checked[u] = true
		}
		if len(c.Field.Path) > 0 && len(c.Mask.Others()) > 0 {
			return nil, fmt.Errorf("%s: %s: %w: the mask of a field within a column cannot read other columns", c.Why, c.Field.Name, ErrClosed)
		}
		if out.Mask, ok = masks[*c.Mask]; !ok {
			out.Mask = c.Mask
			masks[*c.Mask] = c.Mask
		}
		p.Masks = append(p.Masks, out)
	}
	slices.SortFunc(p.Masks, compareColumns)
	slices.SortFunc(p.Exempt, compareColumns)
	slices.SortStableFunc(p.Unmatched, func(a, b Unmatched) int {
		return cmp.Or(compareReasons(&a.Why, &b.Why), strings.Compare(a.Detail, b.Detail))
	})
	// A mask on a column covers its fields, where one policy names both. Two
	// different masks would have to be ordered, and no rule says how.
	masked := p.Masks[:0]
	for _, b := range p.Masks {
		if n := len(masked); n > 0 {
			if a := &masked[n-1]; a.Index == b.Index && len(a.Path) < len(b.Path) && slices.Equal(a.Path, b.Path[:len(a.Path)]) {
				if a.Mask != b.Mask || *a.Why != *b.Why {
					return nil, fmt.Errorf("%w: %s masks %s, and %s a field of it, %s", ErrClosed, a.Why, a.Name, b.Why, b.Name)
				}
				continue
			}
		}
		masked = append(masked, b)
	}
	p.Masks = masked
	if p.Filter != nil {
		if _, err := p.Filter.Compile(t); err != nil {
			return nil, fmt.Errorf("%s: %w", p.FilterWhy, err)
		}
	}
	return p, nil
}

// Live holds the current snapshot. A query takes the snapshot once and keeps
// it to its end; Swap never waits for it. The zero Live holds none.
type Live struct{ p atomic.Pointer[Snapshot] }

// Snapshot is the current one; the error wraps ErrNoRules when there is none.
func (l *Live) Snapshot() (*Snapshot, error) {
	if s := l.p.Load(); s != nil {
		return s, nil
	}
	return nil, ErrNoRules
}

// Swap makes s current and returns what was.
func (l *Live) Swap(s *Snapshot) *Snapshot { return l.p.Swap(s) }
