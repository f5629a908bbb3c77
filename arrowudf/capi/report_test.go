//go:build cgo

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/internal/childtest"
)

// TestReport: the report and the self-test name what the variable forces, and
// what of it cannot be honoured, of digests and of hex text. A child process
// prints both.
func TestReport(t *testing.T) {
	const child = "ARROWMASK_CAPI_TEST_CHILD"
	if os.Getenv(child) != "" {
		text, err := json.Marshal(makeReport())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		failed := selftest(&b)
		os.Stdout.WriteString("report: " + string(text) + "\nfailed: ")
		if failed != nil {
			os.Stdout.WriteString(failed.Error())
		}
		os.Stdout.WriteString("\n" + b.String())
		return
	}
	all := hexenc.All()
	best := all[slices.IndexFunc(all, func(b *hexenc.Backend) bool { return b.Reason() == "" })].Name
	for _, c := range []struct {
		value, hex, sha256, says string
	}{
		{"hex=generic", "generic", "", ""},
		{"generic", "generic", "generic", ""},
		{"sha256=std", best, "std", ""},
		{"sha256=std,hex=abacus", best, "std", `ARROWMASK_BACKEND: hexenc: backend cannot be used: hex has none called "abacus"`},
		{"abacus", best, "", `ARROWMASK_BACKEND: unknown backend: "abacus"`},
	} {
		out := childtest.Run(t, "TestReport", child+"=1", "ARROWMASK_FIPS=off", "GODEBUG=fips140=off", hexenc.EnvBackend+"="+c.value)
		_, rest, _ := strings.Cut(out, "report: ")
		line, rest, _ := strings.Cut(rest, "\n")
		var r report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v\n%s", c.value, err, out)
		}
		if r.Backends["hex"] != c.hex || c.sha256 != "" && r.Backends["sha256"] != c.sha256 {
			t.Errorf("%q: backends %v", c.value, r.Backends)
		}
		failed, lines, _ := strings.Cut(rest, "\n")
		if c.says == "" {
			if len(r.Errors) != 0 || failed != "failed: " {
				t.Errorf("%q: errors %q, %s\n%s", c.value, r.Errors, failed, lines)
			}
			continue
		}
		if len(r.Errors) == 0 || r.Errors[0] != c.says {
			t.Errorf("%q: errors %q", c.value, r.Errors)
		}
		if failed == "failed: " || !strings.HasPrefix(lines, "FAILED: "+c.says+"\n") {
			t.Errorf("%q: self-test: %s\n%s", c.value, failed, lines)
		}
	}
}
