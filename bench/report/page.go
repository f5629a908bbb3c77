package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"sort"

	"github.com/arrowmask/arrowmask/bench/result"
)

//go:embed page.html.tmpl
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Page draws the run: the files of the page by name, index.html and the plots
// that it shows. The same run gives the same bytes.
func (r Run) Page() (map[string][]byte, error) {
	sections, err := r.sections()
	if err != nil {
		return nil, err
	}
	ahead := table{Head: []string{"suite", "cell", "side", "least", "arrowmask took, times as long"}}
	for _, rec := range r.ahead() {
		cell := ""
		for _, k := range rec.Case {
			cell += " " + k.Name + "=" + k.Value
		}
		ahead.Rows = append(ahead.Rows, []string{rec.Suite, cell, rec.Side, result.Figure(rec.Min) + " " + rec.Unit, result.Figure(1 / rec.Ratio)})
	}
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{
		"Machine": r.Machine, "Ran": r.ran(), "Sections": sections, "Ahead": ahead, "Skipped": r.Skipped,
	}); err != nil {
		return nil, err
	}
	files := map[string][]byte{"index.html": b.Bytes()}
	for _, s := range sections {
		for _, f := range s.Figures {
			files[f.File] = f.SVG
		}
	}
	return files, nil
}

// ran is a row a suite: when and how it was run.
func (r Run) ran() table {
	t := table{Head: []string{"suite", "date", "version", "command", "seconds"}}
	for name, ran := range r.Machine.Suites {
		t.Rows = append(t.Rows, []string{name, ran.Date.Format("2006-01-02 15:04"), ran.Version, ran.Command, fmt.Sprintf("%.0f", ran.Seconds)})
	}
	sort.Slice(t.Rows, func(i, j int) bool { return t.Rows[i][0] < t.Rows[j][0] })
	return t
}
