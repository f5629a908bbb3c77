package ranger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// casesFolder is Ranger's own test data: RANGER_CASES, or ../shared/ranger-cases
// beside the repository.
func casesFolder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("RANGER_CASES"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	dir = filepath.Join(dir, "..", "shared", "ranger-cases")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no Ranger cases: %v", err)
	}
	return dir
}

// tally counts the expectations of a file. refused are those that nothing here
// decides, each with its reason: access decisions, or what closes by design.
type tally struct {
	t                       *testing.T
	passed, failed, refused int
	reasons                 map[string]int
}

func (c *tally) check(ok bool, format string, args ...any) {
	if ok {
		c.passed++
		return
	}
	c.failed++
	c.t.Errorf(format, args...)
}

func (c *tally) refuse(reason string, n int) {
	if n > 0 {
		c.refused += n
		c.reasons[reason] += n
	}
}

// mustPass is how many expectations of the known files hold: what is refused
// elsewhere must not creep in here.
var mustPass = map[string]int{
	"policyengine/test_policyengine_hive_mask_filter.json":                      16,
	"policyengine/test_policyengine_hive_mask_filter_with_req_expressions.json": 4,
	"policyengine/test_policyengine_tag_hive_mask.json":                         7,
	"aclprovider/test_aclprovider_mask_filter.json":                             12,
	"aclprovider/test_aclprovider_resource_hierarchy_tags.json":                 5,
	"nestedstructure/test_customer_records.json":                                1,
	"resourcematcher/test_resourcematcher_default.json":                         191,
	"resourcematcher/test_resourcematcher_dynamic.json":                         17,
	"resourcematcher/test_resourcematcher_wildcards_as_delimiters.json":         7,
	"resourcematcher/test_defaultpolicyresourcematcher.json":                    71,
	"resourcematcher/test_defaultpolicyresourcematcher_for_hive_policy.json":    11,
	"validityscheduler/test-validity-schedules-valid-and-applicable.json":       19,
	"validityscheduler/test-validity-schedules-valid.json":                      6,
	"validityscheduler/test-validity-schedules-invalid.json":                    22,
}

