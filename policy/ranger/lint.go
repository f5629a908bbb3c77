package ranger

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/policy"
)

// FindingKind says what Lint found.
type FindingKind string

// The kinds, worst first.
const (
	Malformed FindingKind = "malformed" // Load refuses the file
	Refused   FindingKind = "refused"   // sound, but closes what it applies to
	Shadowed  FindingKind = "shadowed"  // an earlier policy or item always decides first
	NoMatch   FindingKind = "unmatched" // matches none of the tables given
	Warning   FindingKind = "warning"
	Disabled  FindingKind = "disabled"
)

// Finding is something about a policy file that its author should know.
type Finding struct {
	Kind     FindingKind
	PolicyID int64 // -1: the file
	Policy   string
	Item     int // from 0; -1: the whole policy
	Detail   string
}

// String is one line for people.
func (f Finding) String() string {
	s := string(f.Kind) + ": "
	if f.PolicyID >= 0 {
		s += fmt.Sprintf("policy %d %q", f.PolicyID, f.Policy)
		if f.Item >= 0 {
			s += fmt.Sprintf(" item %d", f.Item+1)
		}
		s += ": "
	}
	return s + f.Detail
}

// Lint reads a policy file as Load does and lists what would be refused,
// shadowed or, where tables are given, unmatched. It never fails: what Load
// would return as an error comes as findings.
func Lint(body []byte, o Options, tables ...*policy.Table) []Finding {
	r, err := Load(body, o)
	if err != nil {
		var out []Finding
		list := []error{err}
		var joined interface{ Unwrap() []error }
		if errors.As(err, &joined) && !errors.Is(err, policy.ErrNoRules) {
			list = joined.Unwrap()
		}
		for _, e := range list {
			out = append(out, Finding{Kind: Malformed, PolicyID: -1, Item: -1, Detail: e.Error()})
		}
		return out
	}
	return r.lint(tables)
}

func (r *Rules) lint(tables []*policy.Table) []Finding {
	out := slices.Clone(r.notes)
	add := func(k FindingKind, p *pol, item int, format string, args ...any) {
		out = append(out, Finding{Kind: k, PolicyID: p.id, Policy: p.name, Item: item, Detail: fmt.Sprintf(format, args...)})
	}
	lint := func(list []*pol, ix *index) {
		for i, p := range list {
			r.lintPolicy(p, add)
			earlier := list[:i]
			if ix != nil {
				earlier = p.earlier(list, ix)
			}
			if by := shadow(earlier, p); by != nil {
				add(Shadowed, p, -1, "policy %d %q decides first for everyone on the same resources", by.id, by.name)
			} else if by := overlap(earlier, p); by != nil {
				add(Warning, p, -1, "policy %d %q is asked before it on some of the same resources", by.id, by.name)
			}
			if len(tables) > 0 && !p.tag && !slices.ContainsFunc(tables, p.mayMatch) {
				add(NoMatch, p, -1, "none of the tables has what it names")
			}
			for _, t := range tables {
				p.lintColumns(t, add)
			}
		}
	}
	lint(r.tagMasks, nil)
	lint(r.tagFilters, nil)
	for _, set := range r.rulesets() {
		lint(set.masks, set.maskIndex)
		lint(set.filters, set.filterIndex)
		for _, p := range set.off {
			add(Disabled, p, -1, "the policy is disabled")
		}
	}
	order := []FindingKind{Malformed, Refused, Shadowed, NoMatch, Warning, Disabled}
	slices.SortStableFunc(out, func(a, b Finding) int { return slices.Index(order, a.Kind) - slices.Index(order, b.Kind) })
	return out
}

func (r *Rules) lintPolicy(p *pol, add func(FindingKind, *pol, int, string, ...any)) {
	refused := func(item int, err error) {
		if err != nil {
			add(Refused, p, item, "%s", strings.TrimPrefix(err.Error(), policy.ErrClosed.Error()+": "))
		}
	}
	refused(-1, p.closed)
	for _, c := range p.conds {
		refused(-1, c.err)
	}
	for _, m := range p.matchers {
		for i, vm := range m.matchers {
			if vm.opts.wildCard {
				continue
			}
			for _, pat := range vm.patterns {
				if pat.plain && strings.ContainsAny(pat.static, "*?") {
					add(Warning, p, -1, "level %s: %q is taken literally, the service definition has no wildcards there", m.chain[i].name, pat.static)
				}
			}
		}
	}
	everyone := -1
	for i := range p.items {
		it := &p.items[i]
		if everyone >= 0 {
			add(Shadowed, p, it.n, "item %d already decides for everyone", everyone+1)
		}
		if everyone < 0 && it.forAll(r.access) {
			everyone = it.n
		}
		for _, c := range it.conds {
			refused(it.n, c.err)
		}
		if p.kind == kindMask {
			refused(it.n, it.mask.err)
			if strings.TrimSpace(it.condExpr) != "" {
				add(Warning, p, it.n, "conditionExpr has no effect: the mask applies to every row")
			}
		} else {
			refused(it.n, it.filter.err)
		}
		if !slices.Contains(it.accesses, r.access) {
			add(Warning, p, it.n, "it does not allow %q, which is what reading asks for", r.access)
		}
	}
}

