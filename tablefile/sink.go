package tablefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// A sink is an output file that appears under its name complete or not at all: it is written under a hidden temporary name in the same folder,
// synced, and renamed. The temporary file is locked by its writer, so that one left by a writer that was killed can be told from one in use; the
// next sink for the same name removes it.
type sink struct {
	f         *os.File
	name      string // final path; "-" for standard output
	temp      string // temporary path; empty for standard output
	overwrite bool
	written   atomic.Int64
	state     atomic.Int32
}

const (
	sinkOpen int32 = iota
	sinkCommitting
	sinkDone
)

const (
	tempMark   = ".arrowmask-"
	tempSuffix = ".tmp"
)

func newSink(path string, overwrite bool) (*sink, error) {
	if path == "-" {
		return &sink{f: os.Stdout, name: path}, nil
	}
	perm, err := checkTarget(path, overwrite)
	if err != nil {
		return nil, err
	}
	dir, prefix := tempPlace(path)
	removeStale(dir, prefix)
	f, err := createLocked(dir, prefix)
	if err != nil {
		return nil, err
	}
	s := &sink{f: f, name: path, temp: f.Name(), overwrite: overwrite}
	if perm != 0 {
		if err := f.Chmod(perm); err != nil {
			s.abort()
			return nil, err
		}
	}
	return s, nil
}

// checkTarget refuses outputs that exist, unless overwrite is set, and those that are no regular files whatever is set: a rename would replace a
// device or a pipe. It returns the permissions of the file to replace, 0 if none.
func checkTarget(path string, overwrite bool) (os.FileMode, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		// The link is what a rename replaces, but what it leads to decides whether that makes sense.
		if target, err := os.Stat(path); err == nil {
			info = target
		}
	}
	switch {
	case info.IsDir():
		return 0, fmt.Errorf("%s: %w: it is a directory", path, ErrExists)
	case !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0:
		return 0, fmt.Errorf("%s: %w: writing to what is not a regular file; write to standard output instead", path, ErrUnsupported)
	case !overwrite:
		return 0, fmt.Errorf("%s: %w", path, ErrExists)
	case info.Mode().IsRegular():
		return info.Mode().Perm(), nil
	}
	return 0, nil
}

// tempPlace gives the folder and the name's first part of path's temporary files. Long names are cut: a name has at most 255 bytes.
func tempPlace(path string) (dir, prefix string) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	if len(base) > 200 {
		base = base[:200]
	}
	return dir, "." + base + tempMark
}

// createLocked makes a new temporary file and takes its lock.
func createLocked(dir, prefix string) (*os.File, error) {
	for range 100 {
		f, err := createTemp(dir, prefix)
		if err != nil {
			return nil, err
		}
		// Another sink may have found the file between its creation and its lock, held it for stale and removed it; then try again.
		locked := lockFile(f) != lockHeld
		if info, err := f.Stat(); locked && err == nil {
			if there, err := os.Stat(f.Name()); err == nil && os.SameFile(info, there) {
				return f, nil
			}
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s: no temporary file could be kept", dir)
}

// createTemp is os.CreateTemp with the permissions of an ordinary new file.
func createTemp(dir, prefix string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(dir, fmt.Sprintf("%s%08x%s", prefix, randomUint32(), tempSuffix))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) && try < 100 {
			continue
		}
		return f, err
	}
}

// removeStale removes temporary files with prefix whose writers are gone, and those that their makers had no time to take the name from. It is a
// courtesy: whatever fails is left alone.
func removeStale(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), tempSuffix) || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), spoolMark) {
			os.Remove(name)
			continue
		}
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if lockFile(f) == lockTaken {
			os.Remove(name)
		}
		f.Close()
	}
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.written.Add(int64(n))
	return n, err
}

// commit makes the file appear under its name. On an error nothing does, and the temporary file is removed.
func (s *sink) commit() error {
	if !s.state.CompareAndSwap(sinkOpen, sinkCommitting) {
		return fmt.Errorf("%s: %w", s.name, ErrClosed)
	}
	defer s.state.Store(sinkDone)
	if s.temp == "" {
		return nil
	}
	err := s.f.Sync()
	if err == nil {
		err = s.publish()
	}
	if err != nil {
		s.f.Close()
		os.Remove(s.temp)
		return s.blame(s.name, err)
	}
	// The file is there, whole and on disk; only its name could still be lost in a crash, and only where folders cannot be synced.
	syncDir(filepath.Dir(s.name))
	return s.f.Close()
}

// publish renames the temporary file. Without overwrite it links, which fails when the name was taken meanwhile.
func (s *sink) publish() error {
	if s.overwrite {
		return os.Rename(s.temp, s.name)
	}
	err := os.Link(s.temp, s.name)
	if err == nil {
		return os.Remove(s.temp)
	}
	if errors.Is(err, os.ErrExist) {
		return ErrExists
	}
	// A file system without hard links.
	if _, err := os.Lstat(s.name); !errors.Is(err, os.ErrNotExist) {
		return ErrExists
	}
	return os.Rename(s.temp, s.name)
}

// abort removes the temporary file. It does nothing once commit has begun, and may be called from any goroutine.
func (s *sink) abort() error {
	if !s.state.CompareAndSwap(sinkOpen, sinkDone) || s.temp == "" {
		return nil
	}
	err := os.Remove(s.temp)
	s.f.Close()
	return err
}

func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	d.Sync()
	d.Close()
}

// onlyWriter hides what else an output can do: libraries close writers that they did not open.
type onlyWriter struct{ io.Writer }
