package cpu

import (
	"iter"
	"strings"
)

// EnvBackend names the environment variable that forces backends: a list of
// entries, separated by commas. Packages kernels and hexenc say what they mean.
const EnvBackend = "ARROWMASK_BACKEND"

// Override is an entry of EnvBackend: a pair, WHAT=BACKEND, or the bare name of
// a backend.
type Override struct {
	Text          string // as it stands there
	What, Backend string
	Pair          bool
}

// Overrides are the entries of a value of EnvBackend in their order, without
// blanks around names and without empty ones.
func Overrides(value string) iter.Seq[Override] {
	return func(yield func(Override) bool) {
		for text := range strings.SplitSeq(value, ",") {
			o := Override{Text: strings.TrimSpace(text)}
			if o.Text == "" {
				continue
			}
			if o.What, o.Backend, o.Pair = strings.Cut(o.Text, "="); !o.Pair {
				o.What, o.Backend = "", o.What
			}
			o.What, o.Backend = strings.TrimSpace(o.What), strings.TrimSpace(o.Backend)
			if !yield(o) {
				return
			}
		}
	}
}
