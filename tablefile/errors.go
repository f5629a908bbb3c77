package tablefile

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

var (
	// ErrFormat: the format of a file is not given and its name does not tell.
	ErrFormat = errors.New("unknown file format")
	// ErrExists: the output exists and WriteOptions.Overwrite is false.
	ErrExists = errors.New("file exists")
	// ErrSameFile: the output is one of the inputs, by whatever name.
	ErrSameFile = errors.New("input and output are the same file")
	// ErrMalformed: the input breaks the rules of its format, or holds another number of rows than it says.
	ErrMalformed = errors.New("malformed input")
	// ErrUnsupported: a type, codec or feature that this package does not read or write.
	ErrUnsupported = errors.New("not supported")
	// ErrValue: a value cannot be read as, or written as, its column's type: a bad CSV cell, a NULL in a required column.
	ErrValue = errors.New("bad value")
	// ErrClosed: the reader or writer was closed, committed or aborted before.
	ErrClosed = errors.New("already closed")
)

// guard turns a panic of the library behind it into an error of class. Only the text of run-time errors is kept: other panics may quote data.
func guard(class error, what string, err *error) {
	switch p := recover().(type) {
	case nil:
	case runtime.Error:
		*err = fmt.Errorf("%s: %w: %s", what, class, firstLine(p.Error()))
	default:
		*err = fmt.Errorf("%s: %w: internal failure of the decoder or encoder", what, class)
	}
}

// wrap gives err, from a library, a class and a place, in one line.
func wrap(class error, what string, err error) error {
	if errors.Is(err, class) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return &libraryError{class: class, what: what, cause: err}
}

// libraryError keeps the cause for errors.Is (a cancelled context, a full disk) and prints its first line only.
type libraryError struct {
	class error
	what  string
	cause error
}

func (e *libraryError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.what, e.class, firstLine(e.cause.Error()))
}

func (e *libraryError) Unwrap() []error { return []error{e.class, e.cause} }

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}
