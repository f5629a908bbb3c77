package tablefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// outputError is a write that failed. It names what the user knows, the output or the folder of a temporary file, and not what stood between them.
type outputError struct {
	text  string
	cause error
}

func (e *outputError) Error() string { return e.text }
func (e *outputError) Unwrap() error { return e.cause }

// blame gives an error that ended the output its place: name, unless the error is that a file of ours could not be written, as on a full disk.
func (s *sink) blame(name string, err error) error {
	var p *os.PathError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: %w", name, err)
	}
	reason := p.Err
	var call *os.SyscallError // a copy inside the system
	if errors.As(reason, &call) {
		reason = call.Err
	}
	switch {
	case p.Path == s.f.Name() && s.temp == "":
		return &outputError{fmt.Sprintf("writing to standard output: %v", reason), err}
	case p.Path == s.f.Name():
		return &outputError{fmt.Sprintf("%s: cannot be written: %v", s.name, reason), err}
	case strings.HasPrefix(filepath.Base(p.Path), spoolMark):
		return &outputError{fmt.Sprintf("%s: cannot be written: a temporary file in %s: %v", s.name, filepath.Dir(p.Path), reason), err}
	}
	return fmt.Errorf("%s: %w", name, err)
}
