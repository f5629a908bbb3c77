package backendtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

func TestRequired(t *testing.T) {
	t.Setenv(EnvRequire, " generic, std ,,")
	if got := strings.Join(Required(), "|"); got != "generic|std" {
		t.Error(got)
	}
	if err := checkRequired(Required()); err != nil {
		t.Error(err)
	}
	if err := checkRequired([]string{"generic", "no-such"}); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("unknown name: %v", err)
	}
}

func TestRunVisitsEveryBackend(t *testing.T) {
	seen, keyed := map[string]bool{}, map[string]bool{}
	Run(t, func(t *testing.T, b *kernels.Backend) { seen[b.Alg.String()+"/"+b.Name] = true })
	RunKeyed(t, func(t *testing.T, b *kernels.Backend) { keyed[b.Alg.String()+"/"+b.Name] = true })
	for _, alg := range kernels.Algs() {
		for _, b := range kernels.All(alg) {
			name := alg.String() + "/" + b.Name
			if b.Available() != seen[name] {
				t.Errorf("%s: available %v, run %v", name, b.Available(), seen[name])
			}
			if (b.Available() && alg.SHA2()) != keyed[name] {
				t.Errorf("%s: keyed run %v", name, keyed[name])
			}
			if seen[name] != ran.pairs[name] {
				t.Errorf("%s: run %v, listed %v", name, seen[name], ran.pairs[name])
			}
		}
	}
}

// TestSkipBecomesFailure runs the child below, where a backend is missing, with
// and without requiring it.
func TestSkipBecomesFailure(t *testing.T) {
	const child = "ARROWMASK_BACKENDTEST_CHILD"
	if os.Getenv(child) != "" {
		ready(t, "sha256", "generic", "made up for this test")
		t.Error("the test went on without its backend")
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ require, want string }{
		{"std", "--- SKIP: TestSkipBecomesFailure"},
		{"std,generic", "--- FAIL: TestSkipBecomesFailure"},
	} {
		cmd := exec.Command(exe, "-test.run=^TestSkipBecomesFailure$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", EnvRequire+"="+c.require)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) || !strings.Contains(string(out), "made up for this test") {
			t.Errorf("require %q: %v\n%s", c.require, err, out)
		}
		if failed := err != nil; failed != strings.Contains(c.want, "FAIL") {
			t.Errorf("require %q: exit %v", c.require, err)
		}
	}
}
