package kat

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/kernels"
)

// Report is what came out of a run. A vector passed when every backend and
// evaluator that ran it gave the expected answer.
type Report struct {
	Passed  int
	Failed  int
	Skipped int

	Files    []*FileTally    // in the order they were read
	Backends []*BackendTally // by algorithm, best first
	Failures []Failure       // several for a vector that failed in several ways
	Skips    []Skip

	byFile map[string]*FileTally
	failed map[*Vector]bool
}

// FileTally counts the vectors of one file.
type FileTally struct {
	File                    string
	Passed, Failed, Skipped int
}

// BackendTally counts the vectors that one backend ran.
type BackendTally struct {
	Alg     string
	Backend string
	Vectors int
	Failed  int
	Reason  string // why it ran none: not available here, or not asked for
}

// Failure is one wrong answer. Vectors are public, so the values are shown.
type Failure struct {
	File    string
	Line    int
	ID      string
	Backend string // "" where no digest is involved
	Where   string // the layout, or the evaluator
	Want    string
	Got     string
}

// Skip is a vector that was not run.
type Skip struct {
	File   string
	Line   int
	ID     string
	Reason string
}

func newReport() *Report {
	return &Report{byFile: make(map[string]*FileTally), failed: make(map[*Vector]bool)}
}

func (r *Report) file(name string) *FileTally {
	t := r.byFile[name]
	if t == nil {
		t = &FileTally{File: name}
		r.byFile[name] = t
		r.Files = append(r.Files, t)
	}
	return t
}

func (r *Report) backend(b *kernels.Backend) *BackendTally {
	for _, t := range r.Backends {
		if t.Alg == b.Alg.String() && t.Backend == b.Name {
			return t
		}
	}
	t := &BackendTally{Alg: b.Alg.String(), Backend: b.Name}
	r.Backends = append(r.Backends, t)
	return t
}

// fail notes a wrong answer; done counts the vector.
func (r *Report) fail(v *Vector, backend, where, want, got string) {
	r.failed[v] = true
	r.Failures = append(r.Failures, Failure{v.File, v.Line, v.ID, backend, where, want, got})
}

func (r *Report) done(v *Vector) {
	if r.failed[v] {
		r.Failed++
		r.file(v.File).Failed++
		return
	}
	r.Passed++
	r.file(v.File).Passed++
}

func (r *Report) skip(v *Vector, reason string) {
	r.Skipped++
	r.file(v.File).Skipped++
	r.Skips = append(r.Skips, Skip{v.File, v.Line, v.ID, reason})
}

// WriteText writes the report for people. The last line is
// "N passed, N failed, N skipped". Skips are listed by reason; with verbose
// also one by one, and files with their counts.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	b := bufio.NewWriter(w)
	if verbose {
		for _, f := range r.Files {
			fmt.Fprintf(b, "file %s: %d passed, %d failed, %d skipped\n", f.File, f.Passed, f.Failed, f.Skipped)
		}
		for _, s := range r.Skips {
			fmt.Fprintf(b, "skip %s (%s:%d): %s\n", s.ID, s.File, s.Line, s.Reason)
		}
	}
	for _, t := range r.Backends {
		switch {
		case t.Reason != "":
			if verbose {
				fmt.Fprintf(b, "backend %s/%s: not run: %s\n", t.Alg, t.Backend, t.Reason)
			}
		case t.Vectors > 0:
			fmt.Fprintf(b, "backend %s/%s: %d vectors, %d failed\n", t.Alg, t.Backend, t.Vectors, t.Failed)
		}
	}
	for _, s := range r.skipReasons() {
		fmt.Fprintf(b, "skipped %d: %s\n", s.count, s.reason)
	}
	for _, f := range r.Failures {
		where := f.Where
		if f.Backend != "" {
			where = f.Backend + ", " + where
		}
		fmt.Fprintf(b, "FAIL %s (%s:%d) %s: want %s, got %s\n", f.ID, f.File, f.Line, where, brief(f.Want), brief(f.Got))
	}
	fmt.Fprintf(b, "%d passed, %d failed, %d skipped\n", r.Passed, r.Failed, r.Skipped)
	return b.Flush()
}

type reasonCount struct {
	reason string
	count  int
}

// skipReasons counts the skips by reason, most first.
func (r *Report) skipReasons() []reasonCount {
	var list []reasonCount
	at := make(map[string]int)
	for _, s := range r.Skips {
		i, ok := at[s.Reason]
		if !ok {
			i = len(list)
			at[s.Reason] = i
			list = append(list, reasonCount{reason: s.Reason})
		}
		list[i].count++
	}
	slices.SortStableFunc(list, func(a, b reasonCount) int { return b.count - a.count })
	return list
}

// brief keeps a value on one line of bearable length.
func brief(s string) string {
	const most = 300
	s = strings.ToValidUTF8(s, "?")
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
