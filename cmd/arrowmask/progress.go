package main

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// progress shows how many rows are done. It writes to standard error only and
// never shows a cell.
type progress interface {
	add(rows int64)
	// finish removes the bar, or prints the last line of a run that is done.
	finish(done bool)
}

// newProgress makes the one that --progress names: auto is a bar when w is a
// terminal. total is -1 when unknown.
func newProgress(mode string, w io.Writer, total int64) (progress, error) {
	switch mode {
	case "auto":
		if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
			return newBar(w, total), nil
		}
		return noProgress{}, nil
	case "never":
		return noProgress{}, nil
	case "json":
		now := time.Now()
		return &jsonProgress{out: json.NewEncoder(w), total: total, start: now, last: now}, nil
	}
	return nil, usagef("--progress %q: want auto, never or json", mode)
}

type noProgress struct{}

func (noProgress) add(int64)   {}
func (noProgress) finish(bool) {}

type bar struct{ *progressbar.ProgressBar }

func newBar(w io.Writer, total int64) bar {
	return bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("masking"),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("rows"),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// The bar is an ornament: a terminal that went away does not fail the run.
func (b bar) add(rows int64) { _ = b.Add64(rows) }
func (b bar) finish(bool)    { _ = b.Clear() }

// jsonProgress prints a line a second and one at the end.
type jsonProgress struct {
	out         *json.Encoder
	rows, total int64
	start, last time.Time
}

// progressLine is one line of --progress json.
type progressLine struct {
	Rows       int64   `json:"rows"`
	Total      *int64  `json:"total"` // null when unknown
	RowsPerSec float64 `json:"rows_per_s"`
	Done       bool    `json:"done"`
}

func (p *jsonProgress) add(rows int64) {
	p.rows += rows
	if now := time.Now(); now.Sub(p.last) >= time.Second {
		p.last = now
		p.print(false)
	}
}

func (p *jsonProgress) finish(done bool) { p.print(done) }

func (p *jsonProgress) print(done bool) {
	line := progressLine{Rows: p.rows, RowsPerSec: rate(p.rows, time.Since(p.start)), Done: done}
	if p.total >= 0 {
		line.Total = &p.total
	}
	_ = p.out.Encode(line) // as for the bar
}

// rate is rows a second, rounded to whole rows.
func rate(rows int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(int64(float64(rows)/d.Seconds() + 0.5))
}