// TestRangerCases reads every case file, knows its kind by its shape (so that
// files in new sub-folders are read by the same rules), and compares.
func TestRangerCases(t *testing.T) {
	root := casesFolder(t)
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		files++
		rel, _ := filepath.Rel(root, path)
		t.Run(filepath.ToSlash(rel), func(t *testing.T) {
			c := &tally{t: t, reasons: map[string]int{}}
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			runCases(c, filepath.Dir(path), body)
			if want, ok := mustPass[filepath.ToSlash(rel)]; ok && c.passed < want {
				t.Errorf("%d expectations hold, %d did", c.passed, want)
			}
			var why []string
			for r, n := range c.reasons {
				why = append(why, fmt.Sprintf("%d %s", n, r))
			}
			slices.Sort(why)
			note := ""
			if len(why) > 0 {
				note = " (" + strings.Join(why, "; ") + ")"
			}
			fmt.Printf("%s: %d passed, %d failed, %d refused%s\n", rel, c.passed, c.failed, c.refused, note)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no case files in %s", root)
	}
}

func runCases(c *tally, dir string, body []byte) {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		scheduleCases(c, body)
		return
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil {
		c.check(false, "%v", err)
		return
	}
	has := func(k string) bool { _, ok := top[k]; return ok }
	var first []map[string]json.RawMessage
	if has("testCases") {
		if err := json.Unmarshal(top["testCases"], &first); err != nil || len(first) == 0 {
			c.check(false, "testCases: %v", err)
			return
		}
	}
	switch {
	case has("testCases") && first[0]["servicePolicies"] != nil:
		listCases(c, dir, top)
	case has("testCases") && first[0]["resourceDef"] != nil:
		valueCases(c, top)
	case has("testCases") && first[0]["policyResources"] != nil:
		resourceCases(c, top)
	case has("tests") && bytes.HasPrefix(bytes.TrimSpace(top["policies"]), []byte("{")):
		nestedCases(c, dir, top)
	case has("tests"):
		engineCases(c, dir, top)
	case has("policies"):
		_, err := Load(body, Options{})
		c.check(err == nil, "load: %v", err)
	case has("serviceResources"):
		// A tags file: the files that name it read it. Here only its form counts.
		_, err := Load([]byte(`{"policies":[{"id":1,"policyType":0}],"tagPolicies":{"policies":[]}}`), Options{ServiceType: "hive", Tags: body})
		c.check(err == nil, "tags: %v", err)
	case has("resources"):
		var errs []error
		o, err := parseObject(body, "", &errs)
		c.check(err == nil && readServiceDef(o).check() == nil && len(errs) == 0, "service definition: %v %v", err, errs)
	default:
		c.refuse("file of an unknown kind", 1)
	}
}

// ---- the policy engine

type engineRequest struct {
	Resource struct {
		Elements  map[string]string
		OwnerUser string
	}
	AccessType, User      string
	UserGroups, UserRoles []string
	AccessTime            string
	Context               map[string]any
}

type engineTest struct {
	Name                            string
	Request                         engineRequest
	UserAttributes, GroupAttributes map[string]map[string]string
	Result                          json.RawMessage
	DataMaskResult, RowFilterResult *struct {
		PolicyID       int64 `json:"policyId"`
		AdditionalInfo map[string]*string
	}
}

// servicePolicies turns an engine case into the files that Load reads.
func servicePolicies(dir string, top map[string]json.RawMessage) (body []byte, o Options, err error) {
	out := map[string]any{}
	for _, k := range []string{"serviceName", "serviceDef", "policies", "securityZones", "serviceConfig"} {
		if v, ok := top[k]; ok {
			out[k] = v
		}
	}
	if raw, ok := top["tagPolicyInfo"]; ok {
		var info map[string]json.RawMessage
		if err := json.Unmarshal(raw, &info); err != nil {
			return nil, o, err
		}
		out["tagPolicies"] = map[string]any{"serviceName": info["serviceName"], "serviceDef": info["serviceDef"], "policies": info["tagPolicies"]}
	}
	var roles []map[string]any
	for key, kind := range map[string]string{"userRoles": "users", "groupRoles": "groups", "roleRoles": "roles"} {
		var m map[string][]string
		if raw, ok := top[key]; ok {
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, o, err
			}
		}
		for who, list := range m {
			for _, role := range list {
				roles = append(roles, map[string]any{"name": role, kind: []any{map[string]any{"name": who}}})
			}
		}
	}
	if o.Roles, err = json.Marshal(map[string]any{"rangerRoles": roles}); err != nil {
		return nil, o, err
	}
	if body, err = json.Marshal(out); err != nil {
		return nil, o, err
	}
	o.Tags, err = tagsBeside(dir, body)
	o.Zone = time.UTC
	return body, o, err
}

// tagsBeside reads the tags file that the tag service definition names.
func tagsBeside(dir string, body []byte) ([]byte, error) {
	var errs []error
	o, err := parseObject(body, "", &errs)
	if err != nil {
		return nil, err
	}
	name := readServiceDef(o.object("tagPolicies").object("serviceDef")).tagsFile
	if name == "" {
		return nil, nil
	}
	return os.ReadFile(filepath.Join(dir, filepath.Base(name)))
}

// accessTime reads both forms of the case files.
func accessTime(s string) (time.Time, error) {
	if s == "" {
		return time.Now(), nil
	}
	if t, err := time.Parse("20060102-15:04:05.000-0700", s); err == nil {
		return t, nil
	}
	return time.Parse("20060102-15:04:05.000--0700", s)
}

// show is a template as Ranger reports it, values put in as they are.
func show(t template, v *env) (string, error) {
	return t.render(v, func(_ *templatePart, value string) (string, error) { return value, nil })
}

