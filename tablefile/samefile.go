package tablefile

import (
	"fmt"
	"os"
)

// CheckNotSame returns ErrSameFile when the paths in and out name one file, be it through symbolic links, hard links or, with "-", a redirection of
// standard input or output. Paths that do not exist are never the same.
func CheckNotSame(in, out string) error {
	a, err := statPath(in, os.Stdin)
	if err != nil {
		return nil
	}
	b, err := statPath(out, os.Stdout)
	if err != nil {
		return nil
	}
	// Terminals and /dev/null may be both; only a file's contents can be lost.
	if a.Mode().IsRegular() && os.SameFile(a, b) {
		return fmt.Errorf("%w: %s and %s", ErrSameFile, in, out)
	}
	return nil
}

func statPath(path string, std *os.File) (os.FileInfo, error) {
	if path == "-" {
		return std.Stat()
	}
	return os.Stat(path)
}
