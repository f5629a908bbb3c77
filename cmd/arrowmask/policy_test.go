package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// The policies and samples of the repository.
var customerPolicies = filepath.Join("..", "..", "testdata", "samples", "customers-policies.json")

// A mask policy for tests, as JSON says it.
type testPolicy struct {
	id       int
	name     string
	table    string // "t" when empty
	columns  []string
	filter   string // a filter instead of masks
	items    []testItem
	priority int
	off      bool
	excludes bool
}

type testItem struct{ users, groups, mask, expr string }

func everybody(mask string) []testItem { return []testItem{{groups: "public", mask: mask}} }

func (p testPolicy) json() map[string]any {
	list := func(s string) []string {
		if s == "" {
			return []string{}
		}
		return strings.Split(s, ",")
	}
	table := p.table
	if table == "" {
		table = "t"
	}
	res := map[string]any{"database": map[string]any{"values": []string{"db"}}, "table": map[string]any{"values": []string{table}}}
	typ, key := 1, "dataMaskPolicyItems"
	if p.filter != "" {
		typ, key = 2, "rowFilterPolicyItems"
	} else {
		res["column"] = map[string]any{"values": p.columns, "isExcludes": p.excludes}
	}
	var items []any
	for _, it := range p.items {
		item := map[string]any{"accesses": []any{map[string]any{"type": "select", "isAllowed": true}}, "users": list(it.users), "groups": list(it.groups)}
		if p.filter != "" {
			item["rowFilterInfo"] = map[string]any{"filterExpr": p.filter}
		} else {
			item["dataMaskInfo"] = map[string]any{"dataMaskType": it.mask, "valueExpr": it.expr}
		}
		items = append(items, item)
	}
	name := p.name
	if name == "" {
		name = fmt.Sprintf("policy number %d", p.id)
	}
	return map[string]any{"id": p.id, "name": name, "policyType": typ, "isEnabled": !p.off, "policyPriority": p.priority, "resources": res, key: items}
}

// policyFile writes a policy file of service type hive; more are further keys.
func policyFile(t *testing.T, dir string, more map[string]any, policies ...testPolicy) string {
	t.Helper()
	all := []any{}
	for _, p := range policies {
		all = append(all, p.json())
	}
	doc := map[string]any{"serviceName": "h", "serviceType": "hive", "policyVersion": 1, "policies": all}
	for k, v := range more {
		doc[k] = v
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, "policies.json", string(b))
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// byPolicy is a mask command for user u of group g on table db.t.
func byPolicy(in, out, policies string, more ...string) []string {
	return append([]string{"mask", in, "-o", out, "--policy", policies, "--user", "u", "--group", "g", "--resource", "db.t", "--overwrite"}, more...)
}

// grep fails when a file holds a text.
func grep(t *testing.T, path, secret string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(secret)) {
		t.Errorf("%s holds %q", path, secret)
	}
}

// TestTwoUsersSeeDifferentResults masks the sample by the sample policies.
func TestTwoUsersSeeDifferentResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, audit := someCustomers(t), filepath.Join(dir, "audit.jsonl")
	see := func(user string, more ...string) (*cells, report) {
		out, rep := filepath.Join(dir, user+".arrow"), filepath.Join(dir, user+".json")
		arrowmask(t, append([]string{"mask", in, "-o", out, "--policy", customerPolicies, "--user", user, "--resource", "shop.customers", "--report", rep, "--audit", audit}, more...)...)
		return readTable(t, out), readReport(t, rep)
	}
	before := readTable(t, in)
	ann, annReport := see("ann", "--group", "analysts")
	sam, samReport := see("sam", "--group", "support", "--attr", "country=Germany")
	dora, _ := see("dora")

	// Ann: every row, names masked, cards gone, the year of birth.
	names, seen := before.column(t, "name"), ann.column(t, "name")
	for i, v := range names {
		if got := seen[i]; v.null != got.null || !v.null && got.text == v.text && strings.ContainsAny(v.text, "abcdefghijklmnopqrstuvwxyz") {
			t.Fatalf("ann sees the name of row %d", i)
		}
	}
	seen = ann.column(t, "birth_date")
	for i, v := range before.column(t, "birth_date") {
		if got := seen[i]; v.null != got.null || !v.null && got.text != v.text[:4]+"-01-01" {
			t.Fatalf("row %d: born %s, ann sees %s", i, v.text, got.text)
		}
	}
	// Sam: the rows of Germany, with names, in order.
	var want []value
	for i, c := range before.column(t, "country") {
		if c.text == "Germany" {
			want = append(want, names[i])
		}
	}
	if !slices.Equal(sam.column(t, "name"), want) || len(want) == 0 {
		t.Errorf("sam sees %d names, want those of %d customers in Germany", len(sam.column(t, "name")), len(want))
	}
	for _, v := range slices.Concat(sam.column(t, "note"), ann.column(t, "note")) {
		if !v.null {
			t.Fatal("a note is left")
		}
	}
	// Dora: priority 1 exempts her.
	if !slices.Equal(dora.column(t, "card"), before.column(t, "card")) || !slices.Equal(dora.column(t, "note"), before.column(t, "note")) {
		t.Error("dora does not see everything")
	}

	if p := samReport.Policy; p == nil || p.Filter == nil || p.Filter.Policy.ID != 7 || p.RowsRead != 20_000 || samReport.Rows != int64(len(want)) || p.User != "sam" || len(p.Exempt) != 1 || p.Exempt[0].Policy.ID != 1 {
		t.Errorf("sam's report: %+v", p)
	}
	ids := map[string]int64{}
	for _, c := range annReport.Columns {
		ids[c.Name] = c.Policy.ID
	}
	if fmt.Sprint(ids) != "map[birth_date:5 card:4 email:2 name:1 note:6 phone:3]" || annReport.Policy.PlanHash == samReport.Policy.PlanHash {
		t.Errorf("ann's columns were masked by %v", ids)
	}

	// One audit record each, and no cell in it.
	text, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d audit records", len(lines))
	}
	var rec auditRecord
	if err := json.Unmarshal([]byte(lines[1]), &rec); err != nil {
		t.Fatal(err)
	}
	if rec.Outcome != "masked" || rec.User != "sam" || rec.Filter == nil || rec.Filter.ID != 7 || rec.RowsRead != 20_000 || rec.RowsWritten != int64(len(want)) || len(rec.Columns) != 5 || rec.PlanHash != samReport.Policy.PlanHash {
		t.Errorf("audit record: %+v", rec)
	}
	if strings.Contains(string(text), "Germany") || strings.Contains(string(text), "@") {
		t.Error("the audit holds values")
	}
}

