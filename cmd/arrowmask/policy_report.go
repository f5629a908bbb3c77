package main

import (
	"fmt"
	"time"

	"github.com/arrowmask/arrowmask/policy"
)

// policyRef is the policy behind a decision, in reports.
type policyRef struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Item int    `json:"item"` // from 1
	Kind string `json:"kind"` // the mask type, or filter
	Tag  string `json:"tag,omitempty"`
	Zone string `json:"zone,omitempty"`
}

// String names the policy for people.
func (r *policyRef) String() string {
	s := fmt.Sprintf("policy %d %q item %d (%s)", r.ID, r.Name, r.Item, r.Kind)
	if r.Tag != "" {
		s += " by tag " + r.Tag
	}
	if r.Zone != "" {
		s += " in zone " + r.Zone
	}
	return s
}

func newPolicyRef(r *policy.Reason) *policyRef {
	if r == nil {
		return nil
	}
	return &policyRef{r.PolicyID, r.Policy, r.Item + 1, r.Kind, r.Tag, r.Zone}
}

// policyReport is what a report says about the policies.
type policyReport struct {
	File      string            `json:"file"`
	Version   string            `json:"version"`
	Resource  string            `json:"resource"`
	User      string            `json:"user"`
	Groups    []string          `json:"groups"`
	Roles     []string          `json:"roles"`
	At        string            `json:"at"`
	PlanHash  string            `json:"plan_hash"`
	RowsRead  int64             `json:"rows_read"` // more than were written where a filter left some out
	Filter    *filterReport     `json:"filter"`    // null: no policy decided about rows
	Exempt    []columnRef       `json:"exempt_columns"`
	Unmatched []unmatchedReport `json:"unmatched"`
}

type filterReport struct {
	Expression string    `json:"expression"` // empty: every row, on purpose
	Policy     policyRef `json:"policy"`
}

// columnRef is a column and the policy that decided about it.
type columnRef struct {
	Name   string    `json:"name"`
	Policy policyRef `json:"policy"`
}

type unmatchedReport struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Detail string `json:"detail"`
}

// report is what a report says about the policies.
func (p *policyPlan) report(rowsRead int64) *policyReport {
	r := &policyReport{
		File: p.file, Version: p.decided.Version, Resource: p.resource, User: p.user, Groups: names(p.who.Groups()), Roles: names(p.who.Roles()),
		At: p.when.Format(time.RFC3339), PlanHash: p.hash.String(), RowsRead: rowsRead,
		Exempt: p.exempt(), Unmatched: unmatchedReports(p.decided.Unmatched),
	}
	if p.decided.FilterWhy != nil {
		r.Filter = &filterReport{Policy: *newPolicyRef(p.decided.FilterWhy)}
		if p.decided.Filter != nil {
			r.Filter.Expression = p.decided.Filter.String()
		}
	}
	return r
}

// names is a list that JSON shows as [] when it is empty.
func names(list []string) []string { return append([]string{}, list...) }

func (p *policyPlan) exempt() []columnRef {
	out := []columnRef{}
	for i := range p.decided.Exempt {
		out = append(out, columnRef{p.decided.Exempt[i].Name, *newPolicyRef(p.decided.Exempt[i].Why)})
	}
	return out
}

func unmatchedReports(list []policy.Unmatched) []unmatchedReport {
	out := []unmatchedReport{}
	for _, u := range list {
		out = append(out, unmatchedReport{u.Why.PolicyID, u.Why.Policy, u.Detail})
	}
	return out
}
