// Package report draws the records of a run: a page with plots, and the summary
// tables of README.md and doc/performance.md.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/arrowmask/arrowmask/bench/result"
)

// Run is everything that a run of the suites left behind.
type Run struct {
	Machine result.Machine
	Records []result.Record
	Skipped []string // lines that say what could not be measured
}

// Load reads a run from the folder of its records.
func Load(dir string) (Run, error) {
	var (
		r   Run
		err error
	)
	if r.Records, err = result.Read(dir); err != nil {
		return r, err
	}
	if r.Skipped, err = result.ReadSkipped(dir); err != nil {
		return r, err
	}
	r.Machine, err = result.ReadMachine(dir)
	return r, err
}

// Save writes the run to dir in the form that Load reads, with four digits a
// figure: what the page is drawn from, small enough to be kept beside it.
func (r Run) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	bySuite := map[string]*bytes.Buffer{}
	for _, rec := range r.Records {
		b := bySuite[rec.Suite]
		if b == nil {
			b = new(bytes.Buffer)
			bySuite[rec.Suite] = b
		}
		line, err := json.Marshal(rounded(rec))
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	if err := removeAll(filepath.Join(dir, "*.jsonl")); err != nil {
		return err
	}
	for suite, b := range bySuite {
		if err := os.WriteFile(filepath.Join(dir, suite+".jsonl"), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	machine, err := json.MarshalIndent(r.Machine, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "machine.json"), append(machine, '\n'), 0o644); err != nil {
		return err
	}
	skipped := filepath.Join(dir, "skipped.txt")
	if len(r.Skipped) == 0 {
		if err := os.Remove(skipped); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	var b bytes.Buffer
	for _, line := range r.Skipped {
		b.WriteString(line + "\n")
	}
	return os.WriteFile(skipped, b.Bytes(), 0o644)
}

// removeAll removes the files that a pattern names.
func removeAll(pattern string) error {
	old, err := filepath.Glob(pattern)
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func rounded(r result.Record) result.Record {
	r.Min, r.Median, r.Ratio = digits(r.Min), digits(r.Median), digits(r.Ratio)
	extra := make(map[string]float64, len(r.Extra))
	for name, x := range r.Extra {
		extra[name] = digits(x)
	}
	r.Extra = extra
	return r
}

// digits is x to four significant digits.
func digits(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// where is the records of a suite whose case has all the given values, as names
// and values in turns.
func (r Run) where(suite string, namesAndValues ...string) []result.Record {
	var found []result.Record
	for _, rec := range r.Records {
		ok := rec.Suite == suite
		for i := 0; ok && i < len(namesAndValues); i += 2 {
			ok = rec.Get(namesAndValues[i]) == namesAndValues[i+1]
		}
		if ok {
			found = append(found, rec)
		}
	}
	return found
}

// one is the record of a side among those of where.
func (r Run) one(side, suite string, namesAndValues ...string) (result.Record, bool) {
	for _, rec := range r.where(suite, namesAndValues...) {
		if rec.Side == side {
			return rec, true
		}
	}
	return result.Record{}, false
}

// sides is who is on the records, arrowmask first, the others in the order of
// the records.
func sides(records []result.Record) []string {
	var names []string
	for _, r := range records {
		if !slices.Contains(names, r.Side) {
			names = append(names, r.Side)
		}
	}
	if i := slices.Index(names, result.Ours); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, result.Ours)
	}
	return names
}
