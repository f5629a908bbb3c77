package ranger

import (
	"slices"

	"github.com/arrowmask/arrowmask/policy"
)

// Listed is an item that may apply to a resource for somebody.
type Listed struct {
	Users, Groups, Roles []string
	AccessTypes          []string
	Why                  policy.Reason
	Mask                 string // the mask type
	Filter               string // the filter expression, as the policy has it
	// Conditional: it depends on more than who asks, namely on a condition, a
	// time, or an expression in the resource.
	Conditional bool
}

// ListMasks lists every item that may mask a column for somebody, in the order
// of evaluation, tag policies first. path names the table; expressions in a
// policy's resource count as matching. It is a report ("who sees this how"),
// not a decision.
func (r *Rules) ListMasks(path []string, column string) ([]Listed, error) {
	return r.list(kindMask, append(slices.Clone(path), column))
}

// ListFilters is ListMasks for the rows of a table.
func (r *Rules) ListFilters(path []string) ([]Listed, error) {
	return r.list(kindFilter, path)
}

func (r *Rules) list(k kind, path []string) ([]Listed, error) {
	chain, err := r.levelNames(k, len(path))
	if err != nil {
		return nil, err
	}
	res := map[string]string{}
	for i, v := range path {
		res[chain[i].name] = v
	}
	var out []Listed
	tagged := map[string]bool{} // tag name -> held for a time only
	for i := range r.tags.resources {
		tr := &r.tags.resources[i]
		mt, err := tr.matcher.match(res, nobody{})
		if err != nil {
			return nil, err
		}
		if mt == matchNone || mt == matchDescendant {
			continue
		}
		for _, t := range tr.tags {
			old, seen := tagged[t.name]
			tagged[t.name] = (old || !seen) && len(t.schedules) > 0
		}
	}
	tags, list := r.tagMasks, r.base.masks
	if k == kindFilter {
		tags, list = r.tagFilters, r.base.filters
	}
	for _, p := range tags {
		for name, temporal := range tagged {
			if ok, err := p.matchesTag(name, nobody{}); ok && err == nil {
				out = append(out, p.listed(name, temporal)...)
				break
			}
		}
	}
	for _, z := range r.zones {
		if slices.ContainsFunc(z.matchers, func(m *levelMatcher) bool {
			mt, err := m.match(res, nobody{})
			return err == nil && mt != matchNone
		}) {
			if list = z.rules.masks; k == kindFilter {
				list = z.rules.filters
			}
		}
	}
	for _, p := range list {
		if slices.ContainsFunc(p.matchers, func(m *levelMatcher) bool {
			if len(m.matchers) != len(path) {
				return false
			}
			for i, vm := range m.matchers {
				if !vm.looseMatch(path[i]) {
					return false
				}
			}
			return true
		}) {
			out = append(out, p.listed("", false)...)
		}
	}
	return out, nil
}

// nobody resolves nothing.
type nobody struct{}

func (nobody) token(string) (string, bool) { return "", false }
func (nobody) expr(src string) (string, error) {
	return "", closedf("%q depends on who asks", clip(src))
}

func (p *pol) listed(tag string, conditional bool) []Listed {
	conditional = conditional || p.moving || len(p.conds)+len(p.schedules) > 0
	var out []Listed
	for i := range p.items {
		it := &p.items[i]
		l := Listed{
			Groups: slices.Clone(it.groups), Roles: it.roles, AccessTypes: it.given, Why: p.reason(i, tag),
			Mask: it.maskType, Filter: it.filterExpr, Conditional: conditional || len(it.conds) > 0,
		}
		for _, u := range it.users {
			// Whoever asks is everybody.
			if u == "{USER}" {
				l.Groups = sorted(append(l.Groups, "public"))
			} else {
				l.Users = append(l.Users, u)
			}
		}
		out = append(out, l)
	}
	return out
}
