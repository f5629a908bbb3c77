// Package fips says whether this process runs in FIPS mode and which
// algorithms it may then use. It is a leaf: it imports no other package of the
// project.
package fips

import (
	"errors"
	"fmt"
)

// EnvFIPS names the environment variable "on" or "off" that sets FIPS mode.
const EnvFIPS = "ARROWMASK_FIPS"

// ErrNotApproved: the function uses an algorithm that FIPS mode refuses.
var ErrNotApproved = errors.New("not approved in FIPS mode")

// ErrConfig: ARROWMASK_FIPS has a value that cannot be honoured.
var ErrConfig = errors.New("invalid FIPS setting")

// State is how FIPS mode was decided, once, at start.
type State struct {
	Enabled  bool   // digests go through Go's cryptographic module only
	Enforced bool   // fips140=only: Go itself refuses the rest
	Source   string // "off", "go module", "kernel", "ARROWMASK_FIPS"
	Err      error  // wraps ErrConfig; the caller must refuse to work
}

// state is decided while the package's variables are set, so no importer can
// ask before.
var state = decide(read())

// Current is the state of this process. It never changes.
func Current() State { return state }

// Enabled reports whether FIPS mode is on. It is also on when the setting
// cannot be honoured.
func Enabled() bool { return state.Enabled }

// Err is the error of the setting, nil when it could be honoured.
func Err() error { return state.Err }

// NotApproved is the error for a function that FIPS mode refuses; it wraps
// ErrNotApproved and names the function.
func NotApproved(function string) error {
	return fmt.Errorf("%s: %w", function, ErrNotApproved)
}
