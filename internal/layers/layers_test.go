package layers

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/arrowmask/arrowmask"

// rules says who may import whom: "a < b" reads "b may import a", and what a
// may import. Every package of the module must stand somewhere in here. A new
// import that this test refuses is a question about the design: do not relax a
// line to make a change pass.
const rules = `
	internal/cpu, internal/race < kernels, hexenc, internal/asciimask
	internal/cpu, kernels < internal/blake2b
	kernels, hexenc, internal/asciimask, internal/blake2b, fips < mask
	mask < policy < policy/ranger, policy/opensearch
	mask, policy, internal/rowtake < arrowudf < arrowudf/v18, arrowudf/capi, arrowudf/flight
	stdlib < arrowudf/capi/cdata < arrowudf/capi
	policy/ranger < arrowudf/capi
	arrowudf/v18 < tablefile
	stdlib < internal/thrift < tablefile
	testdata/kat, mask < kat

	# the command line stands on top of everything
	policy/ranger, policy/opensearch, arrowudf/flight, tablefile, kat < cmd/arrowmask
	kernels, hexenc < internal/kernelbench < cmd/arrowmask

	# helpers of tests and of the build, which nothing in the product imports
	kernels, hexenc, internal/asciimask, internal/blake2b < internal/backendtest
	stdlib < internal/childtest, internal/guardbuf, internal/layers, internal/doccheck, internal/costfit
	internal/cpu < internal/asmtest
	stdlib < internal/samplegen < internal/samplegen/gen
`

// never lists imports that the order above would allow, directly or through
// others, and that must not be: "b: a" reads "b never imports a".
const never = `
	kernels: hexenc fips
	hexenc: kernels fips
	internal/asciimask: kernels hexenc fips
	internal/blake2b: hexenc fips
	fips: kernels hexenc internal/asciimask internal/cpu internal/race
	tablefile: kernels hexenc fips mask policy arrowudf
`

// outside says which packages may import a foreign module, all given by a
// prefix of their paths. What is not listed may be imported by nobody, and
// stdlib by all.
const outside = `
	github.com/klauspost/cpuid/v2: internal/cpu
	github.com/klauspost/compress/s2: tablefile
	github.com/minio/sha256-simd: kernels
	golang.org/x/sys: internal/cpu internal/guardbuf fips tablefile cmd
	github.com/apache/arrow/go/v17: arrowudf cmd
	github.com/apache/arrow-go/v18: arrowudf/v18 arrowudf/flight tablefile cmd internal/samplegen
	google.golang.org/grpc: arrowudf/flight cmd
	google.golang.org/protobuf: arrowudf/flight
	github.com/spf13/cobra: cmd
	github.com/spf13/pflag: cmd
	github.com/rivo/uniseg: cmd
	github.com/schollz/progressbar/v3: cmd
	github.com/mattn/go-isatty: cmd
`

// banned are packages of allowed modules that nobody imports: arrow's cdata
// trusts foreign memory that has to be validated first.
var banned = []string{
	"github.com/apache/arrow/go/v17/arrow/cdata",
	"github.com/apache/arrow-go/v18/arrow/cdata",
}

// unsafeFiles is how many files of a package may import unsafe; -1 is any
// number. Packages that are not listed may have none.
var unsafeFiles = map[string]int{
	"kernels": -1, "hexenc": -1,
	"internal/cpu": -1, "internal/race": -1, "internal/guardbuf": -1,
	"arrowudf": 1, "arrowudf/capi": -1, "arrowudf/capi/cdata": -1,
}

type pkg struct {
	ImportPath, Dir                   string
	GoFiles, CgoFiles, IgnoredGoFiles []string
}

// name is the package's path inside the module.
func (p pkg) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// sources are the files that are not tests, whatever their build constraints.
func (p pkg) sources() []string {
	files := slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles)
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

func TestLayers(t *testing.T) {
	for _, p := range list(t) {
		imports := map[string]bool{}
		for _, file := range p.sources() {
			for _, path := range importsOf(t, filepath.Join(p.Dir, file)) {
				imports[path] = true
			}
		}
		for _, msg := range check(p.name(), imports) {
			t.Error(msg)
		}
	}
}

func TestUnsafe(t *testing.T) {
	for _, p := range list(t) {
		var users []string
		for _, file := range p.sources() {
			if slices.Contains(importsOf(t, filepath.Join(p.Dir, file)), "unsafe") {
				users = append(users, file)
			}
		}
		if limit := unsafeFiles[p.name()]; limit >= 0 && len(users) > limit {
			t.Errorf("%s: unsafe in %v, at most %d files may use it", p.name(), users, limit)
		}
	}
}

