package ranger

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// mutant is the valid file that TestMutations damages: every kind of policy,
// each item for one kind of principal, no exemptions. It has no field whose
// mere absence means something else than its presence (isExcludes,
// additionalResources): without those it is another policy, not a broken one.
func mutant() obj {
	schedule := list{obj{"startTime": "2020/01/01 00:00:00", "endTime": "2090/01/01 00:00:00", "timeZone": "Europe/Paris",
		"recurrences": list{obj{"schedule": obj{"minute": "0", "hour": "*", "dayOfMonth": "*", "dayOfWeek": "", "month": "*", "year": "*"}, "interval": obj{"hours": 2}}}}}
	cond := list{obj{"type": "_expression", "values": list{"USER.dept == 'hr' && IS_IN_GROUP('g')"}}}
	zoned := with(maskPolicy(20, "z", maskItem("MASK_HASH", obj{"users": list{"u"}})), obj{"zoneName": "zone"})
	zoned["resources"].(obj)["table"] = obj{"values": list{"zoned"}}
	def := embeddedJSON()
	return obj{
		"serviceName": "s", "policyVersion": 7, "serviceDef": def,
		"policies": list{
			obj{"id": 1, "name": "access", "policyType": 0},
			with(maskPolicy(2, "a", maskItem("MASK", obj{"users": list{"u", "v"}})), obj{"isEnabled": true, "policyPriority": 0, "isAuditEnabled": true}),
			maskPolicy(3, "b", with(maskItem("CUSTOM", obj{"groups": list{"g"}}), obj{"dataMaskInfo": obj{"dataMaskType": "CUSTOM", "valueExpr": "hash_row({col}, A)"}}), maskItem("MASK_NULL", obj{"users": list{"w"}})),
			with(maskPolicy(4, "c", maskItem("MASK_SHOW_LAST_4", obj{"roles": list{"r"}})), obj{"policyPriority": 1, "validitySchedules": schedule}),
			with(maskPolicy(5, "d", with(maskItem("CUSTOM", obj{"groups": list{"public"}, "conditions": cond}),
				obj{"dataMaskInfo": obj{"dataMaskType": "CUSTOM", "valueExpr": "mask_first_n({col}, 2, '${{USER.dept}}')"}})), obj{"conditions": cond}),
			filterPolicy(6, "a = '${{USER.dept}}'", nil),
		},
		"tagPolicies":   obj{"policies": list{tagPolicy(10, "PII", maskItem("hive:MASK_HASH", obj{"users": list{"{USER}"}, "accesses": list{obj{"type": "hive:select", "isAllowed": true}}}))}},
		"securityZones": obj{"zone": obj{"zoneName": "zone", "resources": list{obj{"database": list{"db"}, "table": list{"zoned"}}}, "policies": list{zoned}}},
	}
}

// embeddedJSON is a service definition as a file has it.
func embeddedJSON() obj {
	level := func(name, parent string) obj {
		return obj{"name": name, "parent": parent, "matcher": "org.apache.ranger.plugin.resourcematcher.RangerDefaultResourceMatcher", "matcherOptions": obj{"wildCard": true, "ignoreCase": true}}
	}
	overlay := func(names ...string) list {
		var out list
		for _, n := range names {
			out = append(out, obj{"name": n, "matcherOptions": obj{"wildCard": "false"}})
		}
		return out
	}
	var types list
	for _, m := range hiveMasks("{col}") {
		types = append(types, obj{"name": m.name, "transformer": m.transformer})
	}
	return obj{
		"name": "hive", "resources": list{level("database", ""), level("table", "database"), level("column", "table")},
		"accessTypes":  list{obj{"name": "select"}, obj{"name": "all", "impliedGrants": list{"select"}}},
		"dataMaskDef":  obj{"maskTypes": types, "accessTypes": list{obj{"name": "select"}}, "resources": overlay("database", "table", "column")},
		"rowFilterDef": obj{"accessTypes": list{obj{"name": "select"}}, "resources": overlay("database", "table")},
	}
}

// visit calls f with every place in a JSON value, as a way to put something
// else there; the value itself is restored after. Elements of lists are not
// dropped: a policy or a user less is another valid file.
func visit(v any, path string, f func(path string, old any, set func(any), drop func())) {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			old := x[k]
			f(path+"."+k, old, func(n any) { x[k] = n }, func() { delete(x, k) })
			x[k] = old
			visit(old, path+"."+k, f)
		}
	case []any:
		for i := range x {
			old := x[i]
			f(fmt.Sprintf("%s[%d]", path, i), old, func(n any) { x[i] = n }, nil)
			x[i] = old
			visit(old, fmt.Sprintf("%s[%d]", path, i), f)
		}
	}
}

// damages are what a value may be replaced by: nothing, another type, empty, or
// a name that means nothing.
func damages(path string, old any) []any {
	switch old.(type) {
	case string:
		out := []any{nil, true, list{}, obj{}, ""}
		if !strings.Contains(path, ".schedule.") { // where a number is as good as its text
			out = append(out, 5.0)
		}
		// Text that names something in the file's own vocabulary; other text (a
		// user, a column) is as good as any other.
		for _, end := range []string{".type", ".dataMaskType", ".matcher", ".startTime", ".endTime", ".timeZone", ".minute", ".hour", ".filterExpr", ".valueExpr", ".parent", ".evaluator"} {
			if strings.HasSuffix(path, end) {
				out = append(out, "?damaged?")
			}
		}
		return out
	case float64:
		return []any{nil, "x", list{}, obj{}, -77.5}
	case bool:
		return []any{nil, "x", 5.0, list{}, obj{}}
	case []any:
		return []any{nil, "x", 5.0, obj{}, list{}, list{nil}, list{5.0}, list{list{}}}
	case map[string]any:
		return []any{nil, "x", 5.0, list{}, obj{}}
	}
	return []any{"x"}
}

