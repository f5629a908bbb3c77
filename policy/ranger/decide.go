package ranger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/policy"
)

// request is one question, with what its answers share.
type request struct {
	r                   *Rules
	user, owner, access string
	groups, roles       []string // sorted; roles include those of the roles file
	attr                func(string) (string, bool)
	at                  time.Time
	path                []string          // of the table
	res                 map[string]string // of the table, by level
	column              string            // the level below
	tagsOf              func(res map[string]string) ([]tag, error)
	span                policy.Span             // how long the answers hold
	verdicts            map[*pol]verdict        // of policies whose answer is the same for every column
	names               map[string]*columnState // the columns by folded name
	trace               func(column string, p *pol, tag, outcome string)
}

// verdict is what a policy says to the request: the item that decides, or none.
type verdict struct {
	item int // -1: none
	err  error
	why  string // none: why
}

// unless is the verdict of a policy of which it is not certain that its resource
// matches: that matters only if it decides something.
func (v verdict) unless(err error) verdict {
	if err != nil && v.item >= 0 {
		return verdict{item: -1, err: err}
	}
	return v
}

// outcome is the decision for a column, or for a table's rows.
type outcome struct {
	pol  *pol
	item int
	tag  *tag
	err  error
}

func (r *Rules) request(user, owner string, groups, roles []string, attr func(string) (string, bool), at time.Time) *request {
	q := &request{
		r: r, user: user, owner: owner, access: r.access, groups: sorted(groups), at: at,
		attr: attr, verdicts: map[*pol]verdict{},
	}
	q.roles = r.roles.roles(user, q.groups, roles)
	if len(r.tags.resources) == 0 {
		return q
	}
	q.tagsOf = func(res map[string]string) ([]tag, error) {
		out, span, err := r.tags.of(q.path, res, q, q.at, r.loc)
		q.span = q.span.And(span)
		return out, err
	}
	return q
}

func (q *request) token(name string) (string, bool) {
	switch {
	case name == "USER":
		return q.user, true
	case name == "OWNER" && q.owner != "":
		return q.owner, true
	}
	return "", false
}

func (q *request) expr(src string) (string, error) {
	s, err := parseScript(src)
	if err != nil {
		return "", err
	}
	return s.text(q.env(q.res, nil, nil))
}

// env is what expressions read, for a column with its tags and for the tag
// that led to the policy.
func (q *request) env(res map[string]string, all []tag, t *tag) *env {
	v := &env{user: q.user, owner: q.owner, access: q.access, groups: q.groups, roles: q.roles, res: res}
	v.userAttr = func(name string) (string, bool) {
		if s, ok := q.attr(name); ok {
			return s, true
		}
		s, ok := q.r.users.users[q.user][name]
		return s, ok
	}
	v.groupAttr = func(group, name string) (string, bool) {
		s, ok := q.r.users.groups[group][name]
		return s, ok
	}
	for i := range all {
		v.tags = append(v.tags, all[i].name)
		v.tagAttrs = append(v.tagAttrs, all[i].attrs)
	}
	v.tags = sorted(v.tags)
	if t != nil {
		v.tag, v.hasTag = t.attrs, true
	}
	return v
}

// principal reports whether an item is for who asks. A mask for the owner
// closes when the owner is not known.
func (q *request) principal(it *item, k kind) (bool, error) {
	if _, ok := slices.BinarySearch(it.users, q.user); ok || it.anyUser || it.everyone || intersect(it.groups, q.groups) || intersect(it.roles, q.roles) {
		return true, nil
	}
	if it.owner {
		if q.owner == "" && !it.exempts(k) {
			return false, closedf("it is for the owner, and the owner is not known")
		}
		return q.owner != "" && q.owner == q.user, nil
	}
	return false, nil
}

func intersect(a, b []string) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch strings.Compare(a[i], b[j]) {
		case 0:
			return true
		case -1:
			i++
		default:
			j++
		}
	}
	return false
}

// resource is the resource of a column, or of the table for a filter. Most
// requests never need it spelled out.
func (q *request) resource(c *columnState) map[string]string {
	if c.res == nil {
		c.res = make(map[string]string, len(q.res)+1)
		for k, v := range q.res {
			c.res[k] = v
		}
		c.res[q.column] = c.name
	}
	return c.res
}

