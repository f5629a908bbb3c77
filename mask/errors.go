package mask

import (
	"errors"
	"fmt"
)

// Sentinels; every error of this package wraps one of them, or one of
// kernels, fips or context, with the detail: the function, the argument, the
// type or the row number. No error text ever holds a cell's value or a key.
var (
	// ErrSyntax: the expression is outside the grammar; see SyntaxError.
	ErrSyntax = errors.New("syntax error")
	// ErrUnknownFunction: no function has that name.
	ErrUnknownFunction = errors.New("unknown function")
	// ErrArgument: a wrong number of arguments, or a literal that the function does not take.
	ErrArgument = errors.New("invalid argument")
	// ErrType: the function does not take a column of that type.
	ErrType = errors.New("type not supported")
	// ErrDialect: no dialect has that name.
	ErrDialect = errors.New("unknown dialect")
	// ErrKey: a key is missing, ambiguous, too short or given twice.
	ErrKey = errors.New("invalid key")
	// ErrValue: a value for which the function fails in the chosen dialect, as the engine does.
	ErrValue = errors.New("no answer for a value")
	// ErrColumn: an expression names a column that is not there, or there twice.
	ErrColumn = errors.New("no such column")
	// ErrVector: the buffers of a Vector do not fit its description.
	ErrVector = errors.New("malformed vector")
	// ErrTooLarge: the output does not fit its offsets. Nothing was allocated for it.
	ErrTooLarge = errors.New("output too large")
	// ErrInternal: a fault of this package, caught before it could leave it.
	ErrInternal = errors.New("internal error")
)

// SyntaxError says where an expression leaves the grammar. It wraps ErrSyntax.
type SyntaxError struct {
	Pos int    // byte position in the source, from 0
	Msg string // what was expected or found
}

// Error is the message with the byte position.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v at byte %d: %s", ErrSyntax, e.Pos, e.Msg)
}

// Unwrap is ErrSyntax.
func (e *SyntaxError) Unwrap() error { return ErrSyntax }
