package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const skippedFile = "skipped.txt"

// Read is every record of a run: those of all *.jsonl files in dir, by file
// name and in the order in which they were written.
func Read(dir string) ([]Record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no records in %s: %w", dir, fs.ErrNotExist)
	}
	var all []Record
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		records, err := Decode(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, records...)
	}
	return all, nil
}

// Decode reads one JSON record a line; empty lines are passed over. Errors wrap
// ErrRecord, with the line's number, or are those of the reader.
func Decode(from io.Reader) ([]Record, error) {
	var records []Record
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var r Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrRecord, n, err)
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		records = append(records, r)
	}
	return records, lines.Err()
}

// ReadSkipped is the lines that say what a run could not measure; none when it
// measured everything.
func ReadSkipped(dir string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(dir, skippedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' }), nil
}
