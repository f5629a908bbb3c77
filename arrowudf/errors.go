package arrowudf

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/arrowmask/arrowmask/mask"
)

// Sentinels. Every error wraps one of these, one of package mask (ErrType,
// ErrArgument, ErrTooLarge, ErrInternal, ...), or the context's, with the
// detail: the function, the type, the row. No error text holds a cell's value
// or key material.
var (
	// ErrArray: an array is not of the type that its function was compiled
	// for, or its buffers, indices or run ends do not fit together.
	ErrArray = errors.New("malformed array")
	// ErrExists: a registry has a function of that name already.
	ErrExists = errors.New("function name is taken")
)

// recovered turns a panic into an error. Only the runtime's own messages are
// kept: any other value might quote a cell.
func recovered(what string, p any) error {
	if e, ok := p.(runtime.Error); ok {
		return fmt.Errorf("%w: %s: %s", mask.ErrInternal, what, e.Error())
	}
	return fmt.Errorf("%w: %s: unexpected panic", mask.ErrInternal, what)
}
