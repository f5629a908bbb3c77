package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Writer takes the records of a run. It is safe for any number of goroutines.
type Writer struct {
	dir    string
	stdout io.Writer
	stderr io.Writer

	mu    sync.Mutex
	begun map[string]bool // suites whose files are of this run
}

// NewWriter writes to files in dir, which it makes, and lines for people to
// stdout and stderr.
func NewWriter(dir string, stdout, stderr io.Writer) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return &Writer{dir: dir, stdout: stdout, stderr: stderr, begun: map[string]bool{}}, nil
}

// Dir is the folder of the files.
func (w *Writer) Dir() string { return w.dir }

// Begin empties what an earlier run left of a suite: its records and what it
// skipped. Suites that are not run again keep theirs.
func (w *Writer) Begin(suite string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begin(suite)
}

func (w *Writer) begin(suite string) error {
	if w.begun[suite] {
		return nil
	}
	for _, ext := range []string{".jsonl", ".txt"} {
		if err := os.Remove(filepath.Join(w.dir, suite+ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	skipped, err := ReadSkipped(w.dir)
	if err != nil {
		return err
	}
	keep := slices.DeleteFunc(skipped, func(line string) bool {
		return strings.HasPrefix(line, "skipped suite="+suite+" ")
	})
	if len(keep) < len(skipped) {
		text := strings.Join(keep, "\n")
		if len(keep) > 0 {
			text += "\n"
		}
		if err := os.WriteFile(filepath.Join(w.dir, skippedFile), []byte(text), 0o644); err != nil {
			return err
		}
	}
	w.begun[suite] = true
	return nil
}

// Write prints a record and adds it to <suite>.jsonl and <suite>.txt; the
// second is what benchstat reads. Only the first record of a suite in this run
// empties the files.
func (w *Writer) Write(r Record) error {
	if err := r.check(); err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRecord, r.ID(), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(r.Suite); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w.stdout, r); err != nil {
		return err
	}
	if err := w.append(r.Suite+".txt", r.Benchstat()); err != nil {
		return err
	}
	return w.append(r.Suite+".jsonl", string(line))
}

// WriteJSON writes the records that another program printed, one JSON object a
// line, and returns them.
func (w *Writer) WriteJSON(from io.Reader) ([]Record, error) {
	records, err := Decode(from)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// Round says that a round of a suite begins, counted from 0: a line on stderr.
func (w *Writer) Round(suite string, round, of int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.stderr, "suite=%s round=%d of=%d\n", suite, round+1, of)
}

// Skip says what could not be measured and why: a line on stderr and in
// skipped.txt.
func (w *Writer) Skip(suite, side, why string) error {
	line := fmt.Sprintf("skipped suite=%s side=%s why=%s", suite, side, strings.Join(strings.Fields(why), " "))
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(suite); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w.stderr, line); err != nil {
		return err
	}
	return w.append(skippedFile, line)
}

func (w *Writer) append(name, line string) error {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}
