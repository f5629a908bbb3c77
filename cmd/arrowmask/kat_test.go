package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

var katTail = regexp.MustCompile(`(?m)^(\d+) passed, (\d+) failed, (\d+) skipped\n\z`)

// The built-in answers pass on every backend, alone too.
func TestKAT(t *testing.T) {
	t.Parallel()
	r := arrowmask(t, "kat")
	if m := katTail.FindStringSubmatch(r.out); m == nil || m[1] == "0" || m[2] != "0" {
		t.Errorf("kat ends with %q", r.out[max(0, len(r.out)-200):])
	}
	names := make(map[string]bool)
	for _, alg := range kernels.Algs() {
		for _, b := range kernels.All(alg) {
			if b.Available() {
				names[b.Name] = true
			}
		}
	}
	files := []string{"kat", "--backend", ""}
	for _, alg := range []string{"md5", "sha1", "sha256", "sha512"} { // no backend computes none of them
		files = append(files, filepath.Join("..", "..", "testdata", "kat", alg))
	}
	for name := range names {
		files[2] = name
		r := arrowmask(t, files...)
		if m := katTail.FindStringSubmatch(r.out); m == nil || m[1] == "0" || m[2] != "0" || !strings.Contains(r.out, "/"+name+": ") {
			t.Errorf("kat --backend %s ends with %q", name, r.out[max(0, len(r.out)-200):])
		}
	}
}

// The reference vectors, which the project did not write.
func TestKATFiles(t *testing.T) {
	r := arrowmask(t, "kat", shared(t, "vectors"))
	if m := katTail.FindStringSubmatch(r.out); m == nil || m[1] == "0" && m[3] == "0" || m[2] != "0" {
		t.Errorf("kat ends with %q", r.out[max(0, len(r.out)-300):])
	}
	// Dialects that are not offered are skipped, each with the reason.
	if !strings.Contains(r.out, "dialect doris is not offered") {
		t.Errorf("skips have no reason:\n%s", r.out)
	}
}

// A wrong answer fails the command.
func TestKATFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.tsv")
	text := "id\tfunction\tdialect\tmode\ttype\targs\texpected\tkind\tsource\tnote\n" +
		"w1\tmask\tsafe\t\tSTRING\ts:Ab1\ts:Xxx\tderived\ta test\t\n" +
		"w2\tmask\tsafe\t\tSTRING\ts:Ab1\ts:Xxn\tderived\ta test\t\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := call{t: t}.do("kat", file)
	if m := katTail.FindStringSubmatch(r.out); r.code != exitFailed || m == nil || m[1] != "1" || m[2] != "1" || r.err != "" {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestSelftestAndVersion(t *testing.T) {
	r := arrowmask(t, "selftest")
	if m := katTail.FindStringSubmatch(r.out); m == nil || m[1] == "0" || m[2] != "0" {
		t.Errorf("selftest: %s", r.out)
	}
	var v versionInfo
	if err := json.Unmarshal([]byte(arrowmask(t, "version", "--json").out), &v); err != nil {
		t.Fatal(err)
	}
	text := arrowmask(t, "version").out
	if len(v.Digests) != len(kernels.Algs()) || v.Go == "" || v.CPU == "" || len(v.Errors) != 0 {
		t.Errorf("version: %+v", v)
	}
	for _, d := range v.Digests {
		if d.Backend == "" || d.Why == "" || !strings.Contains(text, d.Algorithm) {
			t.Errorf("version: %+v", d)
		}
	}
	// A forced backend is shown with the reason.
	forced := call{t: t, env: []string{"ARROWMASK_BACKEND=generic"}}.do("version", "--json")
	if err := json.Unmarshal([]byte(forced.out), &v); err != nil {
		t.Fatal(err)
	}
	for _, d := range v.Digests {
		if d.Backend != "generic" || !strings.Contains(d.Why, "ARROWMASK_BACKEND") {
			t.Errorf("version with a forced backend: %+v", d)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := arrowmask(t, "completion", shell); !strings.Contains(r.out, "arrowmask") {
			t.Errorf("no completion for %s", shell)
		}
	}
	if r := arrowmask(t, "--help"); !strings.Contains(r.out, "mask") || !strings.Contains(r.out, "Exit status") {
		t.Errorf("help: %q", r.out)
	}
	if r := arrowmask(t); !strings.Contains(r.out, "Usage:") {
		t.Errorf("no arguments: %q", r.out)
	}
}
