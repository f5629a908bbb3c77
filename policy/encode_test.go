package policy

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/arrowmask/arrowmask/internal/race"
)

// referenceEncode writes the encoding as its description says: every table is
// gathered, sorted and made distinct, and every number is looked up.
func referenceEncode(plans []*Plan) []byte {
	var (
		texts   []string
		masks   []Mask
		filters []string
		reasons []Reason
	)
	reason := func(r *Reason) {
		reasons = append(reasons, *r)
		texts = append(texts, r.Policy, r.Kind, r.Tag, r.Zone)
	}
	for _, p := range plans {
		texts = append(texts, p.Table, p.Version)
		if p.Filter != nil {
			filters, texts = append(filters, p.Filter.text), append(texts, p.Filter.text)
		}
		if p.FilterWhy != nil {
			reason(p.FilterWhy)
		}
		for _, c := range p.Masks {
			masks, texts = append(masks, *c.Mask), append(texts, c.Name, c.Mask.Expr, c.Mask.Dialect)
			reason(c.Why)
		}
		for _, c := range p.Exempt {
			texts = append(texts, c.Name)
			reason(c.Why)
		}
		for _, u := range p.Unmatched {
			texts = append(texts, u.Detail)
			reason(&u.Why)
		}
	}
	compareMasks := func(a, b Mask) int {
		return cmp.Or(cmp.Compare(a.Expr, b.Expr), cmp.Compare(a.Dialect, b.Dialect))
	}
	compareReasons := func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.PolicyID, b.PolicyID), cmp.Compare(a.Item, b.Item), cmp.Compare(a.Policy, b.Policy),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Zone, b.Zone))
	}
	texts = distinct(texts, cmp.Compare[string])
	masks = distinct(masks, compareMasks)
	filters = distinct(filters, cmp.Compare[string])
	reasons = distinct(reasons, compareReasons)

	b := []byte("AMPL")
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	text := func(s string) { number(place(texts, s, cmp.Compare[string])) }
	number(1)
	number(len(texts))
	for _, s := range texts {
		number(len(s))
		b = append(b, s...)
	}
	number(len(masks))
	for _, m := range masks {
		text(m.Expr)
		text(m.Dialect)
	}
	number(len(filters))
	for _, f := range filters {
		text(f)
	}
	number(len(reasons))
	for _, r := range reasons {
		b = binary.AppendVarint(b, r.PolicyID)
		text(r.Policy)
		number(r.Item)
		text(r.Kind)
		text(r.Tag)
		text(r.Zone)
	}
	number(len(plans))
	for _, p := range plans {
		text(p.Table)
		text(p.Version)
		number(p.Columns)
		b = append(b, p.Fingerprint[:]...)
		filter, why := 0, 0
		if p.Filter != nil {
			filter = place(filters, p.Filter.text, cmp.Compare[string]) + 1
		}
		if p.FilterWhy != nil {
			why = place(reasons, *p.FilterWhy, compareReasons) + 1
		}
		number(filter)
		number(why)
		for _, list := range [][]ColumnMask{p.Masks, p.Exempt} {
			number(len(list))
			last := 0
			for _, c := range list {
				step := (c.Index - last) * 2
				last = c.Index
				if len(c.Path) == 0 {
					number(step)
				} else {
					number(step + 1)
					number(len(c.Path))
					for _, k := range c.Path {
						number(k)
					}
				}
				text(c.Name)
				if c.Mask != nil {
					number(place(masks, *c.Mask, compareMasks))
				}
				number(place(reasons, *c.Why, compareReasons))
			}
		}
		number(len(p.Unmatched))
		for _, u := range p.Unmatched {
			number(place(reasons, u.Why, compareReasons))
			text(u.Detail)
		}
	}
	return b
}

func distinct[T any](all []T, compare func(a, b T) int) []T {
	slices.SortFunc(all, compare)
	return slices.CompactFunc(all, func(a, b T) bool { return compare(a, b) == 0 })
}

func place[T any](sorted []T, x T, compare func(a, b T) int) int {
	i, ok := slices.BinarySearchFunc(sorted, x, compare)
	if !ok {
		panic("the reference does not know what it gathered")
	}
	return i
}

