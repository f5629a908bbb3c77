package ranger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/policy"
)

// Options say what a policy file does not. The zero value is fine for a cache
// or download body.
type Options struct {
	// ServiceType names the embedded service definition ("hive", "trino",
	// "presto", "nestedstructure") for a body that has none of its own.
	ServiceType string
	// Service picks the policies of one service out of a file that holds those
	// of several, as an admin's export may.
	Service string
	// Roles, Users and Tags are the contents of the files beside the policies:
	// roles, the user store and ServiceTags. Empty: none.
	Roles, Users, Tags []byte
	// AccessType is what reading a table is called; "" is "select", or "read"
	// where the service has no "select".
	AccessType string
	// Dialect is put on every mask; "" is the safe dialect.
	Dialect string
	// Zone is where recurrences of schedules and current_date are read; nil is
	// the process's zone, as in Ranger.
	Zone *time.Location
}

// Rules is one state of a service's policies. It is immutable and safe for any
// goroutine; it implements policy.Rules.
type Rules struct {
	version string
	body    []byte
	opts    Options
	loc     *time.Location
	access  string

	service string
	def     *serviceDef
	tagDef  *serviceDef
	syntax  policy.Syntax

	base                    *ruleset
	zones                   []zoneRules
	tagMasks                []*pol
	tagFilters              []*pol
	tags                    *tagStore
	roles                   *roleStore
	users                   *userStore
	superUsers, superGroups map[string]bool

	notes []Finding // what Lint says besides
}

// ruleset is the resource policies of one security zone, or of none.
type ruleset struct {
	masks, filters []*pol // in order
	off            []*pol // disabled
	maskIndex      *index
	filterIndex    *index
	offIndex       *index
}

type zoneRules struct {
	name     string
	matchers []*levelMatcher
	rules    *ruleset
	withTags bool
}

// Load reads policies: a ServicePolicies body (policy cache or download), an
// admin list or export, or a bare array. The error joins what is wrong with
// every policy, each wrapping ErrMalformed and naming the policy's id; then
// nothing is loaded. Policies that are sound but cannot be evaluated load, and
// close what they apply to; Lint lists them.
func Load(body []byte, o Options) (*Rules, error) {
	l := &loader{r: &Rules{body: bytes.Clone(body), opts: o, loc: o.Zone}}
	if l.r.loc == nil {
		l.r.loc = time.Local
	}
	l.load(body)
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.r, nil
}

// Version is the policy version of the file and a hash of all that was loaded.
func (r *Rules) Version() string { return r.version }

// Service is the name of the service that the policies are for.
func (r *Rules) Service() string { return r.service }

type loader struct {
	r    *Rules
	errs []error
	ids  map[string]string // what has which id
}

func (l *loader) errf(format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...)))
}

// flush turns the errors of JSON reading into the loader's, with a name.
func (l *loader) flush(who string, errs *[]error) bool {
	for _, e := range *errs {
		l.errf("%s: %v", who, e)
	}
	bad := len(*errs) > 0
	*errs = nil
	return !bad
}

