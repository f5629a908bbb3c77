package ranger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// ---- short ways to write policies

type obj = map[string]any
type list = []any

func maskPolicy(id int, column string, items ...obj) obj {
	return obj{"id": id, "name": fmt.Sprintf("p%d", id), "policyType": 1, "serviceType": "hive",
		"resources":           obj{"database": obj{"values": list{"db"}}, "table": obj{"values": list{"t"}}, "column": obj{"values": list{column}}},
		"dataMaskPolicyItems": items}
}

func filterPolicy(id int, expr string, more obj) obj {
	return obj{"id": id, "name": fmt.Sprintf("f%d", id), "policyType": 2, "serviceType": "hive",
		"resources":            obj{"database": obj{"values": list{"db"}}, "table": obj{"values": list{"t"}}},
		"rowFilterPolicyItems": list{with(obj{"accesses": reads, "groups": list{"public"}, "rowFilterInfo": obj{"filterExpr": expr}}, more)}}
}

var reads = list{obj{"type": "select"}}

// maskItem is a mask for everybody unless more says for whom.
func maskItem(typ string, more obj) obj {
	it := obj{"accesses": reads, "dataMaskInfo": obj{"dataMaskType": typ}}
	if more == nil {
		more = obj{"groups": list{"public"}}
	}
	return with(it, more)
}

