package policy

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/mask"
)

// Column is one column of a table, or one field of a nested column.
type Column struct {
	Name string
	Type mask.Type
	// Children are the fields of a nested column, by whose names a policy may
	// name a part of it: "address.city". A child without a name is transparent:
	// its children count as those of the column (the element of a list).
	Children []Column
}

// Table is what is read: the name, level by level ("catalog", "schema",
// "table"), the owner where known, and the columns. Build one with NewTable,
// once per table and query: it is immutable and safe to share.
type Table struct {
	path    []string
	name    string
	owner   string
	columns []Column
	fields  []Field
	print   Fingerprint
	hash    uint64
}

// Fingerprint stands for the names, types and order of a table's columns.
type Fingerprint [8]byte

// NewTable copies the path; columns are kept and must not change afterwards.
// The owner may be empty when unknown.
func NewTable(path []string, owner string, columns []Column) (*Table, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("%w: no name", ErrTable)
	}
	for _, p := range path {
		if p == "" {
			return nil, fmt.Errorf("%w: empty part in the name %q", ErrTable, strings.Join(path, "."))
		}
	}
	t := &Table{path: slices.Clone(path), name: strings.Join(path, "."), owner: owner, columns: columns}
	seen := make(map[string]bool, len(columns))
	for i := range columns {
		c := &columns[i]
		if c.Name == "" {
			return nil, fmt.Errorf("%w %s: column %d has no name", ErrTable, t.name, i)
		}
		// Two columns of one name cannot be told apart by a policy.
		if seen[c.Name] {
			return nil, fmt.Errorf("%w %s: two columns are called %q", ErrTable, t.name, c.Name)
		}
		seen[c.Name] = true
		if c.Type.Kind == mask.Invalid {
			return nil, fmt.Errorf("%w %s: column %q has no type", ErrTable, t.name, c.Name)
		}
	}
	t.fields = fields(columns)
	t.print = fingerprint(columns)
	var h maphash.Hash
	h.SetSeed(seed)
	for _, p := range t.path {
		h.WriteString(p)
		h.WriteByte(0)
	}
	h.WriteString(owner)
	h.Write(t.print[:])
	t.hash = h.Sum64()
	return t, nil
}

// SplitName cuts "db.table" into its parts.
func SplitName(name string) []string { return strings.Split(name, ".") }

func fingerprint(columns []Column) Fingerprint {
	b := appendColumns(nil, columns)
	sum := sha256.Sum256(b)
	return Fingerprint(sum[:8])
}

func appendColumns(b []byte, columns []Column) []byte {
	b = binary.AppendUvarint(b, uint64(len(columns)))
	for i := range columns {
		c := &columns[i]
		b = binary.AppendUvarint(b, uint64(len(c.Name)))
		b = append(b, c.Name...)
		b = append(b, byte(c.Type.Kind))
		b = binary.AppendUvarint(b, uint64(c.Type.Width))
		b = appendColumns(b, c.Children)
	}
	return b
}

// Path is the name, level by level. The caller must not change it.
func (t *Table) Path() []string { return t.path }

// Name is the path joined by dots.
func (t *Table) Name() string { return t.name }

// Owner is the owner of the table, "" when unknown.
func (t *Table) Owner() string { return t.owner }

// Columns are the columns in order. The caller must not change them.
func (t *Table) Columns() []Column { return t.columns }

// Fingerprint stands for the columns.
func (t *Table) Fingerprint() Fingerprint { return t.print }

func (t *Table) equal(o *Table) bool {
	return t == o || t.hash == o.hash && t.print == o.print && t.owner == o.owner && slices.Equal(t.path, o.path)
}

// Field is a column or a field of a nested column, with the name that a policy
// calls it by.
type Field struct {
	Name  string // "address.city"
	Index int    // of the column in the table
	Path  []int  // from the column down; empty for the column itself
	Type  mask.Type
	Inner bool // has fields of its own
}

// Fields lists every column and every field of the nested ones, each column
// followed by its fields. The caller must not change it.
func (t *Table) Fields() []Field { return t.fields }

func fields(columns []Column) []Field {
	out := make([]Field, 0, len(columns))
	for i := range columns {
		c := &columns[i]
		out = append(out, Field{Name: c.Name, Index: i, Type: c.Type, Inner: len(c.Children) > 0})
		if len(c.Children) > 0 {
			out = appendFields(out, c.Name, i, nil, c.Children)
		}
	}
	return out
}

func appendFields(out []Field, prefix string, index int, path []int, children []Column) []Field {
	for i := range children {
		c := &children[i]
		p := append(slices.Clone(path), i)
		name := prefix
		if c.Name != "" {
			name = prefix + "." + c.Name
			out = append(out, Field{Name: name, Index: index, Path: p, Type: c.Type, Inner: len(c.Children) > 0})
		}
		out = appendFields(out, name, index, p, c.Children)
	}
	return out
}