// randomPlans name texts that are equal, share the beginning, or hold any byte,
// by pointers that are shared and that are not.
func randomPlans(rnd *rand.Rand, n int) []*Plan {
	alphabet := 1 + rnd.IntN(300)
	text := func() string {
		switch k := rnd.IntN(alphabet); k % 6 {
		case 0:
			return ""
		case 1:
			return fmt.Sprintf("same beginning %d", k)
		case 2:
			return strings.Repeat("\x00", k%12)
		case 3:
			return strings.Repeat("\xff", k%40) + "x"
		case 4:
			return strings.Repeat("long ", 30+k)
		default:
			return fmt.Sprint(k)
		}
	}
	reason := func() *Reason {
		return &Reason{PolicyID: int64(rnd.IntN(alphabet) - 3), Policy: text(), Item: rnd.IntN(200), Kind: text(), Tag: text(), Zone: text()}
	}
	var (
		masks   []*Mask
		filters []*Filter
		reasons []*Reason
	)
	for range 1 + rnd.IntN(9) {
		masks = append(masks, &Mask{Expr: text(), Dialect: text()})
		filters = append(filters, printed(textExpr(text())))
		reasons = append(reasons, reason())
	}
	why := func() *Reason {
		if rnd.IntN(3) == 0 {
			return reason()
		}
		r := reasons[rnd.IntN(len(reasons))]
		if rnd.IntN(3) == 0 {
			same := *r
			return &same
		}
		return r
	}
	columns := func(masked bool) (out []ColumnMask) {
		at := 0
		for range rnd.IntN(30) {
			at += rnd.IntN(90)
			c := ColumnMask{Name: text(), Index: at, Why: why()}
			for range rnd.IntN(3) {
				c.Path = append(c.Path, rnd.IntN(200))
			}
			if masked {
				if c.Mask = masks[rnd.IntN(len(masks))]; rnd.IntN(3) == 0 {
					same := *c.Mask
					c.Mask = &same
				}
			}
			out = append(out, c)
		}
		return out
	}
	plans := make([]*Plan, n)
	for i := range plans {
		p := &Plan{Table: text(), Version: text(), Columns: rnd.IntN(1000), Masks: columns(true), Exempt: columns(false)}
		for k := range p.Fingerprint {
			p.Fingerprint[k] = byte(rnd.Uint32())
		}
		if rnd.IntN(2) == 0 {
			if p.Filter, p.FilterWhy = filters[rnd.IntN(len(filters))], why(); rnd.IntN(3) == 0 {
				p.Filter = printed(p.Filter.root)
			}
		}
		for range rnd.IntN(3) {
			p.Unmatched = append(p.Unmatched, Unmatched{Why: *why(), Detail: text()})
		}
		plans[i] = p
	}
	return plans
}

// TestEncodeReference compares with the reference, small sets after large ones
// and several at a time: encoders are used again.
func TestEncodeReference(t *testing.T) {
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := range uint64(25) {
				rnd := rand.New(rand.NewPCG(worker, round))
				plans := randomPlans(rnd, rnd.IntN(1+rnd.IntN(50)))
				got, want := encode(plans), referenceEncode(plans)
				if !bytes.Equal(got, want) {
					t.Errorf("seed %d %d: %d plans: %d bytes, the reference writes %d", worker, round, len(plans), len(got), len(want))
				}
				if cap(got) != len(got) {
					t.Errorf("seed %d %d: %d bytes of slack", worker, round, cap(got)-len(got))
				}
			}
		}()
	}
	wg.Wait()
}

// TestEncodeAllocates: what NewSet allocates is the set, its list of plans and
// the bytes, however much is in them.
func TestEncodeAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	if testing.AllocsPerRun(10, func() { maphash.Comparable(seed, Mask{}) }) != 0 {
		t.Skip("the standard library of this build (tag purego) allocates to hash")
	}
	for _, shared := range []bool{true, false} {
		plans := manyTables(t, 50, shared)
		if n := testing.AllocsPerRun(20, func() { newSet(t, plans...) }); n != 3 {
			t.Errorf("shared %v: %v allocations", shared, n)
		}
	}
}

// TestEncodingIsFixed: sets of one version of the format have these hashes, so
// that what stores or compares them may trust in it.
func TestEncodingIsFixed(t *testing.T) {
	for _, c := range []struct {
		name  string
		plans []*Plan
		want  string
	}{
		{"empty", nil, "1be8ccb52945a1a2912556d490558cf5"},
		{"mixed", mixedPlans(t), "0f9e523165b5bba2877b428bc4f11d8a"},
		{"shared filter", manyTables(t, 200, true), "3d8020719f8dc51ee5c27e6afb546002"},
		{"different filters", manyTables(t, 200, false), "284871ab7e21fc01d03f91a82b64a13c"},
	} {
		if got := newSet(t, c.plans...).Hash().String(); got != c.want {
			t.Errorf("%s: hash %s, not %s", c.name, got, c.want)
		}
	}
}
