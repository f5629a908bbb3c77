package ranger

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/arrowmask/arrowmask/policy"
)

// kind is what a policy decides; access policies are not kept.
type kind uint8

const (
	kindMask kind = iota
	kindFilter
)

// pol is a mask or filter policy, read, checked and compiled.
type pol struct {
	id        int64
	name      string
	zone      string
	kind      kind
	tag       bool // of the tag service
	enabled   bool
	priority  int
	deny      bool // has deny items or denies all else: only the order depends on it
	resources []map[string]policyResource
	matchers  []*levelMatcher // one of resources each
	conds     []cond
	schedules []schedule
	items     []item
	order     int   // evalOrder
	rank      int   // place in its list
	closed    error // the resource cannot be matched exactly
	moving    bool  // an expression in a resource
	byColumn  bool  // the conditions may differ between columns
}

// cond is a condition: a script, or why there is none.
type cond struct {
	script *script
	err    error
}

// item is one line of a policy: who, for what access, gets what.
type item struct {
	n                    int      // place in the policy's list
	users, groups, roles []string // sorted
	anyUser, everyone    bool     // {USER} among the users; public among the groups
	owner                bool     // {OWNER} among the users
	given                []string // access types as given, sorted
	accesses             []string // with what they imply
	conds                []cond

	maskType  string
	valueExpr string
	condExpr  string
	mask      maskRule // masks only

	filterExpr string
	filter     filterRule // filters only
}

// exempts reports whether the item leaves the data as it is on purpose.
func (it *item) exempts(k kind) bool {
	if k == kindMask {
		return strings.EqualFold(it.maskType, maskNone)
	}
	return it.filter.always
}

// byResource is the order of resource policies: priority, then those that deny
// something, then the broader by Ranger's evalOrder, then the name.
func byResource(a, b *pol) int {
	if c := byName(a, b, false); c != 0 {
		return c
	}
	if c := a.order - b.order; c != 0 {
		return c
	}
	return byName(a, b, true)
}

// byTag is the order of tag policies among those of one match type.
func byTag(a, b *pol) int {
	if c := byName(a, b, false); c != 0 {
		return c
	}
	return byName(a, b, true)
}

// byName compares priority and denial, or else name and id.
func byName(a, b *pol, name bool) int {
	switch {
	case !name && a.priority != b.priority:
		return b.priority - a.priority
	case !name && a.deny != b.deny:
		if a.deny {
			return -1
		}
		return 1
	case !name:
		return 0
	}
	if c := slices.Compare(utf16.Encode([]rune(a.name)), utf16.Encode([]rune(b.name))); c != 0 {
		return c
	}
	if a.id < b.id {
		return -1
	}
	if a.id > b.id {
		return 1
	}
	return 0
}

// evalOrder is Ranger's measure of how narrow a policy is: the smaller, the
// broader, the earlier. accessTypes is how many the service has; tag policies
// are not ordered by it.
func (p *pol) evalOrder(accessTypes int) int {
	order := 10000
	if len(p.resources) > 0 {
		sum, moving := 0, false
		for _, r := range p.resources[0] {
			n := 0
			for _, v := range r.values {
				switch {
				case v == "" || v == "*":
					n = max(n, 25)
				case strings.Contains(v, "*"):
					n = max(n, 10)
				case strings.Contains(v, "?"):
					n = max(n, 5)
				}
				moving = moving || strings.Contains(v, "${{") || strings.Contains(v, "{") && strings.Contains(v, "}")
			}
			if r.excludes {
				n += 5
			}
			sum += n
		}
		if moving {
			order += 20
		}
		order -= min(100, sum)
	}
	users, groups, types := map[string]bool{}, map[string]bool{}, map[string]bool{}
	conds, public := len(p.conds), p.deny
	for i := range p.items {
		it := &p.items[i]
		for _, u := range it.users {
			users[u] = true
		}
		for _, g := range it.groups {
			groups[g] = true
			public = public || strings.EqualFold(g, "public")
		}
		for _, a := range it.given {
			types[a] = true
		}
		public = public || it.anyUser
		conds += len(it.conds)
	}
	if public {
		order -= 25
	} else {
		order -= min(25, len(users)+len(groups))
	}
	if accessTypes > 0 {
		order -= (2*25*len(types) + accessTypes) / (2 * accessTypes) // rounded half up
	}
	return order - max(0, 25-5*conds)
}

// reason names the policy behind a decision.
func (p *pol) reason(i int, tag string) policy.Reason {
	r := policy.Reason{PolicyID: p.id, Policy: p.name, Tag: tag, Zone: p.zone, Kind: "filter"}
	if i >= 0 {
		r.Item = p.items[i].n
		if p.kind == kindMask {
			r.Kind = p.items[i].maskType
		}
	} else if p.kind == kindMask {
		r.Kind = "mask"
	}
	return r
}

// index finds the policies, or tagged resources, that may concern a table:
// each lies under the exact values of its leading levels, as far as it has any.
type index struct {
	depth int // levels of a table, without the column
	lists map[string][]int
}

// maxKeys bounds the keys of one entry: a policy that names more tables than
// that is looked at for every table.
const maxKeys = 1000

func newIndex(depth int) *index { return &index{depth: depth, lists: map[string][]int{}} }

// add files a rank; ranks come in ascending order. A nil matcher may concern
// every table.
func (x *index) add(rank int, m *levelMatcher) {
	keys := []string{""}
	for i := 0; m != nil && i < len(m.matchers) && i < x.depth; i++ {
		vm := m.matchers[i]
		if !vm.exact || len(keys)*len(vm.patterns) > maxKeys {
			break
		}
		var next []string
		for _, k := range keys {
			for _, p := range vm.patterns {
				next = append(next, k+"\x00"+p.key)
			}
		}
		slices.Sort(next)
		keys = slices.Compact(next)
	}
	for _, k := range keys {
		l := x.lists[k]
		if len(l) == 0 || l[len(l)-1] != rank {
			x.lists[k] = append(l, rank)
		}
	}
}

// find lists ranks in ascending order.
func (x *index) find(path []string) []int {
	out := slices.Clone(x.lists[""])
	key, lists := "", 1
	for i := 0; i < len(path) && i < x.depth; i++ {
		key += "\x00" + fold(path[i], true)
		if l := x.lists[key]; len(l) > 0 {
			out = append(out, l...)
			lists++
		}
	}
	if lists > 1 {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}