func (l *loader) load(body []byte) {
	r := l.r
	l.ids = map[string]string{}
	var errs []error
	top := object{errs: &errs}
	var list []json.RawMessage
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		l.errf("the file is empty")
		return
	case trimmed[0] == '[':
		if err := json.Unmarshal(trimmed, &list); err != nil {
			l.errf("%v", err)
			return
		}
	default:
		var err error
		if top, err = parseObject(trimmed, "", &errs); err != nil {
			l.errf("%v", err)
			return
		}
		list = top.list("policies")
		if !top.has("policies") && !top.has("policyDeltas") {
			l.errf("no list of policies")
			return
		}
		if deltas := top.list("policyDeltas"); len(deltas) > 0 {
			if len(list) > 0 {
				l.errf("policies and policyDeltas in one file")
			} else {
				l.errf("policyDeltas alone: they need the state they follow, see Update")
			}
			return
		}
	}
	r.service = top.str("serviceName")
	list = l.oneService(list)
	l.serviceDef(top, list)
	version := top.scalar("policyVersion")
	config := top.object("serviceConfig")
	r.superUsers = nameSet(config.scalar("ranger.plugin.super.users"))
	r.superGroups = nameSet(config.scalar("ranger.plugin.super.groups"))
	if !l.flush("file", &errs) || len(l.errs) > 0 {
		return
	}

	zones := map[string]bool{}
	l.zones(top.object("securityZones"), zones)
	r.base = l.ruleset(list, "", zones)
	l.tagPolicies(top)
	l.flush("file", &errs)
	if r.base != nil && len(list) == 0 && len(r.zones) == 0 && len(r.tagMasks)+len(r.tagFilters) == 0 {
		l.errs = append(l.errs, fmt.Errorf("%w: the file holds none", policy.ErrNoRules))
	}
	r.roles = l.readRoles(r.opts.Roles)
	r.users = l.readUsers(r.opts.Users)
	r.tags = l.readTags(r.opts.Tags)
	if len(r.tags.resources) > 0 && r.tagDef == nil {
		l.errf("a tags file, but the policies have no tag service")
	}

	h := sha256.New()
	for _, part := range [][]byte{body, r.opts.Roles, r.opts.Users, r.opts.Tags, []byte(r.opts.ServiceType + "\x00" + r.opts.Service + "\x00" + r.opts.AccessType + "\x00" + r.opts.Dialect + "\x00" + r.loc.String())} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	r.version = fmt.Sprintf("%x", h.Sum(nil)[:8])
	if version != "" {
		r.version = version + "-" + r.version
	}
}

// oneService keeps the policies of the service that the options name. Policies
// of several services would be mixed up without a choice; a file that names its
// service is taken whole, as Ranger takes it.
func (l *loader) oneService(list []json.RawMessage) []json.RawMessage {
	if l.r.service != "" && l.r.opts.Service == "" {
		return list
	}
	var out []json.RawMessage
	first := ""
	for _, raw := range list {
		var errs []error
		o, err := parseObject(raw, "", &errs)
		if err != nil {
			out = append(out, raw) // its error comes with the policies
			continue
		}
		name := o.str("service")
		want := l.r.opts.Service
		switch {
		case name == "" || name == want:
			out = append(out, raw)
		case want != "":
			// Of another service, which is not asked for.
		case first == "" || first == name:
			first = name
			out = append(out, raw)
		default:
			l.errf("policies of several services, %q and %q among them: say which", first, name)
			return nil
		}
	}
	if l.r.service == "" {
		l.r.service = first
	}
	if l.r.opts.Service != "" {
		l.r.service = l.r.opts.Service
	}
	return out
}

// nameSet reads a list parted by commas.
func nameSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Split(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out[n] = true
		}
	}
	return out
}

// serviceDef takes the file's definition, or the embedded one of the type that
// the options or the policies name.
func (l *loader) serviceDef(top object, list []json.RawMessage) {
	r := l.r
	if top.has("serviceDef") {
		r.def = readServiceDef(top.object("serviceDef"))
	} else {
		name := r.opts.ServiceType
		if name == "" {
			name = top.str("serviceType")
		}
		for _, raw := range list {
			var p struct {
				ServiceType string `json:"serviceType"`
			}
			if name == "" && json.Unmarshal(raw, &p) == nil {
				name = p.ServiceType
			}
		}
		if r.def = embedded(name); r.def == nil {
			l.errs = append(l.errs, fmt.Errorf("%w: the file has none and there is no embedded one for the service type %q", ErrServiceDef, name))
			return
		}
	}
	if err := r.def.check(); err != nil {
		l.errs = append(l.errs, err)
		return
	}
	switch r.def.name {
	case "hive", "impala", "spark":
		r.syntax = policy.Syntax{DoubleQuote: policy.QuoteString, Backslash: true}
	case "trino", "presto":
		r.syntax = policy.Syntax{DoubleQuote: policy.QuoteColumn, PlainBackslash: true}
	}
	r.access = r.opts.AccessType
	for _, name := range []string{"select", "read"} {
		if r.access == "" && r.def.knowsAccess(name) {
			r.access = name
		}
	}
	if !r.def.knowsAccess(r.access) {
		l.errs = append(l.errs, fmt.Errorf("%w %q: no access type %q", ErrServiceDef, r.def.name, r.access))
	}
}

