package kernels

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/childtest"
	"github.com/arrowmask/arrowmask/internal/cpu"
)

// fake is a backend that works (it is generic inside) and needs something.
func fake(alg Alg, name string, needs cpu.Set) *Backend {
	b := newGeneric(alg)
	b.Name, b.Needs = name, needs
	return b
}

// broken is a backend that spoils one bit of the digest of the given row of a
// batch.
func broken(alg Alg, name string, row int) *Backend {
	b := newGeneric(alg)
	right := b.sum
	b.Name = name
	b.sum = func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		right(dst, col, lo, hi, mac)
		if row >= lo && row < hi {
			dst[(row-lo)*alg.Size()] ^= 1
		}
	}
	return b
}

// brokenHMAC is right for plain digests only.
func brokenHMAC(alg Alg, name string) *Backend {
	b := newGeneric(alg)
	right := b.sum
	b.Name = name
	b.sum = func(dst []byte, col *Column, lo, hi int, mac *macKey) { right(dst, col, lo, hi, nil) }
	return b
}

func panicking(alg Alg, name string) *Backend {
	b := newGeneric(alg)
	b.Name = name
	b.sum = func([]byte, *Column, int, int, *macKey) { panic("made up") }
	return b
}

func TestChoose(t *testing.T) {
	const have = cpu.SHA | cpu.AVX2
	for _, c := range []struct {
		name     string
		backends []*Backend
		want     string   // name of the chosen one; empty for an error
		passed   []string // "name: part of the reason"
		warnings int
	}{
		{"best first", []*Backend{fake(SHA256, "a", 0), fake(SHA256, "b", 0)}, "a", nil, 0},
		{"best is missing something", []*Backend{fake(SHA256, "a", cpu.SHA|cpu.AVX512F), fake(SHA256, "b", 0)},
			"b", []string{"a: lacks avx512f"}, 0},
		{"best is wrong in row 0", []*Backend{broken(SHA256, "a", 0), fake(SHA256, "b", 0)},
			"b", []string{"a: self-test failed: a of sha256: wrong digest of abc"}, 1},
		{"best is wrong in one lane", []*Backend{broken(SHA256, "a", 111), fake(SHA256, "b", 0)},
			"b", []string{"a: wrong digests of a batch"}, 1},
		{"best is wrong with a key", []*Backend{brokenHMAC(SHA256, "a"), fake(SHA256, "b", 0)},
			"b", []string{"a: wrong HMACs of a batch"}, 1},
		{"best panics", []*Backend{panicking(SHA256, "a"), fake(SHA256, "b", 0)},
			"b", []string{"a: panic: made up"}, 1},
		{"two of three", []*Backend{broken(SHA256, "a", 96), fake(SHA256, "b", cpu.NEON), fake(SHA256, "c", 0)},
			"c", []string{"a: wrong digests", "b: lacks neon"}, 1},
		{"all fail", []*Backend{broken(SHA256, "a", 5), panicking(SHA256, "b")},
			"", []string{"a: wrong", "b: panic"}, 2},
		{"none can run", []*Backend{fake(SHA256, "a", cpu.NEON)}, "", []string{"a: lacks neon"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			warnings := 0
			got := choose(SHA256, c.backends, nil, have, func(string, ...any) { warnings++ })
			if c.want == "" {
				if !errors.Is(got.Err, ErrSelfTest) || got.Backend != nil {
					t.Errorf("backend %v, error %v", got.Backend, got.Err)
				}
			} else if got.Err != nil || got.Backend.Name != c.want || got.Why != "best available" {
				t.Errorf("chose %+v, want %s", got, c.want)
			}
			if warnings != c.warnings {
				t.Errorf("%d warnings, want %d", warnings, c.warnings)
			}
			if len(got.Passed) != len(c.passed) {
				t.Fatalf("passed over %v, want %v", got.Passed, c.passed)
			}
			for i, p := range got.Passed {
				name, reason, _ := strings.Cut(c.passed[i], ": ")
				if p.Backend.Name != name || !strings.Contains(p.Reason, reason) {
					t.Errorf("passed over %s: %s, want %s", p.Backend.Name, p.Reason, c.passed[i])
				}
			}
		})
	}
}

// TestForcedFails: a forced backend is never replaced.
func TestForcedFails(t *testing.T) {
	bad := broken(SHA256, "bad", 3)
	c := choose(SHA256, []*Backend{fake(SHA256, "good", 0), bad}, bad, 0, t.Logf)
	if c.Backend != nil || !errors.Is(c.Err, ErrSelfTest) || !strings.Contains(c.Err.Error(), EnvBackend) {
		t.Errorf("%+v", c)
	}
}