// TestPoliciesCopyChunks: from Parquet to Parquet the columns without a mask are
// copied, with the same result as decoding them, the same report and an audit.
func TestPoliciesCopyChunks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	audit := filepath.Join(dir, "audit.jsonl")
	tables, reports := map[string]*cells{}, map[string]report{}
	for _, mode := range []string{"auto", "all"} {
		out := filepath.Join(dir, mode+".parquet")
		r := arrowmask(t, "mask", someCustomers(t), "-o", out, "--rewrite", mode, "--policy", customerPolicies, "--user", "ann", "--group", "analysts",
			"--resource", "shop.customers", "--audit", audit, "--report", "-", "-q")
		tables[mode], reports[mode] = readTable(t, out), decodeReport(t, r.out)
	}
	for _, name := range tables["all"].names {
		if !slices.Equal(tables["auto"].column(t, name), tables["all"].column(t, name)) {
			t.Errorf("column %s differs", name)
		}
	}
	// The bytes of a chunk of an unmasked column are there as they were.
	f, err := file.OpenParquetFile(someCustomers(t), false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk, err := f.MetaData().RowGroup(0).ColumnChunk(f.MetaData().Schema.ColumnIndexByName("balance"))
	if err != nil {
		t.Fatal(err)
	}
	in, err1 := os.ReadFile(someCustomers(t))
	made, err2 := os.ReadFile(filepath.Join(dir, "auto.parquet"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if at := chunk.DataPageOffset(); !bytes.Contains(made, in[at:at+100]) {
		t.Error("the chunk was not copied")
	}
	a, b := reports["auto"], reports["all"]
	if a.Policy.PlanHash != b.Policy.PlanHash || a.Policy.RowsRead != 20_000 || len(a.Columns) != len(b.Columns) || a.Columns[0].Policy.ID != b.Columns[0].Policy.ID || a.Columns[0].NullsOut != b.Columns[0].NullsOut {
		t.Errorf("reports: %+v\n%+v", a, b)
	}
	text, err := os.ReadFile(audit)
	if err != nil || strings.Count(string(text), `"rows_written":20000`) != 2 {
		t.Errorf("audit: %v\n%s", err, text)
	}
}

// TestPoliciesThatReadOtherColumns: a mask by several columns reads their raw
// values, whatever their own masks do, and only of the rows that a filter leaves.
func TestPoliciesThatReadOtherColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := writeFile(t, dir, "in.csv", "id,mail,Land\nA7,ann@x,de\nB8,bob@x,fr\nC9,,de\n")
	policies := policyFile(t, dir, nil,
		testPolicy{id: 1, columns: []string{"mail"}, items: []testItem{
			{groups: "staff", mask: "CUSTOM", expr: "hash_row({col}, ID)"},
			{groups: "public", mask: "CUSTOM", expr: "hash_row(land, `Mail`, id)"},
		}},
		testPolicy{id: 2, columns: []string{"id"}, items: everybody("MASK")},
		testPolicy{id: 3, filter: "land = 'de'", items: []testItem{{users: "guest"}}})
	base := []string{"--policy", policies, "--resource", "db.t"}
	ann, guest := append(base, "--user", "ann", "--group", "staff"), append(base, "--user", "guest")
	want := map[string]string{
		"ann":   "id,mail,Land\nXn," + hexRow("tann@x", "tA7") + ",de\nXn," + hexRow("tbob@x", "tB8") + ",fr\nXn," + hexRow("", "tC9") + ",de\n",
		"guest": "id,mail,Land\nXn," + hexRow("tde", "tann@x", "tA7") + ",de\nXn," + hexRow("tde", "", "tC9") + ",de\n",
	}
	stored := filepath.Join(dir, "in.parquet")
	arrowmask(t, "mask", in, "-o", stored, "--pass-through", "-q")
	for name, as := range map[string][]string{"ann": ann, "guest": guest} {
		for _, from := range []string{in, stored} {
			out := filepath.Join(dir, name+".csv")
			arrowmask(t, append([]string{"mask", from, "-o", out, "--overwrite", "-q"}, as...)...)
			if got, err := os.ReadFile(out); err != nil || string(got) != want[name] {
				t.Errorf("%s from %s: %v\ngot  %q\nwant %q", name, from, err, got, want[name])
			}
		}
		// Chunks of Parquet, for ann without a filter.
		out, report := filepath.Join(dir, name+".parquet"), filepath.Join(dir, name+".json")
		arrowmask(t, append([]string{"mask", stored, "-o", out, "--report", report, "-q"}, as...)...)
		back := filepath.Join(dir, name+"-back.csv")
		arrowmask(t, "mask", out, "-o", back, "--pass-through", "-q")
		if got, err := os.ReadFile(back); err != nil || string(got) != want[name] {
			t.Errorf("%s by Parquet: %v\ngot  %q\nwant %q", name, err, got, want[name])
		}
		expr := map[string]string{"ann": "hash_row({col}, {id})", "guest": "hash_row({Land}, {col}, {id})"}[name]
		if r := arrowmask(t, append([]string{"explain", stored}, as...)...); !strings.Contains(r.out, "column mail: "+expr+", by policy 1") {
			t.Errorf("%s is told\n%s", name, r.out)
		}
		text, err := os.ReadFile(report)
		if err != nil || !strings.Contains(string(text), expr) {
			t.Errorf("%s's report: %v\n%s", name, err, text)
		}
	}
	// A column that is not there closes the table for whom it matters to.
	gone := policyFile(t, dir, nil, testPolicy{id: 4, columns: []string{"mail"}, items: []testItem{{groups: "staff", mask: "MASK"}, {groups: "public", mask: "CUSTOM", expr: "hash_row({col}, gone)"}}})
	base[1] = gone
	call{t: t}.refused(1, []string{"policy 4", "column mail", `"gone"`}, append([]string{"mask", in, "-o", filepath.Join(dir, "none.csv")}, append(base, "--user", "guest")...)...)
	arrowmask(t, append([]string{"mask", in, "-o", filepath.Join(dir, "staff.csv"), "-q"}, append(base, "--user", "ann", "--group", "staff")...)...)
	if r := (call{t: t}).do("policy", "lint", gone, "--table", "db.t="+in); r.code != 1 || !strings.Contains(r.out, `"gone"`) {
		t.Errorf("lint: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// TestAuditOfFailures: what was refused, and what failed, is on record too; and
// what cannot be recorded is not handed out.
func TestAuditOfFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := writeFile(t, dir, "in.csv", "n,a\n1,s3cret\n2,s3cret\n")
	out, audit := filepath.Join(dir, "out.csv"), filepath.Join(dir, "audit.jsonl")
	records := func() []auditRecord {
		text, err := os.ReadFile(audit)
		if err != nil {
			t.Fatal(err)
		}
		var all []auditRecord
		d := json.NewDecoder(bytes.NewReader(text))
		for d.More() {
			var r auditRecord
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		if bytes.Contains(text, []byte("s3cret")) {
			t.Error("the audit holds a cell")
		}
		return all
	}
	refused := policyFile(t, dir, nil, testPolicy{id: 1, columns: []string{"a"}, items: []testItem{{users: "u", mask: "CUSTOM", expr: "scramble({col})"}}})
	call{t: t}.refused(1, []string{"policy 1", "column a", "scramble"}, byPolicy(in, out, refused, "--audit", audit)...)
	failing := policyFile(t, dir, nil, testPolicy{id: 2, filter: "n * 9223372036854775807 > 0", items: everybody("")})
	call{t: t}.refused(1, []string{"policy 2", "row 1"}, byPolicy(in, out, failing, "--audit", audit, "--csv-type", "n=int64")...)
	all := records()
	if len(all) != 2 || all[0].Outcome != "refused" || !strings.Contains(all[0].Error, "scramble") || all[1].Outcome != "failed" || all[1].Filter.ID != 2 {
		t.Errorf("records: %+v", all)
	}
	noFiles(t, dir, "in.csv", "policies.json", "audit.jsonl")
	fine := policyFile(t, dir, nil, testPolicy{id: 3, columns: []string{"a"}, items: everybody("MASK")})
	call{t: t}.refused(1, []string{"audit"}, byPolicy(in, out, fine, "--audit", filepath.Join(dir, "none", "audit"))...)
	if _, err := os.Stat("/dev/full"); err == nil {
		call{t: t}.refused(1, []string{"audit"}, byPolicy(in, out, fine, "--audit", "/dev/full", "-q")...)
	}
	noFiles(t, dir, "in.csv", "policies.json", "audit.jsonl")
}

// TestB22NamesThatDoNotMatch: a mask is applied whatever the letter case of its
// names, or the run fails without an output; and policies that touch nothing
// are told.
func TestB22NamesThatDoNotMatch(t *testing.T) {
	t.Parallel()
	const secret = "123-45-6789"
	mask := func(id int, column string) testPolicy {
		return testPolicy{id: id, columns: []string{column}, items: everybody("MASK_HASH")}
	}
	in := func(p testPolicy, change func(*testPolicy)) testPolicy { change(&p); return p }
	for name, tt := range map[string]struct {
		header   string
		policies []testPolicy
		flags    []string
		says     []string // of a run that fails; empty: masked
	}{
		"upper in the policy":            {"ssn", []testPolicy{mask(1, "SSN")}, nil, nil},
		"upper in the file":              {"SSN", []testPolicy{mask(1, "ssn")}, nil, nil},
		"upper in the table's name":      {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.table = "T" })}, nil, nil},
		"a macro in the table's name":    {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.table = "${{USER.dept}}" })}, []string{"--attr", "dept=t"}, nil},
		"a macro without a value":        {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.table = "${{USER.dept}}" })}, nil, []string{"policy 1", "USER.dept"}},
		"a macro that is another table":  {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.table = "dept_${{USER.dept}}" })}, []string{"--attr", "dept=x"}, []string{"no policy", "db.t"}},
		"another table":                  {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.table = "other" })}, nil, []string{"no policy", "db.t"}},
		"a column that is not there":     {"ssn", []testPolicy{mask(1, "s_s_n"), mask(2, "id")}, nil, []string{"policy 1", "s_s_n"}},
		"a disabled policy":              {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.off = true }), mask(2, "id")}, nil, []string{"policy 1", "disabled"}},
		"all but one":                    {"ssn", []testPolicy{in(mask(1, "id"), func(p *testPolicy) { p.excludes = true })}, nil, nil},
		"all but the secret":             {"ssn", []testPolicy{in(mask(1, "ssn"), func(p *testPolicy) { p.excludes = true })}, []string{"leaves it"}, nil},
		"every column, which Hive lacks": {"ssn", []testPolicy{mask(1, "*")}, nil, []string{"policy 1", "*", "no wildcards"}},
		"a pattern that Hive lacks":      {"ssn", []testPolicy{mask(1, "ss?")}, nil, []string{"policy 1", "ss?", "no wildcards"}},
		"an unknown condition":           {"ssn", []testPolicy{mask(1, "ssn")}, []string{"condition"}, []string{"policy 1", "condition"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data := writeFile(t, dir, "in.csv", "id,"+tt.header+"\n1,"+secret+"\n")
			out := filepath.Join(dir, "out.csv")
			policies := policyFile(t, dir, nil, tt.policies...)
			leaves := false
			var flags []string
			for _, f := range tt.flags {
				switch f {
				case "leaves it":
					leaves = true
				case "condition":
					b, err := os.ReadFile(policies)
					if err != nil {
						t.Fatal(err)
					}
					writeFile(t, dir, "policies.json", strings.Replace(string(b), `"policyType"`, `"conditions":[{"type":"moon-phase","values":["full"]}],"policyType"`, 1))
				default:
					flags = append(flags, f)
				}
			}
			r := call{t: t}.do(byPolicy(data, out, policies, append(flags, "--report", "-", "-q")...)...)
			if len(tt.says) == 0 {
				if r.code != 0 {
					t.Fatalf("exit %d: %s", r.code, r.err)
				}
				if !leaves {
					grep(t, out, secret)
				}
				if rep := decodeReport(t, r.out); len(rep.Columns) == 0 || rep.Columns[0].Policy.ID != 1 {
					t.Errorf("report: %+v", rep.Columns)
				}
				return
			}
			if r.code != 1 {
				t.Errorf("exit %d: %s", r.code, r.err)
			}
			for _, s := range tt.says {
				if !strings.Contains(r.err, s) {
					t.Errorf("%q does not say %q", r.err, s)
				}
			}
			noFiles(t, dir, "in.csv", "policies.json")
			// Told to go on, it says which policies touched nothing; what cannot be
			// evaluated stays closed all the same.
			r = call{t: t}.do(byPolicy(data, out, policies, append(flags, "--fail-on-unmatched=false", "--report", filepath.Join(dir, "r.json"))...)...)
			closed := strings.Contains(name, "condition") || strings.Contains(name, "without a value")
			if (r.code != 0) != closed {
				t.Errorf("--fail-on-unmatched=false: exit %d: %s", r.code, r.err)
			}
			if rep := strings.Contains(strings.Join(tt.says, " "), "policy 1"); rep && !closed {
				if got := readReport(t, filepath.Join(dir, "r.json")); len(got.Policy.Unmatched) != 1 || got.Policy.Unmatched[0].ID != 1 || !strings.Contains(r.err, "policy 1") {
					t.Errorf("unmatched: %+v, %s", got.Policy.Unmatched, r.err)
				}
			}
		})
	}
}