// TestMutations drops and damages every field of every policy and of the
// service definition, one at a time: never a panic, and never a column that was
// masked, or a filter, that is gone without an error.
func TestMutations(t *testing.T) {
	raw, err := json.Marshal(mutant())
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Zone: time.UTC, Tags: tagsFile("PII", "e"),
		Roles: []byte(`{"rangerRoles":[{"name":"r","users":[{"name":"u"}]}]}`),
		Users: []byte(`{"userAttrMapping":{"u":{"dept":"hr"}}}`),
	}
	id := who("u", "g")
	tab := table(t, "a", "b", "c", "d", "e", "f")
	zoned, err := policy.NewTable([]string{"db", "zoned"}, "", []policy.Column{{Name: "z", Type: mask.Type{Kind: mask.Text}}})
	if err != nil {
		t.Fatal(err)
	}
	// outcome is what comes out in the end: the columns left clear, or an error.
	outcome := func(body []byte) (string, error) {
		r, err := Load(body, o)
		if err != nil {
			return "", err
		}
		r.Explain(id, tab, noon)
		s, out := policy.NewSnapshot(r), ""
		for _, tab := range []*policy.Table{tab, zoned} {
			p, err := s.Plan(id, tab, noon)
			if err == nil {
				err = p.CheckMatched()
			}
			if err != nil {
				return "", err
			}
			clear := map[string]bool{}
			for _, c := range tab.Columns() {
				clear[c.Name] = true
			}
			for _, m := range p.Masks {
				delete(clear, m.Name)
			}
			for _, c := range tab.Columns() {
				if clear[c.Name] {
					out += " " + c.Name
				}
			}
			if tab.Name() == "db.t" && p.Filter == nil {
				out += " rows"
			}
		}
		return out, nil
	}
	clear, err := outcome(raw)
	if err != nil || clear != " f" {
		t.Fatalf("undamaged: clear%s, %v", clear, err)
	}
	places, tried, refused := 0, 0, 0
	try := func(path, what string) {
		// With -short a part of them, chosen by place.
		if places++; testing.Short() && places%8 != 0 {
			return
		}
		tried++
		body, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		Lint(body, o, tab)
		got, err := outcome(body)
		switch {
		case err != nil:
			refused++
			known := []error{ErrMalformed, ErrServiceDef, ErrRequest, policy.ErrClosed, policy.ErrNoRules, policy.ErrFilter, policy.ErrMask, policy.ErrUnmatched}
			if !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
				t.Errorf("%s %s: error of no kind: %v", path, what, err)
			}
		case got != clear && got != "":
			t.Errorf("%s %s: clear%s without an error", path, what, got)
		}
	}
	zone := file["securityZones"].(map[string]any)["zone"].(map[string]any)
	for name, part := range map[string]any{"policies": file["policies"], "tagPolicies.policies": file["tagPolicies"].(map[string]any)["policies"], "zone.policies": zone["policies"], "serviceDef": file["serviceDef"]} {
		visit(part, name, func(path string, old any, set func(any), drop func()) {
			for _, d := range damages(path, old) {
				set(d)
				try(path, fmt.Sprintf("as %v", d))
			}
			if drop != nil {
				drop()
				try(path, "dropped")
			}
		})
	}
	t.Logf("%d damaged files, %d refused", tried, refused)
	if places < 1000 || refused < tried/2 {
		t.Error("the mutations do not damage enough")
	}
}

func FuzzLoad(f *testing.F) {
	raw, err := json.Marshal(mutant())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(encodeBody(f, []obj{maskPolicy(1, "*{USER}?\\{x}", maskItem("MASK", nil)), filterPolicy(2, "c = 'x'", nil)}, nil))
	f.Add([]byte(`[{"id":1,"policyType":1,"serviceType":"trino","resources":{"catalog":{"values":["a*b?c"]}}}]`))
	tab := table(f, "a", "b", "ssn")
	f.Fuzz(func(t *testing.T, body []byte) {
		Lint(body, Options{}, tab)
		r, err := Load(body, Options{Tags: tagsFile("PII", "a")})
		if err != nil {
			return
		}
		s := policy.NewSnapshot(r)
		for _, id := range []*policy.Identity{who("u", "g"), policy.NewIdentity("v", nil, []string{"r"}, map[string]string{"dept": "x"})} {
			p, err := s.Plan(id, tab, noon)
			if (p == nil) == (err == nil) {
				t.Fatal(p, err)
			}
			if err == nil {
				set, err := policy.NewSet(p)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := policy.Decode(set.Bytes()); err != nil {
					t.Fatal(err)
				}
			}
			_ = r.Explain(id, tab, noon).String()
		}
		if _, err := r.Update(body); err == nil {
			return
		}
	})
}

func FuzzScript(f *testing.F) {
	for _, s := range []string{"USER.dept == 'x' && !IS_IN_GROUP('g')", "TAG['a'] > 0.5 || (true)", "GET_UG_NAMES_Q()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, err := parseScript(src)
		if err != nil {
			if !errors.Is(err, errExpr) {
				t.Fatal(err)
			}
			return
		}
		v := &env{user: "u", userAttr: func(n string) (string, bool) { return n, n != "" }, groupAttr: func(string, string) (string, bool) { return "", false }}
		if _, err := s.root.eval(v); err != nil && !errors.Is(err, errExpr) {
			t.Fatal(err)
		}
	})
}