// one decides a single column, or a table's rows.
func one(r *Rules, k kind, req *engineRequest, attrs map[string]map[string]string) (*request, *columnState, error) {
	at, err := accessTime(req.AccessTime)
	if err != nil {
		return nil, nil, err
	}
	chain, err := r.levelNames(k, len(req.Resource.Elements))
	if err != nil {
		return nil, nil, err
	}
	q := r.request(req.User, req.Resource.OwnerUser, req.UserGroups, req.UserRoles, func(n string) (string, bool) {
		v, ok := attrs[req.User][n]
		return v, ok
	}, at)
	if req.AccessType != "" {
		q.access = req.AccessType
	}
	c := &columnState{}
	for _, l := range chain {
		v, ok := req.Resource.Elements[l.name]
		if !ok {
			return nil, nil, fmt.Errorf("no level %s", l.name)
		}
		q.path = append(q.path, v)
	}
	q.res = map[string]string{}
	if k == kindMask {
		n := len(q.path) - 1
		c.name, q.path, q.column = q.path[n], q.path[:n], chain[n].name
	}
	for i := range q.path {
		q.res[chain[i].name] = q.path[i]
	}
	if k == kindFilter {
		c.res = q.res
	}
	if s, ok := req.Context["TAGS"].(string); ok {
		var list []struct {
			Type       string
			Attributes map[string]string
			MatchType  string
		}
		if err := json.Unmarshal([]byte(s), &list); err != nil {
			return nil, nil, err
		}
		q.tagsOf = func(map[string]string) ([]tag, error) {
			var out []tag
			for _, t := range list {
				mt, ok := map[string]matchType{"": matchSelf, "SELF": matchSelf, "SELF_AND_ALL_DESCENDANTS": matchSelfAndAll, "ANCESTOR": matchAncestor}[t.MatchType]
				if !ok {
					return nil, fmt.Errorf("match type %q", t.MatchType)
				}
				out = append(out, tag{name: t.Type, attrs: t.Attributes, match: mt})
			}
			return out, nil
		}
	}
	q.decide(k, []*columnState{c})
	return q, c, c.out.err
}

func engineCases(c *tally, dir string, top map[string]json.RawMessage) {
	body, o, err := servicePolicies(dir, top)
	if err != nil {
		c.check(false, "%v", err)
		return
	}
	r, err := Load(body, o)
	if errors.Is(err, ErrMalformed) || errors.Is(err, ErrServiceDef) {
		var tests []json.RawMessage
		c.check(json.Unmarshal(top["tests"], &tests) == nil, "tests are no list")
		c.refuse("tests of a file that is not loaded: "+err.Error(), len(tests))
		return
	}
	if err != nil {
		c.check(false, "load: %v", err)
		return
	}
	engineTests(c, r, top["tests"])
	if raw, ok := top["updatedPolicies"]; ok {
		if r, err = r.Update(raw); err != nil {
			c.check(false, "update: %v", err)
			return
		}
		engineTests(c, r, top["updatedTests"])
	}
}

func engineTests(c *tally, r *Rules, raw json.RawMessage) {
	var tests []engineTest
	if err := json.Unmarshal(raw, &tests); err != nil {
		c.check(false, "%v", err)
		return
	}
	value := func(m map[string]*string, key string) string {
		if m[key] == nil {
			return ""
		}
		return *m[key]
	}
	for i := range tests {
		t := &tests[i]
		if t.Result != nil {
			c.refuse("access decisions", 1)
		}
		if want := t.DataMaskResult; want != nil {
			q, col, err := one(r, kindMask, &t.Request, t.UserAttributes)
			if errors.Is(err, policy.ErrClosed) {
				c.refuse("masks closed by design", 1)
				continue
			}
			if err != nil {
				c.check(false, "%s: %v", t.Name, err)
				continue
			}
			id, typ, val, cond := int64(-1), "", "", ""
			if p := col.out.pol; p != nil {
				it := &p.items[col.out.item]
				id, typ, cond = p.id, it.maskType, it.condExpr
				tmpl, err := newTemplate(it.valueExpr)
				if err == nil {
					val, err = show(tmpl, q.env(q.resource(col), col.tags, col.out.tag))
				}
				if err != nil {
					c.check(false, "%s: %v", t.Name, err)
					continue
				}
			}
			c.check(id == want.PolicyID && typ == value(want.AdditionalInfo, "maskType") && val == value(want.AdditionalInfo, "maskedValue") && cond == value(want.AdditionalInfo, "maskCondition"),
				"%s: policy %d, mask type %q, value %q, condition %q", t.Name, id, typ, val, cond)
		}
		if want := t.RowFilterResult; want != nil {
			q, tab, err := one(r, kindFilter, &t.Request, t.UserAttributes)
			if errors.Is(err, policy.ErrClosed) {
				c.refuse("filters closed by design", 1)
				continue
			}
			if err != nil {
				c.check(false, "%s: %v", t.Name, err)
				continue
			}
			id, text := int64(-1), ""
			if p := tab.out.pol; p != nil {
				id = p.id
				tmpl, err := newTemplate(p.items[tab.out.item].filterExpr)
				if err == nil {
					text, err = show(tmpl, q.env(q.resource(tab), tab.tags, tab.out.tag))
				}
				if err != nil {
					c.check(false, "%s: %v", t.Name, err)
					continue
				}
			}
			c.check(id == want.PolicyID && text == value(want.AdditionalInfo, "filterExpr"), "%s: policy %d, filter %q", t.Name, id, text)
		}
	}
}

