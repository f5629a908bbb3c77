// Package backendtest runs a test on every backend, says which ran, and turns
// a missing backend into a failure where one is required.
package backendtest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/internal/asciimask"
	"github.com/arrowmask/arrowmask/internal/blake2b"
	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/kernels"
)

// EnvRequire names the environment variable with the backends, separated by
// commas, that this machine must be able to run. A test that would be skipped
// for one of them fails, and so does every test for a name that no backend has.
const EnvRequire = "ARROWMASK_REQUIRE_BACKENDS"

// ran collects what was run, as "sha256/std".
var ran struct {
	sync.Mutex
	pairs map[string]bool
}

// Main is for TestMain: it runs the tests, prints which backends they ran on,
// and returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	if pairs := slices.Sorted(maps.Keys(ran.pairs)); len(pairs) > 0 {
		fmt.Println("backends run:", strings.Join(pairs, " "))
	}
	return code
}

func checkRequired(names []string) error {
	known := map[string]bool{}
	for _, alg := range kernels.Algs() {
		for _, b := range kernels.All(alg) {
			known[b.Name] = true
		}
	}
	for _, b := range hexenc.All() {
		known[b.Name] = true
	}
	for _, b := range asciimask.All() {
		known[b.Name] = true
	}
	for _, b := range blake2b.All() {
		known[b.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			return fmt.Errorf("%s: no backend is called %q", EnvRequire, name)
		}
	}
	return nil
}

// Run calls f as a subtest for every backend of every algorithm; the subtest's
// name is alg=../backend=... A backend that this machine cannot run is
// skipped with the reason, or fails when it is required.
func Run(t *testing.T, f func(t *testing.T, b *kernels.Backend)) {
	run(t, kernels.Algs(), f)
}

// RunKeyed is Run for the algorithms that HMAC is offered over.
func RunKeyed(t *testing.T, f func(t *testing.T, b *kernels.Backend)) {
	run(t, slices.DeleteFunc(kernels.Algs(), func(a kernels.Alg) bool { return !a.SHA2() }), f)
}

func run(t *testing.T, algs []kernels.Alg, f func(t *testing.T, b *kernels.Backend)) {
	t.Helper()
	if err := checkRequired(Required()); err != nil {
		t.Fatal(err)
	}
	for _, alg := range algs {
		t.Run("alg="+alg.String(), func(t *testing.T) {
			for _, b := range kernels.All(alg) {
				t.Run("backend="+b.Name, func(t *testing.T) {
					ready(t, alg.String(), b.Name, b.Reason())
					f(t, b)
				})
			}
		})
	}
}

// RunHex is Run for the backends of hexenc.
func RunHex(t *testing.T, f func(t *testing.T, b *hexenc.Backend)) {
	t.Helper()
	if err := checkRequired(Required()); err != nil {
		t.Fatal(err)
	}
	for _, b := range hexenc.All() {
		t.Run("backend="+b.Name, func(t *testing.T) {
			ready(t, "hex", b.Name, lacking(b.Needs))
			f(t, b)
		})
	}
}

// RunASCIIMask is Run for the backends of asciimask.
func RunASCIIMask(t *testing.T, f func(t *testing.T, b *asciimask.Backend)) {
	t.Helper()
	if err := checkRequired(Required()); err != nil {
		t.Fatal(err)
	}
	for _, b := range asciimask.All() {
		t.Run("backend="+b.Name, func(t *testing.T) {
			ready(t, "asciimask", b.Name, lacking(b.Needs))
			f(t, b)
		})
	}
}

// RunBLAKE2b is Run for the backends of blake2b.
func RunBLAKE2b(t *testing.T, f func(t *testing.T, b *blake2b.Backend)) {
	t.Helper()
	if err := checkRequired(Required()); err != nil {
		t.Fatal(err)
	}
	for _, b := range blake2b.All() {
		t.Run("backend="+b.Name, func(t *testing.T) {
			ready(t, "blake2b", b.Name, lacking(b.Needs))
			f(t, b)
		})
	}
}

// lacking is why this machine cannot run what needs those extensions, or "".
func lacking(needs cpu.Set) string {
	if cpu.Features().Has(needs) {
		return ""
	}
	return "needs " + needs.String()
}

// ready skips or fails the test when there is a reason, else notes the run.
func ready(t *testing.T, of, name, reason string) {
	t.Helper()
	if reason != "" {
		if slices.Contains(Required(), name) {
			t.Fatalf("backend %s of %s is required by %s: %s", name, of, EnvRequire, reason)
		}
		t.Skipf("backend %s of %s: %s", name, of, reason)
	}
	ran.Lock()
	defer ran.Unlock()
	if ran.pairs == nil {
		ran.pairs = map[string]bool{}
	}
	ran.pairs[of+"/"+name] = true
}

// Required lists the names that EnvRequire holds.
func Required() []string {
	var names []string
	for name := range strings.SplitSeq(os.Getenv(EnvRequire), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
