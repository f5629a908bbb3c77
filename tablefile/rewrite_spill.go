package tablefile

import (
	"os"
	"sync"
)

// spillBytes is how much of a new chunk stays in memory.
const spillBytes = 8 << 20

// spillBuffers are reused: a chunk would otherwise grow its own several times over.
var spillBuffers = sync.Pool{New: func() any { b := make([]byte, 0, spillBytes); return &b }}

// spill is a file that lies in memory while it is small, then in an unnamed temporary file. What was written is valid until free.
type spill struct {
	dir  string
	data *[]byte // nil: nothing yet, or all of it in f
	f    *os.File
	size int64
}

func (s *spill) Write(p []byte) (n int, err error) {
	if s.f == nil && s.size+int64(len(p)) > spillBytes {
		if err := s.toFile(); err != nil {
			return 0, err
		}
	}
	if s.f != nil {
		n, err = s.f.Write(p)
		s.size += int64(n)
		return n, err
	}
	if s.data == nil {
		s.data = spillBuffers.Get().(*[]byte)
	}
	*s.data = append(*s.data, p...)
	s.size += int64(len(p))
	return len(p), nil
}

func (s *spill) toFile() (err error) {
	if s.f, err = unnamedTemp(s.dir); err != nil {
		return err
	}
	if s.data != nil {
		_, err = s.f.Write(*s.data)
		s.release()
	}
	return err
}

func (s *spill) source(name string) *source {
	if s.f != nil {
		return &source{f: s.f, name: name, size: s.size}
	}
	return memorySource(name, *s.data)
}

func (s *spill) release() {
	if s.data != nil {
		*s.data = (*s.data)[:0]
		spillBuffers.Put(s.data)
		s.data = nil
	}
}

func (s *spill) free() {
	s.release()
	if s.f != nil {
		s.f.Close()
		s.f = nil
	}
}
