package hexenc

import (
	"errors"
	"fmt"
	"os"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// EnvBackend names the environment variable that forces backends, of digests
// and of this package: a list, separated by commas, of names and of pairs. The
// pair "hex=ssse3" counts here, and so does the first bare name that a backend
// of this package has; all else is about digests. The pair goes before bare
// names.
const EnvBackend = cpu.EnvBackend

// ErrBackend is wrapped by Err.
var ErrBackend = errors.New("hexenc: backend cannot be used")

// Choice is how the backend behind Lower and Upper was chosen, for reports.
type Choice struct {
	Backend *Backend
	Why     string // "best available", or the variable that forces it
	// Err says that EnvBackend cannot be honoured; then Backend is the best that
	// this machine can run.
	Err error
}

var chosen = choose(os.Getenv(EnvBackend), table, cpu.Features())

// Chosen is the choice, made once at start.
func Chosen() Choice { return chosen }

// Active is the backend behind Lower and Upper.
func Active() *Backend { return chosen.Backend }

// Err reports whether EnvBackend can be honoured. Programs ask at start, since
// Lower and Upper do not fail. The error wraps ErrBackend.
func Err() error { return chosen.Err }

// choose reads the variable's value for a machine with the given extensions.
func choose(value string, backends []*Backend, have cpu.Set) Choice {
	c := Choice{Backend: best(backends, have), Why: "best available"}
	var pair, bare *Backend
	for entry := range cpu.Overrides(value) {
		if entry.Pair && entry.What != "hex" {
			continue
		}
		b := find(backends, entry.Backend)
		switch {
		case b == nil && !entry.Pair: // the name of something else
		case b == nil:
			c.Err = fmt.Errorf("%s: %w: hex has none called %q", EnvBackend, ErrBackend, entry.Backend)
			return c
		case b.reason(have) != "":
			c.Err = fmt.Errorf("%s: %w: %s of hex: %s", EnvBackend, ErrBackend, b.Name, b.reason(have))
			return c
		case entry.Pair && pair == nil:
			pair = b
		case !entry.Pair && bare == nil:
			bare = b
		}
	}
	if pair == nil {
		pair = bare
	}
	if pair != nil {
		c.Backend, c.Why = pair, EnvBackend
	}
	return c
}

func find(backends []*Backend, name string) *Backend {
	for _, b := range backends {
		if b.Name == name {
			return b
		}
	}
	return nil
}

func best(backends []*Backend, have cpu.Set) *Backend {
	for _, b := range backends {
		if have.Has(b.Needs) {
			return b
		}
	}
	return nil
}
