package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// auditRecord is one line of --audit: who was given what of a table, by which
// policies. It holds no cell, and no value of an attribute or a filter.
type auditRecord struct {
	Time     string      `json:"time"`
	Program  string      `json:"arrowmask"`
	Outcome  string      `json:"outcome"` // masked; refused: before the first row; failed: after it
	Error    string      `json:"error,omitempty"`
	User     string      `json:"user"`
	Groups   []string    `json:"groups"`
	Roles    []string    `json:"roles"`
	Resource string      `json:"resource"`
	At       string      `json:"at"`
	File     string      `json:"policy_file"`
	Version  string      `json:"policy_version"`
	PlanHash string      `json:"plan_hash,omitempty"`
	Input    string      `json:"input"`
	Output   string      `json:"output"`
	Columns  []columnRef `json:"columns"`
	Exempt   []columnRef `json:"exempt_columns"`
	Filter   *policyRef  `json:"filter"`

	Unmatched   []unmatchedReport `json:"unmatched"`
	RowsRead    int64             `json:"rows_read"`
	RowsWritten int64             `json:"rows_written"`
}

// audit appends records to a file, which is opened before any row is read.
type audit struct{ f *os.File }

// openAudit opens the file of --audit; nil without one.
func openAudit(name string) (*audit, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return &audit{f}, nil
}

// write appends a record in one piece and waits until it is on disk. What
// cannot be audited must not be handed out.
func (a *audit) write(record func() *auditRecord) error {
	if a == nil {
		return nil
	}
	line, err := json.Marshal(record())
	if err == nil {
		_, err = a.f.Write(append(line, '\n'))
	}
	if err == nil {
		err = a.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func (a *audit) close() {
	if a != nil {
		_ = a.f.Close() // every record was synced
	}
}

// auditRecord is what a run did so far. It is for runs by policies alone: of
// others there is no audit, and nothing is made.
func (m *masking) auditRecord(failure error) func() *auditRecord {
	return func() *auditRecord {
		q := m.asked
		r := &auditRecord{
			Time: time.Now().UTC().Format(time.RFC3339Nano), Program: gatherVersion().Version, Outcome: "masked",
			User: q.user, Groups: names(q.who.Groups()), Roles: names(q.who.Roles()),
			Resource: q.resource, At: q.when.Format(time.RFC3339), File: q.file, Version: q.rules.Version(),
			Input: m.in, Output: m.output, Columns: []columnRef{}, Exempt: []columnRef{}, Unmatched: []unmatchedReport{},
		}
		if failure != nil {
			r.Outcome, r.Error = "failed", oneLine(failure)
		}
		if m.made == nil {
			r.Outcome = "refused"
			return r
		}
		p := m.made.policies
		r.PlanHash, r.Exempt = p.hash.String(), p.exempt()
		for _, c := range m.made.masked {
			r.Columns = append(r.Columns, columnRef{c.name, *c.policy})
		}
		r.Filter, r.Unmatched = newPolicyRef(p.decided.FilterWhy), unmatchedReports(p.decided.Unmatched)
		r.RowsRead, r.RowsWritten = m.made.rowsRead.Load(), m.rows
		return r
	}
}
