// Package result holds what the suites measure: records, the files they are
// written to, and the comparison of two runs.
package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Ours is the side that every ratio is taken against.
const Ours = "arrowmask"

// ErrRecord is wrapped by every error about a malformed record.
var ErrRecord = errors.New("malformed record")

// Record is one measured cell of one side.
type Record struct {
	Suite  string  `json:"suite"` // digest, limit, impala, engines, overhead, pipeline
	Case   []Key   `json:"case"`  // what the cell is, in the order in which it is printed
	Side   string  `json:"side"`  // Ours, or the rival's name
	Unit   string  `json:"unit"`  // ns/row, ns, cycles, s, B, MiB, ...
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Rounds int     `json:"rounds"`
	// Ratio is how many times more than arrowmask the side took in the same
	// rounds, by Min: above 1, arrowmask is ahead (less is better in every unit
	// that has a ratio). 0: there is no such comparison.
	Ratio float64 `json:"ratio,omitempty"`
	// Extra are further figures of the cell by name, such as ratio_median, the
	// median of the ratios within a round.
	Extra map[string]float64 `json:"extra,omitempty"`
}

// Key is one coordinate of a cell. In JSON it is a pair: ["alg","sha256"].
type Key struct{ Name, Value string }

// Keys makes a case of names and values in turns; a value is anything that
// fmt prints. It panics when a value is missing.
func Keys(namesAndValues ...any) []Key {
	keys := make([]Key, len(namesAndValues)/2)
	for i := range keys {
		keys[i] = Key{fmt.Sprint(namesAndValues[2*i]), fmt.Sprint(namesAndValues[2*i+1])}
	}
	return keys
}

// MarshalJSON writes the pair.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal([2]string{k.Name, k.Value}) }

// UnmarshalJSON reads the pair.
func (k *Key) UnmarshalJSON(b []byte) error {
	var pair []string
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("%w: a key of %d strings, not 2", ErrRecord, len(pair))
	}
	k.Name, k.Value = pair[0], pair[1]
	return nil
}

// Get is the value of a key of the case; empty when it has none of the name.
func (r Record) Get(name string) string {
	for _, k := range r.Case {
		if k.Name == name {
			return k.Value
		}
	}
	return ""
}

// ID names the cell and the side: what two runs have in common.
func (r Record) ID() string {
	var b strings.Builder
	b.WriteString("suite=" + r.Suite)
	for _, k := range r.Case {
		fmt.Fprintf(&b, " %s=%s", k.Name, k.Value)
	}
	b.WriteString(" side=" + r.Side)
	return b.String()
}

// String is the line on standard output:
//
//	suite=digest alg=sha256 out=hex len=32 threads=1 side=go-std rounds=5 min=98.1 median=99.0 unit=ns/row ratio=5.80
func (r Record) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s rounds=%d min=%s median=%s unit=%s", r.ID(), r.Rounds, Figure(r.Min), Figure(r.Median), r.Unit)
	if r.Ratio != 0 {
		b.WriteString(" ratio=" + Figure(r.Ratio))
	}
	for _, name := range r.extras() {
		fmt.Fprintf(&b, " %s=%s", name, Figure(r.Extra[name]))
	}
	return b.String()
}

// Benchstat is the median as a line that benchstat reads:
//
//	BenchmarkDigest/alg=sha256/out=hex/len=32/threads=1/side=go-std 1 99.0 ns/row
func (r Record) Benchstat() string {
	var b strings.Builder
	b.WriteString("Benchmark" + strings.ToUpper(r.Suite[:1]) + r.Suite[1:])
	for _, k := range r.Case {
		fmt.Fprintf(&b, "/%s=%s", k.Name, k.Value)
	}
	fmt.Fprintf(&b, "/side=%s 1 %s %s", r.Side, strconv.FormatFloat(r.Median, 'g', -1, 64), r.Unit)
	return b.String()
}

func (r Record) extras() []string {
	names := make([]string, 0, len(r.Extra))
	for name := range r.Extra {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Figure has at least three digits that mean something.
func Figure(x float64) string {
	switch abs := max(x, -x); {
	case abs >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case abs >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case abs >= 1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// check refuses what the lines and the files could not hold.
func (r Record) check() error {
	words := []string{r.Suite, r.Side, r.Unit}
	for _, k := range r.Case {
		words = append(words, k.Name, k.Value)
	}
	words = append(words, r.extras()...)
	for _, w := range words {
		if w == "" || strings.ContainsFunc(w, unicode.IsSpace) {
			return fmt.Errorf("%w: %q in %s: want a word without blanks", ErrRecord, w, r.ID())
		}
	}
	if r.Ratio < 0 {
		return fmt.Errorf("%w: ratio %v in %s", ErrRecord, r.Ratio, r.ID())
	}
	return nil
}
