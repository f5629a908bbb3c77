package ranger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Update applies a delta download to the state it follows and returns the new
// one; r stays as it is. A body with a full set of policies replaces the old
// one, and an empty list of deltas changes nothing. What does not fit exactly
// is an error: then a full download is due.
func (r *Rules) Update(body []byte) (*Rules, error) {
	l := &loader{r: r}
	var errs []error
	delta, err := parseObject(body, "", &errs)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if len(delta.list("policies")) > 0 {
		return Load(body, r.opts)
	}
	var old map[string]json.RawMessage
	if err := json.Unmarshal(r.body, &old); err != nil {
		return nil, fmt.Errorf("%w: deltas follow an object with policies, not a list", ErrMalformed)
	}
	state := object{m: old, errs: &errs}
	types := map[string]bool{r.def.name: true, "tag": r.tagDef != nil}
	changed := l.merge(state, "policies", delta.objects("policyDeltas"), types)

	// Zones: their resources are given anew, their policies by deltas.
	if zones := delta.object("securityZones"); len(zones.m) > 0 {
		was := state.object("securityZones")
		if was.m == nil {
			was.m = map[string]json.RawMessage{}
		}
		for name := range zones.m {
			z := zones.object(name)
			now := was.object(name)
			if now.m == nil {
				now.m = map[string]json.RawMessage{}
			}
			for _, key := range []string{"zoneName", "resources", "containsAssociatedTagService"} {
				if z.has(key) {
					now.m[key] = z.m[key]
				}
			}
			l.merge(now, "policies", z.objects("policyDeltas"), types)
			if was.m[name], err = json.Marshal(now.m); err != nil {
				return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
			}
		}
		if old["securityZones"], err = json.Marshal(was.m); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
		}
		changed = true
	}
	for _, key := range []string{"policyVersion", "policyUpdateTime"} {
		if delta.has(key) {
			old[key] = delta.m[key]
		}
	}
	if !l.flush("delta", &errs) || len(l.errs) > 0 {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, l.errs)
	}
	if !changed {
		return r, nil
	}
	merged, err := json.Marshal(old)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return Load(merged, r.opts)
}

// merge applies deltas to the list under a key. Those of the tag service go to
// the tag policies.
func (l *loader) merge(state object, key string, deltas []object, types map[string]bool) bool {
	changed := false
	for _, d := range deltas {
		p := d.object("policy")
		if !types[p.str("serviceType")] {
			continue
		}
		change := d.integer("changeType", -1)
		id := p.integer("id", -1)
		if change < 0 || change > 2 || !p.has("id") {
			d.errf("", "changeType %d of policy %d", change, id)
			continue
		}
		list := state
		if p.str("serviceType") == "tag" && state.path == "" {
			list = state.object("tagPolicies")
			if list.m == nil {
				d.errf("", "a tag policy, and there is no tag service")
				continue
			}
		}
		all := list.list(key)
		at := slices.IndexFunc(all, func(raw json.RawMessage) bool {
			o, err := parseObject(raw, "", d.errs)
			return err == nil && o.integer("id", -1) == id
		})
		switch {
		case change == 2 && at >= 0:
			all = slices.Delete(all, at, at+1)
		case change == 2:
			// Already gone.
		case at >= 0:
			all[at] = d.m["policy"]
		case change == 1:
			d.errf("", "policy %d is to be updated and is not there", id)
		default:
			all = append(all, d.m["policy"])
		}
		changed = true
		if all == nil {
			all = []json.RawMessage{}
		}
		raw, err := json.Marshal(all)
		if err != nil {
			d.errf("", "%v", err)
			continue
		}
		list.m[key] = bytes.Clone(raw)
		if list.path != "" && state.path == "" {
			if raw, err = json.Marshal(list.m); err != nil {
				d.errf("", "%s", strconv.Quote(err.Error()))
				continue
			}
			state.m["tagPolicies"] = raw
		}
	}
	return changed
}