// lintColumns finds masks that read columns which a table lacks.
func (p *pol) lintColumns(t *policy.Table, add func(FindingKind, *pol, int, string, ...any)) {
	for i := range p.items {
		it := &p.items[i]
		if !it.mask.names || it.mask.err != nil || p.tag {
			continue
		}
		for k := range t.Fields() {
			f := &t.Fields()[k]
			if !p.mayMatchField(t, f) {
				continue
			}
			if _, err := it.mask.spell(it.mask.expr.sample(), t, f); err != nil {
				add(Refused, p, it.n, "table %s: column %s: %v", t.Name(), f.Name, err)
			}
		}
	}
}

// forAll reports whether an item matches whoever reads.
func (it *item) forAll(access string) bool {
	return (it.everyone || it.anyUser) && len(it.conds) == 0 && slices.Contains(it.accesses, access)
}

// earlier lists the policies before p that may concern the first table it names.
func (p *pol) earlier(list []*pol, ix *index) []*pol {
	var path []string
	for _, l := range p.matchers[0].chain {
		path = append(path, p.resources[0][l.name].values[0])
	}
	var out []*pol
	for _, rank := range ix.find(path) {
		if rank < p.rank {
			out = append(out, list[rank])
		}
	}
	return out
}

// overlap finds an earlier policy of the same priority on some of p's resources.
func overlap(earlier []*pol, p *pol) *pol {
	for _, e := range earlier {
		for _, m := range e.matchers {
			for _, res := range p.resources {
				if mt, err := m.matchResources(res, nobody{}); err == nil && mt != matchNone && e.priority == p.priority {
					return e
				}
			}
		}
	}
	return nil
}

// shadow finds an earlier policy that always decides first: it is for everyone
// and unconditional, and its resources hold all of p's.
func shadow(earlier []*pol, p *pol) *pol {
	for _, e := range earlier {
		if e.closed != nil || len(e.conds)+len(e.schedules) > 0 || p.closed != nil ||
			!slices.ContainsFunc(e.items, func(it item) bool { return (it.everyone || it.anyUser) && len(it.conds) == 0 }) {
			continue
		}
		covers := true
		for _, res := range p.resources {
			covers = covers && slices.ContainsFunc(e.matchers, func(m *levelMatcher) bool { return covered(m, res) })
		}
		if covers {
			return e
		}
	}
	return nil
}

// covered reports whether every resource of res certainly matches m: each
// value on its own, so wildcards in it must be met by a match of everything.
func covered(m *levelMatcher, res map[string]policyResource) bool {
	if len(m.chain) != len(res) {
		return false
	}
	for i, vm := range m.matchers {
		r, ok := res[m.chain[i].name]
		if !ok || vm.moving {
			return false
		}
		if vm.any && !vm.excludes {
			continue
		}
		if r.excludes || vm.excludes {
			return false
		}
		for _, v := range r.values {
			p := newPattern(v, &vm.opts)
			if !p.plain {
				return false
			}
			if ok, err := vm.match(v, nil); err != nil || !ok {
				return false
			}
		}
	}
	return true
}

// mayMatch reports whether the policy could apply to something of a table.
func (p *pol) mayMatch(t *policy.Table) bool {
	return p.kind == kindFilter && p.mayMatchField(t, nil) ||
		p.kind == kindMask && slices.ContainsFunc(t.Fields(), func(f policy.Field) bool { return p.mayMatchField(t, &f) })
}

// mayMatchField is mayMatch for a field of the table, nil for its rows.
func (p *pol) mayMatchField(t *policy.Table, f *policy.Field) bool {
	path := t.Path()
	for _, m := range p.matchers {
		n := len(m.matchers)
		if p.kind == kindMask {
			n--
		}
		if n != len(path) {
			continue
		}
		ok := true
		for i := 0; i < n && ok; i++ {
			ok = m.matchers[i].looseMatch(path[i])
		}
		if ok && (f == nil || m.matchers[n].looseMatch(f.Name)) {
			return true
		}
	}
	return false
}
