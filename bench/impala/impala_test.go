package impala

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/bench/rival"
)

// TestProgramComputesDigests builds the program and compares what both sides
// compute with the standard library.
func TestProgramComputesDigests(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("./build.sh", filepath.Join(dir, "impala"))
	cmd.Env = append(os.Environ(), "INSTALL=0")
	binary, why := rival.Prepare(cmd)
	if why != "" {
		t.Skip(why)
	}
	p, err := rival.Start(t.Context(), nil, binary)
	if err != nil {
		t.Fatal(err)
	}
	column := rival.Columns(1001)[1]
	if err := p.Load(column, dir); err != nil {
		t.Fatal(err)
	}
	digests := map[string]func([]byte) []byte{
		"md5":       func(b []byte) []byte { d := md5.Sum(b); return d[:] },
		"sha1":      func(b []byte) []byte { d := sha1.Sum(b); return d[:] },
		"sha256":    func(b []byte) []byte { d := sha256.Sum256(b); return d[:] },
		"sha512":    func(b []byte) []byte { d := sha512.Sum512(b); return d[:] },
		"mask_hash": func(b []byte) []byte { d := sha256.Sum256(b); return d[:] },
	}
	for _, function := range functions {
		var want []byte
		for i := range column.Rows() {
			want = hex.AppendEncode(want, digests[function](column.Row(i)))
		}
		for _, side := range sides {
			for _, threads := range []int{1, 3} {
				for _, n := range []int{1, 1001} {
					if _, err := p.Run(side, function, column.Name, threads, n); err != nil {
						t.Fatal(err)
					}
					got, err := p.Out(filepath.Join(dir, "out"))
					if err != nil {
						t.Fatal(err)
					}
					if err := rival.Compare(side, got, want, n, column.Rows()); err != nil {
						t.Errorf("%s, %d threads, %d rows: %v", function, threads, n, err)
					}
				}
			}
		}
	}
	for _, bad := range []func() (time.Duration, error){
		func() (time.Duration, error) { return p.Run("impala-later", "md5", column.Name, 1, 1) },
		func() (time.Duration, error) { return p.Run(sides[0], "crc32", column.Name, 1, 1) },
		func() (time.Duration, error) { return p.Run(sides[0], "md5", "other", 1, 1) },
		func() (time.Duration, error) { return p.Run(sides[0], "md5", column.Name, 0, 1) },
		func() (time.Duration, error) { return p.Run(sides[0], "md5", column.Name, 1, 1002) },
	} {
		if _, err := bad(); !errors.Is(err, rival.ErrProgram) {
			t.Errorf("a bad command: %v", err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		took       time.Duration
		some, want int
	}{
		{turn, 100, 100},
		{turn / 10, 100, 1000},
		{turn * 10, 100, 100},  // not fewer
		{turn / 1e6, 100, 5e4}, // not more than all
		{0, 100, 5e4},
	} {
		if got := fill(c.took, c.some, 5e4); got != c.want {
			t.Errorf("%d rows took %v: %d fill a turn, not %d", c.some, c.took, got, c.want)
		}
	}
}