// consult asks a policy whose resource matches. Only what the answer depends
// on must be evaluable: a policy with no item for who asks says nothing,
// whatever its conditions are.
func (q *request) consult(p *pol, v *env) verdict {
	none := func(why string) verdict { return verdict{item: -1, why: why} }
	ok, span := applies(p.schedules, q.at, q.r.loc)
	if len(p.schedules) > 0 {
		q.span = q.span.And(span)
	}
	if !ok {
		return none("outside of its validity")
	}
	why, asked := "no item for this user", false
	for i := range p.items {
		it := &p.items[i]
		if _, ok := slices.BinarySearch(it.accesses, q.access); !ok {
			continue
		}
		ok, err := q.principal(it, p.kind)
		if err != nil {
			return verdict{item: -1, err: err}
		}
		if !ok {
			continue
		}
		if !asked {
			asked = true
			if p.closed != nil {
				return verdict{item: -1, err: p.closed}
			}
			if ok, err := holdsAll(p.conds, v); err != nil || !ok {
				return verdict{item: -1, err: err, why: "a condition of the policy is false"}
			}
		}
		if ok, err = holdsAll(it.conds, v); err != nil {
			return verdict{item: -1, err: err}
		}
		if ok {
			return verdict{item: i}
		}
		why = "the conditions of the items for this user are false"
	}
	return none(why)
}

// holdsAll reports whether every condition holds. A false one settles it even
// where another cannot be evaluated.
func holdsAll(conds []cond, v *env) (bool, error) {
	var first error
	for _, c := range conds {
		err := c.err
		if err == nil {
			ok, e := c.script.root.bool(v)
			if e == nil && !ok {
				return false, nil
			}
			if e != nil {
				err = closedf("condition %q: %v", clip(c.script.src), e)
			}
		}
		if first == nil {
			first = err
		}
	}
	return first == nil, first
}

// ask is consult with the answer kept where it is the same for every column.
func (q *request) ask(p *pol, c *columnState) verdict {
	if v, ok := q.verdicts[p]; ok {
		return v
	}
	if p.byColumn {
		return q.consult(p, q.env(q.resource(c), c.tags, nil))
	}
	v := q.consult(p, q.env(q.res, nil, nil))
	q.verdicts[p] = v
	return v
}

// columnState is a column (or, for filters, the table) on its way to a decision.
type columnState struct {
	name     string
	res      map[string]string // see resource
	next     *columnState      // of the same name but for letter case
	tags     []tag
	out      outcome
	done     bool
	zone     *ruleset
	full     bool // the zone's tag policies count
	zoneName string
}

func (q *request) note(c *columnState, p *pol, t *tag, v verdict) {
	if q.trace == nil {
		return
	}
	name := ""
	if t != nil {
		name = t.name
	}
	switch {
	case v.err != nil:
		q.trace(c.name, p, name, v.err.Error())
	case v.item < 0:
		q.trace(c.name, p, name, v.why)
	default:
		q.trace(c.name, p, name, fmt.Sprintf("decides, item %d", p.items[v.item].n+1))
	}
}

// decide settles the columns, or the table when k is kindFilter: tags first,
// then the resource policies of the zone.
func (q *request) decide(k kind, cols []*columnState) {
	if q.isSuper() {
		return
	}
	for _, c := range cols {
		var err error
		if q.tagsOf != nil {
			if c.tags, err = q.tagsOf(q.resource(c)); err != nil {
				c.out.err, c.done = err, true
				continue
			}
		}
		if err := q.zone(c); err != nil {
			c.out.err, c.done = err, true
			continue
		}
		q.byTags(k, c)
	}
	q.names = make(map[string]*columnState, len(cols))
	for _, c := range cols {
		f := fold(c.name, true)
		c.next = q.names[f]
		q.names[f] = c
	}
	// Columns of one zone are decided together.
	for _, set := range q.r.rulesets() {
		var mine []*columnState
		for _, c := range cols {
			if c.zone == set && !c.done {
				mine = append(mine, c)
			}
		}
		if len(mine) > 0 {
			q.byResources(k, set, mine)
		}
	}
}

func (r *Rules) rulesets() []*ruleset {
	out := []*ruleset{r.base}
	for i := range r.zones {
		out = append(out, r.zones[i].rules)
	}
	return out
}