func with(o, more obj) obj {
	out := obj{}
	for k, v := range o {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func encodeBody(t testing.TB, policies []obj, more obj) []byte {
	t.Helper()
	if policies == nil {
		policies = []obj{}
	}
	raw, err := json.Marshal(with(obj{"serviceName": "s", "serviceType": "hive", "policies": policies}, more))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func load(t testing.TB, policies []obj, more obj, o Options) *Rules {
	t.Helper()
	o.Zone = time.UTC
	r, err := Load(encodeBody(t, policies, more), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func table(t testing.TB, columns ...string) *policy.Table {
	t.Helper()
	return ownedTable(t, "", columns...)
}

func ownedTable(t testing.TB, owner string, columns ...string) *policy.Table {
	t.Helper()
	var cols []policy.Column
	for _, c := range columns {
		cols = append(cols, policy.Column{Name: c, Type: mask.Type{Kind: mask.Text}})
	}
	tab, err := policy.NewTable([]string{"db", "t"}, owner, cols)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func who(user string, groups ...string) *policy.Identity {
	return policy.NewIdentity(user, groups, nil, nil)
}

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// seen is what a plan does with a column: "name:TYPE/id", "-" for nothing, or
// the error.
func seen(t testing.TB, r *Rules, id *policy.Identity, tab *policy.Table) string {
	t.Helper()
	p, err := policy.NewSnapshot(r).Plan(id, tab, noon)
	if err != nil {
		if !errors.Is(err, policy.ErrClosed) && !errors.Is(err, policy.ErrFilter) && !errors.Is(err, policy.ErrMask) {
			t.Errorf("error of no kind: %v", err)
		}
		return "error: " + err.Error()
	}
	var out []string
	for _, m := range p.Masks {
		out = append(out, fmt.Sprintf("%s:%s/%d", m.Name, m.Why.Kind, m.Why.PolicyID))
	}
	for _, m := range p.Exempt {
		out = append(out, fmt.Sprintf("%s:exempt/%d", m.Name, m.Why.PolicyID))
	}
	if p.Filter != nil {
		out = append(out, fmt.Sprintf("%s/%d", p.Filter, p.FilterWhy.PolicyID))
	}
	if len(p.Unmatched) > 0 {
		out = append(out, fmt.Sprintf("unmatched %d", p.Unmatched[0].Why.PolicyID))
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}

type want struct {
	id   *policy.Identity
	want string // "error: x" for an error that holds x
}

func check(t *testing.T, r *Rules, tab *policy.Table, wants ...want) {
	t.Helper()
	for _, w := range wants {
		got := seen(t, r, w.id, tab)
		if part, ok := strings.CutPrefix(w.want, "error: "); ok {
			if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, part) {
				t.Errorf("%s: %s, want an error with %q", w.id, got, part)
			}
		} else if got != w.want {
			t.Errorf("%s: %s, want %s", w.id, got, w.want)
		}
	}
}

// ---- the faults with a number

// TestB22NamesThatDoNotMatch: a mask is never lost over a name, and what
// matches nothing is reported.
func TestB22NamesThatDoNotMatch(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy obj
		column string
		want   string
	}{
		{"upper in the policy", maskPolicy(1, "SSN", maskItem("MASK", nil)), "ssn", "ssn:MASK/1"},
		{"upper in the file", maskPolicy(1, "ssn", maskItem("MASK", nil)), "SSN", "SSN:MASK/1"},
		{"disabled", with(maskPolicy(1, "ssn", maskItem("MASK", nil)), obj{"isEnabled": false}), "ssn", "unmatched 1"},
		{"star without wildcards", maskPolicy(1, "*", maskItem("MASK", nil)), "ssn", "unmatched 1"},
		{"pattern without wildcards", maskPolicy(1, "ss?", maskItem("MASK", nil)), "ssn", "unmatched 1"},
		{"no such column", maskPolicy(1, "other", maskItem("MASK", nil)), "ssn", "unmatched 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := load(t, []obj{c.policy}, nil, Options{})
			check(t, r, table(t, c.column), want{who("u"), c.want})
			p, err := policy.NewSnapshot(r).Plan(who("u"), table(t, c.column), noon)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.CheckMatched(); (err != nil) != strings.HasPrefix(c.want, "unmatched") || err != nil && !errors.Is(err, policy.ErrUnmatched) {
				t.Error(err)
			}
		})
	}
	excl := maskPolicy(1, "ssn", maskItem("MASK", nil))
	excl["resources"].(obj)["column"] = obj{"values": list{"ssn"}, "isExcludes": true}
	check(t, load(t, []obj{excl}, nil, Options{}), table(t, "id", "ssn", "name"), want{who("u"), "id:MASK/1 name:MASK/1"})

	macro := maskPolicy(1, "c", maskItem("MASK", nil))
	macro["resources"].(obj)["table"] = obj{"values": list{"${{USER.dept}}"}}
	check(t, load(t, []obj{macro}, nil, Options{}), table(t, "c"),
		want{policy.NewIdentity("u", nil, nil, map[string]string{"dept": "t"}), "c:MASK/1"},
		want{policy.NewIdentity("u", nil, nil, map[string]string{"dept": "x"}), "-"},
		want{who("u"), "error: policy 1"})
	// A table that the expression cannot name is not closed by it.
	macro["resources"].(obj)["table"] = obj{"values": list{"dept_${{USER.dept}}"}}
	check(t, load(t, []obj{macro}, nil, Options{}), table(t, "c"), want{who("u"), "-"})
}

// TestB24TwoMasksOnOneColumn: priority before file order, then tags, then the
// order of Ranger; inside a policy the order of the items.
func TestB24TwoMasksOnOneColumn(t *testing.T) {
	normal := maskPolicy(1, "c", maskItem("MASK_HASH", nil))
	override := with(maskPolicy(2, "c", maskItem("MASK_NULL", nil)), obj{"policyPriority": 1})
	tagged := obj{"tagPolicies": obj{"policies": list{tagPolicy(7, "PII", maskItem("MASK", nil))}}}
	tags := Options{Tags: tagsFile("PII", "c")}
	none := maskPolicy(3, "c", maskItem("MASK_NONE", nil))
	for _, c := range []struct {
		name     string
		policies []obj
		more     obj
		o        Options
		want     string
	}{
		{"override last", []obj{normal, override}, nil, Options{}, "c:MASK_NULL/2"},
		{"override first", []obj{override, normal}, nil, Options{}, "c:MASK_NULL/2"},
		{"tag before resource", []obj{none}, tagged, tags, "c:MASK/7"},
		{"override before tag", []obj{with(none, obj{"policyPriority": 1})}, tagged, tags, "c:exempt/3"},
		{"equal, by name", []obj{with(normal, obj{"name": "b"}), with(none, obj{"name": "a"})}, nil, Options{}, "c:exempt/3"},
		{"equal, by name, other order", []obj{with(none, obj{"name": "b"}), with(normal, obj{"name": "a"})}, nil, Options{}, "c:MASK_HASH/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, load(t, c.policies, c.more, c.o), table(t, "c"), want{who("u"), c.want})
		})
	}
	items := maskPolicy(1, "c", maskItem("MASK_HASH", obj{"groups": list{"A"}}), maskItem("MASK_NONE", obj{"users": list{"u"}}))
	check(t, load(t, []obj{items}, nil, Options{}), table(t, "c"), want{who("u", "A"), "c:MASK_HASH/1"}, want{who("u"), "c:exempt/1"}, want{who("v"), "-"})
	// After a tag's mask only the first policy of a higher priority is asked.
	first := with(maskPolicy(4, "c", maskItem("MASK_NONE", obj{"users": list{"v"}})), obj{"policyPriority": 1, "name": "a"})
	second := with(maskPolicy(5, "c", maskItem("MASK_NULL", obj{"users": list{"u"}})), obj{"policyPriority": 1, "name": "z"})
	check(t, load(t, []obj{second, first}, tagged, tags), table(t, "c"), want{who("v"), "c:exempt/4"}, want{who("u"), "c:MASK/7"})
	check(t, load(t, []obj{second, first}, nil, Options{}), table(t, "c"), want{who("v"), "c:exempt/4"}, want{who("u"), "c:MASK_NULL/5"})
}

// TestB25NestedColumns: a mask on a nested column or on a field of one is in
// the plan, under its path.
func TestB25NestedColumns(t *testing.T) {
	text := mask.Type{Kind: mask.Text}
	nested := mask.Type{Kind: mask.Nested}
	tab, err := policy.NewTable([]string{"db", "t"}, "", []policy.Column{
		{Name: "id", Type: text},
		{Name: "l", Type: nested, Children: []policy.Column{{Name: "element", Type: text}}},
		{Name: "s", Type: nested, Children: []policy.Column{{Name: "a", Type: text}, {Name: "b", Type: text}}},
		{Name: "orders", Type: nested, Children: []policy.Column{{Type: nested, Children: []policy.Column{{Name: "date", Type: text}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for column, w := range map[string]string{
		"id": "id:MASK/1", "l": "l:MASK/1", "s": "s:MASK/1", "s.a": "s.a:MASK/1", "S.B": "s.b:MASK/1", "l.element": "l.element:MASK/1",
		"orders.date": "orders.date:MASK/1", "s.c": "unmatched 1",
	} {
		check(t, load(t, []obj{maskPolicy(1, column, maskItem("MASK", nil))}, nil, Options{}), tab, want{who("u"), w})
	}
	r := load(t, []obj{maskPolicy(1, "s", maskItem("MASK", nil)), maskPolicy(2, "s.a", maskItem("MASK_NULL", nil))}, nil, Options{})
	check(t, r, tab, want{who("u"), "error: s.a"})
	p, err := policy.NewSnapshot(load(t, []obj{maskPolicy(1, "orders.date", maskItem("MASK", nil))}, nil, Options{})).Plan(who("u"), tab, noon)
	if err != nil || len(p.Masks) != 1 || p.Masks[0].Index != 3 || fmt.Sprint(p.Masks[0].Path) != "[0 0]" {
		t.Errorf("%+v, %v", p, err)
	}
}

// ---- the rules, one by one

func tagPolicy(id int, tag string, items ...obj) obj {
	return obj{"id": id, "name": fmt.Sprintf("t%d", id), "policyType": 1, "resources": obj{"tag": obj{"values": list{tag}}}, "dataMaskPolicyItems": items}
}

// tagsFile puts a tag on columns of db.t.
func tagsFile(name string, columns ...string) []byte {
	var res list
	for i, c := range columns {
		e := obj{"database": obj{"values": list{"db"}}, "table": obj{"values": list{"t"}}}
		if c != "" {
			e["column"] = obj{"values": list{c}}
		}
		res = append(res, obj{"id": i, "resourceElements": e})
	}
	links := obj{}
	for i := range columns {
		links[fmt.Sprint(i)] = list{1}
	}
	raw, err := json.Marshal(obj{"tags": obj{"1": obj{"type": name, "attributes": obj{"level": "high"}}}, "serviceResources": res, "resourceToTagIds": links})
	if err != nil {
		panic(err)
	}
	return raw
}

func TestPrincipals(t *testing.T) {
	roles := []byte(`{"rangerRoles":[
		{"name":"inner","users":[{"name":"ru","isAdmin":false}],"groups":[{"name":"rg"}]},
		{"name":"outer","roles":[{"name":"inner"}]},
		{"name":"loop","roles":["outer","loop"]}]}`)
	for _, c := range []struct {
		more obj
		yes  []*policy.Identity
		no   []*policy.Identity
	}{
		{obj{"users": list{"u"}}, []*policy.Identity{who("u")}, []*policy.Identity{who("U"), who("v", "u")}},
		{obj{"users": list{"{USER}"}}, []*policy.Identity{who("u"), who("v")}, nil},
		{obj{"groups": list{"g"}}, []*policy.Identity{who("u", "a", "g")}, []*policy.Identity{who("g"), who("u", "G")}},
		{obj{"groups": list{"public"}}, []*policy.Identity{who("u")}, nil},
		{obj{"groups": list{"PUBLIC"}}, nil, []*policy.Identity{who("u")}},
		{obj{"roles": list{"outer"}}, []*policy.Identity{who("ru"), who("u", "rg"), policy.NewIdentity("u", nil, []string{"inner"}, nil)}, []*policy.Identity{who("u"), who("outer")}},
		{obj{"roles": list{"loop"}}, []*policy.Identity{who("ru")}, []*policy.Identity{who("u")}},
	} {
		r := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", c.more))}, nil, Options{Roles: roles})
		for _, id := range c.yes {
			check(t, r, table(t, "c"), want{id, "c:MASK/1"})
		}
		for _, id := range c.no {
			check(t, r, table(t, "c"), want{id, "-"})
		}
	}
	owner := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", obj{"users": list{"{OWNER}"}}))}, nil, Options{})
	check(t, owner, ownedTable(t, "o", "c"), want{who("o"), "c:MASK/1"}, want{who("u"), "-"})
	check(t, owner, table(t, "c"), want{who("o"), "error: owner"})
	exempt := load(t, []obj{maskPolicy(1, "c", maskItem("MASK_NONE", obj{"users": list{"{OWNER}"}}), maskItem("MASK", nil))}, nil, Options{})
	check(t, exempt, ownedTable(t, "o", "c"), want{who("o"), "c:exempt/1"}, want{who("u"), "c:MASK/1"})
	check(t, exempt, table(t, "c"), want{who("o"), "c:MASK/1"})
	super := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", nil))}, obj{"serviceConfig": obj{"ranger.plugin.super.users": "root, su", "ranger.plugin.super.groups": "wheel"}}, Options{})
	check(t, super, table(t, "c"), want{who("su"), "-"}, want{who("u", "wheel"), "-"}, want{who("u"), "c:MASK/1"})
	if _, err := policy.NewSnapshot(super).Plan(who(""), table(t, "c"), noon); !errors.Is(err, policy.ErrIdentity) {
		t.Error(err)
	}
}

func TestAccessTypes(t *testing.T) {
	all := with(maskItem("MASK", nil), obj{"accesses": list{obj{"type": "all"}}})
	update := with(maskItem("MASK", nil), obj{"accesses": list{obj{"type": "update"}, obj{"type": "select", "isAllowed": false}}})
	check(t, load(t, []obj{maskPolicy(1, "c", all)}, nil, Options{}), table(t, "c"), want{who("u"), "c:MASK/1"})
	check(t, load(t, []obj{maskPolicy(1, "c", update)}, nil, Options{}), table(t, "c"), want{who("u"), "-"})
	for name, acc := range map[string]list{"letter case": {obj{"type": "SELECT"}}, "none": {}, "unknown": {obj{"type": "sel"}}} {
		p := maskPolicy(9, "c", with(maskItem("MASK", nil), obj{"accesses": acc}))
		if _, err := Load(encodeBody(t, []obj{p}, nil), Options{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "policy 9") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(encodeBody(t, []obj{maskPolicy(1, "c", all)}, nil), Options{AccessType: "SELECT"}); !errors.Is(err, ErrServiceDef) {
		t.Error(err)
	}
}

func TestConditions(t *testing.T) {
	cond := func(expr string) obj {
		return obj{"conditions": list{obj{"type": "_expression", "values": list{expr}}}, "groups": list{"public"}}
	}
	users := []byte(`{"userAttrMapping":{"u":{"dept":"hr","level":"3"}},"groupAttrMapping":{"g":{"site":"x"}}}`)
	for expr, w := range map[string]string{
		"true": "c:MASK/1", "false": "-", "USER.dept == 'hr'": "c:MASK/1", "USER.dept != 'hr'": "-", "USER['dept'] === \"hr\"": "c:MASK/1",
		"USER.level > 2 && USER.level < 10": "c:MASK/1", "USER.level > '2'": "c:MASK/1", "USER.level === 3": "-", "USER.level == 3": "c:MASK/1",
		"USER.dept > 1": "-", "!(USER.level >= 4)": "c:MASK/1", "USER.nosuch == null": "c:MASK/1", "USER.dept != null": "c:MASK/1",
		"IS_IN_GROUP('g')": "c:MASK/1", "IS_IN_GROUP('h') || IS_IN_ANY_GROUP": "c:MASK/1", "IS_IN_ANY_ROLE": "-", "IS_NOT_IN_ANY_ROLE": "c:MASK/1",
		"HAS_USER_ATTR('dept') && !HAS_USER_ATTR('x')": "c:MASK/1", "HAS_UG_ATTR('site')": "c:MASK/1", "HAS_ANY_TAG": "-", "HAS_NO_TAG": "c:MASK/1",
		"REQ.user == 'u' && REQ.accessType == 'select'": "c:MASK/1", "RES.column == 'c'": "c:MASK/1", "RES.column == 'd'": "-", "USER._name == 'u';": "c:MASK/1",
		"GET_UG_NAMES() == 'g'": "c:MASK/1", "GET_USER_ATTR('dept') == 'hr'": "c:MASK/1", "GET_UG_ATTR('site') == 'x'": "c:MASK/1", "GET_USER_ATTR('no') == 'hr'": "error: policy 1",
		"true || USER.nosuch == 'x'": "c:MASK/1", "false && USER.nosuch == 'x'": "-",
		// What cannot be evaluated exactly closes the column.
		"USER.nosuch == 'x'": "error: policy 1", "TAG.level == 'x'": "error: policy 1", "ctx.isAccessedAfter('x')": "error: policy 1", "var x = 1; x": "error: policy 1",
		"USER.dept": "error: policy 1", "USER.dept.startsWith('h')": "error: policy 1", "1 == 1 == 1": "error: policy 1", "'it\\'s' == 'x'": "error: policy 1",
		"true == 1": "error: policy 1", "USER.dept = 'hr'": "error: policy 1", " ": "error: policy 1", "NOSUCH('x')": "error: policy 1", "REQ.clientIPAddress == 'x'": "error: policy 1",
		strings.Repeat("(", 5000) + "true" + strings.Repeat(")", 5000): "error: policy 1",
	} {
		o := Options{Users: users}
		item := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", cond(expr)))}, nil, o)
		whole := load(t, []obj{with(maskPolicy(1, "c", maskItem("MASK", nil)), obj{"conditions": cond(expr)["conditions"]})}, nil, o)
		for _, r := range []*Rules{item, whole} {
			check(t, r, table(t, "c"), want{who("u", "g"), w})
		}
		if t.Failed() {
			t.Fatalf("with %.60s", expr)
		}
	}
	// Conditions of policies that say nothing to the user do not matter.
	odd := obj{"conditions": list{obj{"type": "ip-range", "values": list{"1.2.3.4"}}}, "users": list{"other"}}
	check(t, load(t, []obj{maskPolicy(1, "c", maskItem("MASK", odd))}, nil, Options{}), table(t, "c"), want{who("u"), "-"}, want{who("other"), "error: policy 1"})
}

func TestValidity(t *testing.T) {
	at := func(s obj) obj {
		return with(maskPolicy(1, "c", maskItem("MASK", nil)), obj{"validitySchedules": list{s}})
	}
	for _, c := range []struct {
		s    obj
		want string
	}{
		{obj{"startTime": "2024/05/01 12:00:00"}, "c:MASK/1"},
		{obj{"startTime": "2024/05/01 12:00:01"}, "-"},
		{obj{"endTime": "2024/05/01 12:00:00"}, "c:MASK/1"},
		{obj{"endTime": "2024/05/01 11:59:59"}, "-"},
		{obj{"startTime": "2024/05/01 14:00:00", "timeZone": "Europe/Paris"}, "c:MASK/1"},
		{obj{"startTime": "2024/05/01 05:00:01", "timeZone": "PST"}, "-"},
		{obj{"startTime": "2024/05/01 17:30:00", "timeZone": "GMT+05:30"}, "c:MASK/1"},
		{obj{"startTime": "2020/01/01 00:00:00", "recurrences": list{obj{"schedule": obj{"minute": "0", "hour": "11", "dayOfMonth": "", "dayOfWeek": "4", "month": "*", "year": "*"}, "interval": obj{"hours": 2}}}}, "c:MASK/1"},
		{obj{"startTime": "2020/01/01 00:00:00", "recurrences": list{obj{"schedule": obj{"minute": "0", "hour": "9", "dayOfMonth": "", "dayOfWeek": "4", "month": "*", "year": "*"}, "interval": obj{"hours": 2}}}}, "-"},
		// A window across midnight, which Ranger loses.
		{obj{"startTime": "2020/01/01 00:00:00", "recurrences": list{obj{"schedule": obj{"minute": "0", "hour": "13", "dayOfMonth": "*", "dayOfWeek": "", "month": "*", "year": "*"}, "interval": obj{"hours": 23}}}}, "c:MASK/1"},
	} {
		check(t, load(t, []obj{at(c.s)}, nil, Options{}), table(t, "c"), want{who("u"), c.want})
	}
	for _, s := range []obj{{}, {"startTime": "soon"}, {"startTime": "2024/05/01 12:00:00", "timeZone": "Nowhere"}, {"startTime": 5}} {
		if _, err := Load(encodeBody(t, []obj{at(s)}, nil), Options{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "policy 1") {
			t.Errorf("%v: %v", s, err)
		}
	}
	// A cached plan ends with its schedule.
	s := policy.NewSnapshot(load(t, []obj{at(obj{"startTime": "2024/05/01 12:00:00", "endTime": "2024/05/02 12:00:00"})}, nil, Options{}))
	tab := table(t, "c")
	for d, masked := range map[time.Duration]bool{-time.Second: false, 0: true, time.Hour: true, 24 * time.Hour: true, 24*time.Hour + time.Second: false} {
		for range 2 {
			p, err := s.Plan(who("u"), tab, noon.Add(d))
			if err != nil || (len(p.Masks) > 0) != masked {
				t.Errorf("%v: %+v, %v", d, p, err)
			}
		}
	}
}

func TestMaskTypes(t *testing.T) {
	custom := func(expr string) obj {
		return with(maskItem("CUSTOM", nil), obj{"dataMaskInfo": obj{"dataMaskType": "CUSTOM", "valueExpr": expr}})
	}
	id := policy.NewIdentity("u", []string{"g'1"}, nil, map[string]string{"n": "3", "q": "x'y", "bad": "1) or"})
	for _, c := range []struct {
		item obj
		want string // the expression, "" an error that names policy and column
	}{
		{maskItem("MASK", nil), "mask({col})"},
		{maskItem("MASK_HASH", nil), "mask_hash({col})"},
		{maskItem("MASK_NULL", nil), "mask_null({col})"},
		{maskItem("mask_null", nil), "mask_null({col})"},
		{maskItem("MASK_SHOW_LAST_4", nil), "mask_show_last_n({col}, 4, 'x', 'x', 'x', -1, '1')"},
		{custom("mask_first_n({col}, 2)"), "mask_first_n({col}, 2)"},
		{custom("cast(mask_hash({col}) as {type})"), "mask_hash({col})"},
		{custom(""), "mask_null({col})"},
		{custom("mask_first_n({col}, ${{USER.n}})"), "mask_first_n({col}, 3)"},
		{custom("mask({col}, '${{USER.q}}')"), "mask({col}, 'x''y')"},
		{custom("mask_first_n({col}, ${{USER.bad}})"), ""},
		{custom("mask({col}, '${{USER.nosuch}}')"), ""},
		{custom("mask({col}, ${{"), ""},
		{custom("CASE WHEN a = 1 THEN {col} END"), ""},
		{custom("cast {col} as {type}"), ""},
		{custom("upper({col})"), ""},
		{maskItem("SHUFFLE", nil), ""},
		{maskItem("mask", nil), ""}, // names of mask types compare with letter case
	} {
		r := load(t, []obj{maskPolicy(1, "c", c.item)}, nil, Options{})
		p, err := policy.NewSnapshot(r).Plan(id, table(t, "c"), noon)
		switch {
		case c.want == "":
			if !errors.Is(err, policy.ErrClosed) || !strings.Contains(err.Error(), "policy 1") || !strings.Contains(err.Error(), "column c") {
				t.Errorf("%v: plan %+v, error %v", c.item, p, err)
			}
		case err != nil || len(p.Masks) != 1 || p.Masks[0].Mask.Expr != c.want:
			t.Errorf("%v: %+v, %v", c.item, p, err)
		}
	}
}

// TestMasksReadOtherColumns: what a mask's SQL calls a column is found in the
// table, in the spelling of the table.
func TestMasksReadOtherColumns(t *testing.T) {
	tab := table(t, "c", "other", "Born On", "Name", "x", "X", "col", "a}b")
	id := policy.NewIdentity("u", nil, nil, map[string]string{"alg": "sha512"})
	for _, c := range []struct{ expr, want string }{
		{"hash_row({col}, other)", "hash_row({col}, {other})"},
		{"hash_row(c, OTHER)", "hash_row({col}, {other})"},
		{"hash_row({other}, {C})", "hash_row({other}, {col})"},
		{"hash_row({col}, `born on`, name)", "hash_row({col}, {Born On}, {Name})"},
		{"hash_row(other, 'sha512')", "hash_row({other}, 'sha512')"},
		{"hash_row(other, '${{USER.alg}}')", "hash_row({other}, 'sha512')"},
		{"mask(C)", "mask({col})"},
		{"mask(other)", "mask({other})"},
		{"c", "{col}"},
		{"other", "another column as it is"},
		{"cast(hash_row({col}, x) as {type})", "hash_row({col}, {x})"},
		{"hash_row({col}, X)", "hash_row({col}, {X})"},
		{"hash_row({col}, NULL)", ""}, // a NULL is no column
		{"hash_row({col}, nosuch)", "nosuch"},
		{"hash_row({col}, `x y`)", "x y"},
		{"hash_row({col}, ``)", "backquotes"},
		{"hash_row({col}, col)", `"col"`}, // {col} is the masked column
		{"hash_row({col}, `a}b`)", "a}b"},
		{"hash_row({col}, t.other)", "found '.'"},
		{"concat({col}, other)", "concat"},
	} {
		r := load(t, []obj{maskPolicy(1, "c", with(maskItem("CUSTOM", nil), obj{"dataMaskInfo": obj{"dataMaskType": "CUSTOM", "valueExpr": c.expr}}))}, nil, Options{})
		p, err := policy.NewSnapshot(r).Plan(id, tab, noon)
		if err != nil {
			if !errors.Is(err, policy.ErrClosed) && !errors.Is(err, policy.ErrMask) || !strings.Contains(err.Error(), "policy 1") || !strings.Contains(err.Error(), c.want) || strings.HasPrefix(c.want, "hash") {
				t.Errorf("%s: %v", c.expr, err)
			}
			continue
		}
		if got := p.Masks[0].Mask.Expr; got != c.want {
			t.Errorf("%s: %s, want %s", c.expr, got, c.want)
		}
		set, err := policy.NewSet(p)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := policy.Decode(set.Bytes()); err != nil || back.Plans()[0].Masks[0].Mask.Expr != c.want || back.Hash() != set.Hash() {
			t.Errorf("%s after encoding: %v", c.expr, err)
		}
		if e := r.Explain(id, tab, noon); e.Columns[0].Mask != c.want {
			t.Errorf("%s: explained as %s", c.expr, e.Columns[0].Mask)
		}
	}
	// Letter case that fits two columns; a nested column; a field of one.
	nested := policy.Column{Name: "c", Type: mask.Type{Kind: mask.Nested}, Children: []policy.Column{{Name: "f", Type: mask.Type{Kind: mask.Text}}}}
	text := mask.Type{Kind: mask.Text}
	for column, more := range map[string][]policy.Column{
		"d":   {{Name: "d", Type: text}, {Name: "Other", Type: text}, {Name: "OTHER", Type: text}},
		"c.f": {nested, {Name: "other", Type: text}},
		"e":   {{Name: "e", Type: text}, {Name: "other", Type: nested.Type, Children: nested.Children}},
	} {
		tab, err := policy.NewTable([]string{"db", "t"}, "", more)
		if err != nil {
			t.Fatal(err)
		}
		policies := []obj{maskPolicy(1, column, with(maskItem("CUSTOM", nil), obj{"dataMaskInfo": obj{"dataMaskType": "CUSTOM", "valueExpr": "hash_row({col}, other)"}}))}
		if p, err := policy.NewSnapshot(load(t, policies, nil, Options{})).Plan(id, tab, noon); !errors.Is(err, policy.ErrClosed) && !errors.Is(err, policy.ErrMask) {
			t.Errorf("%s: %+v, %v", column, p, err)
		}
	}
	// Lint knows the tables' columns.
	policies := []obj{maskPolicy(1, "c", with(maskItem("CUSTOM", nil), obj{"dataMaskInfo": obj{"dataMaskType": "CUSTOM", "valueExpr": "hash_row({col}, gone)"}}))}
	if found := Lint(encodeBody(t, policies, nil), Options{}, tab); len(found) != 1 || found[0].Kind != Refused || !strings.Contains(found[0].Detail, `"gone"`) {
		t.Errorf("lint: %v", found)
	}
	if found := Lint(encodeBody(t, policies, nil), Options{}); len(found) != 0 {
		t.Errorf("lint without tables: %v", found)
	}
}

func TestFilters(t *testing.T) {
	attrs := Options{Users: []byte(`{"groupAttrMapping":{"g1":{"site":"x"},"g2":{"site":"y'z"}}}`)}
	check(t, load(t, []obj{filterPolicy(1, "c in (${{GET_UG_ATTR_Q('site')}})", nil)}, nil, attrs), table(t, "c"),
		want{who("u", "g1", "g2"), "`c` in('x','y''z')/1"}, want{who("u"), "error: policy 1"})
	id := policy.NewIdentity("u", []string{"g1", "g2"}, nil, map[string]string{"dept": "x' or 'a'='a"})
	for expr, w := range map[string]string{
		"c = 'x'": "`c`='x'/1", `c = "x"`: "`c`='x'/1", "c = '${{USER.dept}}'": "`c`='x'' or ''a''=''a'/1", "c in (${{GET_UG_NAMES_Q()}})": "`c` in('g1','g2')/1",
		"c = current_user()": "`c`='u'/1", "c = '2024-05-01' or current_date > '2020-01-01'": "`c`='2024-05-01' or date '2024-05-01'>'2020-01-01'/1",
		"1 = 1": "-", "true": "-",
		"": "error: policy 1", "lower(c) = 'x'": "error: policy 1", "nosuch = 'x'": "error: policy 1", "c = '${{USER.nosuch}}'": "error: policy 1",
		"c = '${{eval(1)}}'": "error: policy 1", "c in (select 1)": "error: policy 1", "c = ${{USER.dept}}": "error: policy 1", "c = 1": "error: policy 1",
	} {
		check(t, load(t, []obj{filterPolicy(1, expr, nil)}, nil, Options{}), table(t, "c"), want{id, w})
	}
	two := []obj{with(filterPolicy(2, "c = 'b'", nil), obj{"name": "b"}), with(filterPolicy(1, "c = 'a'", obj{"groups": list{}, "users": list{"v"}}), obj{"name": "a"})}
	check(t, load(t, two, nil, Options{}), table(t, "c"), want{who("u"), "`c`='b'/2"}, want{who("v"), "`c`='b'/2"})
}

func TestZones(t *testing.T) {
	zone := func(tables ...any) obj {
		p := with(maskPolicy(10, "c", maskItem("MASK_NULL", nil)), obj{"zoneName": "z"})
		return obj{"z": obj{"zoneName": "z", "resources": list{obj{"database": list{"db"}, "table": tables, "column": list{"*"}}}, "policies": list{p}}}
	}
	base := []obj{maskPolicy(1, "c", maskItem("MASK", nil)), maskPolicy(2, "d", maskItem("MASK", nil))}
	check(t, load(t, base, obj{"securityZones": zone("t")}, Options{}), table(t, "c", "d"), want{who("u"), "c:MASK_NULL/10"})
	check(t, load(t, base, obj{"securityZones": zone("other")}, Options{}), table(t, "c", "d"), want{who("u"), "c:MASK/1 d:MASK/2"})
	both := zone("t")
	both["y"] = obj{"zoneName": "y", "resources": list{obj{"database": list{"*"}}}, "policies": list{}}
	check(t, load(t, base, obj{"securityZones": both}, Options{}), table(t, "c"), want{who("u"), "error: security zones"})
	for name, body := range map[string][]byte{
		"no resources": encodeBody(t, base, obj{"securityZones": obj{"z": obj{"policies": zone("t")["z"].(obj)["policies"]}}}),
		"unknown zone": encodeBody(t, []obj{with(base[0], obj{"zoneName": "q"})}, nil),
		"empty values": encodeBody(t, base, obj{"securityZones": obj{"z": obj{"resources": list{obj{"database": list{}}}}}}),
	} {
		if _, err := Load(body, Options{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTags(t *testing.T) {
	pii := func(items ...obj) obj {
		return obj{"tagPolicies": obj{"policies": list{tagPolicy(7, "PII", items...)}}}
	}
	on := func(cols ...string) Options { return Options{Tags: tagsFile("PII", cols...)} }
	check(t, load(t, nil, pii(maskItem("MASK", nil)), on("c")), table(t, "c", "d"), want{who("u"), "c:MASK/7"})
	check(t, load(t, nil, pii(maskItem("MASK", nil)), on("")), table(t, "c", "d"), want{who("u"), "c:MASK/7 d:MASK/7"})
	check(t, load(t, nil, pii(maskItem("MASK", nil)), Options{Tags: tagsFile("OTHER", "c")}), table(t, "c"), want{who("u"), "-"})
	check(t, load(t, nil, pii(maskItem("MASK", nil)), Options{Tags: tagsFile("pii", "c")}), table(t, "c"), want{who("u"), "-"})
	hive := with(maskItem("hive:MASK", nil), obj{"accesses": list{obj{"type": "hive:select"}, obj{"type": "hdfs:read"}}})
	hdfs := with(maskItem("MASK_NULL", nil), obj{"accesses": list{obj{"type": "hdfs:read"}}})
	trino := with(maskItem("trino:MASK", nil), obj{"accesses": list{obj{"type": "hive:select"}}})
	check(t, load(t, nil, pii(hdfs, trino, hive), on("c")), table(t, "c"), want{who("u"), "c:MASK/7"})
	for expr, w := range map[string]string{"TAG.level == 'high'": "c:MASK/7", "tag.level == 'low'": "-", "TAG.nosuch == 'x'": "error: policy 7", "HAS_TAG('PII')": "c:MASK/7"} {
		c := obj{"groups": list{"public"}, "conditions": list{obj{"type": "expression", "values": list{expr}}}}
		check(t, load(t, nil, pii(maskItem("MASK", c)), on("c")), table(t, "c"), want{who("u"), w})
	}
	byName := obj{"tagPolicies": obj{"policies": list{with(tagPolicy(7, "PII", maskItem("MASK_NULL", nil)), obj{"name": "b"}), with(tagPolicy(8, "PII", maskItem("MASK", nil)), obj{"name": "a"})}}}
	check(t, load(t, nil, byName, on("c")), table(t, "c"), want{who("u"), "c:MASK/8"})
	// The column's own tag comes before that of the table, whatever the priority.
	both := obj{"tagPolicies": obj{"policies": list{with(tagPolicy(7, "TABLE", maskItem("MASK_NULL", nil)), obj{"policyPriority": 1}), tagPolicy(8, "COLUMN", maskItem("MASK", nil))}}}
	tags := []byte(`{"tags":{"1":{"type":"TABLE"},"2":{"type":"COLUMN"}},"serviceResources":[
		{"id":1,"resourceElements":{"database":{"values":["db"]},"table":{"values":["t*"]}}},
		{"id":2,"resourceElements":{"database":{"values":["DB"]},"table":{"values":["t"]},"column":{"values":["c"]}}}],"resourceToTagIds":{"1":[1],"2":[2]}}`)
	check(t, load(t, nil, both, Options{Tags: tags}), table(t, "c", "d"), want{who("u"), "c:MASK/8 d:MASK_NULL/7"})
	for _, bad := range []string{"{", `{"tags":5}`, `{"resourceToTagIds":{"1":[9]}}`, `{"serviceResources":[{"id":1,"resourceElements":{"path":{"values":["x"]}}}]}`, `{"tags":{"1":{}}}`} {
		if _, err := Load(encodeBody(t, nil, pii(maskItem("MASK", nil))), Options{Tags: []byte(bad)}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestOrder compares evalOrder with sums worked out by hand.
func TestOrder(t *testing.T) {
	r := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", nil))}, nil, Options{})
	n := len(r.def.accesses) // 14 access types
	for _, c := range []struct {
		p    pol
		want int
	}{
		{pol{items: []item{{users: []string{"a", "b"}, given: []string{"select"}}}}, 10000 - 2 - 2 - 25},
		{pol{items: []item{{groups: []string{"Public"}, given: []string{"select"}}}}, 10000 - 25 - 2 - 25},
		{pol{resources: []map[string]policyResource{{"database": {values: []string{"*"}}, "table": {values: []string{"a*", "?"}}, "column": {values: []string{"x?"}, excludes: true}}},
			items: []item{{users: []string{"a"}, given: []string{"select"}, conds: make([]cond, 2)}}}, 10000 - (25 + 10 + 5 + 5) - 1 - 2 - 15},
		{pol{resources: []map[string]policyResource{{"database": {values: []string{"{USER}"}}}}, items: []item{{anyUser: true, given: []string{"select"}}}}, 10000 + 20 - 25 - 2 - 25},
	} {
		if got := c.p.evalOrder(n); got != c.want {
			t.Errorf("%+v: %d, want %d", c.p, got, c.want)
		}
	}
	// The broader policy is asked first.
	wide := maskPolicy(5, "c", maskItem("MASK_NULL", nil))
	narrow := maskPolicy(4, "c", maskItem("MASK", obj{"users": list{"u"}}))
	check(t, load(t, []obj{narrow, wide}, nil, Options{}), table(t, "c"), want{who("u"), "c:MASK_NULL/5"})
}

func TestAdditionalResources(t *testing.T) {
	p := maskPolicy(1, "a", maskItem("MASK", nil))
	p["additionalResources"] = list{obj{"database": obj{"values": list{"db"}}, "table": obj{"values": list{"t"}}, "column": obj{"values": list{"b", "c"}}}}
	check(t, load(t, []obj{p}, nil, Options{}), table(t, "a", "b", "c", "d"), want{who("u"), "a:MASK/1 b:MASK/1 c:MASK/1"})
}

// TestWildcardsByService: Trino's masks take patterns, Hive's do not.
func TestWildcardsByService(t *testing.T) {
	p := obj{"id": 1, "name": "p", "policyType": 1, "resources": obj{"catalog": obj{"values": list{"h*"}}, "schema": obj{"values": list{"*"}}, "table": obj{"values": list{"t?"}}, "column": obj{"values": list{"*ssn*", "x"}}},
		"dataMaskPolicyItems": list{maskItem("MASK_HASH", nil)}}
	r, err := Load(encodeBody(t, []obj{p}, obj{"serviceType": "trino"}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := policy.NewTable([]string{"hive", "s", "t1"}, "", []policy.Column{{Name: "my_SSN_2", Type: mask.Type{Kind: mask.Text}}, {Name: "y", Type: mask.Type{Kind: mask.Text}}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, r, tab, want{who("u"), "my_SSN_2:MASK_HASH/1"})
	plan, err := policy.NewSnapshot(r).Plan(who("u"), tab, noon)
	if err != nil || plan.Masks[0].Mask.Expr != "hex(digest({col},'sha256'))" {
		t.Error(plan, err)
	}
	if _, err := r.Decide(who("u"), table(t, "c"), noon); !errors.Is(err, ErrRequest) {
		t.Error(err)
	}
}

func TestUpdate(t *testing.T) {
	r := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", nil)), maskPolicy(2, "d", maskItem("MASK", nil))}, obj{"policyVersion": 3}, Options{})
	delta := func(change int, p obj) []byte {
		raw, err := json.Marshal(obj{"policyVersion": 4, "policyDeltas": list{obj{"changeType": change, "policy": p}}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, c := range []struct {
		body []byte
		want string
	}{
		{delta(0, maskPolicy(3, "e", maskItem("MASK_NULL", nil))), "c:MASK/1 d:MASK/2 e:MASK_NULL/3"},
		{delta(1, maskPolicy(1, "c", maskItem("MASK_HASH", nil))), "c:MASK_HASH/1 d:MASK/2"},
		{delta(2, obj{"id": 2, "serviceType": "hive"}), "c:MASK/1"},
		{delta(2, obj{"id": 2, "serviceType": "kafka"}), "c:MASK/1 d:MASK/2"},
		{[]byte(`{"policyDeltas":[]}`), "c:MASK/1 d:MASK/2"},
		{encodeBody(t, []obj{maskPolicy(9, "d", maskItem("MASK", nil))}, nil), "d:MASK/9"},
	} {
		u, err := r.Update(c.body)
		if err != nil {
			t.Fatal(err)
		}
		check(t, u, table(t, "c", "d", "e"), want{who("u"), c.want})
		check(t, r, table(t, "c", "d", "e"), want{who("u"), "c:MASK/1 d:MASK/2"})
	}
	for _, bad := range [][]byte{delta(7, maskPolicy(1, "c", maskItem("MASK", nil))), delta(1, maskPolicy(5, "c", maskItem("MASK", nil))), delta(0, obj{"id": 5, "serviceType": "hive", "policyType": 1}), []byte("{"), []byte("[]")} {
		if u, err := r.Update(bad); err == nil {
			t.Errorf("%s: %v", bad, u)
		}
	}
	if a, err := r.Update([]byte(`{}`)); err != nil || a.Version() != r.Version() || !strings.HasPrefix(r.Version(), "3-") {
		t.Error(a, err)
	}
}

func TestExplain(t *testing.T) {
	r := load(t, []obj{
		maskPolicy(1, "c", maskItem("MASK", obj{"users": list{"v"}})), maskPolicy(2, "c", maskItem("MASK_NULL", nil)), maskPolicy(3, "nosuch", maskItem("MASK", nil)),
		maskPolicy(5, "e", maskItem("MASK_NONE", nil)), filterPolicy(4, "c = 'x'", nil),
	}, nil, Options{})
	e := r.Explain(who("u", "g"), table(t, "c", "d", "e"), noon)
	text := e.String()
	for _, part := range []string{"column c: mask_null({col}), policy 2", "column d: unmasked\n", "column e: unmasked on purpose, policy 5", "rows: `c`='x', policy 4", "unmatched: policy 3", "decides, item 1", "u (g)"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if e.Err != nil {
		t.Error(e.Err)
	}
	none := load(t, []obj{maskPolicy(1, "c", maskItem("MASK", obj{"users": list{"v"}}))}, nil, Options{}).Explain(who("u"), table(t, "c"), noon)
	if !strings.Contains(none.String(), "no item for this user") {
		t.Error(none)
	}
	closed := load(t, []obj{maskPolicy(1, "c", maskItem("SHUFFLE", nil))}, nil, Options{}).Explain(who("u"), table(t, "c"), noon)
	if closed.Err == nil || !strings.Contains(closed.String(), "closed: column c: policy 1") {
		t.Error(closed)
	}
}

func TestLint(t *testing.T) {
	find := func(fs []Finding, kind FindingKind, id int64) bool {
		for _, f := range fs {
			if f.Kind == kind && f.PolicyID == id && f.String() != "" {
				return true
			}
		}
		return false
	}
	body := encodeBody(t, []obj{
		maskPolicy(1, "c", maskItem("MASK", nil), maskItem("MASK_NULL", nil)),
		maskPolicy(2, "c", maskItem("MASK_NULL", obj{"users": list{"u"}})),
		maskPolicy(3, "*", maskItem("MASK", nil)),
		maskPolicy(4, "e", maskItem("SHUFFLE", nil)),
		with(maskPolicy(5, "f", maskItem("MASK", nil)), obj{"isEnabled": false}),
		filterPolicy(6, "lower(c) = 'x'", nil),
		maskPolicy(7, "g", with(maskItem("MASK", nil), obj{"accesses": list{obj{"type": "update"}}})),
		maskPolicy(8, "h", with(maskItem("MASK", nil), obj{"dataMaskInfo": obj{"dataMaskType": "MASK", "conditionExpr": "x = 1"}})),
	}, nil)
	fs := Lint(body, Options{}, table(t, "c", "e", "h", "g"))
	for kind, ids := range map[FindingKind][]int64{Shadowed: {1, 2}, Warning: {3, 7, 8}, Refused: {4, 6}, Disabled: {5}, NoMatch: {3}} {
		for _, id := range ids {
			if !find(fs, kind, id) {
				t.Errorf("no %s for policy %d in %v", kind, id, fs)
			}
		}
	}
	if find(fs, NoMatch, 1) || find(fs, Shadowed, 3) {
		t.Error(fs)
	}
	two := Lint(encodeBody(t, []obj{maskPolicy(1, "c", maskItem("MASK", obj{"users": list{"u"}})), maskPolicy(2, "c", maskItem("MASK_NULL", obj{"users": list{"v"}}))}, nil), Options{})
	if len(two) != 1 || two[0].Kind != Warning || two[0].PolicyID != 2 || !strings.Contains(two[0].Detail, "policy 1") {
		t.Error(two)
	}
	bad := Lint(encodeBody(t, []obj{with(maskPolicy(1, "c"), obj{"policyPriority": 7})}, nil), Options{})
	if len(bad) != 2 || bad[0].Kind != Malformed || !strings.Contains(bad[0].Detail, "policy 1") {
		t.Error(bad)
	}
}

// TestForms reads the wrappers that policies come in.
func TestForms(t *testing.T) {
	p := with(maskPolicy(1, "c", maskItem("MASK", nil)), obj{"service": "one"})
	other := with(maskPolicy(2, "c", maskItem("MASK_NULL", nil)), obj{"service": "two"})
	raw := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name string
		body []byte
		o    Options
		want string
	}{
		{"array", raw(list{p}), Options{}, "c:MASK/1"},
		{"admin list", raw(obj{"startIndex": 0, "policies": list{p}}), Options{}, "c:MASK/1"},
		{"export", raw(obj{"metaDataInfo": obj{}, "policies": list{p, other}}), Options{Service: "two"}, "c:MASK_NULL/2"},
		{"type given", raw(list{with(p, obj{"serviceType": ""})}), Options{ServiceType: "hive"}, "c:MASK/1"},
	} {
		r, err := Load(c.body, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		check(t, r, table(t, "c"), want{who("u"), c.want})
	}
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"empty":            {nil, ErrMalformed},
		"no JSON":          {[]byte("policies"), ErrMalformed},
		"cut":              {raw(list{p})[:50], ErrMalformed},
		"more after":       {append(raw(obj{"policies": list{p}}), "{}"...), ErrMalformed},
		"number":           {[]byte("5"), ErrMalformed},
		"no policies":      {[]byte("[]"), ErrServiceDef},
		"none for tables":  {raw(obj{"serviceType": "hive", "policies": list{}}), policy.ErrNoRules},
		"no list":          {raw(obj{"serviceType": "hive"}), ErrMalformed},
		"several services": {raw(list{p, other}), ErrMalformed},
		"unknown type":     {raw(list{with(p, obj{"serviceType": "kudu"})}), ErrServiceDef},
		"same id":          {raw(list{p, with(p, obj{"name": "again"})}), ErrMalformed},
		"deltas alone":     {raw(obj{"serviceType": "hive", "policyDeltas": list{obj{"changeType": 0, "policy": p}}}), ErrMalformed},
		"both":             {raw(obj{"policies": list{p}, "policyDeltas": list{obj{}}}), ErrMalformed},
	} {
		if _, err := Load(c.body, Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Every broken policy is named, not only the first.
	_, err := Load(raw(list{with(p, obj{"policyPriority": 5}), with(p, obj{"id": 6, "resources": obj{}})}), Options{})
	if err == nil || !strings.Contains(err.Error(), "policy 1 ") || !strings.Contains(err.Error(), "policy 6 ") {
		t.Error(err)
	}
}

// TestSamplesMask carries the plans of the real policies out on values.
func TestSamplesMask(t *testing.T) {
	dir := casesFolder(t) + "/samples/"
	text := func(values ...string) *mask.Vector {
		v := &mask.Vector{Type: mask.Type{Kind: mask.Text}, Len: len(values), Layout: mask.LayoutOffsets32, Offsets32: []int32{0}}
		for _, s := range values {
			v.Data = append(v.Data, s...)
			v.Offsets32 = append(v.Offsets32, int32(len(v.Data)))
		}
		return v
	}
	apply := func(file string, path []string, column, user string, in *mask.Vector) *mask.Vector {
		r, err := Load(readFile(t, dir+file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		tab, err := policy.NewTable(path, "", []policy.Column{{Name: column, Type: in.Type}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.NewSnapshot(r).Plan(who(user), tab, noon)
		if err != nil || len(p.Masks) != 1 {
			t.Fatal(p, err)
		}
		e, err := mask.Parse(p.Masks[0].Mask.Expr)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := mask.Compile(e, in.Type, mask.Options{Dialect: p.Masks[0].Mask.Dialect})
		if err != nil {
			t.Fatal(err)
		}
		out, err := prog.Eval(t.Context(), in, mask.EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := apply("hive-policies.json", []string{"rangerauthz", "words"}, "word", "jane", text("TestString-123"))
	if got := string(out.Data); got != "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90" {
		t.Error(got)
	}
	out = apply("trino-policies.json", []string{"alice-catalog", "schema", "table"}, "only_first_4", "bob", text("4111-1111 Visa"))
	if got := string(out.Data); got != "4111XXXXXXXXXX" {
		t.Error(got)
	}
	// dave sees the rows with count >= '80', an integer against text.
	r, err := Load(readFile(t, dir+"hive-policies.json"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	words, err := policy.NewTable([]string{"rangerauthz", "words"}, "", []policy.Column{{Name: "count", Type: mask.Type{Kind: mask.Int32}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.NewSnapshot(r).Plan(who("dave"), words, noon)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Filter.Compile(words)
	if err != nil {
		t.Fatal(err)
	}
	counts := &mask.Vector{Type: mask.Type{Kind: mask.Int32}, Len: 4, Data: []byte{79, 0, 0, 0, 80, 0, 0, 0, 9, 0, 0, 0, 0, 1, 0, 0}}
	keep := make([]byte, 1)
	if n, err := f.Eval(t.Context(), 4, []*mask.Vector{counts}, keep); err != nil || n != 2 || keep[0] != 0b1010 {
		t.Error(n, err, keep)
	}
}

// TestSamples loads the real files and decides with them.
func TestSamples(t *testing.T) {
	dir := casesFolder(t) + "/samples/"
	hive := readFile(t, dir+"hive-policies.json")
	r, err := Load(hive, Options{Tags: readFile(t, dir+"hive-policies-tag.json")})
	if err != nil {
		t.Fatal(err)
	}
	words, err := policy.NewTable([]string{"rangerauthz", "words"}, "", []policy.Column{{Name: "word", Type: mask.Type{Kind: mask.Text}}, {Name: "count", Type: mask.Type{Kind: mask.Int32}}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, r, words, want{who("jane"), "word:MASK_HASH/28"}, want{who("dave"), "`count`>='80'/27"}, want{who("bob"), "-"})
	if fs := Lint(hive, Options{}); len(fs) != 0 {
		t.Error(fs)
	}
	trino := readFile(t, dir+"trino-policies.json")
	if r, err = Load(trino, Options{}); err != nil {
		t.Fatal(err)
	}
	tab := func(cols ...string) *policy.Table {
		var cs []policy.Column
		for _, c := range cols {
			cs = append(cs, policy.Column{Name: c, Type: mask.Type{Kind: mask.Text}})
		}
		out, err := policy.NewTable([]string{"alice-catalog", "schema", "table"}, "", cs)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	check(t, r, tab("only_first_4", "cast_me"), want{who("alice"), "error: policy 69"})
	check(t, r, tab("only_first_4", "x"), want{who("alice"), "only_first_4:MASK_SHOW_FIRST_4/68 unmatched 69"})
	if fs := Lint(trino, Options{}); len(fs) != 1 || fs[0].Kind != Refused || fs[0].PolicyID != 69 {
		t.Error(fs)
	}
}
