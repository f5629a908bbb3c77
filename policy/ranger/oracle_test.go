package ranger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// decideSlowly is the rule of combination as it reads: for one column, every
// tag policy for every tag, then every resource policy, with the general
// matcher and no index.
func decideSlowly(r *Rules, id *policy.Identity, path []string, column string, at time.Time) (int64, int) {
	res := map[string]string{"catalog": path[0], "schema": path[1], "table": path[2], "column": column}
	q := r.request(id.User(), "", id.Groups(), id.Roles(), id.Attr, at)
	q.path, q.res, q.column = path, map[string]string{"catalog": path[0], "schema": path[1], "table": path[2]}, "column"
	var tags []tag
	for _, tr := range r.tags.resources {
		if mt, _ := tr.matcher.match(res, q); mt == matchSelf || mt == matchSelfAndAll || mt == matchAncestor {
			for _, t := range tr.tags {
				t.match = mt
				tags = append(tags, t)
			}
		}
	}
	var cur *pol
	item := -1
	masks := slices.Clone(r.tagMasks)
	for _, mt := range []matchType{matchSelf, matchSelfAndAll, matchAncestor} {
		for _, p := range masks {
			for i := range tags {
				if cur == nil && tags[i].match == mt && p.resources[0]["tag"].values[0] == tags[i].name {
					if v := q.consult(p, q.env(res, tags, &tags[i])); v.item >= 0 {
						cur, item = p, v.item
					}
				}
			}
		}
	}
	list := slices.Clone(r.base.masks)
	slices.SortFunc(list, byResource)
	for _, p := range list {
		hit := false
		for _, m := range p.matchers {
			mt, _ := m.match(res, q)
			hit = hit || mt == matchSelf
		}
		if !hit {
			continue
		}
		if cur != nil && cur.priority >= p.priority {
			break
		}
		if v := q.consult(p, q.env(res, tags, nil)); v.item >= 0 {
			cur, item = p, v.item
		}
		if cur != nil {
			break
		}
	}
	if cur == nil {
		return -1, -1
	}
	return cur.id, item
}

// TestWholeTableAgainstColumns compares whole tables with the slow rule over
// random policies.
func TestWholeTableAgainstColumns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	pick := func(xs ...string) string { return xs[rnd.IntN(len(xs))] }
	value := func(xs ...string) obj {
		vs := list{pick(xs...)}
		if rnd.IntN(3) == 0 {
			vs = append(vs, pick(xs...))
		}
		return obj{"values": vs, "isExcludes": rnd.IntN(12) == 0}
	}
	resource := func() obj {
		return obj{"catalog": value("c", "C", "*", "x"), "schema": value("s", "s*", "*", "S"), "table": value("t", "u", "t?", "t*", "*", "{USER}"), "column": value("a", "B", "c", "*", "a*", "?", "d")}
	}
	var tables []*policy.Table
	for _, name := range []string{"t", "u", "t1", "v"} {
		var cols []policy.Column
		for _, c := range []string{"a", "b", "c", "D", "ab", "A"} {
			cols = append(cols, policy.Column{Name: c, Type: mask.Type{Kind: mask.Text}})
		}
		tab, err := policy.NewTable([]string{"c", "s", name}, "", cols)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, tab)
	}
	decided := 0
	for round := range 60 {
		var policies []obj
		for i := range 12 {
			var items []obj
			for range 1 + rnd.IntN(2) {
				who := obj{"users": list{pick("u", "v", "{USER}")}}
				if rnd.IntN(2) == 0 {
					who = obj{"groups": list{pick("g", "h", "public")}}
				}
				items = append(items, maskItem(pick("MASK", "MASK_NULL", "MASK_NONE"), who))
			}
			p := with(maskPolicy(i, "", items...), obj{"resources": resource(), "policyPriority": rnd.IntN(3) / 2, "name": fmt.Sprint(rnd.IntN(6))})
			if rnd.IntN(4) == 0 {
				p["additionalResources"] = list{resource()}
			}
			if rnd.IntN(4) == 0 {
				p["conditions"] = list{obj{"type": "_expression", "values": list{pick("RES.column == 'a'", "IS_IN_GROUP('g')", "RES.table != 'u'")}}}
			}
			policies = append(policies, p)
		}
		var tagPolicies list
		for i := range 3 {
			tagPolicies = append(tagPolicies, with(tagPolicy(100+i, pick("P", "Q"), maskItem(pick("MASK", "MASK_NONE"), obj{"users": list{pick("u", "v")}})), obj{"policyPriority": rnd.IntN(2)}))
		}
		tags := []byte(fmt.Sprintf(`{"tags":{"1":{"type":"P"},"2":{"type":"Q"}},"resourceToTagIds":{"1":[1],"2":[2]},"serviceResources":[
			{"id":1,"resourceElements":{"catalog":{"values":["c"]},"schema":{"values":["s"]},"table":{"values":[%q]}}},
			{"id":2,"resourceElements":{"catalog":{"values":["*"]},"schema":{"values":["s"]},"table":{"values":["t"]},"column":{"values":[%q]}}}]}`, pick("t", "*", "u"), pick("a", "*", "c")))
		r := load(t, policies, obj{"serviceType": "trino", "tagPolicies": obj{"policies": tagPolicies}}, Options{Tags: tags})
		for _, tab := range tables {
			for _, id := range []*policy.Identity{who("u"), who("v", "g"), who("t", "h")} {
				d, err := r.Decide(id, tab, noon)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{}
				for _, c := range d.Columns {
					got[c.Field.Name] = fmt.Sprint(c.Why.PolicyID, c.Why.Item)
				}
				for _, c := range tab.Columns() {
					want := ""
					if p, item := decideSlowly(r, id, tab.Path(), c.Name, noon); p >= 0 {
						want = fmt.Sprint(p, item)
						decided++
					}
					if got[c.Name] != want {
						t.Fatalf("round %d, %s, %s.%s: %q, want %q", round, id, tab.Name(), c.Name, got[c.Name], want)
					}
				}
			}
		}
	}
	if decided < 500 {
		t.Errorf("only %d columns decided", decided)
	}
}