// TestRulesBite makes up imports that must be refused.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		pkg, path string
		ok        bool
	}{
		{"mask", module + "/kernels", true},
		{"mask", module + "/internal/cpu", true},
		{"cmd/arrowmask", module + "/fips", true},
		{"kernels", "crypto/sha256", true},
		{"kernels", module + "/mask", false},
		{"kernels", module + "/hexenc", false},
		{"hexenc", module + "/kernels", false},
		{"fips", module + "/internal/cpu", false},
		{"policy", module + "/arrowudf", false},
		{"policy/ranger", module + "/policy/opensearch", false},
		{"tablefile", module + "/mask", false},
		{"tablefile", module + "/arrowudf/v18", true},
		{"mask", module + "/internal/backendtest", false},
		{"unheard/of", "fmt", false},
		{"mask", module + "/unheard/of", false},
		{"mask", "github.com/apache/arrow/go/v17/arrow", false},
		{"arrowudf", "github.com/apache/arrow/go/v17/arrow", true},
		{"arrowudf", "github.com/apache/arrow-go/v18/arrow", false},
		{"arrowudf/v18", "github.com/apache/arrow-go/v18/arrow", true},
		{"tablefile", "github.com/apache/arrow/go/v17/arrow", false},
		{"arrowudf", "github.com/apache/arrow/go/v17/arrow/cdata", false},
		{"cmd/arrowmask", "github.com/apache/arrow-go/v18/arrow/cdata", false},
		{"kernels", "github.com/klauspost/cpuid/v2", false},
		{"kernels", "example.org/new", false},
	} {
		if msgs := check(c.pkg, map[string]bool{c.path: true}); (len(msgs) == 0) != c.ok {
			t.Errorf("%s imports %s: %v, want it allowed: %v", c.pkg, c.path, msgs, c.ok)
		}
	}
}

// check tells what is wrong with the imports of a package.
func check(name string, imports map[string]bool) []string {
	below := order()
	allowed, known := below[name]
	if !known {
		return []string{name + ": the import rules have no place for it"}
	}
	var msgs []string
	refuse := func(path, why string) { msgs = append(msgs, name+" imports "+path+": "+why) }
	for path := range imports {
		inside, ours := strings.CutPrefix(path, module+"/")
		switch {
		case ours && !allowed[inside]:
			refuse(inside, "not below it")
		case ours && slices.Contains(table(never)[name], inside):
			refuse(inside, "never allowed")
		case slices.ContainsFunc(banned, func(b string) bool { return under(path, b) }):
			refuse(path, "banned everywhere")
		case !ours && foreign(path) && !mayImport(name, path):
			refuse(path, "not among those that may")
		}
	}
	return msgs
}

// order reads rules into the set of packages that lie below each one.
func order() map[string]map[string]bool {
	below := map[string]map[string]bool{}
	for line := range lines(rules) {
		var lower []string
		for group := range strings.SplitSeq(line, "<") {
			names := strings.Split(group, ",")
			for j, n := range names {
				names[j] = strings.TrimSpace(n)
				if below[names[j]] == nil {
					below[names[j]] = map[string]bool{}
				}
				for _, l := range lower {
					below[names[j]][l] = true
				}
			}
			lower = names
		}
	}
	// Close it: what is below something below is below, too.
	for changed := true; changed; {
		changed = false
		for _, set := range below {
			for mid := range set {
				for low := range below[mid] {
					if !set[low] {
						set[low], changed = true, true
					}
				}
			}
		}
	}
	return below
}

func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// table reads lines of the form "key: word word".
func table(text string) map[string][]string {
	m := map[string][]string{}
	for line := range lines(text) {
		key, words, _ := strings.Cut(line, ":")
		m[key] = strings.Fields(words)
	}
	return m
}

// under reports whether path is prefix or lies below it.
func under(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// foreign reports whether the path is of another module: those of the standard
// library have no dot in their first element.
func foreign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

func mayImport(name, path string) bool {
	for prefix, users := range table(outside) {
		if under(path, prefix) {
			return slices.ContainsFunc(users, func(u string) bool { return under(name, u) })
		}
	}
	return false
}

// list is every package of the module.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list named only %d packages", len(all))
	}
	return all
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range f.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}
