package kernels

import (
	"errors"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// Choice is how the backend of an algorithm was chosen, for reports.
type Choice struct {
	Alg     Alg
	Backend *Backend // nil when Err is set
	Why     string   // "best available", or the variable that forces it
	Passed  []Passed // better ones that were not taken, best first
	Err     error
}

// Passed is a backend that was not taken, and why.
type Passed struct {
	Backend *Backend
	Reason  string
}

// Active is the backend to use for the algorithm: the one that EnvBackend
// names, or the best that this machine can run and that passes its self-test.
// It is chosen once per process, at the first call for the algorithm.
//
// A backend that fails its self-test is dropped for the next and the standard
// logger told. Errors: the variable cannot be honoured (ErrUnknownAlg,
// ErrUnknownBackend, ErrUnsupportedBackend), or the forced backend, or every
// backend, failed (ErrSelfTest).
func Active(alg Alg) (*Backend, error) {
	c := Chosen(alg)
	return c.Backend, c.Err
}

// Chosen is Active with the reasons.
func Chosen(alg Alg) Choice {
	if alg >= numAlgs {
		return Choice{Alg: alg, Err: fmt.Errorf("%w: %s", ErrUnknownAlg, alg)}
	}
	return chosen[alg]()
}

// Err reports whether EnvBackend can be honoured, for programs that want to
// fail at start. It runs no self-test.
func Err() error {
	_, err := override()
	return err
}

var override = sync.OnceValues(func() (forced, error) {
	return parseOverride(os.Getenv(EnvBackend), &table, cpu.Features())
})

var chosen = func() (all [numAlgs]func() Choice) {
	for _, alg := range Algs() {
		all[alg] = sync.OnceValue(func() Choice {
			f, err := override()
			if err != nil {
				return Choice{Alg: alg, Err: err}
			}
			return choose(alg, table[alg], f[alg], cpu.Features(), log.Printf)
		})
	}
	return all
}()

// choose picks among backends, best first, for a machine with the given
// extensions; force, when not nil, leaves no choice.
func choose(alg Alg, backends []*Backend, force *Backend, have cpu.Set, warn func(format string, v ...any)) Choice {
	if force != nil {
		if err := force.selfTest(); err != nil {
			return Choice{Alg: alg, Err: fmt.Errorf("%s: %w", EnvBackend, err)}
		}
		return Choice{Alg: alg, Backend: force, Why: EnvBackend}
	}
	c := Choice{Alg: alg, Why: "best available"}
	var failures []error
	for _, b := range backends {
		reason := b.reason(have)
		if reason == "" {
			err := b.selfTest()
			if err == nil {
				c.Backend = b
				return c
			}
			warn("arrowmask: backend dropped: %v", err)
			failures = append(failures, err)
			reason = err.Error()
		}
		c.Passed = append(c.Passed, Passed{b, reason})
	}
	c.Why = ""
	c.Err = fmt.Errorf("%w: no backend of %s is left: %w", ErrSelfTest, alg, errors.Join(failures...))
	return c
}