// ---- lists of who is masked how

func listCases(c *tally, dir string, top map[string]json.RawMessage) {
	type listed struct {
		Users, Groups, Roles, AccessTypes []string
		MaskInfo                          *struct{ DataMaskType string }
		FilterInfo                        *struct{ FilterExpr string }
		IsConditional                     bool
	}
	var cases []struct {
		Name            string
		ServicePolicies json.RawMessage
		Tests           []struct {
			Name                                               string
			Resource                                           struct{ Elements map[string]string }
			DataMasks, RowFilters                              *[]listed
			UserPermissions, GroupPermissions, RolePermissions json.RawMessage
		}
	}
	if err := json.Unmarshal(top["testCases"], &cases); err != nil {
		c.check(false, "%v", err)
		return
	}
	text := func(users, groups, roles, accesses []string, what string, cond bool) string {
		return fmt.Sprintf("%v %v %v %v %s %v", sorted(users), sorted(groups), sorted(roles), sorted(accesses), what, cond)
	}
	for _, tc := range cases {
		tags, err := tagsBeside(dir, tc.ServicePolicies)
		if err != nil {
			c.check(false, "%s: %v", tc.Name, err)
			continue
		}
		r, err := Load(tc.ServicePolicies, Options{Tags: tags})
		if err != nil {
			c.check(false, "%s: %v", tc.Name, err)
			continue
		}
		for _, t := range tc.Tests {
			for _, p := range []json.RawMessage{t.UserPermissions, t.GroupPermissions, t.RolePermissions} {
				if p != nil {
					c.refuse("access lists", 1)
				}
			}
			for k, want := range map[kind]*[]listed{kindMask: t.DataMasks, kindFilter: t.RowFilters} {
				if want == nil {
					continue
				}
				chain, err := r.levelNames(k, len(t.Resource.Elements))
				if err != nil {
					c.check(false, "%s: %v", t.Name, err)
					continue
				}
				var path []string
				for _, l := range chain {
					path = append(path, t.Resource.Elements[l.name])
				}
				var got []Listed
				if n := len(path) - 1; k == kindMask {
					got, err = r.ListMasks(path[:n], path[n])
				} else {
					got, err = r.ListFilters(path)
				}
				var a, b []string
				for _, l := range got {
					a = append(a, text(l.Users, l.Groups, l.Roles, l.AccessTypes, l.Mask+l.Filter, l.Conditional))
				}
				for _, l := range *want {
					what := ""
					if l.MaskInfo != nil {
						what += l.MaskInfo.DataMaskType
					}
					if l.FilterInfo != nil {
						what += l.FilterInfo.FilterExpr
					}
					b = append(b, text(l.Users, l.Groups, l.Roles, l.AccessTypes, what, l.IsConditional))
				}
				c.check(err == nil && slices.Equal(a, b), "%s: %v\n got %q\nwant %q", t.Name, err, a, b)
			}
		}
	}
}

// ---- matching

// caseBinder is the evalContext of a case.
type caseBinder map[string]any

func (b caseBinder) token(name string) (string, bool) {
	v, ok := b["token:"+name].(string)
	return v, ok
}

func (b caseBinder) expr(src string) (string, error) { return "", closedf("%s", src) }

