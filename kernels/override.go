package kernels

import (
	"fmt"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// EnvBackend names the environment variable that forces backends. Its value is
// a list, separated by commas, of names ("generic") and of algorithms with a
// name ("sha256=std"). A bare name counts for every algorithm that has such a
// backend; the others keep their own choice. An entry with an algorithm goes
// before bare names; besides, the first entry that fits an algorithm counts.
// "hex=" and a name is for package hexenc, and so are bare names that it has
// too.
const EnvBackend = cpu.EnvBackend

// hexEntry is what stands before the name of an encoder.
const hexEntry = "hex"

// forced holds the backend that the variable names for an algorithm; nil where
// it names none.
type forced [numAlgs]*Backend

// parseOverride reads the variable's value for a machine with the given
// extensions. Every entry must name a backend that exists and can run, also
// one that an earlier entry outdoes. Errors wrap ErrUnknownAlg,
// ErrUnknownBackend or ErrUnsupportedBackend.
func parseOverride(value string, backends *[numAlgs][]*Backend, have cpu.Set) (forced, error) {
	var exact, bare forced
	for entry := range cpu.Overrides(value) {
		if entry.What == hexEntry {
			continue
		}
		fill, of := &bare, Algs()
		if entry.Pair {
			alg, err := ParseAlg(entry.What)
			if err != nil {
				return forced{}, fmt.Errorf("%s: %w", EnvBackend, err)
			}
			fill, of = &exact, []Alg{alg}
		}
		known := false
		for _, alg := range of {
			b := find(backends[alg], entry.Backend)
			if b == nil {
				continue
			}
			known = true
			if err := b.unsupported(have); err != nil {
				return forced{}, fmt.Errorf("%s: %w", EnvBackend, err)
			}
			if fill[alg] == nil {
				fill[alg] = b
			}
		}
		if !known {
			return forced{}, fmt.Errorf("%s: %w: %q", EnvBackend, ErrUnknownBackend, entry.Text)
		}
	}
	for alg, b := range bare {
		if exact[alg] == nil {
			exact[alg] = b
		}
	}
	return exact, nil
}
