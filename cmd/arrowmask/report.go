package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"
)

// report is what --report writes: how every masked column was made, for an
// audit. It holds no cell value and no key.
type report struct {
	Version      string         `json:"arrowmask"`
	Input        string         `json:"input"`
	InputFormat  string         `json:"input_format"`
	Output       string         `json:"output"`
	OutputFormat string         `json:"output_format"`
	Dialect      string         `json:"dialect"`
	FIPS         fipsReport     `json:"fips"`
	Rows         int64          `json:"rows"`
	Seconds      float64        `json:"seconds"`
	RowsPerSec   float64        `json:"rows_per_s"`
	Columns      []columnReport `json:"columns"`
	Unmasked     []string       `json:"unmasked_columns"`
	Policy       *policyReport  `json:"policy,omitempty"`
}

type columnReport struct {
	Name       string         `json:"name"`
	Expression string         `json:"expression"`
	InputType  string         `json:"input_type"`
	OutputType string         `json:"output_type"`
	Rows       int64          `json:"rows"`
	NullsIn    int64          `json:"nulls_in"` // of the rows read
	NullsOut   int64          `json:"nulls_out"`
	Digests    []digestReport `json:"digests"`
	Warnings   []string       `json:"warnings"`
	Policy     *policyRef     `json:"policy,omitempty"`
}

type digestReport struct {
	Function  string `json:"function"`
	Algorithm string `json:"algorithm"`
	Backend   string `json:"backend"`
	Route     string `json:"route"` // see route
	Keyed     bool   `json:"keyed"`
	KeyID     string `json:"key_id,omitempty"`
}

type fipsReport struct {
	Enabled  bool   `json:"enabled"`
	Enforced bool   `json:"enforced"`
	Source   string `json:"source"`
}

// newReport tells what a run did.
func (m *masking) newReport(p *plan, took time.Duration) *report {
	r := &report{
		Version: gatherVersion().Version,
		Input:   m.in, InputFormat: m.read.Format.String(),
		Output: m.output, OutputFormat: m.write.Format.String(),
		Dialect: m.dialect, FIPS: fipsState(),
		Rows: m.rows, Seconds: took.Seconds(), RowsPerSec: rate(m.rows, took),
		Columns: []columnReport{}, Unmasked: p.unmasked(),
	}
	for _, c := range p.masked {
		r.Columns = append(r.Columns, columnReport{
			Name: c.name, Expression: c.source,
			InputType: c.in.Type.String(), OutputType: c.out.Type.String(),
			Rows: m.rows, NullsIn: c.nullsIn.Load(), NullsOut: c.nullsOut.Load(),
			Digests: c.digests(), Warnings: append([]string{}, c.notes...), Policy: c.policy,
		})
	}
	if p.policies != nil {
		r.Policy = p.policies.report(p.rowsRead.Load())
	}
	return r
}

// digests tells which digests a column's expression computes.
func (c *maskedColumn) digests() []digestReport {
	all := []digestReport{}
	for _, u := range c.uses() {
		all = append(all, digestReport{u.Function, u.Alg, u.Backend, route(), u.Keyed, u.KeyID})
	}
	return all
}

func (r *report) encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// stagedReport is a report on disk under a temporary name.
type stagedReport struct{ temp, name string }

// stageReport writes the report beside its final name, so that publish has
// next to nothing left that can fail.
func stageReport(name string, r *report) (s *stagedReport, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := r.encode(f); err != nil {
		return nil, err
	}
	if err := f.Chmod(0o644); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return &stagedReport{f.Name(), name}, f.Close()
}

func (s *stagedReport) publish() error { return os.Rename(s.temp, s.name) }

func (s *stagedReport) discard() { _ = os.Remove(s.temp) }