func valueCases(c *tally, top map[string]json.RawMessage) {
	var cases []struct {
		Name           string
		ResourceDef    json.RawMessage
		PolicyResource struct {
			Values                  []string
			IsExcludes, IsRecursive bool
		}
		Tests []struct {
			Name, Input string
			EvalContext caseBinder
			Result      bool
		}
	}
	if err := json.Unmarshal(top["testCases"], &cases); err != nil {
		c.check(false, "%v", err)
		return
	}
	for _, tc := range cases {
		var errs []error
		o, err := parseObject(tc.ResourceDef, "", &errs)
		if err != nil {
			c.check(false, "%v", err)
			continue
		}
		// A path matcher without recursion compares as the plain one does.
		matcher := o.str("matcher")
		path := strings.HasSuffix(matcher, "RangerPathResourceMatcher") && !tc.PolicyResource.IsRecursive
		if !path && !(&level{matcher: matcher}).supported() {
			c.refuse("matchers that are not for columns", len(tc.Tests))
			continue
		}
		m := newValueMatcher(tc.PolicyResource.Values, tc.PolicyResource.IsExcludes, readOptions(o.object("matcherOptions"), defaultOptions))
		if len(errs) > 0 {
			c.check(false, "%s: %v", tc.Name, errs)
			continue
		}
		for _, t := range tc.Tests {
			got, err := m.match(t.Input, t.EvalContext)
			c.check(err == nil && got == t.Result, "%s: %s: %q matches %v, %v", tc.Name, t.Name, t.Input, got, err)
		}
	}
}

func resourceCases(c *tally, top map[string]json.RawMessage) {
	type res map[string]struct {
		Values     []string
		IsExcludes bool
	}
	var cases []struct {
		Name            string
		PolicyResources res
		Tests           []struct {
			Name, Type  string
			Resource    *struct{ Elements map[string]string }
			Policy      *struct{ Resources res }
			EvalContext caseBinder
			Result      bool
		}
	}
	var errs []error
	o, err := parseObject(top["serviceDef"], "", &errs)
	if err == nil {
		err = json.Unmarshal(top["testCases"], &cases)
	}
	if err != nil {
		c.check(false, "%v", err)
		return
	}
	def := readServiceDef(o)
	for i := range def.levels {
		if !def.levels[i].supported() {
			c.refuse("files of matchers that are not for columns", 1)
			return
		}
	}
	in := func(r res) map[string]policyResource {
		out := map[string]policyResource{}
		for k, v := range r {
			out[k] = policyResource{v.Values, v.IsExcludes}
		}
		return out
	}
	for _, tc := range cases {
		m, err := newLevelMatcher(in(tc.PolicyResources), def.levels)
		if err != nil {
			c.check(false, "%s: %v", tc.Name, err)
			continue
		}
		for _, t := range tc.Tests {
			var mt matchType
			if t.Policy != nil {
				mt, err = m.matchResources(in(t.Policy.Resources), t.EvalContext)
			} else {
				mt, err = m.match(t.Resource.Elements, t.EvalContext)
			}
			var got bool
			switch t.Type {
			case "exactMatch":
				got = mt == matchSelf || mt == matchSelfAndAll
			case "descendantMatch":
				got = mt == matchDescendant
			case "ancestorMatch":
				got = mt == matchAncestor
			case "selfOrDescendantMatch":
				got = mt == matchSelf || mt == matchSelfAndAll || mt == matchDescendant
			case "selfOrAncestorMatch":
				got = mt == matchSelf || mt == matchSelfAndAll || mt == matchAncestor
			case "anyMatch", "selfAndAllDescendants":
				got = mt != matchNone
			default:
				err = fmt.Errorf("unknown type %q", t.Type)
			}
			c.check(err == nil && got == t.Result, "%s: %s: match type %d, %v", tc.Name, t.Name, mt, err)
		}
	}
}

// ---- validity

func scheduleCases(c *tally, body []byte) {
	var cases []struct {
		Name              string
		ValiditySchedules []json.RawMessage
		AccessTime        string
		Result            struct {
			IsValid, IsApplicable  bool
			ValidationFailureCount int
		}
	}
	if err := json.Unmarshal(body, &cases); err != nil {
		c.check(false, "%v", err)
		return
	}
	// The cases were written for a process in this zone.
	loc, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, tc := range cases {
		at, err := accessTime(tc.AccessTime)
		if err != nil {
			c.check(false, "%s: %v", tc.Name, err)
			continue
		}
		var errs []error
		var list []schedule
		for _, raw := range tc.ValiditySchedules {
			o, err := parseObject(raw, "", &errs)
			if err != nil {
				errs = append(errs, err)
			}
			list = append(list, readSchedule(o))
		}
		applicable := false
		if len(errs) == 0 {
			applicable, _ = applies(list, at, loc)
		}
		c.check((len(errs) == 0) == tc.Result.IsValid && len(errs) == tc.Result.ValidationFailureCount && applicable == tc.Result.IsApplicable,
			"%s: applicable %v, findings %q", tc.Name, applicable, errs)
	}
}

