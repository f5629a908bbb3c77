package ranger

import (
	"errors"
	"fmt"

	"github.com/arrowmask/arrowmask/policy"
)

// Sentinels; every error wraps one of these or one of package policy's.
var (
	// ErrMalformed: a file is not what it should be. Load joins the errors of
	// all policies.
	ErrMalformed = errors.New("malformed policy file")
	// ErrServiceDef: there is no service definition, or it is of no use.
	ErrServiceDef = errors.New("service definition")
	// ErrRequest: the question does not fit the service definition.
	ErrRequest = errors.New("request does not fit the service definition")
)

// closedf is an error that closes whatever the policy applies to.
func closedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", policy.ErrClosed, fmt.Sprintf(format, args...))
}