// TestB24TwoMasksOnOneColumn: which one wins does not depend on the order in
// the file.
func TestB24TwoMasksOnOneColumn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := writeFile(t, dir, "in.csv", "a\nsecret-1\n")
	masks := func(id, priority int, items ...testItem) testPolicy {
		return testPolicy{id: id, columns: []string{"a"}, items: items, priority: priority}
	}
	null, hash := testItem{groups: "public", mask: "MASK_NULL"}, testItem{groups: "public", mask: "MASK_HASH"}
	tagged := func(mask string, priority int) map[string]any {
		return map[string]any{"tagPolicies": map[string]any{"serviceDef": map[string]any{"name": "tag", "resources": []any{map[string]any{"name": "tag"}}},
			"policies": []any{map[string]any{"id": 50, "name": "by tag", "policyType": 1, "policyPriority": priority, "resources": map[string]any{"tag": map[string]any{"values": []string{"PII"}}},
				"dataMaskPolicyItems": []any{map[string]any{"accesses": []any{map[string]any{"type": "hive:select"}}, "groups": []string{"public"}, "dataMaskInfo": map[string]any{"dataMaskType": mask}}}}}}}
	}
	tags := writeFile(t, dir, "tags.json", `{"tags": {"1": {"type": "PII"}}, "serviceResources": [{"id": 1, "resourceElements": {"database": {"values": ["db"]}, "table": {"values": ["t"]}, "column": {"values": ["a"]}}}], "resourceToTagIds": {"1": [1]}}`)
	for i, tt := range []struct {
		name     string
		policies []testPolicy
		tags     map[string]any
		user     string
		want     string // the cell; "hash" for its hash
		by       int64
		exempt   bool
	}{
		{"override listed last", []testPolicy{masks(1, 0, hash), masks(2, 1, null)}, nil, "u", "", 2, false},
		{"override listed first", []testPolicy{masks(2, 1, null), masks(1, 0, hash)}, nil, "u", "", 2, false},
		{"equal priority: the smaller name", []testPolicy{masks(2, 0, null), masks(1, 0, hash)}, nil, "u", "hash", 1, false},
		{"the first item that matches", []testPolicy{masks(1, 0, testItem{groups: "g", mask: "MASK_HASH"}, testItem{users: "u", mask: "MASK_NONE"})}, nil, "u", "hash", 1, false},
		{"items the other way round", []testPolicy{masks(1, 0, testItem{users: "u", mask: "MASK_NONE"}, testItem{groups: "g", mask: "MASK_HASH"})}, nil, "u", "secret-1", 1, true},
		{"a tag before a resource", []testPolicy{masks(1, 0, testItem{groups: "public", mask: "MASK_NONE"})}, tagged("MASK", 0), "u", "xxxxxx-n", 50, false},
		{"an override before a tag", []testPolicy{masks(1, 1, hash)}, tagged("MASK", 0), "u", "hash", 1, false},
		{"an exempt tag", []testPolicy{masks(1, 0, hash)}, tagged("MASK_NONE", 0), "u", "secret-1", 50, true},
	} {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		policies := policyFile(t, name, tt.tags, tt.policies...)
		out := filepath.Join(name, "out.csv")
		more := []string{"--report", "-", "-q"}
		if tt.tags != nil {
			more = append(more, "--tags", tags)
		}
		r := arrowmask(t, byPolicy(in, out, policies, more...)...)
		rep := decodeReport(t, r.out)
		want := tt.want
		if want == "hash" {
			want = hexSHA256("secret-1")
		}
		if got := readTable(t, out).column(t, "a")[0]; got.text != want || got.null != (want == "") {
			t.Errorf("%s: %v, want %q", tt.name, got, want)
		}
		var by *policyRef
		switch {
		case tt.exempt && len(rep.Policy.Exempt) == 1:
			by = &rep.Policy.Exempt[0].Policy
		case len(rep.Columns) == 1:
			by = rep.Columns[0].Policy
		}
		if by == nil || by.ID != tt.by {
			t.Errorf("%s: by %v, want policy %d", tt.name, by, tt.by)
		}
	}
}

