package main

import (
	"errors"
	"fmt"
	"strings"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitSignal = 128 // plus the signal's number
)

// usageError is a command line that was refused before any input was read.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errQuiet fails a command that has said on its standard output what failed.
var errQuiet = errors.New("failed")

// exitStatus maps the outcome of a command to the status of the process.
func exitStatus(err error) int {
	var sig signalError
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &sig):
		return exitSignal + int(sig.Signal)
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}

// oneLine writes an error as one line: joined errors are separated by "; ".
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