func (l *loader) zones(o object, known map[string]bool) {
	var names []string
	for name := range o.m {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !o.has(name) {
			continue
		}
		known[name] = true
		z := o.object(name)
		out := zoneRules{name: name, withTags: z.boolean("containsAssociatedTagService", false)}
		if len(z.list("policyDeltas")) > 0 {
			l.errf("zone %q: policyDeltas need the state they follow", name)
		}
		for _, res := range z.objects("resources") {
			m := map[string]policyResource{}
			for key := range res.m {
				values := res.strs(key)
				if len(values) == 0 {
					l.errf("zone %q: level %s without values", name, key)
				}
				m[key] = policyResource{values: values}
			}
			lm, err := newLevelMatcher(m, l.r.def.levels)
			if err != nil || len(m) == 0 {
				// Zones also cover what is no column: another service's levels.
				if err == nil {
					err = errors.New("no levels")
				}
				l.errf("zone %q: %v", name, err)
				continue
			}
			out.matchers = append(out.matchers, lm)
		}
		out.rules = l.ruleset(z.list("policies"), name, known)
		if len(out.matchers) == 0 && len(z.list("policies")) > 0 {
			l.errf("zone %q has policies but no resources", name)
		}
		l.r.zones = append(l.r.zones, out)
	}
}

// ruleset reads the policies of a zone, or those of none.
func (l *loader) ruleset(list []json.RawMessage, zone string, zones map[string]bool) *ruleset {
	out := &ruleset{}
	for i, raw := range list {
		p := l.policy(raw, i, zone, nil)
		if p == nil {
			continue
		}
		if zone == "" && p.zone != "" {
			l.errf("policy %d %q: of the security zone %q, which the file does not describe", p.id, p.name, p.zone)
			continue
		}
		p.zone = zone
		switch {
		case !p.enabled:
			out.off = append(out.off, p)
		case p.kind == kindMask:
			out.masks = append(out.masks, p)
		default:
			out.filters = append(out.filters, p)
		}
	}
	out.build(l.r.def.depth())
	return out
}

func (s *ruleset) build(depth int) {
	fill := func(list []*pol) *index {
		slices.SortStableFunc(list, byResource)
		x := newIndex(depth)
		for i, p := range list {
			p.rank = i
			for _, m := range p.matchers {
				x.add(i, m)
			}
			if p.closed != nil {
				x.add(i, nil)
			}
		}
		return x
	}
	s.maskIndex, s.filterIndex, s.offIndex = fill(s.masks), fill(s.filters), fill(s.off)
}

// policy reads one policy; nil for one that decides no masks or filters, or
// that is malformed. tags is set for policies of the tag service.
func (l *loader) policy(raw json.RawMessage, i int, zone string, tags *serviceDef) *pol {
	var errs []error
	where := "policy"
	if tags != nil {
		where = "tag policy"
	}
	o, err := parseObject(raw, "", &errs)
	if err != nil {
		l.errf("%s number %d: %v", where, i+1, err)
		return nil
	}
	p := &pol{id: o.integer("id", -1), name: o.str("name"), zone: o.str("zoneName"), tag: tags != nil}
	who := fmt.Sprintf("%s %d %q", where, p.id, p.name)
	if !o.has("id") {
		o.errf("id", "missing")
	}
	typ := o.integer("policyType", 0)
	masks, filters := o.objects("dataMaskPolicyItems"), o.objects("rowFilterPolicyItems")
	switch typ {
	case 0, 3:
		// Access and audit policies are not read any further, but a mask among
		// them would be lost without a word.
		if len(masks)+len(filters) > 0 {
			o.errf("policyType", "%d, but the policy has mask or filter items", typ)
		}
		l.flush(who, &errs)
		return nil
	case 1:
		p.kind = kindMask
		if len(filters) > 0 {
			o.errf("policyType", "1 (mask), but the policy has filter items")
		}
	case 2:
		p.kind = kindFilter
		if len(masks) > 0 {
			o.errf("policyType", "2 (filter), but the policy has mask items")
		}
	default:
		o.errf("policyType", "%d is none", typ)
	}
	p.enabled = o.boolean("isEnabled", true)
	p.priority = int(o.integer("policyPriority", 0))
	if p.priority != 0 && p.priority != 1 {
		o.errf("policyPriority", "neither 0 nor 1")
	}
	p.deny = o.boolean("isDenyAllElse", false) || len(o.list("denyPolicyItems")) > 0
	if o.has("id") {
		key := fmt.Sprint(p.kind, p.tag, p.id)
		if other, ok := l.ids[key]; ok {
			o.errf("id", "also that of %q", other)
		}
		l.ids[key] = p.name
	}
	if z := o.str("zoneName"); zone != "" && z != "" && z != zone {
		o.errf("zoneName", "%q, but listed under zone %q", z, zone)
	}
	for _, s := range o.objects("validitySchedules") {
		p.schedules = append(p.schedules, readSchedule(s))
	}
	p.conds = l.conditions(o, tags)
	l.resources(o, p, tags)
	items := masks
	if p.kind == kindFilter {
		items = filters
	}
	if len(items) == 0 {
		o.errf("", "a mask or filter policy without items")
	}
	for i, it := range items {
		l.item(it, i, p, tags)
	}
	if !l.flush(who, &errs) {
		return nil
	}
	if len(p.items) == 0 { // all of them for other services
		return nil
	}
	differs := func(cs []cond) bool {
		return slices.ContainsFunc(cs, func(c cond) bool { return c.script != nil && c.script.column })
	}
	p.byColumn = differs(p.conds) || slices.ContainsFunc(p.items, func(it item) bool { return differs(it.conds) })
	p.order = p.evalOrder(len(l.r.def.accesses))
	return p
}

