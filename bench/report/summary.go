package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
)

const (
	begin = "<!-- bench:begin -->"
	end   = "<!-- bench:end -->"
)

// ErrMarkers is wrapped when a document lacks the lines between which the
// summary goes.
var ErrMarkers = errors.New("the lines " + begin + " and " + end + " are missing, or stand there in another way than once and in this order")

// rivals are the rows of the summary beside the row loop: a cell of one thread
// and rows of 32 bytes each.
var rivals = []struct{ what, side, suite, len string }{
	{"sha256-simd, row by row (Go)", "sha256-simd", "digest", "32"},
	{"the pattern of Impala's functions, row by row (C++, OpenSSL 3)", "impala-before", "impala", "32"},
	{"the same after its fix", "impala-after", "impala", "32"},
	{"DuckDB", "duckdb", "engines", "32"},
	{"ClickHouse (chDB)", "chdb", "engines", "32"},
	{"Polars with polars-hash", "polars-hash", "engines", "32"},
	{"DataFusion", "datafusion", "engines", "32"},
	{"Spark", "spark", "engines", "32"},
	{"Python, a loop over hashlib", "hashlib", "engines", "32"},
}

// Summary is the run in two tables of Markdown, for README.md and
// doc/performance.md; toPage is the way from there to the page.
func (r Run) Summary(toPage string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ns a row on one thread, hex output, an Arrow array in and another out, in memory that is used again; in brackets how many times as long a row loop with Go's standard library takes:\n\n")
	lens := []string{"8", "32", "email", "119", "256", "1024"}
	b.WriteString("| |")
	for _, n := range lens {
		if n == "email" {
			b.WriteString(" e-mails |")
		} else {
			b.WriteString(" " + n + " bytes |")
		}
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(lens)+1) + "\n")
	for _, alg := range algorithms {
		fmt.Fprintf(&b, "| %s |", alg)
		for _, n := range lens {
			cell := []string{"alg", alg, "out", "hex", "len", n, "threads", "1"}
			ours, ok := r.one(result.Ours, "digest", cell...)
			std, ok2 := r.one("go-std", "digest", cell...)
			if ok && ok2 {
				fmt.Fprintf(&b, " %s (%.1f) |", result.Figure(ours.Min), std.Ratio)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nHow many times as long others take for 32 bytes, hex, on one thread, and to mask a Parquet file of 20 columns:\n\n")
	b.WriteString("| beside | sha256 | md5 | sha1 | sha512 |\n| --- | --- | --- | --- | --- |\n")
	for _, rival := range rivals {
		row, any := "", false
		for _, alg := range algorithms {
			cell := []string{"alg", alg, "len", rival.len, "threads", "1"}
			if rival.suite == "digest" {
				cell = append(cell, "out", "hex")
			}
			rec, ok := r.one(rival.side, rival.suite, cell...)
			if !ok {
				row += " |"
				continue
			}
			any = true
			row += fmt.Sprintf(" %.1f |", rec.Ratio)
		}
		if any {
			b.WriteString("| " + rival.what + " |" + row + "\n")
		}
	}
	if sizes := r.pipelineRows(); len(sizes) > 0 {
		rows := sizes[len(sizes)-1]
		for _, columns := range []string{"1", "10"} {
			if rec, ok := r.one("duckdb", "pipeline", "rows", rows, "columns-of-20", columns, "threads", "1"); ok {
				fmt.Fprintf(&b, "| DuckDB, Parquet, %s rows, %s of 20 columns masked | %.1f | | | |\n", thousands(rows), columns, rec.Ratio)
			}
		}
	}
	fmt.Fprintf(&b, "\n%s, %d processors, %s, arrowmask %s, %s, by `make bench`. ", r.Machine.CPU, r.Machine.CPUs, r.Machine.Go, r.Machine.Version, r.date())
	fmt.Fprintf(&b, "A rival is ahead in %d of %d comparisons: [the page](%s) lists them, shows every figure and says what the figures do not show "+
		"(one shared machine with few processors, random text, one expression at a time).\n", len(r.ahead()), r.comparisons(), toPage)
	return b.String()
}

func (r Run) date() string {
	var last time.Time
	for _, ran := range r.Machine.Suites {
		if ran.Date.After(last) {
			last = ran.Date
		}
	}
	return last.Format("2006-01-02")
}

func (r Run) comparisons() int {
	n := 0
	for _, rec := range r.Records {
		if rec.Ratio != 0 {
			n++
		}
	}
	return n
}

// documents get the summary, with the way from them to the page.
var documents = map[string]string{
	"README.md":          "bench/report/index.html",
	"doc/performance.md": "../bench/report/index.html",
}

// insert puts the summary between the markers of a document's text.
func insert(text, summary string) (string, error) {
	before, rest, ok := strings.Cut(text, begin+"\n")
	old, after, ok2 := strings.Cut(rest, end+"\n")
	if !ok || !ok2 || strings.Contains(before+old+after, begin) || strings.Contains(before+old+after, end) {
		return "", ErrMarkers
	}
	return before + begin + "\n" + summary + end + "\n" + after, nil
}

// updateDocuments puts the summary into the documents below root.
func (r Run) updateDocuments(root string) error {
	for name, toPage := range documents {
		path := filepath.Join(root, name)
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, err := insert(string(old), r.Summary(toPage))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