// nestedFile is a Parquet file of nested columns full of secrets.
func nestedFile(t *testing.T, dir string) string {
	t.Helper()
	str := arrow.BinaryTypes.String
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: str, Nullable: true},
		{Name: "l", Type: arrow.ListOf(str), Nullable: true},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "a", Type: str, Nullable: true}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), Nullable: true},
		{Name: "m", Type: arrow.MapOf(str, str), Nullable: true},
	}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[
		{"id": "ID-SECRET-1", "l": ["LIST-SECRET-1", null], "s": {"a": "STRUCT-SECRET-1", "b": 7}, "m": [{"key": "KEY-SECRET-1", "value": "VALUE-SECRET-1"}]},
		{"id": "ID-SECRET-2", "l": null, "s": null, "m": null}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	path := filepath.Join(dir, "nested.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestB25NestedColumnsInFiles: every mask on every nested column, and on fields
// within, either masks or leaves no file; never a clear secret.
func TestB25NestedColumnsInFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := nestedFile(t, dir)
	secrets := map[string][]string{
		"id": {"ID-SECRET"}, "l": {"LIST-SECRET"}, "s": {"STRUCT-SECRET"}, "m": {"KEY-SECRET", "VALUE-SECRET"},
		"s.a": {"STRUCT-SECRET"}, "l.element": {"LIST-SECRET"}, "m.value": {"VALUE-SECRET"},
	}
	masked, refused := 0, 0
	for column, texts := range secrets {
		for _, kind := range []string{"MASK", "MASK_HASH", "MASK_SHOW_LAST_4", "MASK_SHOW_FIRST_4", "MASK_NULL", "MASK_DATE_SHOW_YEAR", "CUSTOM"} {
			policies := policyFile(t, dir, nil, testPolicy{id: 1, columns: []string{column}, items: []testItem{{groups: "public", mask: kind, expr: "mask_hash({col})"}}})
			out := filepath.Join(dir, "out.parquet")
			r := call{t: t}.do(byPolicy(in, out, policies, "-q")...)
			if r.code != 0 {
				refused++
				if !strings.Contains(r.err, "policy 1") || !strings.Contains(r.err, column) {
					t.Errorf("%s on %s: %s", kind, column, r.err)
				}
				noFiles(t, dir, "nested.parquet", "policies.json")
				continue
			}
			masked++
			for _, text := range texts {
				// The last four characters are kept on purpose.
				grep(t, out, text)
			}
			for other, texts := range secrets {
				if other == column || strings.Contains(other, ".") || strings.HasPrefix(column, other+".") {
					continue
				}
				b, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Contains(b, []byte(texts[0])) {
					t.Errorf("%s on %s: %s is gone too", kind, column, other)
				}
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	// id and the struct's field by all seven, every nested column by MASK_NULL.
	if masked != 7+7+3 || refused != 5*7-3 {
		t.Errorf("%d masked, %d refused", masked, refused)
	}
	// A filter takes nested rows along, and leaves nothing of the others.
	policies := policyFile(t, dir, nil, testPolicy{id: 1, filter: "id = 'ID-SECRET-2'", items: everybody("")})
	for _, name := range []string{"out.parquet", "out.arrow", "out.arrows"} {
		out := filepath.Join(dir, name)
		arrowmask(t, byPolicy(in, out, policies, "-q")...)
		for _, text := range []string{"ID-SECRET-1", "LIST-SECRET", "STRUCT-SECRET", "KEY-SECRET", "VALUE-SECRET"} {
			grep(t, out, text)
		}
		if got := readTable(t, out); len(got.column(t, "id")) != 1 {
			t.Errorf("%s: %d rows", name, len(got.column(t, "id")))
		}
	}
}

// TestRangerSamples: policy files of real services load, lint, and mask a table
// from end to end, in every dialect that can carry them out.
func TestRangerSamples(t *testing.T) {
	t.Parallel()
	hive, trino := shared(t, "ranger-cases", "samples", "hive-policies.json"), shared(t, "ranger-cases", "samples", "trino-policies.json")
	dir := t.TempDir()
	words := writeFile(t, dir, "words.csv", "word,count\nhello,79\nworld,80\nagain,100\n")
	out := filepath.Join(dir, "out.csv")
	run := func(policies, resource, in, user string, more ...string) result {
		return call{t: t}.do(append([]string{"mask", in, "-o", out, "-q", "--overwrite", "--policy", policies, "--user", user, "--resource", resource}, more...)...)
	}
	for _, dialect := range []string{"safe", "hive"} {
		if r := run(hive, "rangerauthz.words", words, "jane", "--dialect", dialect); r.code != 0 {
			t.Fatalf("%s: %s", dialect, r.err)
		}
		want := []value{{text: hexSHA256("hello")}, {text: hexSHA256("world")}, {text: hexSHA256("again")}}
		if got := readTable(t, out).column(t, "word"); !slices.Equal(got, want) {
			t.Errorf("%s: jane sees %v", dialect, got)
		}
	}
	if r := run(hive, "rangerauthz.words", words, "dave", "--csv-type", "count=int32"); r.code != 0 {
		t.Fatal(r.err)
	}
	if got := readTable(t, out).column(t, "word"); !slices.Equal(got, []value{{text: "world"}, {text: "again"}}) {
		t.Errorf("dave sees %v", got)
	}
	table := writeFile(t, dir, "table.csv", "only_first_4,x\nsecretvalue,1\nabc,2\n")
	for _, dialect := range []string{"safe", "trino"} {
		if r := run(trino, "alice-catalog.schema.table", table, "ann", "--dialect", dialect, "--fail-on-unmatched=false"); r.code != 0 {
			t.Fatalf("%s: %s", dialect, r.err)
		}
		if got := readTable(t, out).column(t, "only_first_4"); !slices.Equal(got, []value{{text: "secrXXXXXXX"}, {text: "abc"}}) {
			t.Errorf("%s: ann sees %v", dialect, got)
		}
	}
	// A transformer that no expression stands for closes its column.
	custom := writeFile(t, dir, "custom.csv", "only_first_4,cast_me\nsecretvalue,1\n")
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if r := run(trino, "alice-catalog.schema.table", custom, "ann"); r.code != 1 || !strings.Contains(r.err, "policy 69") || !strings.Contains(r.err, "column cast_me") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	noFiles(t, dir, "words.csv", "table.csv", "custom.csv")

	if r := (call{t: t}).do("policy", "lint", hive, "--table", "rangerauthz.words="+words); r.code != 0 || strings.Contains(r.out, "refused") || strings.Contains(r.out, "unmatched") {
		t.Errorf("hive: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := (call{t: t}).do("policy", "lint", trino); r.code != 1 || !strings.Contains(r.out, "refused: policy 69") || strings.Contains(r.out, "refused: policy 68") {
		t.Errorf("trino: exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestExplainPolicies(t *testing.T) {
	t.Parallel()
	args := func(more ...string) []string {
		return append([]string{"explain", someCustomers(t), "--policy", customerPolicies, "--resource", "shop.customers", "--user", "sam", "--group", "support"}, more...)
	}
	r := arrowmask(t, args("--attr", "country=Germany", "--sample", "3")...)
	for _, want := range []string{`column card: mask_show_last_n(`, `policy 4 "customer cards" item 1 (MASK_SHOW_LAST_4)`, `asked policy 8 "data protection officer": no item for this user`,
		`column name: unmasked on purpose, by policy 1`, "rows: `country`='Germany', by policy 7", "column id: unmasked", "ROW"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
	var x explanation
	r = arrowmask(t, args("--attr", "country=Germany", "--sample", "3", "--json")...)
	if err := json.Unmarshal([]byte(r.out), &x); err != nil {
		t.Fatal(err)
	}
	if x.Policy == nil || x.Policy.Rows.Policy.ID != 7 || len(x.Policy.Columns) != 9 || x.Policy.Columns[4].Policy.ID != 4 || len(x.Policy.Columns[4].Asked) != 2 {
		t.Errorf("policies: %+v", x.Policy)
	}
	rows := map[int64]bool{}
	for _, c := range x.Sample {
		rows[c.Row] = true
	}
	countries := readTable(t, someCustomers(t)).column(t, "country")
	for row := range rows {
		if countries[row-1].text != "Germany" {
			t.Errorf("row %d of the sample is of %s", row, countries[row-1].text)
		}
	}
	if len(rows) != 3 {
		t.Errorf("%d rows in the sample", len(rows))
	}
	// Refused: told why, as mask would be.
	r = call{t: t}.do(args()...)
	if r.code != 1 || !strings.Contains(r.out, "refused: ") || !strings.Contains(r.err, "USER.country") || strings.Contains(r.out, "unmasked") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := writeFile(t, dir, "in.csv", "a,b\n1,2\n")
	file := policyFile(t, dir, nil,
		testPolicy{id: 1, columns: []string{"a"}, items: everybody("MASK")},
		testPolicy{id: 2, name: "z", columns: []string{"a"}, items: everybody("MASK_HASH")},
		testPolicy{id: 3, columns: []string{"b"}, items: everybody("MASK_OF_MY_OWN")},
		testPolicy{id: 4, columns: []string{"c"}, items: everybody("MASK")},
		testPolicy{id: 5, columns: []string{"b"}, items: everybody("MASK"), off: true})
	r := call{t: t}.do("policy", "lint", file, "--table", "db.t="+in, "--json")
	var found []lintFinding
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatalf("%v: %s%s", err, r.out, r.err)
	}
	kinds := map[int64]string{}
	for _, f := range found {
		if kinds[f.PolicyID] == "" {
			kinds[f.PolicyID] = f.Kind
		}
	}
	if r.code != 1 || r.err != "" || fmt.Sprint(kinds) != "map[2:shadowed 3:refused 4:unmatched 5:disabled]" {
		t.Errorf("exit %d: %v\n%s", r.code, kinds, r.out)
	}
	broken := writeFile(t, dir, "broken.json", `{"policies": [{"id": 9, "policyType": 1, "name": "x"}]}`)
	if r := (call{t: t}).do("policy", "lint", broken, "--service-def", "hive"); r.code != 1 || !strings.Contains(r.out, "malformed") || !strings.Contains(r.out, "9") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r := arrowmask(t, "policy", "lint", customerPolicies); !strings.Contains(r.out, "nothing") {
		t.Errorf("the sample policies: %s", r.out)
	}
}

func TestServiceDefFlag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := writeFile(t, dir, "in.csv", "a\nAb1\n"), filepath.Join(dir, "out.csv")
	b, err := json.Marshal([]any{testPolicy{id: 1, columns: []string{"a"}, items: everybody("STARS")}.json()})
	if err != nil {
		t.Fatal(err)
	}
	bare := writeFile(t, dir, "bare.json", string(b))
	def := writeFile(t, dir, "def.json", `{"name": "my", "resources": [{"name": "database"}, {"name": "table", "parent": "database"}, {"name": "column", "parent": "table"}],
		"accessTypes": [{"name": "select"}], "dataMaskDef": {"accessTypes": [{"name": "select"}], "resources": [{"name": "database"}, {"name": "table"}, {"name": "column"}],
		"maskTypes": [{"name": "STARS", "transformer": "mask({col}, '*', '*', '*')"}]}}`)
	arrowmask(t, byPolicy(in, out, bare, "--service-def", def, "-q")...)
	if got := readTable(t, out).column(t, "a")[0].text; got != "***" {
		t.Errorf("masked as %q", got)
	}
	call{t: t}.refused(1, []string{"STARS"}, byPolicy(in, out, bare, "--service-def", "hive")...)
	call{t: t}.refused(1, []string{"service definition"}, byPolicy(in, out, bare)...)
	call{t: t}.refused(1, []string{"of its own"}, byPolicy(in, out, shared(t, "ranger-cases", "samples", "hive-policies.json"), "--service-def", def)...)
}

func TestRefusedPolicyCommandLines(t *testing.T) {
	dir := t.TempDir()
	in, out := writeFile(t, dir, "in.csv", "a\n1\n"), filepath.Join(dir, "out.csv")
	good := policyFile(t, dir, nil, testPolicy{id: 1, columns: []string{"a"}, items: everybody("MASK")})
	bad := writeFile(t, dir, "bad.json", `{"policies": 7`)
	mask := func(more ...string) []string { return append([]string{"mask", in, "-o", out}, more...) }
	for name, tt := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"set and policy":         {mask("--policy", good, "--user", "u", "--resource", "db.t", "--set", "a=NULL"), 2, []string{"--set", "--policy"}},
		"pass-through":           {mask("--policy", good, "--user", "u", "--resource", "db.t", "--pass-through"), 2, []string{"--pass-through"}},
		"no user":                {mask("--policy", good, "--resource", "db.t"), 2, []string{"--user"}},
		"no resource":            {mask("--policy", good, "--user", "u"), 2, []string{"--resource"}},
		"user without a policy":  {mask("--set", "a=NULL", "--user", "u"), 2, []string{"--user", "--policy"}},
		"audit without a policy": {mask("--set", "a=NULL", "--audit", "x"), 2, []string{"--audit", "--policy"}},
		"time":                   {mask("--policy", good, "--user", "u", "--resource", "db.t", "--at", "noon"), 2, []string{"--at", "noon"}},
		"attribute":              {mask("--policy", good, "--user", "u", "--resource", "db.t", "--attr", "x"), 2, []string{"--attr"}},
		"attribute twice":        {mask("--policy", good, "--user", "u", "--resource", "db.t", "--attr", "x=1", "--attr", "x=2"), 2, []string{"--attr", "twice"}},
		"dialect":                {mask("--policy", good, "--user", "u", "--resource", "db.t", "--dialect", "cobol"), 2, []string{"cobol"}},
		"audit over the input":   {mask("--policy", good, "--user", "u", "--resource", "db.t", "--audit", in), 2, []string{"same"}},
		"audit over the output":  {mask("--policy", good, "--user", "u", "--resource", "db.t", "--audit", out), 2, []string{"same"}},
		"no such file":           {mask("--policy", filepath.Join(dir, "none.json"), "--user", "u", "--resource", "db.t"), 1, []string{"none.json"}},
		"not JSON":               {mask("--policy", bad, "--user", "u", "--resource", "db.t"), 1, []string{"bad.json", "malformed"}},
		"too few levels":         {mask("--policy", good, "--user", "u", "--resource", "t"), 1, []string{"levels"}},
		"an empty level":         {mask("--policy", good, "--user", "u", "--resource", "db."), 1, []string{"empty"}},
		"table":                  {[]string{"policy", "lint", good, "--table", "x"}, 2, []string{"--table"}},
	} {
		t.Run(name, func(t *testing.T) { call{t: t}.refused(tt.code, tt.says, tt.args...) })
	}
	noFiles(t, dir, "in.csv", "policies.json", "bad.json")
}