// TestB01EveryNeedCounts: with one needed extension off, any one, a backend is
// not chosen, not found by an override and does not run.
func TestB01EveryNeedCounts(t *testing.T) {
	const needs = cpu.SSSE3 | cpu.SSE41 | cpu.SHA | cpu.AVX | cpu.AVX2 | cpu.BMI2
	for rest := needs; rest != 0; rest &= rest - 1 {
		have := needs &^ (rest & -rest)
		b := fake(SHA1, "wide", needs)
		if got := choose(SHA1, []*Backend{b, newGeneric(SHA1)}, nil, have, t.Logf); got.Backend.Name != "generic" {
			t.Errorf("with %v: chose %s", have, got.Backend.Name)
		}
		backends := [numAlgs][]*Backend{SHA1: {b}}
		if _, err := parseOverride("wide", &backends, have); !errors.Is(err, ErrUnsupportedBackend) {
			t.Errorf("with %v: override gives %v", have, err)
		}
	}
}

// TestB01AbsentBackend: a backend that cannot run here, for whatever reason,
// returns an error from every way of using it.
func TestB01AbsentBackend(t *testing.T) {
	nothingHasBoth := cpu.NEON | cpu.SSE2
	for _, b := range []*Backend{fake(SHA256, "absent", nothingHasBoth), {Alg: SHA256, Name: "refused", refused: "made up"}} {
		if b.Available() || b.Reason() == "" {
			t.Errorf("%s is available", b.Name)
		}
		col := FixedWidth(make([]byte, 64), 32, 2)
		if err := New(b).Sum(make([]byte, 64), &col, 0, 2); !errors.Is(err, ErrUnsupportedBackend) {
			t.Errorf("%s: Sum: %v", b.Name, err)
		}
		if _, err := NewHMAC(b, make([]byte, 32)); !errors.Is(err, ErrUnsupportedBackend) {
			t.Errorf("%s: NewHMAC: %v", b.Name, err)
		}
		if err := b.selfTest(); !errors.Is(err, ErrSelfTest) {
			t.Errorf("%s: self-test: %v", b.Name, err)
		}
	}
}

func TestParseOverride(t *testing.T) {
	var backends [numAlgs][]*Backend
	for _, alg := range Algs() {
		if alg == SHA256 || alg == SHA1 {
			backends[alg] = append(backends[alg], fake(alg, "shani", cpu.SHA))
		}
		backends[alg] = append(backends[alg], fake(alg, "avx512", cpu.AVX512F), fake(alg, "std", 0), fake(alg, "generic", 0))
	}
	for _, c := range []struct {
		value string
		want  map[Alg]string
		err   error
		says  string
	}{
		{"", nil, nil, ""},
		{" , ,", nil, nil, ""},
		{"shani", map[Alg]string{SHA256: "shani", SHA1: "shani"}, nil, ""},
		{" shani ", map[Alg]string{SHA256: "shani", SHA1: "shani"}, nil, ""},
		{"sha256=std", map[Alg]string{SHA256: "std"}, nil, ""},
		{"hex=ssse3", nil, nil, ""},
		{"hex = none,sha256=std", map[Alg]string{SHA256: "std"}, nil, ""},
		{"sha256=shani,md5=generic", map[Alg]string{SHA256: "shani", MD5: "generic"}, nil, ""},
		{"shani, sha1 = std", map[Alg]string{SHA256: "shani", SHA1: "std"}, nil, ""},
		{"sha1=std,shani", map[Alg]string{SHA256: "shani", SHA1: "std"}, nil, ""},
		{"sha1=std,sha1=generic", map[Alg]string{SHA1: "std"}, nil, ""},
		{"shani,generic", map[Alg]string{SHA256: "shani", SHA1: "shani", MD5: "generic", SHA224: "generic", SHA384: "generic", SHA512: "generic", SHA512_256: "generic"}, nil, ""},

		{"avx9", nil, ErrUnknownBackend, `"avx9"`},
		{"SHANI", nil, ErrUnknownBackend, `"SHANI"`},
		{"std,avx9", nil, ErrUnknownBackend, `"avx9"`},
		{"md5=shani", nil, ErrUnknownBackend, `"md5=shani"`},
		{"md5=", nil, ErrUnknownBackend, `"md5="`},
		{"=std", nil, ErrUnknownAlg, `""`},
		{"sha3=std", nil, ErrUnknownAlg, `"sha3"`},
		{"avx512", nil, ErrUnsupportedBackend, "avx512f"},
		{"sha512=avx512", nil, ErrUnsupportedBackend, "avx512 of sha512"},
		{"std,avx512", nil, ErrUnsupportedBackend, "avx512f"},
	} {
		t.Run(c.value, func(t *testing.T) {
			got, err := parseOverride(c.value, &backends, cpu.SHA)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), EnvBackend)) {
				t.Errorf("error %q does not say %q", err, c.says)
			}
			for _, alg := range Algs() {
				name := ""
				if got[alg] != nil {
					name = got[alg].Name
				}
				if name != c.want[alg] {
					t.Errorf("%s: %q, want %q", alg, name, c.want[alg])
				}
			}
		})
	}
}