func (q *request) isSuper() bool {
	return q.r.superUsers[q.user] || slices.ContainsFunc(q.groups, func(g string) bool { return q.r.superGroups[g] })
}

// zone finds the security zone of a resource. Ranger takes a resource of two
// zones for one of none; here it stays closed.
func (q *request) zone(c *columnState) error {
	c.zone = q.r.base
	for i := range q.r.zones {
		z := &q.r.zones[i]
		hit := false
		for _, m := range z.matchers {
			mt, err := m.match(q.resource(c), q)
			if err != nil {
				return closedf("security zone %q: %v", z.name, err)
			}
			hit = hit || mt != matchNone
		}
		if !hit {
			continue
		}
		if c.zoneName != "" {
			return closedf("the resource lies in the security zones %q and %q", c.zoneName, z.name)
		}
		c.zone, c.zoneName, c.full = z.rules, z.name, z.withTags
	}
	return nil
}

// byTags asks the tag policies: the nearest tags first for masks, then the
// order of the policies.
func (q *request) byTags(k kind, c *columnState) {
	list := q.r.tagMasks
	if k == kindFilter {
		list = q.r.tagFilters
	}
	if len(list) == 0 || len(c.tags) == 0 {
		return
	}
	want := ""
	if c.full {
		want = c.zoneName
	}
	nearest := []matchType{matchSelf, matchSelfAndAll, matchAncestor}
	if k == kindFilter {
		nearest = []matchType{matchNone} // all tags at once
	}
	for _, mt := range nearest {
		for _, p := range list {
			if p.zone != want {
				continue
			}
			for i := range c.tags {
				t := &c.tags[i]
				if k == kindMask && t.match != mt {
					continue
				}
				hit, err := p.matchesTag(t.name, q)
				if err == nil && !hit {
					continue
				}
				v := q.consult(p, q.env(q.resource(c), c.tags, t)).unless(err)
				q.note(c, p, t, v)
				switch {
				case v.err != nil:
					c.out, c.done = outcome{pol: p, tag: t, err: v.err}, true
					return
				case v.item >= 0:
					c.out = outcome{pol: p, item: v.item, tag: t}
					return
				}
			}
		}
	}
}

