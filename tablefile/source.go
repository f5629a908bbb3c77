package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// source is an input file that counts what is read from it.
type source struct {
	f    *os.File
	name string // for messages
	size int64  // -1: not a regular file
	own  bool   // close f
	read atomic.Int64
	foot *otherFooter // in place of f, when not nil
}

func openSource(ctx context.Context, path string, random bool) (*source, error) {
	s := &source{f: os.Stdin, name: "standard input", size: -1}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		s.f, s.name, s.own = f, path, true
	}
	info, err := s.f.Stat()
	if err != nil {
		s.Close()
		return nil, err
	}
	switch {
	case info.IsDir():
		s.Close()
		return nil, fmt.Errorf("%s: %w: it is a directory", s.name, ErrUnsupported)
	case info.Mode().IsRegular() && (s.own || atStart(s.f)):
		s.size = info.Size()
	case random:
		return s.spool(ctx)
	}
	return s, nil
}

// atStart says whether standard input, when it is a file, stands at its first byte; else random access would see bytes that were already taken.
func atStart(f *os.File) bool {
	pos, err := f.Seek(0, io.SeekCurrent)
	return err == nil && pos == 0
}

// spool copies s to an unnamed temporary file and closes it.
func (s *source) spool(ctx context.Context) (*source, error) {
	defer s.Close()
	f, err := unnamedTemp("")
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, &contextReader{ctx, s.f})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: copying to a temporary file: %w", s.name, err)
	}
	return &source{f: f, name: s.name, size: n, own: true}, nil
}

// spoolMark begins the names that temporary files have before they have none.
const spoolMark = ".arrowmask-spool-"

// unnamedTemp makes a temporary file in dir that has no name any more, so that nothing is left of it when the process ends.
func unnamedTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, spoolMark+"*"+tempSuffix)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) { // a sink may have held it for stale
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s *source) Read(p []byte) (int, error) {
	if s.foot != nil {
		return s.foot.Read(p)
	}
	n, err := s.f.Read(p)
	s.read.Add(int64(n))
	return n, err
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if s.foot != nil {
		return s.foot.ReadAt(p, off)
	}
	n, err := s.f.ReadAt(p, off)
	s.read.Add(int64(n))
	return n, err
}

func (s *source) Seek(offset int64, whence int) (int64, error) {
	if s.foot != nil {
		return s.foot.Seek(offset, whence)
	}
	return s.f.Seek(offset, whence)
}

func (s *source) Close() error {
	if !s.own {
		return nil
	}
	return s.f.Close()
}

// contextReader stops a copy when ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
