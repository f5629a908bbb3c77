package ranger

import (
	"fmt"
	"slices"
	"strings"
)

// matchType is how a request's resource lies to a policy's.
type matchType uint8

const (
	matchNone       matchType = iota
	matchSelf                 // the very resource
	matchSelfAndAll           // the resource, and everything below it
	matchAncestor             // the policy's resource is above the request's
	matchDescendant           // the policy's resource is below the request's
)

// policyResource is what a policy says about one level.
type policyResource struct {
	values   []string
	excludes bool
}

// levelMatcher matches resources of several levels.
type levelMatcher struct {
	chain    []level         // of the policy's own levels
	matchers []*valueMatcher // by level of chain
	chains   [][]level       // all chains of the definition that hold chain
}

// newLevelMatcher fits a policy's resources to a chain of levels without gaps.
func newLevelMatcher(res map[string]policyResource, levels []level) (*levelMatcher, error) {
	m := &levelMatcher{}
	all := chains(levels)
	if len(res) == 0 {
		return m, nil
	}
	for _, c := range all {
		if len(c) == len(res) && !slices.ContainsFunc(c, func(l level) bool { _, ok := res[l.name]; return !ok }) {
			m.chain = c
			break
		}
	}
	if m.chain == nil {
		var keys []string
		for k := range res {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return nil, fmt.Errorf("the levels %s are no chain of the service definition", strings.Join(keys, ", "))
	}
	for _, c := range all {
		if len(c) >= len(m.chain) && c[len(m.chain)-1].name == m.chain[len(m.chain)-1].name {
			m.chains = append(m.chains, c)
		}
	}
	for _, l := range m.chain {
		r := res[l.name]
		m.matchers = append(m.matchers, newValueMatcher(r.values, r.excludes, l.opts))
	}
	return m, nil
}

// match compares with a request's resource, level name to value. A level that
// is present with an empty value asks for all values.
func (m *levelMatcher) match(req map[string]string, b binder) (matchType, error) {
	if len(m.chain) == 0 {
		if len(req) == 0 {
			return matchSelf, nil
		}
		return matchNone, nil
	}
	depth, ok := m.depth(req)
	if !ok {
		return matchNone, nil
	}
	for i, vm := range m.matchers {
		v, present := req[m.chain[i].name]
		if !present && !vm.any {
			continue
		}
		ok, err := vm.match(v, b)
		if err != nil || !ok {
			return matchNone, err
		}
	}
	switch {
	case depth > len(m.chain):
		return matchAncestor, nil
	case depth == len(m.chain):
		return matchSelf, nil
	}
	for _, vm := range m.matchers[depth:] {
		if !vm.any {
			return matchDescendant, nil
		}
	}
	return matchSelfAndAll, nil
}

// depth is how many levels the request names; they must lie on one chain with
// the policy's, from the root and without gaps.
func (m *levelMatcher) depth(req map[string]string) (int, bool) {
	for _, c := range m.chains {
		n := 0
		for n < len(c) {
			if _, ok := req[c[n].name]; !ok {
				break
			}
			n++
		}
		if n == len(req) {
			return n, true
		}
	}
	return 0, false
}

// matchResources compares with another policy's resources, which may hold
// several values a level: the first value that matches at all stands for its
// level.
func (m *levelMatcher) matchResources(res map[string]policyResource, b binder) (matchType, error) {
	if len(res) == 0 {
		return matchNone, nil
	}
	// The other policy's levels must be a chain too.
	req := make(map[string]string, len(res))
	for k := range res {
		req[k] = "x"
	}
	if _, ok := m.depth(req); !ok {
		return matchNone, nil
	}
	clear(req)
	out := matchNone
	for _, c := range m.chains {
		if len(c) < len(res) {
			continue
		}
		for _, l := range c {
			r, ok := res[l.name]
			if !ok || len(r.values) == 0 {
				break
			}
			out = matchNone
			if r.excludes {
				return matchNone, nil
			}
			for _, v := range r.values {
				req[l.name] = v
				mt, err := m.match(req, b)
				if err != nil {
					return matchNone, err
				}
				if mt != matchNone {
					out = mt
					break
				}
			}
			if out == matchNone {
				return matchNone, nil
			}
		}
		break
	}
	return out, nil
}
