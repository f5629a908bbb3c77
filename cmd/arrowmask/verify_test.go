package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// verify proves what mask made, from every format to every format, with typed
// columns, expressions over several columns and columns that are not text; and
// finds what is not as it should be.
func TestVerifyPairs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "id,mail,born,kind,raw\n7,\"a\"\"b@example.org\",2001-02-03,alpha,\"007\"\n,\"\",1970-01-01,beta,\n12345678,x@example.org,,alpha,1e3\n"
	in := map[string]string{"csv": writeFile(t, dir, "in.csv", text)}
	typed := []string{"--csv-type", "id=int64", "--csv-type", "born=date32"}
	for _, ext := range []string{"parquet", "arrow"} {
		in[ext] = filepath.Join(dir, "in."+ext)
		arrowmask(t, append([]string{"mask", in["csv"], "-o", in[ext], "-q", "--pass-through"}, typed...)...)
	}
	sets := []string{"--set", "id=hash_row({id}, {mail}, {born})", "--set", "mail=mask_hash({col})", "--set", "born=mask({col})"}
	for from, in := range in {
		flags := sets
		if from == "csv" {
			flags = append(flags, typed...)
		}
		for _, to := range []string{"parquet", "arrow", "arrows", "csv", "tsv"} {
			out := filepath.Join(dir, from+"."+to)
			arrowmask(t, append([]string{"mask", in, "-o", out, "-q"}, flags...)...)
			v := decodeVerification(t, append([]string{"verify", in, out}, flags...)...)
			// Parquet keeps the chunks of what is not masked, CSV its cells.
			copied := from == to && (to == "parquet" || to == "csv")
			results := []string{"equal to the expression of the old values", "equal to the expression of the old values", "equal to the expression of the old values", "equal values", "equal values"}
			if copied {
				results[3], results[4] = "equal byte for byte", "equal byte for byte"
			}
			for i, c := range v.Columns {
				if !c.OK || c.Result != results[i] {
					t.Errorf("%s to %s: %+v", from, to, c)
				}
			}
			if !v.OK || v.Rows != 3 || v.Survived != 0 || v.Searched < 2 || len(v.Columns) != 5 || v.Columns[0].Expression != "hash_row({id}, {mail}, {born})" {
				t.Errorf("%s to %s: %+v", from, to, v)
			}
		}
		clear := filepath.Join(dir, from+"-clear.csv")
		arrowmask(t, "mask", in, "-o", clear, "-q", "--pass-through")
		r := call{t: t}.do(append([]string{"verify", in, clear}, flags...)...)
		if r.code != exitFailed || r.err != "" && !strings.Contains(r.err, "the cell is not a") {
			t.Errorf("%s, not masked: exit %d: %s%s", from, r.code, r.out, r.err)
		}
	}
}

func decodeVerification(t *testing.T, args ...string) verification {
	t.Helper()
	r := arrowmask(t, append(args, "--json")...)
	var v verification
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return v
}

// verify takes the flags of policies: filters, nested columns and fields within.
func TestVerifyPolicies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := nestedFile(t, dir)
	for name, p := range map[string]testPolicy{
		"column": {id: 1, columns: []string{"id"}, items: everybody("MASK_HASH")},
		"nested": {id: 1, columns: []string{"m"}, items: everybody("MASK_NULL")},
		"field":  {id: 1, columns: []string{"s.a"}, items: everybody("MASK_HASH")},
		"filter": {id: 1, filter: "id = 'ID-SECRET-2'", items: everybody("")},
	} {
		policies := policyFile(t, dir, nil, p)
		for _, ext := range []string{"parquet", "arrow"} {
			out := filepath.Join(dir, "masked-"+name+"."+ext)
			asked := byPolicy(in, out, policies)
			asked = asked[4 : len(asked)-1] // but --overwrite
			arrowmask(t, byPolicy(in, out, policies, "-q")...)
			v := decodeVerification(t, append([]string{"verify", in, out}, asked...)...)
			if !v.OK || v.Survived > 0 || name != "filter" && (v.Rows != 2 || v.Searched == 0) || name == "filter" && v.Rows != 1 {
				t.Errorf("%s, %s: %+v", name, ext, v)
			}
			if name == "field" && v.Columns[2].Expression == "" {
				t.Errorf("no expression: %+v", v.Columns[2])
			}
			// The other user's file is another one.
			if r := (call{t: t}).do("verify", in, out, "--set", "id=md5({col})"); r.code != exitFailed || !strings.Contains(r.out, "NOT verified") {
				t.Errorf("%s, %s: exit %d: %s%s", name, ext, r.code, r.out, r.err)
			}
		}
	}
}

func TestVerifyUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := writeFile(t, dir, "in.csv", "a\nx\n")
	for _, tt := range []struct {
		code int
		says []string
		args []string
	}{
		{exitUsage, []string{"takes 2 arguments"}, []string{in}},
		{exitUsage, []string{"standard input"}, []string{in, "-", "--to", "csv"}},
		{exitUsage, []string{"standard input"}, []string{"-", in, "--from", "csv"}},
		{exitUsage, []string{"--to"}, []string{in, filepath.Join(dir, "out")}},
		{exitUsage, []string{"--set and --policy together"}, []string{in, in, "--set", "a=mask({col})", "--policy", "p.json"}},
		{exitUsage, []string{"--user goes with --policy"}, []string{in, in, "--user", "ann"}},
		{exitFailed, []string{"no such file"}, []string{in, filepath.Join(dir, "none.csv"), "--set", "a=mask({col})"}},
		{exitFailed, []string{`"b"`, "not there"}, []string{in, in, "--set", "b=mask({col})"}},
	} {
		call{t: t}.refused(tt.code, tt.says, append([]string{"verify"}, tt.args...)...)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