func (p *pol) matchesTag(name string, b binder) (bool, error) {
	for _, m := range p.matchers {
		if ok, err := m.matchers[0].match(name, b); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// byResources asks the resource policies in order. A decision by a tag stands
// unless a policy of a higher priority follows; of those only the first that
// matches the column is asked, as in Ranger.
func (q *request) byResources(k kind, set *ruleset, cols []*columnState) {
	list, ix := set.masks, set.maskIndex
	if k == kindFilter {
		list, ix = set.filters, set.filterIndex
	}
	left := len(cols)
	for _, rank := range ix.find(q.path) {
		if left == 0 {
			return
		}
		p := list[rank]
		q.columns(p, k, cols, func(c *columnState, err error) {
			if c.zone != set || c.done {
				return
			}
			if c.out.pol != nil && c.out.pol.priority >= p.priority {
				c.done = true
				left--
				return
			}
			v := q.ask(p, c).unless(err)
			q.note(c, p, nil, v)
			switch {
			case v.err != nil:
				c.out = outcome{pol: p, err: v.err}
			case v.item >= 0:
				c.out = outcome{pol: p, item: v.item}
			case c.out.pol == nil:
				return
			}
			c.done = true
			left--
		})
	}
}

// columns calls f for the columns that a policy's resources match. A match
// that cannot be evaluated is an error for every column that it might be.
func (q *request) columns(p *pol, k kind, cols []*columnState, f func(*columnState, error)) {
	for _, m := range p.matchers {
		n := len(m.matchers)
		if k == kindMask {
			n--
		}
		if n != len(q.path) {
			continue
		}
		ok, perr := true, error(nil)
		for i := 0; i < n && ok; i++ {
			hit, err := p.matchLevel(m, i, q.path[i], q)
			if err != nil {
				perr, hit = err, true
			}
			ok = hit
		}
		if !ok {
			continue
		}
		if k == kindFilter {
			f(cols[0], wrapClosed(perr))
			continue
		}
		vm := m.matchers[n]
		if vm.exact && p.closed == nil {
			for i := range vm.patterns {
				for c := q.names[vm.patterns[i].key]; c != nil; c = c.next {
					if hit, err := vm.match(c.name, q); hit && err == nil {
						f(c, wrapClosed(perr))
					}
				}
			}
			continue
		}
		for _, c := range cols {
			hit, err := p.matchLevel(m, n, c.name, q)
			if err != nil {
				f(c, wrapClosed(err))
			} else if hit {
				f(c, wrapClosed(perr))
			}
		}
	}
}

// matchLevel matches one level. Of a policy whose resource cannot be read it
// answers whether the level might match.
func (p *pol) matchLevel(m *levelMatcher, i int, value string, b binder) (bool, error) {
	if p.closed != nil {
		return !m.chain[i].supported() || m.matchers[i].looseMatch(value), nil
	}
	return m.matchers[i].match(value, b)
}

func wrapClosed(err error) error {
	if err == nil {
		return nil
	}
	return closedf("%v", err)
}

// levelNames are the names of the levels of a table, by the length of its path.
func (r *Rules) levelNames(k kind, n int) ([]level, error) {
	t := &r.def.mask
	if k == kindFilter {
		t = &r.def.filter
	}
	for _, c := range chains(t.levels) {
		if len(c) == n && leaf(t.levels, c[n-1].name) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: service %q has no %d levels for it", ErrRequest, r.def.name, n)
}

// Decide implements policy.Rules.
func (r *Rules) Decide(id *policy.Identity, t *policy.Table, at time.Time) (*policy.Decision, error) {
	return r.decideTable(id, t, at, nil)
}

func (r *Rules) decideTable(id *policy.Identity, t *policy.Table, at time.Time, trace func(column string, p *pol, tag, outcome string)) (*policy.Decision, error) {
	q, chain, err := r.tableRequest(id, t, at)
	if err != nil {
		return nil, err
	}
	q.trace = trace
	fields := t.Fields()
	states := make([]columnState, len(fields))
	cols := make([]*columnState, len(fields))
	q.column = chain[len(chain)-1].name
	for i, f := range fields {
		states[i] = columnState{name: f.Name}
		cols[i] = &states[i]
	}
	q.decide(kindMask, cols)
	names := q.names
	d := &policy.Decision{}
	for i := range states {
		c := &states[i]
		if c.out.err != nil {
			return nil, columnError(c)
		}
		if c.out.pol == nil {
			continue
		}
		out := policy.ColumnDecision{Field: fields[i], Why: c.out.reason()}
		it := &c.out.pol.items[c.out.item]
		if out.Mask, err = it.mask.build(r.opts.Dialect, q.env(q.resource(c), c.tags, c.out.tag), t, &fields[i]); err != nil {
			c.out.err = err
			return nil, columnError(c)
		}
		d.Columns = append(d.Columns, out)
	}
	if err := q.filter(d); err != nil {
		return nil, err
	}
	q.names = names // of the columns again
	q.unmatched(d, states)
	d.Span = q.span
	return d, nil
}

// tableRequest is the request for a table and the levels of its columns.
func (r *Rules) tableRequest(id *policy.Identity, t *policy.Table, at time.Time) (*request, []level, error) {
	path := t.Path()
	chain, err := r.levelNames(kindMask, len(path)+1)
	if err != nil {
		return nil, nil, err
	}
	q := r.request(id.User(), t.Owner(), id.Groups(), id.Roles(), id.Attr, at)
	q.path = path
	q.res = make(map[string]string, len(path))
	for i, v := range path {
		// Such a name would ask for all tables at once.
		if v == "*" {
			return nil, nil, fmt.Errorf("%w: %q is no name of a %s", ErrRequest, v, chain[i].name)
		}
		q.res[chain[i].name] = v
	}
	return q, chain, nil
}

func (o *outcome) reason() policy.Reason {
	name := ""
	if o.tag != nil {
		name = o.tag.name
	}
	return o.pol.reason(o.item, name)
}

// columnError names the policy and the column.
func columnError(c *columnState) error {
	where := ""
	if c.name != "" {
		where = "column " + c.name + ": "
	}
	if c.out.pol == nil {
		return fmt.Errorf("%s%w", where, c.out.err)
	}
	return fmt.Errorf("%spolicy %d %q: %w", where, c.out.pol.id, c.out.pol.name, c.out.err)
}

// filter decides the row filter and binds it.
func (q *request) filter(d *policy.Decision) error {
	c := &columnState{res: q.res}
	q.decide(kindFilter, []*columnState{c})
	if c.out.err != nil {
		return columnError(c)
	}
	if c.out.pol == nil {
		return nil
	}
	why := c.out.reason()
	d.FilterWhy = &why
	rule := &c.out.pol.items[c.out.item].filter
	if rule.err == nil && rule.always {
		return nil
	}
	err := rule.err
	if err == nil {
		b := filterBinder{v: q.env(c.res, c.tags, c.out.tag), today: q.today}
		if d.Filter, err = rule.filter.Bind(b); err != nil {
			err = closedf("%v", err)
		}
	}
	if err != nil {
		c.out.err = err
		return columnError(c)
	}
	return nil
}

// today is the date in the zone of the rules; the decision holds to its end.
func (q *request) today() int64 {
	y, m, day := q.at.In(q.r.loc).Date()
	q.span = q.span.And(policy.Span{
		From:  time.Date(y, m, day, 0, 0, 0, 0, q.r.loc),
		Until: time.Date(y, m, day+1, 0, 0, 0, 0, q.r.loc).Add(-1),
	})
	return time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// unmatched finds the policies that are aimed at the table but touch nothing.
func (q *request) unmatched(d *policy.Decision, states []columnState) {
	if q.isSuper() {
		return
	}
	sets := map[*ruleset]bool{}
	for i := range states {
		sets[states[i].zone] = true
	}
	for _, set := range q.r.rulesets() {
		if !sets[set] {
			continue
		}
		for _, rank := range set.maskIndex.find(q.path) {
			p := set.masks[rank]
			if aimed, hit := q.aim(p, states, nil); aimed && !hit {
				d.Unmatched = append(d.Unmatched, policy.Unmatched{Why: p.reason(-1, ""), Detail: "the table has no column " + p.columnNames()})
			}
		}
		for _, rank := range set.offIndex.find(q.path) {
			p := set.off[rank]
			open := func(c *columnState) bool { return c.out.pol == nil }
			if aimed, hit := q.aim(p, states, open); aimed && (hit || p.kind == kindFilter && d.FilterWhy == nil) {
				d.Unmatched = append(d.Unmatched, policy.Unmatched{Why: p.reason(-1, ""), Detail: "the policy is disabled"})
			}
		}
	}
}

// aim reports whether a policy's table levels match the table, and whether its
// column level matches a column (that want accepts).
func (q *request) aim(p *pol, states []columnState, want func(*columnState) bool) (aimed, hit bool) {
	for _, m := range p.matchers {
		n := len(q.path)
		if len(m.matchers) < n || p.kind == kindFilter && len(m.matchers) != n {
			continue
		}
		ok := true
		for i := 0; i < n && ok; i++ {
			ok, _ = p.matchLevel(m, i, q.path[i], q)
		}
		if !ok {
			continue
		}
		aimed = true
		if p.kind == kindFilter {
			continue
		}
		try := func(c *columnState) {
			if !hit && (want == nil || want(c)) {
				ok, err := p.matchLevel(m, n, c.name, q)
				hit = ok || err != nil
			}
		}
		if vm := m.matchers[n]; vm.exact && p.closed == nil {
			for i := range vm.patterns {
				for c := q.names[vm.patterns[i].key]; c != nil; c = c.next {
					try(c)
				}
			}
			continue
		}
		for i := range states {
			try(&states[i])
		}
	}
	return aimed, hit
}

// columnNames lists what a mask policy says of its columns, for messages.
func (p *pol) columnNames() string {
	var out []string
	for i, m := range p.matchers {
		last := m.chain[len(m.chain)-1].name
		r := p.resources[i][last]
		s := strings.Join(r.values, ", ")
		if r.excludes {
			s = "other than " + s
		}
		out = append(out, s)
		if vm := m.matchers[len(m.matchers)-1]; !vm.opts.wildCard && strings.ContainsAny(s, "*?") {
			out = append(out, "(the service definition has no wildcards for masks)")
		}
	}
	return strings.Join(out, " ")
}