// TestOverrideInProcess starts this test binary again with the variable set
// and asks what each algorithm got.
func TestOverrideInProcess(t *testing.T) {
	const child = "ARROWMASK_KERNELS_TEST_CHILD"
	if os.Getenv(child) != "" {
		fmt.Println("err:", Err())
		for _, alg := range []Alg{MD5, SHA256} {
			b, err := Active(alg)
			if err != nil {
				fmt.Printf("%s: error: %v\n", alg, err)
				continue
			}
			fmt.Printf("%s: %s because %s\n", alg, b.Name, Chosen(alg).Why)
		}
		return
	}
	for _, c := range []struct {
		value string
		want  []string
	}{
		{"", []string{"err: <nil>", "md5: " + bestHere(MD5) + " because best available", "sha256: " + bestHere(SHA256) + " because best available"}},
		{"generic", []string{"err: <nil>", "md5: generic because ARROWMASK_BACKEND", "sha256: generic because ARROWMASK_BACKEND"}},
		{"md5=generic,sha256=std", []string{"md5: generic because ARROWMASK_BACKEND", "sha256: std because ARROWMASK_BACKEND"}},
		{"sha256=std", []string{"md5: " + bestHere(MD5) + " because best available", "sha256: std because ARROWMASK_BACKEND"}},
		{"nonsense", []string{`err: ARROWMASK_BACKEND: unknown backend: "nonsense"`, "md5: error: ARROWMASK_BACKEND", "sha256: error: ARROWMASK_BACKEND"}},
	} {
		out := childtest.Run(t, "TestOverrideInProcess", child+"=1", EnvBackend+"="+c.value)
		for _, line := range c.want {
			if !strings.Contains(out, line) {
				t.Errorf("%q: no %q in\n%s", c.value, line, out)
			}
		}
	}
}

func bestHere(alg Alg) string {
	for _, b := range All(alg) {
		if b.Available() {
			return b.Name
		}
	}
	return "none"
}

// TestTable: every algorithm has generic, last, and std; names are not given
// twice; every backend of this machine passes its self-test.
func TestTable(t *testing.T) {
	for _, alg := range Algs() {
		backends := All(alg)
		seen := map[string]bool{}
		for _, b := range backends {
			if seen[b.Name] || b.Alg != alg || b.Lanes < 1 {
				t.Errorf("%s: odd entry %s of %s with %d lanes", alg, b.Name, b.Alg, b.Lanes)
			}
			seen[b.Name] = true
			if !b.Available() {
				t.Logf("%s of %s: %s", b.Name, alg, b.Reason())
				continue
			}
			if got, err := ByName(alg, b.Name); err != nil || got != b {
				t.Errorf("%s of %s: %v", b.Name, alg, err)
			}
		}
		if !seen["std"] || backends[len(backends)-1].Name != "generic" {
			t.Errorf("%s: std or generic is not where it belongs", alg)
		}
		backends[0] = nil
		if All(alg)[0] == nil {
			t.Error("All hands out the table itself")
		}
	}
	for _, c := range []struct {
		alg  Alg
		name string
		want error
	}{{SHA256, "nonsense", ErrUnknownBackend}, {MD5, "sha256simd", ErrUnknownBackend}, {numAlgs, "std", ErrUnknownAlg}} {
		if _, err := ByName(c.alg, c.name); !errors.Is(err, c.want) {
			t.Errorf("%s, %s: %v", c.alg, c.name, err)
		}
	}
	if _, err := Active(numAlgs); !errors.Is(err, ErrUnknownAlg) {
		t.Errorf("no such algorithm: %v", err)
	}
	if All(numAlgs) != nil {
		t.Error("an algorithm that does not exist has backends")
	}
}

func TestAlgs(t *testing.T) {
	for _, alg := range Algs() {
		got, err := ParseAlg(alg.String())
		if err != nil || got != alg {
			t.Errorf("%s: %v, %v", alg, got, err)
		}
		if alg.Size() > MaxSize || alg.BlockSize() > maxBlock {
			t.Errorf("%s: digest of %d bytes, block of %d", alg, alg.Size(), alg.BlockSize())
		}
	}
	for _, name := range []string{"", "SHA256", "sha-256", "sha3_256"} {
		if _, err := ParseAlg(name); !errors.Is(err, ErrUnknownAlg) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := Alg(200).String(); got != "Alg(200)" {
		t.Error(got)
	}
}