// TestRecurrencesAgainstMinutes compares with a walk over every minute of the
// window.
func TestRecurrencesAgainstMinutes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	some := func(lo, hi int) set {
		switch rnd.IntN(4) {
		case 0:
			return nil
		case 1:
			return set{}
		}
		out := set{}
		for range 1 + rnd.IntN(4) {
			out[lo+rnd.IntN(hi-lo+1)] = true
		}
		return out
	}
	loc, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for range 300 {
		r := recurrence{minutes: some(0, 59), hours: some(0, 23), days: some(1, 31), weekdays: some(1, 7), months: nil, years: set{2024: true}}
		if rnd.IntN(3) == 0 {
			r.months = set{3: true, 4: true}
		}
		if len(r.minutes) == 0 {
			r.minutes = set{0: true, 30: true}
		}
		r.window = time.Duration(1+rnd.IntN(3*24*60)) * time.Minute
		// Around the changes of the clock too: 10 March and 3 November 2024.
		at := time.Date(2024, []time.Month{3, 4, 11}[rnd.IntN(3)], 1+rnd.IntN(14), rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), 0, loc)
		want := false
		for m := at.Truncate(time.Minute); !m.Before(at.Add(-r.window)); m = m.Add(-time.Minute) {
			l := m.In(loc)
			if r.years.has(l.Year()) && r.months.has(int(l.Month())) && (r.days.has(l.Day()) || r.weekdays.has(int(l.Weekday())+1)) && r.hours.has(l.Hour()) && r.minutes.has(l.Minute()) {
				want = true
				break
			}
		}
		if got := r.open(at, loc); got != want {
			t.Fatalf("%+v at %v: %v, want %v", r, at, got, want)
		}
		if want {
			opened++
		}
	}
	if opened < 30 || opened > 270 {
		t.Errorf("%d of 300 open", opened)
	}
}

// TestRecurrenceInARepeatedHour: on 3 November 2024 clocks in California show
// 01:30 twice, and on 10 March 2024 they do not show 02:30.
func TestRecurrenceInARepeatedHour(t *testing.T) {
	loc, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		x, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		hour, minute int
		at           string
		want         bool
	}{
		{1, 30, "2024-11-03T01:29:59-07:00", false},
		{1, 30, "2024-11-03T01:35:00-07:00", true},
		{1, 30, "2024-11-03T01:29:59-08:00", false},
		{1, 30, "2024-11-03T01:35:00-08:00", true},
		{1, 30, "2024-11-03T01:45:00-08:00", false},
		{2, 30, "2024-03-10T03:35:00-07:00", false},
		{2, 30, "2024-03-10T01:35:00-08:00", false},
		{3, 30, "2024-03-10T03:35:00-07:00", true},
	} {
		r := recurrence{hours: set{c.hour: true}, minutes: set{c.minute: true}, years: set{2024: true}, window: 10 * time.Minute}
		if got := r.open(at(c.at), loc); got != c.want {
			t.Errorf("%02d:%02d for 10 minutes, at %s: %v, want %v", c.hour, c.minute, c.at, got, c.want)
		}
	}
}