// ---- nested structures: values in, values out

func nestedCases(c *tally, dir string, top map[string]json.RawMessage) {
	var svc map[string]json.RawMessage
	var defFile string
	var tests []struct {
		Name, User, AccessType, Schema, JSON string
		UserGroups                           []string
		Result                               struct {
			HasAccess bool
			JSON      *string
		}
	}
	for key, dst := range map[string]any{"policies": &svc, "serviceDefFilename": &defFile, "tests": &tests} {
		if err := json.Unmarshal(top[key], dst); err != nil {
			c.check(false, "%s: %v", key, err)
			return
		}
	}
	def, err := os.ReadFile(filepath.Join(dir, filepath.Base(defFile)))
	if err != nil {
		c.check(false, "%v", err)
		return
	}
	svc["serviceDef"] = def
	body, err := json.Marshal(svc)
	if err != nil {
		c.check(false, "%v", err)
		return
	}
	r, err := Load(body, Options{Roles: top["roles"]})
	if err != nil {
		c.check(false, "load: %v", err)
		return
	}
	for _, t := range tests {
		if !t.Result.HasAccess && t.Result.JSON == nil && !filtered(t.UserGroups) {
			c.refuse("access decisions", 1)
			continue
		}
		var in any
		if err := json.Unmarshal([]byte(t.JSON), &in); err != nil {
			c.check(false, "%s: %v", t.Name, err)
			continue
		}
		tab, err := policy.NewTable([]string{t.Schema}, "", columnsOf(in.(map[string]any)))
		if err != nil {
			c.check(false, "%s: %v", t.Name, err)
			continue
		}
		plan, err := policy.NewSnapshot(r).Plan(policy.NewIdentity(t.User, t.UserGroups, nil, nil), tab, time.Now())
		if err != nil {
			// A filter in JavaScript must close the table, and say which policy.
			if filtered(t.UserGroups) && strings.Contains(err.Error(), "policy 201") {
				c.refuse("filters in JavaScript", 1)
				continue
			}
			c.check(false, "%s: %v", t.Name, err)
			continue
		}
		if len(plan.Masks) > 0 {
			// Which fields are masked, and how, is compared; the value of a year
			// cut out of text is no function of the grammar.
			var got []string
			for _, m := range plan.Masks {
				got = append(got, m.Name+" "+m.Why.Kind)
			}
			slices.Sort(got)
			if want := []string{"lastOrderDate MASK_DATE_SHOW_YEAR", "recentOrders.orderDate MASK_DATE_SHOW_YEAR"}; !slices.Equal(got, want) {
				c.check(false, "%s: %v", t.Name, got)
				continue
			}
			c.refuse("values of dates in text", 1)
			continue
		}
		c.check(*t.Result.JSON == t.JSON, "%s: nothing masked, but %s wanted", t.Name, *t.Result.JSON)
	}
}

// filtered reports whether the user's region decides about rows.
func filtered(groups []string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return strings.HasPrefix(g, "region-") })
}

// columnsOf is the schema of a JSON object.
func columnsOf(m map[string]any) []policy.Column {
	var out []policy.Column
	for k, v := range m {
		c := policy.Column{Name: k, Type: mask.Type{Kind: mask.Text}}
		switch x := v.(type) {
		case map[string]any:
			c.Type.Kind, c.Children = mask.Nested, columnsOf(x)
		case []any:
			c.Type.Kind = mask.Nested
			if obj, ok := x[0].(map[string]any); ok {
				c.Children = []policy.Column{{Type: mask.Type{Kind: mask.Nested}, Children: columnsOf(obj)}}
			}
		}
		out = append(out, c)
	}
	return out
}
