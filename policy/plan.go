package policy

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Reason is the policy behind a decision. Reasons are interned like masks.
type Reason struct {
	PolicyID int64
	Policy   string // name
	Item     int    // position in the policy's list, from 0
	Kind     string // the mask type, or "filter"
	Tag      string // the tag that led to the policy; empty for a resource policy
	Zone     string // security zone of the policy, empty for none
}

// String names the policy for reports and errors.
func (r Reason) String() string {
	s := fmt.Sprintf("policy %d %q item %d", r.PolicyID, r.Policy, r.Item+1)
	if r.Tag != "" {
		s += " by tag " + r.Tag
	}
	if r.Zone != "" {
		s += " in zone " + r.Zone
	}
	return s
}

// ColumnMask is the decision for one column or one field of a nested column.
type ColumnMask struct {
	Name  string // the column, or "column.field"
	Index int    // of the column in the table
	Path  []int  // from the column down to the field; empty: the whole column
	Mask  *Mask
	Why   *Reason
}

// Plan is what one identity sees of one table: a mask for some columns, at
// most one row filter, and why. It holds for the columns that it was made for
// (Check). Filters see raw values; masks apply after and read raw values only.
// A Plan is immutable and safe to share; the caller must not change what its
// fields point at.
type Plan struct {
	Table       string // "db.table"
	Version     string // of the snapshot
	Columns     int    // number of columns of the table
	Fingerprint Fingerprint
	Masks       []ColumnMask // sorted by Index, then Path
	Filter      *Filter      // nil: every row
	FilterWhy   *Reason      // nil without a decision; set with a nil Filter for an exemption
	// Exempt are the columns that a policy leaves unmasked on purpose.
	Exempt []ColumnMask
	// Unmatched are the policies for this table that name columns which it
	// does not have, are disabled, or cannot match for another reason.
	Unmatched []Unmatched
}

// Unmatched is a policy that is aimed at a table but touches nothing there.
type Unmatched struct {
	Why    Reason
	Detail string
}

// Empty reports that nothing is masked and nothing filtered: batches pass as
// they are.
func (p *Plan) Empty() bool { return len(p.Masks) == 0 && p.Filter == nil }

// Check makes sure that the plan was made for these columns.
func (p *Plan) Check(t *Table) error {
	if p.Fingerprint != t.print || p.Columns != len(t.columns) {
		return fmt.Errorf("%w: table %s", ErrSchema, p.Table)
	}
	return nil
}

// CheckMatched is an error wrapping ErrUnmatched when a policy is aimed at the
// table but touches nothing there.
func (p *Plan) CheckMatched() error {
	if len(p.Unmatched) == 0 {
		return nil
	}
	var b strings.Builder
	for i, u := range p.Unmatched {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "policy %d %q: %s", u.Why.PolicyID, u.Why.Policy, u.Detail)
	}
	return fmt.Errorf("%w: table %s: %s", ErrUnmatched, p.Table, b.String())
}

// Hash is a content hash: the first half of a SHA-256.
type Hash [16]byte

func hashOf(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(sum[:16])
}

// String is the hash in hexadecimal.
func (h Hash) String() string { return fmt.Sprintf("%x", h[:]) }

// Set is the plans of one query, by table. It is immutable; its encoding and
// hash are computed once.
type Set struct {
	plans []*Plan // sorted by table, then fingerprint
	bytes []byte
	hash  Hash
}

// complete is an error for a plan that no snapshot gives and Decode would refuse:
// without a mask or a reason where there must be one, or out of order. Masks are
// not parsed again.
func (p *Plan) complete() error {
	if p == nil {
		return fmt.Errorf("%w: a plan is missing", ErrTable)
	}
	if p.Filter != nil {
		if !p.Filter.Bound() {
			return fmt.Errorf("%w: table %s: the filter has parameters without values", ErrTable, p.Table)
		}
		if p.FilterWhy == nil {
			return fmt.Errorf("%w: table %s: a filter without a reason", ErrTable, p.Table)
		}
	}
	for _, list := range []struct {
		columns []ColumnMask
		what    string
		masked  bool
	}{{p.Masks, "masked without a mask or a reason", true}, {p.Exempt, "exempt without a reason", false}} {
		for i := range list.columns {
			c := &list.columns[i]
			if c.Why == nil || list.masked && c.Mask == nil {
				return fmt.Errorf("%w: table %s: column %s is %s", ErrTable, p.Table, c.Name, list.what)
			}
			if c.Index < 0 || c.Index >= p.Columns {
				return fmt.Errorf("%w: table %s: column %s is number %d of %d", ErrTable, p.Table, c.Name, c.Index, p.Columns)
			}
			if i > 0 && compareColumns(list.columns[i-1], *c) >= 0 {
				return fmt.Errorf("%w: table %s: column %s is out of order", ErrTable, p.Table, c.Name)
			}
		}
	}
	return nil
}

// NewSet gathers plans. Equal plans of one table collapse; two different plans
// for one table and the same columns are an error: they cannot both hold.
func NewSet(plans ...*Plan) (*Set, error) {
	s := &Set{plans: slices.Clone(plans)}
	for _, p := range s.plans {
		if err := p.complete(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.plans, comparePlans)
	for i := 1; i < len(s.plans); i++ {
		if comparePlans(s.plans[i-1], s.plans[i]) == 0 && !samePlan(s.plans[i-1], s.plans[i]) {
			return nil, fmt.Errorf("%w: two different plans for table %s", ErrTable, s.plans[i].Table)
		}
	}
	s.plans = slices.CompactFunc(s.plans, func(a, b *Plan) bool { return comparePlans(a, b) == 0 })
	s.bytes = encode(s.plans)
	s.hash = hashOf(s.bytes)
	return s, nil
}

func comparePlans(a, b *Plan) int {
	if c := strings.Compare(a.Table, b.Table); c != 0 {
		return c
	}
	return slices.Compare(a.Fingerprint[:], b.Fingerprint[:])
}

func samePlan(a, b *Plan) bool {
	return a == b || slices.Equal(encode([]*Plan{a}), encode([]*Plan{b}))
}

// Plans are the plans, sorted by table. The caller must not change the slice.
func (s *Set) Plans() []*Plan { return s.plans }

// Plan finds the plan of a table, nil without one.
func (s *Set) Plan(t *Table) *Plan {
	i, ok := slices.BinarySearchFunc(s.plans, t, func(p *Plan, t *Table) int {
		if c := strings.Compare(p.Table, t.name); c != 0 {
			return c
		}
		return slices.Compare(p.Fingerprint[:], t.print[:])
	})
	if !ok {
		return nil
	}
	return s.plans[i]
}

// Bytes is the encoding, which Decode reads. The caller must not change it.
func (s *Set) Bytes() []byte { return s.bytes }

// Hash is the first half of the SHA-256 of Bytes: equal sets have equal
// hashes, whatever the order they were built in.
func (s *Set) Hash() Hash { return s.hash }
