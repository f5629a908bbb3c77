package ranger

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/arrowmask/arrowmask/policy"
)

// roleStore says which roles users, groups and roles have directly.
type roleStore struct {
	ofUser, ofGroup, ofRole map[string][]string
}

// readRoles reads a roles file.
func (l *loader) readRoles(raw []byte) *roleStore {
	s := &roleStore{ofUser: map[string][]string{}, ofGroup: map[string][]string{}, ofRole: map[string][]string{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return s
	}
	var errs []error
	o, err := parseObject(raw, "", &errs)
	if err != nil {
		l.errf("roles file: %v", err)
		return s
	}
	for _, r := range o.objects("rangerRoles") {
		name := r.str("name")
		if name == "" {
			r.errf("name", "missing")
		}
		add := func(key string, to map[string][]string) {
			for _, m := range members(r, key) {
				to[m] = append(to[m], name)
			}
		}
		add("users", s.ofUser)
		add("groups", s.ofGroup)
		add("roles", s.ofRole)
	}
	l.flush("roles file", &errs)
	return s
}

// members reads a list of names, or of objects with a name.
func members(o object, key string) []string {
	var out []string
	for i, raw := range o.list(key) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out = append(out, s)
			continue
		}
		m, err := parseObject(raw, key, o.errs)
		if err != nil || m.str("name") == "" {
			o.errf(key, "entry %d has no name", i)
			continue
		}
		out = append(out, m.str("name"))
	}
	return out
}

// roles are those given, those of the user and the groups, and every role that
// contains one of them.
func (s *roleStore) roles(user string, groups, given []string) []string {
	seen := map[string]bool{}
	var out []string
	var add func(names []string)
	add = func(names []string) {
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
				add(s.ofRole[n])
			}
		}
	}
	add(given)
	add(s.ofUser[user])
	for _, g := range groups {
		add(s.ofGroup[g])
	}
	slices.Sort(out)
	return out
}

// userStore holds attributes of users and groups.
type userStore struct {
	users, groups map[string]map[string]string
}

func (l *loader) readUsers(raw []byte) *userStore {
	s := &userStore{users: map[string]map[string]string{}, groups: map[string]map[string]string{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return s
	}
	var errs []error
	o, err := parseObject(raw, "", &errs)
	if err != nil {
		l.errf("user store: %v", err)
		return s
	}
	read := func(key string, to map[string]map[string]string) {
		all := o.object(key)
		for name := range all.m {
			to[name] = attributes(all.object(name))
		}
	}
	read("userAttrMapping", s.users)
	read("groupAttrMapping", s.groups)
	l.flush("user store", &errs)
	return s
}

func attributes(o object) map[string]string {
	out := make(map[string]string, len(o.m))
	for k := range o.m {
		if o.has(k) {
			out[k] = o.scalar(k)
		}
	}
	return out
}

// tag is a tag on a resource.
type tag struct {
	name      string
	attrs     map[string]string
	schedules []schedule
	match     matchType // how the tagged resource lies to the one asked for
}

// tagStore is the tags of a service's resources.
type tagStore struct {
	resources []taggedResource
	index     *index
}

type taggedResource struct {
	matcher *levelMatcher
	tags    []tag
}

func (l *loader) readTags(raw []byte) *tagStore {
	s := &tagStore{index: newIndex(l.r.def.depth())}
	if len(bytes.TrimSpace(raw)) == 0 {
		return s
	}
	var errs []error
	o, err := parseObject(raw, "", &errs)
	if err != nil {
		l.errf("tags file: %v", err)
		return s
	}
	byID := map[string]tag{}
	tags := o.object("tags")
	for id := range tags.m {
		t := tags.object(id)
		out := tag{name: t.str("type"), attrs: attributes(t.object("attributes"))}
		if out.name == "" {
			t.errf("type", "missing")
		}
		for _, v := range t.objects("validityPeriods") {
			out.schedules = append(out.schedules, readSchedule(v))
		}
		byID[id] = out
	}
	ids := map[string][]tag{}
	links := o.object("resourceToTagIds")
	for res := range links.m {
		for _, raw := range links.list(res) {
			id := string(bytes.Trim(bytes.TrimSpace(raw), `"`))
			t, ok := byID[id]
			if !ok {
				links.errf(res, "there is no tag %s", id)
				continue
			}
			ids[res] = append(ids[res], t)
		}
	}
	for _, r := range o.objects("serviceResources") {
		id := r.scalar("id")
		elements := r.object("resourceElements")
		m := map[string]policyResource{}
		for key := range elements.m {
			e := elements.object(key)
			values := e.strs("values")
			if len(values) == 0 {
				e.errf("values", "empty")
			}
			m[key] = policyResource{values: values, excludes: e.boolean("isExcludes", false)}
		}
		lm, err := newLevelMatcher(m, l.r.def.levels)
		if err != nil || len(m) == 0 {
			r.errf("resourceElements", "no chain of the service definition")
			continue
		}
		if len(ids[id]) == 0 {
			continue
		}
		s.index.add(len(s.resources), lm)
		s.resources = append(s.resources, taggedResource{lm, ids[id]})
	}
	l.flush("tags file", &errs)
	return s
}

// of lists the tags on a resource: its own, and those of what lies above it.
func (s *tagStore) of(path []string, res map[string]string, b binder, at time.Time, loc *time.Location) ([]tag, policy.Span, error) {
	var out []tag
	var span policy.Span
	for _, i := range s.index.find(path) {
		r := &s.resources[i]
		mt, err := r.matcher.match(res, b)
		if err != nil {
			return nil, span, err
		}
		if mt == matchNone || mt == matchDescendant {
			continue
		}
		for _, t := range r.tags {
			ok, sp := applies(t.schedules, at, loc)
			span = span.And(sp)
			if ok {
				t.match = mt
				out = append(out, t)
			}
		}
	}
	return out, span, nil
}
