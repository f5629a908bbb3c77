package tablefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

func namesIn(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

var allFormats = append([]string{"t.csv"}, binaryFormats...)

func TestNothingAppearsBeforeCommit(t *testing.T) {
	for _, name := range allFormats {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		batch := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
		w, err := Create(path, batch.Schema(), WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there before Commit: %v", name, err)
		}
		for _, n := range namesIn(t, dir) {
			if !strings.HasPrefix(n, "."+name+".arrowmask-") || !strings.HasSuffix(n, ".tmp") {
				t.Errorf("%s: temporary file is called %s", name, n)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := namesIn(t, dir); len(got) != 1 || got[0] != name {
			t.Errorf("%s: after Commit %q", name, got)
		}
		if err := w.Commit(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: second Commit: %v", name, err)
		}
		if err := w.Write(batch); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: Write after Commit: %v", name, err)
		}
		if err := w.Abort(); err != nil {
			t.Errorf("%s: Abort after Commit: %v", name, err)
		}
		if got := namesIn(t, dir); len(got) != 1 {
			t.Errorf("%s: Abort after Commit left %q", name, got)
		}
	}
}

func TestAbortLeavesNothingAndKeepsTheOldFile(t *testing.T) {
	for _, name := range allFormats {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		batch := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
		if _, err := Create(path, batch.Schema(), WriteOptions{}); !errors.Is(err, ErrExists) {
			t.Errorf("%s: over an existing file: %v", name, err)
		}
		w, err := Create(path, batch.Schema(), WriteOptions{Overwrite: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: Commit after Abort: %v", name, err)
		}
		if got := namesIn(t, dir); len(got) != 1 || readText(t, path) != "old" {
			t.Errorf("%s: after Abort %q, %q", name, got, readText(t, path))
		}
		if err := tryWrite(path, WriteOptions{Overwrite: true}, batch); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || readText(t, path) == "old" {
			t.Errorf("%s: replaced file has mode %v, %v", name, info.Mode(), err)
		}
	}
}

// faulty fails after a number of bytes, as a full disk does.
type faulty struct {
	left int
	w    io.Writer
}

var errFull = errors.New("no space left")

func (f *faulty) Write(p []byte) (int, error) {
	if len(p) <= f.left {
		f.left -= len(p)
		return f.w.Write(p)
	}
	n, _ := f.w.Write(p[:f.left])
	f.left = 0
	return n, errFull
}

// TestFailedWritesLeaveNothing lets the disk fill up at every point of the output.
func TestFailedWritesLeaveNothing(t *testing.T) {
	batch := scalars(t)
	for _, name := range allFormats {
		whole := len(readText(t, write(t, name, WriteOptions{}, batch, batch)))
		format, err := FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for left := 0; left < whole; left += max(1, whole/40) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			s, err := newSink(path, false)
			if err != nil {
				t.Fatal(err)
			}
			opts := WriteOptions{Format: format, Like: &Style{}, Mem: defaultMem}
			w, err := newWriter(s, &faulty{left, s}, cleanSchema(batch.Schema()), opts)
			if err != nil {
				t.Fatal(err)
			}
			if w.Write(batch) == nil {
				w.Write(batch)
			}
			if err := w.Commit(); err == nil {
				t.Errorf("%s: committed with room for %d of %d bytes", name, left, whole)
			} else if !errors.Is(err, errFull) {
				t.Errorf("%s: the error hides its cause: %v", name, err)
			}
			if got := namesIn(t, dir); len(got) > 0 {
				t.Errorf("%s: room for %d of %d bytes left %q", name, left, whole, got)
			}
		}
	}
}

// TestFailedEncodingWritesNoFooter: an output that cannot be taken back, as standard output, must not look whole after an error.
func TestFailedEncodingWritesNoFooter(t *testing.T) {
	good := table(t, column{"l", arrow.ListOf(arrow.FixedWidthTypes.Date64), `[[0]]`})
	bad := table(t, column{"l", arrow.ListOf(arrow.FixedWidthTypes.Date64), `[[1]]`})
	for _, end := range []func(*Writer) error{(*Writer).Commit, (*Writer).Abort} {
		var out bytes.Buffer
		s := &sink{f: os.Stdout, name: "-"}
		w, err := newWriter(s, &out, good.Schema(), WriteOptions{Format: Parquet, Like: &Style{}, Mem: defaultMem})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(good); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(bad); !errors.Is(err, ErrValue) {
			t.Fatalf("bad batch: %v", err)
		}
		end(w)
		if strings.HasSuffix(out.String(), "PAR1") && out.Len() > 4 {
			t.Error("a footer was written after the failure")
		}
	}
}

func TestInputAsOutputIsRefused(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(in, []byte("a\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	hard, soft, chain := filepath.Join(dir, "hard.csv"), filepath.Join(dir, "soft.csv"), filepath.Join(dir, "chain.csv")
	for _, err := range []error{os.Link(in, hard), os.Symlink(in, soft), os.Symlink("soft.csv", chain)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	before := namesIn(t, dir)
	for _, out := range []string{in, hard, soft, chain, filepath.Join(dir, ".", "..", filepath.Base(dir), "in.csv")} {
		if _, err := Create(out, schema, WriteOptions{Overwrite: true, Inputs: []string{"/nonexistent", in}}); !errors.Is(err, ErrSameFile) {
			t.Errorf("%s: %v", out, err)
		}
	}
	if after := namesIn(t, dir); len(after) != len(before) || readText(t, in) != "a\n1\n" {
		t.Errorf("folder changed: %q", after)
	}
	if err := CheckNotSame(in, filepath.Join(dir, "other.csv")); err != nil {
		t.Errorf("a new output: %v", err)
	}
}

func TestOddTargets(t *testing.T) {
	dir := t.TempDir()
	batch := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
	over := WriteOptions{Format: CSV, Overwrite: true}
	if err := tryWrite(dir, over, batch); !errors.Is(err, ErrExists) {
		t.Errorf("a folder: %v", err)
	}
	if err := tryWrite(os.DevNull, over, batch); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a device: %v", err)
	}
	if err := tryWrite(filepath.Join(dir, "no", "t.csv"), over, batch); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	// A link is replaced; what it led to stays.
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link.csv")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o644), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if err := tryWrite(link, WriteOptions{}, batch); !errors.Is(err, ErrExists) {
		t.Errorf("a link without overwrite: %v", err)
	}
	if err := tryWrite(link, over, batch); err != nil {
		t.Fatal(err)
	}
	if readText(t, target) != "old" || readText(t, link) != "a\nx\n" {
		t.Errorf("target %q, link %q", readText(t, target), readText(t, link))
	}
	long := filepath.Join(dir, strings.Repeat("n", 240)+".csv")
	if err := tryWrite(long, WriteOptions{}, batch); err != nil {
		t.Errorf("a long name: %v", err)
	}
}

// TestNameTakenMeanwhile: a file that appears between Create and Commit is not replaced unasked.
func TestNameTakenMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	batch := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
	w, err := Create(path, batch.Schema(), WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); !errors.Is(err, ErrExists) {
		t.Errorf("Commit: %v", err)
	}
	if got := namesIn(t, dir); len(got) != 1 || readText(t, path) != "other" {
		t.Errorf("left %q", got)
	}
}

// TestKilledWriterLeavesOnlyATemporaryFile kills processes that are writing, and lets the next writer clear up, but not after a live one.
func TestKilledWriterLeavesOnlyATemporaryFile(t *testing.T) {
	if path := os.Getenv("TABLEFILE_WRITE_FOREVER"); path != "" {
		batch := scalars(t)
		w, err := Create(path, batch.Schema(), WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			if err := w.Write(batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	for i := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterLeavesOnlyATemporaryFile$")
		cmd.Env = append(os.Environ(), "TABLEFILE_WRITE_FOREVER="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// A file with something in it is one whose writer has taken the lock: before that, a second writer may take it for stale.
		for !anyWritten(t, dir) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(i*7) * time.Millisecond)
		// A second writer leaves the live one's file alone.
		batch := table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})
		w, err := Create(path, batch.Schema(), WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := namesIn(t, dir); len(got) != 2 {
			t.Errorf("with two writers: %q", got)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		w.Abort()
		if got := namesIn(t, dir); len(got) != 1 || got[0] == "t.csv" {
			t.Fatalf("after the kill: %q", got)
		}
		if w, err = Create(path, batch.Schema(), WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := namesIn(t, dir); len(got) != 1 {
			t.Errorf("the next writer left %q", got)
		}
		w.Abort()
	}
}

// TestSpoolsOfTheDeadAreRemoved: a process may be killed before it has taken the name from a temporary file.
func TestSpoolsOfTheDeadAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{spoolMark + "1" + tempSuffix, spoolMark + "2", "mine" + tempSuffix} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := tryWrite(filepath.Join(dir, "t.csv"), WriteOptions{}, table(t, column{"a", arrow.BinaryTypes.String, `["x"]`})); err != nil {
		t.Fatal(err)
	}
	if got := namesIn(t, dir); !slices.Equal(got, []string{spoolMark + "2", "mine" + tempSuffix, "t.csv"}) {
		t.Errorf("left %q", got)
	}
}

// anyWritten says whether a file of dir holds something.
func anyWritten(t *testing.T, dir string) bool {
	t.Helper()
	for _, name := range namesIn(t, dir) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// TestAbortFromAnotherGoroutine is for the race detector, and for the file.
func TestAbortFromAnotherGoroutine(t *testing.T) {
	batch := scalars(t)
	for _, name := range allFormats {
		dir := t.TempDir()
		w, err := Create(filepath.Join(dir, name), batch.Schema(), WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				if w.Write(batch) != nil {
					break
				}
			}
			w.Commit()
		}()
		time.Sleep(time.Millisecond)
		w.Abort()
		wg.Wait()
		if got := namesIn(t, dir); len(got) > 1 || len(got) == 1 && got[0] != name {
			t.Errorf("%s: left %q", name, got)
		}
		w.Abort()
	}
}

func TestStandardStreams(t *testing.T) {
	if name := os.Getenv("TABLEFILE_PIPE"); name != "" {
		format, err := ParseFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := copyTable("-", "-", ReadOptions{Format: format}, WriteOptions{Format: format}); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0) // before the testing package prints to standard output
	}
	batch := scalars(t)
	for _, name := range allFormats {
		format, err := FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		path := write(t, name, WriteOptions{}, batch)
		for _, redirect := range []bool{false, true} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestStandardStreams$")
			cmd.Env = append(os.Environ(), "TABLEFILE_PIPE="+format.String())
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if redirect {
				f, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				cmd.Stdin = f
			} else {
				cmd.Stdin = strings.NewReader(readText(t, path))
			}
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v %s", name, err, stderr.String())
			}
			got, err := tryRead(writeText(t, name, string(out)), ReadOptions{})
			if err != nil || got.NumRows() != batch.NumRows() {
				t.Errorf("%s: redirected %v: %v", name, redirect, err)
			}
		}
	}
	if _, err := Open(t.Context(), "-", ReadOptions{}); !errors.Is(err, ErrFormat) {
		t.Errorf("standard input without a format: %v", err)
	}
}
