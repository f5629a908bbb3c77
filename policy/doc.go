// Package policy holds what a policy decides, apart from the engine that
// decided it: for one identity and one table, which column gets which mask,
// which rows are kept, and why.
//
// Rules decide (package policy/ranger has Ranger's). A Snapshot wraps one
// immutable version of the rules, turns decisions into Plans and caches them;
// Live holds the current Snapshot behind an atomic pointer. A Plan is bound to
// the columns of one table. A Set is the plans of one query, with a compact
// encoding that a query coordinator attaches to its fragments.
//
// Everything closes when in doubt: a decision, a mask or a filter that cannot
// be evaluated exactly is an error that names the policy and the column, before
// the first row is read.
package policy
