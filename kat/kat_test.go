package kat

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/internal/childtest"
	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
	katdata "github.com/arrowmask/arrowmask/testdata/kat"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m)) }

// tally prints the end of a report: which backends ran how much.
func tally(t *testing.T, r *Report) {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, testing.Verbose()); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}

func embedded(t *testing.T) []Vector {
	t.Helper()
	all, err := load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func runVectors(t *testing.T, all []Vector) *Report {
	t.Helper()
	r, err := newRunner().vectors(t.Context(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLedger runs all that the program carries. It fails when a backend that
// this machine can run did not run every vector of its algorithm, when a
// vector met no backend, and when a required backend is missing.
func TestLedger(t *testing.T) {
	r, err := Run(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tally(t, r)
	if r.Failed != 0 || len(r.Failures) != 0 {
		t.Errorf("%d failed", r.Failed)
	}
	all := embedded(t)
	if n := r.Passed + r.Failed + r.Skipped; n != len(all) {
		t.Errorf("%d vectors accounted for, %d read", n, len(all))
	}
	skipped := make(map[string]bool)
	for _, s := range r.Skips {
		if strings.HasPrefix(s.Reason, "needs fips=") || fips.Enabled() {
			skipped[s.File+s.ID] = true
			continue
		}
		t.Errorf("%s:%d %s was skipped: %s", s.File, s.Line, s.ID, s.Reason)
	}
	raw := make(map[string]int)
	for _, v := range all {
		if v.Dialect == dialectRaw && !skipped[v.File+v.ID] {
			raw[strings.TrimPrefix(v.Function, "hmac_")]++
		}
	}
	for _, alg := range kernels.Algs() {
		if raw[alg.String()] == 0 && (alg.SHA2() || !fips.Enabled()) {
			t.Errorf("%s has no vector", alg)
		}
		for _, b := range kernels.All(alg) {
			got := r.backend(b)
			switch reason := b.Reason(); {
			case reason != "":
				if slices.Contains(backendtest.Required(), b.Name) {
					t.Errorf("required backend %s of %s: %s", b.Name, alg, reason)
				}
				if got.Reason != reason || got.Vectors != 0 {
					t.Errorf("%s/%s: %+v, want the reason %q", alg, b.Name, got, reason)
				}
			case fips.Enabled() && b.Name != fipsBackend:
				if got.Vectors != 0 {
					t.Errorf("%s/%s ran in FIPS mode", alg, b.Name)
				}
			case got.Vectors != raw[alg.String()]:
				t.Errorf("%s/%s ran %d of %d vectors", alg, b.Name, got.Vectors, raw[alg.String()])
			}
		}
	}
}

// TestLedgerInFIPSMode runs TestLedger in a process of its own, under Go's
// module: only "std" runs, MD5 and SHA-1 are refused, nothing panics.
func TestLedgerInFIPSMode(t *testing.T) {
	for _, mode := range []string{"on", "only"} {
		t.Run(mode, func(t *testing.T) {
			out := childtest.Run(t, "TestLedger", "GODEBUG=fips140="+mode, "ARROWMASK_FIPS=", backendtest.EnvRequire+"=")
			for _, want := range []string{"md5 is not approved in FIPS mode", "backend sha256/std:", " 0 failed, "} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if strings.Contains(out, "backend sha256/generic: ") && !strings.Contains(out, "backend sha256/generic: not run") {
				t.Error("generic ran")
			}
		})
	}
}

// TestFiles pins how many vectors each published set has, so that none gets
// lost, and that every file says where it comes from.
func TestFiles(t *testing.T) {
	count := make(map[string]int)
	for _, v := range embedded(t) {
		count[v.File]++
	}
	want := map[string]int{"md5/rfc1321.tsv": 7, "md5/monte.tsv": 100}
	for _, alg := range []string{"sha1", "sha224", "sha256"} {
		want[alg+"/short.tsv"], want[alg+"/long.tsv"], want[alg+"/monte.tsv"] = 65, 64, 100
	}
	for _, alg := range []string{"sha384", "sha512", "sha512_256"} {
		want[alg+"/short.tsv"], want[alg+"/long.tsv"], want[alg+"/monte.tsv"] = 129, 23, 100
	}
	for _, alg := range []string{"sha224", "sha256", "sha384", "sha512"} {
		want["hmac/rfc4231-"+alg+".tsv"] = 7
	}
	for name, n := range want {
		if count[name] != n {
			t.Errorf("%s has %d vectors, want %d", name, count[name], n)
		}
	}
	err := fs.WalkDir(katdata.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(katdata.FS, p)
		if err != nil {
			return err
		}
		for _, field := range []string{"# source: ", "# licence: "} {
			if !strings.Contains(string(data), "\n"+field) {
				t.Errorf("%s has no line %q", p, field)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestEveryFunctionHasVectors fails for a function of the default dialect
// without a known answer, and for one whose rules another dialect changes.
func TestEveryFunctionHasVectors(t *testing.T) {
	have := make(map[string]bool)
	for _, v := range embedded(t) {
		have[v.Dialect+" "+v.Function] = true
	}
	for i, d := range mask.Dialects() {
		list, err := mask.FunctionsOf(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			ruled := slices.Contains([]string{"mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n", "mask_hash"}, f.Name)
			if (i == 0 || ruled) && !have[d+" "+f.Name] {
				t.Errorf("no vector of %s in the dialect %s", f.Name, d)
			}
		}
	}
}

// mutate makes another answer of the expected one.
func mutate(v Vector) Vector {
	t := v.Expected[0]
	switch t.Tag {
	case TagText, TagBytes:
		t.Bytes = slices.Clone(t.Bytes)
		if n := len(t.Bytes); n > 0 {
			t.Bytes[(v.Line*7)%n] ^= 1 << (v.Line % 7)
		} else {
			t.Bytes = []byte{'x'}
		}
	case TagInt, TagDate:
		t.Int++
	case TagError:
		t.Text = map[string]string{"type": "args"}[t.Text]
		if t.Text == "" {
			t.Text = "type"
		}
	default:
		t = Token{Tag: TagText, Text: "x", Bytes: []byte("x")}
	}
	v.Expected = []Token{t}
	return v
}

// TestWrongAnswersAreFound changes the expectation of every vector there is:
// each must fail, on every backend.
func TestWrongAnswersAreFound(t *testing.T) {
	all := embedded(t)
	for i := range all {
		all[i] = mutate(all[i])
	}
	r := runVectors(t, all)
	if r.Passed != 0 {
		failed := make(map[string]bool)
		for _, f := range r.Failures {
			failed[f.File+f.ID] = true
		}
		for _, s := range r.Skips {
			failed[s.File+s.ID] = true
		}
		for _, v := range all {
			if !failed[v.File+v.ID] {
				t.Errorf("%s:%d %s passed with a wrong expectation", v.File, v.Line, v.ID)
			}
		}
	}
	for _, b := range r.Backends {
		if b.Failed != b.Vectors {
			t.Errorf("%s/%s failed %d of %d", b.Alg, b.Backend, b.Failed, b.Vectors)
		}
	}
}

// TestSharedVectors runs the vector files that lie beside the repository. What
// cannot be expressed is skipped with its reason, and is little.
func TestSharedVectors(t *testing.T) {
	r, err := Run(t.Context(), Options{Files: []string{shared(t)}})
	if err != nil {
		t.Fatal(err)
	}
	tally(t, r)
	if r.Failed != 0 {
		t.Errorf("%d failed", r.Failed)
	}
	if r.Passed+r.Skipped < 2000 {
		t.Errorf("only %d vectors", r.Passed+r.Skipped)
	}
	if !fips.Enabled() && 10*r.Skipped >= r.Passed+r.Skipped {
		t.Errorf("%d of %d skipped", r.Skipped, r.Passed+r.Skipped)
	}
	for _, f := range r.Files {
		if f.Passed == 0 && path.Base(f.File) != "hash_noncrypto.tsv" {
			t.Errorf("%s: %d skipped, none passed", f.File, f.Skipped)
		}
	}
	for _, s := range r.Skips {
		if s.Reason == "" {
			t.Errorf("%s is skipped without a reason", s.ID)
		}
	}
}

// TestSharedAnswersOfHiveHoldInSafe runs answers recorded from Hive and Spark
// in the safe dialect, which equals Hive on ASCII text, integers and dates. It
// is an oracle that nobody of this project wrote.
func TestSharedAnswersOfHiveHoldInSafe(t *testing.T) {
	dir := shared(t)
	all, err := load(Options{Files: []string{
		filepath.Join(dir, "mask_hive.tsv"), filepath.Join(dir, "derived_mask_edges.tsv"), filepath.Join(dir, "hash_crypto.tsv"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var chosen []Vector
	for _, v := range all {
		digest := path.Base(v.File) == "hash_crypto.tsv"
		switch {
		case v.Dialect != "hive" && !(digest && v.Dialect == "spark"):
			continue
		case slices.ContainsFunc(append(v.Args, v.Expected...), beyondASCII):
			continue // where safe is meant to differ
		case strings.HasPrefix(v.Type, "CHAR"):
			continue // the vectors trim what Hive pads
		case v.Expected[0].Tag == TagError:
			continue // Hive fails on a day that does not exist, safe answers NULL
		case v.Function == "sha2" && len(v.Args) == 2 && v.Args[1].Int == 1:
			continue // Hive answers with SHA-1
		}
		v.Dialect, v.Mode = "safe", ""
		chosen = append(chosen, v)
	}
	r := runVectors(t, chosen)
	tally(t, r)
	if r.Failed != 0 {
		t.Errorf("%d failed", r.Failed)
	}
	if r.Passed < 800 && !fips.Enabled() {
		t.Errorf("only %d passed", r.Passed)
	}
	for _, s := range r.Skips {
		t.Logf("skip %s: %s", s.ID, s.Reason)
	}
}

func beyondASCII(tok Token) bool {
	return tok.Tag == TagText && slices.ContainsFunc(tok.Bytes, func(b byte) bool { return b >= 0x80 }) ||
		tok.Tag == TagError
}

// shared is the folder of vectors beside the repository.
func shared(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "..", "shared", "vectors")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared vectors on this machine: %v", err)
	}
	return dir
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{}); err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func ExampleReport_WriteText() {
	r, err := Run(context.Background(), Options{Files: []string{"../testdata/kat/sha224/published.tsv"}, Backends: []string{"std"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r.WriteText(os.Stdout, false)
	// Output:
	// backend sha224/std: 3 vectors, 0 failed
	// 3 passed, 0 failed, 0 skipped
}
