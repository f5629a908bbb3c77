package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// B14: in FIPS mode md5 and sha1 are errors that name the function, SHA-2 gives
// the same digests by Go's cryptographic module, mask_hash stays SHA-256, and
// nothing panics, also where Go itself refuses the rest.
func TestB14FIPSModes(t *testing.T) {
	t.Parallel()
	digests := make(map[string]string)
	for _, mode := range []string{"off", "on", "only"} {
		t.Run(mode, func(t *testing.T) {
			c := call{t: t, env: []string{"GODEBUG=fips140=" + mode}}
			ok := func(args ...string) string {
				t.Helper()
				r := c.do(args...)
				if r.code != 0 {
					t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
				}
				return r.out
			}
			for _, expr := range []string{
				"sha2('abc', 224)", "sha2('abc', 256)", "sha384('abc')", "sha512('abc')", "sha512_256('abc')",
				"mask_hash('TestString-123')", "mask_hash('TestString-123', 'sha512')",
			} {
				got := ok("eval", expr)
				if first, seen := digests[expr]; seen && got != first {
					t.Errorf("%s: %s, other modes %s", expr, got, first)
				}
				digests[expr] = got
			}
			if got := digests["mask_hash('TestString-123')"]; !strings.HasPrefix(got, "8b44d559") {
				t.Errorf("mask_hash: %s", got)
			}
			if got := digests["mask_hash('TestString-123', 'sha512')"]; !strings.HasPrefix(got, "f3a58111") || len(got) != 129 {
				t.Errorf("mask_hash with sha512: %s", got)
			}

			out := filepath.Join(t.TempDir(), "out.parquet")
			for fn, expr := range map[string]string{"md5": "md5({col})", "sha1": "sha1({col})"} {
				if mode == "off" {
					ok("eval", strings.ReplaceAll(expr, "{col}", "'abc'"))
					continue
				}
				c.refused(2, []string{fn, "FIPS"}, "eval", strings.ReplaceAll(expr, "{col}", "'abc'"))
				c.refused(2, []string{"email", fn, "FIPS"}, "mask", someCustomers(t), "-o", out, "--set", "email="+expr)
				noFiles(t, filepath.Dir(out))
			}

			reportFile := filepath.Join(t.TempDir(), "report.json")
			ok("mask", someCustomers(t), "-o", out, "--set", "email=mask_hash({col})", "--report", reportFile)
			r := readReport(t, reportFile)
			if len(r.Columns) != 1 || len(r.Columns[0].Digests) != 1 {
				t.Fatalf("report: %+v", r)
			}
			d := r.Columns[0].Digests[0]
			if on := mode != "off"; r.FIPS.Enabled != on || r.FIPS.Enforced != (mode == "only") || (d.Route == routeModule) != on || on && d.Backend != "std" || d.Algorithm != "sha256" {
				t.Errorf("report of mode %s: FIPS %+v, digest %+v", mode, r.FIPS, d)
			}
			want, got := readTable(t, someCustomers(t)).column(t, "email"), readTable(t, out).column(t, "email")
			for i := range want {
				if !want[i].null {
					want[i].text = hexSHA256(want[i].text)
				}
				if got[i] != want[i] {
					t.Fatalf("row %d: %v, want %v", i+1, got[i], want[i])
				}
			}

			ok("selftest")
			var v versionInfo
			if err := json.Unmarshal([]byte(ok("version", "--json")), &v); err != nil {
				t.Fatal(err)
			}
			if v.FIPS.Enabled != (mode != "off") || len(v.Digests) != 7 {
				t.Errorf("version: %+v", v)
			}
			for _, d := range v.Digests {
				if weak := d.Algorithm == "md5" || d.Algorithm == "sha1"; weak && mode != "off" && d.Backend != "" {
					t.Errorf("version offers %s by %s", d.Algorithm, d.Backend)
				}
			}
			ok("version")
		})
	}
}

func TestB14ContradictorySetting(t *testing.T) {
	c := call{t: t, env: []string{"GODEBUG=fips140=on", "ARROWMASK_FIPS=off"}}
	c.refused(2, []string{"ARROWMASK_FIPS"}, "eval", "sha256('abc')")
}