func (l *loader) typeDef(k kind, tags *serviceDef) *typeDef {
	d := l.r.def
	if tags != nil {
		d = tags
	}
	if k == kindMask {
		return &d.mask
	}
	return &d.filter
}

// resources reads resources and additionalResources.
func (l *loader) resources(o object, p *pol, tags *serviceDef) {
	all := append([]object{o.object("resources")}, o.objects("additionalResources")...)
	levels := l.typeDef(p.kind, tags).levels
	for _, res := range all {
		m := map[string]policyResource{}
		var keys []string
		for key := range res.m {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			r := res.object(key)
			pr := policyResource{values: r.strs("values"), excludes: r.boolean("isExcludes", false)}
			r.boolean("isRecursive", false)
			if len(pr.values) == 0 {
				r.errf("values", "empty: it would stand for everything")
			}
			for _, v := range pr.values {
				p.moving = p.moving || strings.Contains(v, "${{")
			}
			m[key] = pr
		}
		if len(m) == 0 {
			res.errf("", "no levels")
			continue
		}
		lm, err := newLevelMatcher(m, levels)
		if err != nil {
			res.errf("", "%v", err)
			continue
		}
		last := lm.chain[len(lm.chain)-1]
		if !leaf(levels, last.name) {
			res.errf("", "%s is not the last level: the policy would apply to nothing", names(lm.chain))
			continue
		}
		for k := range lm.chain {
			if !lm.chain[k].supported() {
				p.closed = closedf("the resource matcher %s of level %s", clip(lm.chain[k].matcher), lm.chain[k].name)
			}
		}
		for _, vm := range lm.matchers {
			for _, pat := range vm.patterns {
				for _, s := range pat.segs {
					if s.kind != segExpr {
						continue
					}
					if _, err := parseScript(s.text); err != nil {
						p.closed = closedf("%v", err)
					}
				}
			}
		}
		p.resources = append(p.resources, m)
		p.matchers = append(p.matchers, lm)
	}
}

// conditions reads the conditions of a policy or an item.
func (l *loader) conditions(o object, tags *serviceDef) []cond {
	var out []cond
	for _, c := range o.objects("conditions") {
		typ, values := c.str("type"), c.strs("values")
		def := l.r.def
		if tags != nil {
			def = tags
		}
		d, known := def.conditions[typ]
		var one cond
		switch {
		case typ == "":
			c.errf("type", "missing")
			continue
		case typ != "_expression" && !known:
			one.err = closedf("condition type %q is not in the service definition", typ)
		case typ != "_expression" && !strings.HasSuffix(d.evaluator, ".RangerScriptConditionEvaluator"):
			one.err = closedf("condition type %q is not one that can be evaluated", typ)
		case len(values) != 1 || strings.TrimSpace(values[0]) == "":
			one.err = closedf("condition %q wants one expression", typ)
		default:
			var err error
			if one.script, err = parseScript(values[0]); err != nil {
				one.err = closedf("condition: %v", err)
			}
		}
		out = append(out, one)
	}
	return out
}

