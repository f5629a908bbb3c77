package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/mask"
)

// fakeRules mask every column by one expression.
type fakeRules struct {
	version string
	expr    string
	filter  string
	calls   atomic.Int64
	span    Span
	err     error
}

func (r *fakeRules) Version() string { return r.version }

func (r *fakeRules) Decide(id *Identity, t *Table, at time.Time) (*Decision, error) {
	r.calls.Add(1)
	if r.err != nil {
		return nil, r.err
	}
	d := &Decision{Span: r.span}
	for _, f := range t.Fields() {
		if r.expr != "" {
			d.Columns = append(d.Columns, ColumnDecision{Field: f, Mask: &Mask{Expr: r.expr}, Why: Reason{PolicyID: 1, Policy: "p " + r.version, Kind: "MASK"}})
		}
	}
	if r.filter != "" {
		f, err := ParseFilter(r.filter, Syntax{})
		if err != nil {
			return nil, err
		}
		d.Filter, d.FilterWhy = f, &Reason{PolicyID: 2, Policy: "f", Kind: "filter"}
	}
	return d, nil
}

func textTable(t testing.TB, name string, n int) *Table {
	t.Helper()
	var cols []Column
	for i := range n {
		cols = append(cols, Column{Name: fmt.Sprintf("column_%d", i), Type: mask.Type{Kind: mask.Text}})
	}
	tab, err := NewTable([]string{"db", name}, "", cols)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestTable(t *testing.T) {
	text := mask.Type{Kind: mask.Text}
	for name, f := range map[string]func() (*Table, error){
		"no name":    func() (*Table, error) { return NewTable(nil, "", nil) },
		"empty part": func() (*Table, error) { return NewTable([]string{"a", ""}, "", nil) },
		"no column":  func() (*Table, error) { return NewTable([]string{"a"}, "", []Column{{Type: text}}) },
		"two columns": func() (*Table, error) {
			return NewTable([]string{"a"}, "", []Column{{Name: "x", Type: text}, {Name: "x", Type: text}})
		},
		"no type": func() (*Table, error) { return NewTable([]string{"a"}, "", []Column{{Name: "x"}}) },
	} {
		if _, err := f(); !errors.Is(err, ErrTable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, b := textTable(t, "t", 3), textTable(t, "t", 3)
	if !a.equal(b) || a.Fingerprint() != b.Fingerprint() || textTable(t, "t", 4).Fingerprint() == a.Fingerprint() {
		t.Error("fingerprints")
	}
}

func TestIdentity(t *testing.T) {
	a := NewIdentity("u", []string{"b", "a", "a", ""}, []string{"r"}, map[string]string{"k": "v", "l": "w"})
	b := NewIdentity("u", []string{"a", "b"}, []string{"r", "r"}, map[string]string{"l": "w", "k": "v"})
	if !a.equal(b) || a.String() != "u (a, b)" {
		t.Error(a, b)
	}
	for _, c := range []*Identity{
		NewIdentity("v", []string{"a", "b"}, []string{"r"}, nil), NewIdentity("u", []string{"a"}, []string{"b", "r"}, nil),
		NewIdentity("u", []string{"a", "b"}, []string{"r"}, map[string]string{"k": "v", "l": "x"}),
	} {
		if a.equal(c) {
			t.Error(c)
		}
	}
}

func TestSnapshotCaches(t *testing.T) {
	r := &fakeRules{version: "1", expr: "mask({col})"}
	s := NewSnapshot(r)
	id, tab := NewIdentity("u", []string{"g"}, nil, nil), textTable(t, "t", 3)
	p, err := s.Plan(id, tab, time.Time{})
	if err != nil || len(p.Masks) != 3 || p.Masks[0].Mask != p.Masks[1].Mask || p.Masks[0].Why != p.Masks[2].Why {
		t.Fatal(p, err)
	}
	// An equal identity and table hit; another user's equal plan is the same one.
	q, err := s.Plan(NewIdentity("u", []string{"g"}, nil, nil), textTable(t, "t", 3), time.Time{})
	if err != nil || q != p || r.calls.Load() != 1 {
		t.Error(q, err, r.calls.Load())
	}
	if q, err = s.Plan(NewIdentity("v", nil, nil, nil), tab, time.Time{}); err != nil || q != p || r.calls.Load() != 2 {
		t.Error(q, err, r.calls.Load())
	}
	if q, err = s.Plan(id, textTable(t, "t", 4), time.Time{}); err != nil || q == p || q.Masks[0].Mask != p.Masks[0].Mask || q.Masks[0].Why != p.Masks[0].Why {
		t.Error(q, err)
	}
	if err := p.Check(tab); err != nil {
		t.Error(err)
	}
	if err := p.Check(textTable(t, "t", 4)); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	for range 300 {
		for n := range 40 {
			if _, err := s.Plan(NewIdentity(fmt.Sprint("user", n), nil, nil, nil), tab, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := r.calls.Load(); n != 43 {
		t.Errorf("%d decisions for 43 questions", n)
	}
	// A plan with an end is asked for anew after it, and only then.
	now := time.Now()
	timed := &fakeRules{version: "2", expr: "mask({col})", span: Span{From: now, Until: now.Add(time.Hour)}}
	s = NewSnapshot(timed)
	for i, at := range []time.Duration{0, time.Minute, time.Hour, time.Hour + 1} {
		if _, err := s.Plan(id, tab, now.Add(at)); err != nil {
			t.Fatal(err)
		}
		if n := timed.calls.Load(); n != int64(1+i/3) {
			t.Errorf("%v: %d decisions", at, n)
		}
	}
}

func TestSnapshotErrors(t *testing.T) {
	tab := textTable(t, "t", 2)
	id := NewIdentity("u", nil, nil, nil)
	for _, c := range []struct {
		r    *fakeRules
		want error
	}{
		{&fakeRules{err: ErrClosed}, ErrClosed},
		{&fakeRules{expr: "nosuch({col})"}, ErrMask},
		{&fakeRules{expr: "mask("}, ErrMask},
		{&fakeRules{filter: "nosuch = 1"}, ErrFilter},
	} {
		p, err := NewSnapshot(c.r).Plan(id, tab, time.Time{})
		if p != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), "db.t") {
			t.Errorf("%+v: %v, %v", c.r, p, err)
		}
	}
	s := NewSnapshot(&fakeRules{})
	if _, err := s.Plan(nil, tab, time.Time{}); !errors.Is(err, ErrIdentity) {
		t.Error(err)
	}
	if _, err := s.Plan(id, nil, time.Time{}); !errors.Is(err, ErrTable) {
		t.Error(err)
	}
	var l Live
	if _, err := l.Snapshot(); !errors.Is(err, ErrNoRules) {
		t.Error(err)
	}
	// A key that is not here yet is no reason to close.
	if _, err := NewSnapshot(&fakeRules{expr: "mask_hmac({col}, 'k')"}).Plan(id, tab, time.Time{}); err != nil {
		t.Error(err)
	}
}

// TestWarmPlan: looking up a plan costs no allocation.
func TestWarmPlan(t *testing.T) {
	s := NewSnapshot(&fakeRules{expr: "mask({col})"})
	id, tab := NewIdentity("u", []string{"a", "b", "c"}, nil, nil), textTable(t, "t", 250)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Plan(id, tab, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSwapUnderReaders swaps the snapshot while readers plan: every plan is
// all of one version, and every reader sees the versions in order.
func TestSwapUnderReaders(t *testing.T) {
	var live Live
	swap := func(n int) {
		live.Swap(NewSnapshot(&fakeRules{version: fmt.Sprintf("%06d", n), expr: "mask({col})", filter: "column_0 = 'x'"}))
	}
	swap(0)
	const swaps, every = 50, 10 * time.Millisecond
	var stop atomic.Bool
	var wg sync.WaitGroup
	tables := []*Table{textTable(t, "a", 5), textTable(t, "b", 9)}
	for reader := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			last, planned := "", 0
			for !stop.Load() {
				s, err := live.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				id := NewIdentity(fmt.Sprint("u", (reader+planned)%5), nil, nil, nil)
				for _, tab := range tables {
					p, err := s.Plan(id, tab, time.Time{})
					if err != nil || p.Version != s.Version() || len(p.Masks) != len(tab.Columns()) || p.Filter == nil {
						t.Error(p, err)
						return
					}
					for _, m := range p.Masks {
						if m.Why.Policy != "p "+s.Version() {
							t.Errorf("version %s with policy %s", s.Version(), m.Why.Policy)
							return
						}
					}
				}
				if s.Version() < last {
					t.Errorf("version %s after %s", s.Version(), last)
					return
				}
				last = s.Version()
				planned++
			}
			if planned == 0 {
				t.Error("a reader never planned")
			}
		}()
	}
	for n := 1; n <= swaps; n++ {
		time.Sleep(every)
		swap(n)
	}
	stop.Store(true)
	wg.Wait()
	if s, err := live.Snapshot(); err != nil || s.Version() != fmt.Sprintf("%06d", swaps) {
		t.Error(s, err)
	}
}

// ---- the encoding

func planOf(t testing.TB, r *fakeRules, tab *Table) *Plan {
	t.Helper()
	p, err := NewSnapshot(r).Plan(NewIdentity("u", nil, nil, nil), tab, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newSet(t testing.TB, plans ...*Plan) *Set {
	t.Helper()
	s, err := NewSet(plans...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// longFilter is n bytes of text.
func longFilter(n int, salt string) string {
	s := "column_0 = '" + salt
	return s + strings.Repeat("x", n-len(s)-1) + "'"
}

// manyTables is the plan of overhead's estimate: tables of 20 masked columns
// by 3 masks, under one filter or each under its own.
func manyTables(t testing.TB, n int, shared bool) []*Plan {
	t.Helper()
	exprs := []string{"mask({col})", "mask_hash({col})", "mask_null({col})"}
	var plans []*Plan
	for i := range n {
		salt := ""
		if !shared {
			salt = fmt.Sprintf("%06d", i)
		}
		tab := textTable(t, fmt.Sprintf("table_%d", i), 24)
		p := *planOf(t, &fakeRules{version: "7", filter: longFilter(2000, salt)}, tab)
		for c := range 20 {
			p.Masks = append(p.Masks, ColumnMask{Name: tab.Columns()[c].Name, Index: c, Mask: &Mask{Expr: exprs[c%3]}, Why: &Reason{PolicyID: int64(c % 3), Policy: fmt.Sprint("policy ", c%3), Kind: "MASK"}})
		}
		plans = append(plans, &p)
	}
	return plans
}

// mixedPlans use every part of the encoding.
func mixedPlans(t testing.TB) []*Plan {
	t.Helper()
	plans := manyTables(t, 5, false)
	nested := *plans[0]
	nested.Table = "db.nested"
	nested.Masks = []ColumnMask{{Name: "a.b", Index: 3, Path: []int{0, 2}, Mask: &Mask{Expr: "mask({col})", Dialect: "safe"}, Why: &Reason{PolicyID: -5, Tag: "PII", Zone: "z", Item: 4}}}
	nested.Exempt = []ColumnMask{{Name: "c", Index: 5, Why: &Reason{PolicyID: 9, Kind: "MASK_NONE"}}}
	nested.Unmatched = []Unmatched{{Why: Reason{PolicyID: 3}, Detail: "no such column"}}
	nested.Filter, nested.FilterWhy = nil, &Reason{PolicyID: 8}
	return append(plans, &nested, planOf(t, &fakeRules{}, textTable(t, "plain", 2)))
}

func TestEncodingRoundTrip(t *testing.T) {
	plans := mixedPlans(t)
	s := newSet(t, plans...)
	d, err := Decode(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(d.Bytes(), s.Bytes()) || d.Hash() != s.Hash() || len(d.Plans()) != len(plans) || len(s.Hash().String()) != 32 {
		t.Error("not the same set")
	}
	text := func(p *Plan) string {
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + fmt.Sprint(p.Filter)
	}
	for i, p := range d.Plans() {
		if text(p) != text(s.Plans()[i]) {
			t.Errorf("%s\n%s", text(p), text(s.Plans()[i]))
		}
	}
	// Interned: one mask, one filter for all that are equal.
	if a, b := d.Plans()[2], d.Plans()[3]; a.Masks[0].Mask != b.Masks[0].Mask || a.Masks[0].Mask != a.Masks[3].Mask {
		t.Error("masks are not shared")
	}
	tab := textTable(t, "table_3", 24)
	if p := d.Plan(tab); p == nil || p.Table != "db.table_3" || p.Check(tab) != nil {
		t.Error(p)
	}
	if p := d.Plan(textTable(t, "table_3", 25)); p != nil {
		t.Error(p)
	}
}

// TestEncodingIsDeterministic: the order that plans come in does not matter.
func TestEncodingIsDeterministic(t *testing.T) {
	plans := manyTables(t, 20, false)
	want := newSet(t, plans...)
	for range 5 {
		rand.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
		if s := newSet(t, append(plans, plans[0])...); !bytes.Equal(s.Bytes(), want.Bytes()) || s.Hash() != want.Hash() {
			t.Fatal("another encoding")
		}
	}
	other := *plans[0]
	other.Filter = nil
	if _, err := NewSet(append(plans, &other)...); !errors.Is(err, ErrTable) {
		t.Error(err)
	}
}

// TestSetOfHalfPlans: a plan that somebody put together and that Decode would
// refuse is an error that names the column, and no panic.
func TestSetOfHalfPlans(t *testing.T) {
	bound, unbound := printed(&expr{op: opBool}), &Filter{root: &expr{op: opUser}}
	whole := manyTables(t, 1, false)[0]
	half := func(change func(p *Plan, c *ColumnMask)) *Plan {
		p := *whole
		p.Masks = slices.Clone(p.Masks)
		change(&p, &p.Masks[0])
		return &p
	}
	for name, p := range map[string]*Plan{
		"a plan is missing": nil,
		"column " + whole.Masks[0].Name + " is masked without": half(func(_ *Plan, c *ColumnMask) { c.Mask = nil }),
		"masked without a mask or a reason":                    half(func(_ *Plan, c *ColumnMask) { c.Why = nil }),
		"is exempt without a reason":                           half(func(p *Plan, _ *ColumnMask) { p.Exempt = []ColumnMask{{Name: "x"}} }),
		"a filter without a reason":                            half(func(p *Plan, _ *ColumnMask) { p.Filter, p.FilterWhy = bound, nil }),
		"parameters without values":                            half(func(p *Plan, c *ColumnMask) { p.Filter, p.FilterWhy = unbound, c.Why }),
		"is number -1 of":                                      half(func(_ *Plan, c *ColumnMask) { c.Index = -1 }),
		"is number 9 of 9":                                     half(func(p *Plan, c *ColumnMask) { p.Columns, c.Index = 9, 9 }),
		"is out of order":                                      half(func(p *Plan, c *ColumnMask) { p.Masks = []ColumnMask{*c, *c} }),
	} {
		if _, err := NewSet(whole, p); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEncodingSize holds the budgets: text once, a few bytes a column.
func TestEncodingSize(t *testing.T) {
	size := func(n int, shared bool) int { return len(newSet(t, manyTables(t, n, shared)...).Bytes()) }
	hundred := size(100, true)
	t.Logf("100 tables, one filter of 2000 bytes: %d bytes; each its own: %d", hundred, size(100, false))
	if hundred >= 15000 {
		t.Errorf("100 tables take %d bytes", hundred)
	}
	// A thousand tables with nothing but the same filter against one with it.
	plan := planOf(t, &fakeRules{filter: longFilter(50000, "")}, textTable(t, "t", 1))
	var one, thousand []*Plan
	for i := range 1000 {
		p := *plan
		p.Table = fmt.Sprintf("t%d", i)
		if thousand = append(thousand, &p); i == 0 {
			one = append(one, &p)
		}
	}
	a, b := len(newSet(t, one...).Bytes()), len(newSet(t, thousand...).Bytes())
	t.Logf("one filter: %d bytes, a thousand equal ones: %d", a, b)
	if b >= 2*a {
		t.Errorf("a thousand equal filters take %d bytes, one takes %d", b, a)
	}
	// Linear: ten times the tables, about ten times the bytes.
	if x, y := size(20, false), size(200, false); y > 11*x {
		t.Errorf("%d bytes for 20 tables, %d for 200", x, y)
	}
}

// TestDecodeDamaged damages every byte in turn and cuts at every length: an
// error, never a panic, or a set that encodes to those very bytes.
func TestDecodeDamaged(t *testing.T) {
	plans := manyTables(t, 2, true)
	for _, p := range plans {
		f, err := ParseFilter("column_0 = 'abc' and column_1 in ('x')", Syntax{})
		if err != nil {
			t.Fatal(err)
		}
		p.Filter = f
	}
	b := newSet(t, plans...).Bytes()
	for n := range len(b) {
		if _, err := Decode(b[:n]); !errors.Is(err, ErrEncoding) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if _, err := Decode(append(slices.Clone(b), 0)); !errors.Is(err, ErrEncoding) {
		t.Error(err)
	}
	for i := range b {
		for _, x := range []byte{0, 1, 0x7f, 0x80, 0xff, b[i] + 1, b[i] ^ 0x20} {
			c := slices.Clone(b)
			c[i] = x
			s, err := Decode(c)
			if err == nil && !bytes.Equal(encode(s.Plans()), c) || err != nil && !errors.Is(err, ErrEncoding) {
				t.Fatalf("byte %d as %d: %v", i, x, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(newSet(f, manyTables(f, 2, true)...).Bytes())
	f.Add(newSet(f).Bytes())
	f.Add(newSet(f, planOf(f, &fakeRules{expr: "hash_row({col}, {column_1})"}, textTable(f, "t", 2))).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrEncoding) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(encode(s.Plans()), b) {
			t.Fatal("two encodings of one set")
		}
	})
}

// TestOneFilterEncodesOnce: encoding a thousand equal filters reads the text of
// one, so it allocates about what one takes.
func TestOneFilterEncodesOnce(t *testing.T) {
	p := planOf(t, &fakeRules{filter: longFilter(100000, "")}, textTable(t, "t", 1))
	measure := func(n int) uint64 {
		var plans []*Plan
		for i := range n {
			q := *p
			q.Table = fmt.Sprint("t", i)
			plans = append(plans, &q)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		encode(plans)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, many := measure(1), measure(1000); many >= 4*one {
		t.Errorf("%d bytes allocated for one filter, %d for a thousand", one, many)
	}
}

// ---- benchmarks of the budgets

func BenchmarkPlan(b *testing.B) {
	id := NewIdentity("u", []string{"a", "b", "c"}, []string{"r"}, map[string]string{"dept": "x"})
	b.Run("warm", func(b *testing.B) {
		s := NewSnapshot(&fakeRules{expr: "mask({col})"})
		tab := textTable(b, "t", 250)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Plan(id, tab, time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new-identity", func(b *testing.B) {
		s := NewSnapshot(&fakeRules{expr: "mask({col})"})
		tab := textTable(b, "t", 250)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Plan(NewIdentity("u", []string{"a", "b", "c"}, nil, nil), tab, time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		for _, shared := range []bool{true, false} {
			plans := manyTables(b, n, shared)
			b.Run(fmt.Sprintf("tables=%d/shared=%v", n, shared), func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					size = len(encode(plans))
				}
				b.ReportMetric(float64(size), "bytes")
			})
			data := newSet(b, plans...).Bytes()
			b.Run(fmt.Sprintf("decode/tables=%d/shared=%v", n, shared), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Decode(data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkEqualFilters encodes a thousand tables with a filter of 2000 bytes on
// one of them, and on all: one object for all, or equal ones that are not.
// ratio is to the time with one filter, in turns.
func BenchmarkEqualFilters(b *testing.B) {
	var one, shared, equal []*Plan
	plan := planOf(b, &fakeRules{filter: longFilter(2000, "")}, textTable(b, "t", 1))
	for i := range 1000 {
		p := *plan
		p.Table = fmt.Sprintf("t%d", i)
		shared = append(shared, &p)
		q, r := p, p
		q.Filter = planOf(b, &fakeRules{filter: longFilter(2000, "")}, textTable(b, "t", 1)).Filter
		equal = append(equal, &q)
		if i > 0 {
			r.Filter, r.FilterWhy = nil, nil
		}
		one = append(one, &r)
	}
	took := map[string][]float64{}
	for range b.N {
		for name, plans := range map[string][]*Plan{"one": one, "shared": shared, "equal": equal} {
			start := time.Now()
			encode(plans)
			took[name] = append(took[name], float64(time.Since(start)))
		}
	}
	for _, all := range took {
		slices.Sort(all)
	}
	middle := func(name string) float64 { return took[name][b.N/2] }
	b.ReportMetric(middle("one"), "one-ns")
	b.ReportMetric(middle("shared")/middle("one"), "shared-ratio")
	b.ReportMetric(middle("equal")/middle("one"), "equal-ratio")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkFilter(b *testing.B) {
	tab := testTable(b)
	rows := testRows(rand.New(rand.NewPCG(1, 2)), 65536)
	for name, src := range map[string]string{"text-eq": "s = 'abc'", "text-in": "s in ('a','b','c','d')", "int-lt": "j < 5", "like": "s like '%b%'", "mixed": "s = 'a' and j > 1 or not b"} {
		f, err := ParseFilter(src, Syntax{})
		if err != nil {
			b.Fatal(err)
		}
		p, err := f.Compile(tab)
		if err != nil {
			b.Fatal(err)
		}
		var in []*mask.Vector
		for _, c := range p.Columns() {
			col := make([]cell, len(rows))
			for r := range rows {
				col[r] = rows[r][c]
			}
			in = append(in, build(tab.Columns()[c].Type.Kind, col))
		}
		keep := make([]byte, (len(rows)+7)/8)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(b.Context(), len(rows), in, keep); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
		})
	}
}
