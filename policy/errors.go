package policy

import "errors"

// Sentinels; every error of this package wraps one of them with the detail:
// policy, table, column. No error holds a cell's value.
var (
	// ErrIdentity: nobody asks, the identity has no user.
	ErrIdentity = errors.New("identity without a user")
	// ErrTable: the table has no name, or a column is malformed.
	ErrTable = errors.New("malformed table")
	// ErrNoRules: there is no snapshot to decide with.
	ErrNoRules = errors.New("no policies loaded")
	// ErrClosed: a policy applies that cannot be evaluated exactly, so the
	// column or the table stays closed.
	ErrClosed = errors.New("closed by a policy that cannot be evaluated")
	// ErrMask: a mask's expression is outside the grammar.
	ErrMask = errors.New("mask outside the grammar")
	// ErrFilter: a row filter is outside the grammar, or does not fit the table.
	ErrFilter = errors.New("row filter outside the grammar")
	// ErrUnmatched: a policy for the table names a column that the table lacks.
	ErrUnmatched = errors.New("policy matches nothing")
	// ErrEncoding: the bytes are no valid encoding of a Set.
	ErrEncoding = errors.New("malformed plan encoding")
	// ErrSchema: the plan was made for other columns.
	ErrSchema = errors.New("plan made for other columns")
	// ErrValue: a row holds a value that the filter cannot evaluate exactly.
	ErrValue = errors.New("filter cannot evaluate a value exactly")
)