// item reads an item and adds it to the policy, unless it is for another
// service (tag policies hold items for many).
func (l *loader) item(o object, i int, p *pol, tags *serviceDef) {
	r := l.r
	it := item{n: i, users: sorted(o.strs("users")), groups: sorted(o.strs("groups")), roles: sorted(o.strs("roles"))}
	if len(it.users)+len(it.groups)+len(it.roles) == 0 {
		o.errf("", "an item for nobody")
	}
	it.anyUser = slices.Contains(it.users, "{USER}")
	it.owner = slices.Contains(it.users, "{OWNER}")
	it.everyone = slices.Contains(it.groups, "public")

	// In a tag policy "hive:select" is Hive's select; what is another
	// service's goes.
	mine := func(name string) (string, bool) {
		if tags == nil {
			return name, true
		}
		component, rest, ok := strings.Cut(name, ":")
		if !ok {
			return name, true
		}
		return rest, component == r.def.name
	}
	accesses, foreign := 0, 0
	typeAccess := l.typeDef(p.kind, tags).accesses
	for _, a := range o.objects("accesses") {
		full := a.str("type")
		name, ok := mine(full)
		if !a.boolean("isAllowed", true) {
			continue
		}
		accesses++
		if !ok {
			foreign++
			continue
		}
		if !r.def.knowsAccess(name) && !slices.Contains(typeAccess, full) {
			a.errf("type", "the service has no access type %q", full)
			continue
		}
		it.given = append(it.given, name)
		it.accesses = append(it.accesses, r.def.implied(name)...)
	}
	if accesses == 0 {
		o.errf("accesses", "an item that allows nothing")
	}
	it.given, it.accesses = sorted(it.given), sorted(it.accesses)
	it.conds = l.conditions(o, tags)

	if p.kind == kindMask {
		info := o.object("dataMaskInfo")
		if !o.has("dataMaskInfo") {
			o.errf("dataMaskInfo", "missing")
		}
		full := info.str("dataMaskType")
		name, ok := mine(full)
		if !ok {
			return
		}
		it.maskType, it.valueExpr, it.condExpr = name, info.str("valueExpr"), info.str("conditionExpr")
		if strings.TrimSpace(name) == "" {
			info.errf("dataMaskType", "missing")
		}
		if len(it.valueExpr) > 1<<16 {
			info.errf("valueExpr", "too long")
			return
		}
		types := [][]maskType{r.def.mask.masks}
		if tags != nil {
			types = append(types, tags.mask.masks)
		}
		it.mask = newMaskRule(&it, r.opts.Dialect, types...)
	} else {
		info := o.object("rowFilterInfo")
		if !info.has("filterExpr") {
			info.errf("filterExpr", "missing")
		}
		it.filterExpr = info.str("filterExpr")
		it.filter = newFilterRule(it.filterExpr, r.syntax)
	}
	if foreign > 0 && len(it.given) == 0 {
		return
	}
	p.items = append(p.items, it)
}

// sorted is a copy in order, without repetitions and empty texts.
func sorted(in []string) []string {
	out := slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

// tagPolicies reads tagPolicies, or the form of them in a file of cases.
func (l *loader) tagPolicies(top object) {
	r := l.r
	if !top.has("tagPolicies") {
		return
	}
	o := top.object("tagPolicies")
	r.tagDef = embedded("tag")
	if o.has("serviceDef") {
		r.tagDef = readServiceDef(o.object("serviceDef"))
	}
	// A tag service takes masks as soon as a service that has them uses it.
	for _, t := range []*typeDef{&r.tagDef.mask, &r.tagDef.filter} {
		if len(t.levels) == 0 {
			t.levels = r.tagDef.levels
		}
	}
	if !o.has("policies") {
		o.errf("policies", "missing")
	}
	for i, raw := range o.list("policies") {
		p := l.policy(raw, i, "", r.tagDef)
		switch {
		case p == nil:
		case !p.enabled:
			r.notes = append(r.notes, Finding{Kind: Disabled, PolicyID: p.id, Policy: p.name, Detail: "the tag policy is disabled"})
		case p.kind == kindMask:
			r.tagMasks = append(r.tagMasks, p)
		default:
			r.tagFilters = append(r.tagFilters, p)
		}
	}
	slices.SortStableFunc(r.tagMasks, byTag)
	slices.SortStableFunc(r.tagFilters, byTag)
}
