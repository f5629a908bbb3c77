package mask

import (
	"slices"
	"strconv"
	"strings"
)

// Expr is a parsed expression: a tree of calls over {col} and literals.
// Read-only and safe for any goroutine.
type Expr struct {
	kind exprKind
	pos  int    // byte position in the source
	name string // of a call, in lower case; of a column
	args []*Expr
	text string   // of a string literal
	num  int64    // of an integer literal; 0 or 1 of a boolean
	typ  *sqlType // of a cast
	bare bool     // a column without braces
}

type exprKind uint8

const (
	exprColumn exprKind = iota
	exprCall
	exprString
	exprInt
	exprBool
	exprNull
)

// String is the expression in the grammar that Parse reads, in one canonical
// spelling. It holds key handles as they were written, never keys.
func (e *Expr) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e *Expr) write(b *strings.Builder) {
	switch e.kind {
	case exprColumn:
		b.WriteString("{" + e.name + "}")
	case exprCall:
		b.WriteString(e.name)
		b.WriteByte('(')
		for i, a := range e.args {
			if i > 0 {
				b.WriteString(", ")
			}
			a.write(b)
		}
		if e.typ != nil {
			b.WriteString(" AS " + e.typ.String())
		}
		b.WriteByte(')')
	case exprString:
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(e.text, "'", "''"))
		b.WriteByte('\'')
	case exprInt:
		b.WriteString(strconv.FormatInt(e.num, 10))
	case exprBool:
		if e.num != 0 {
			b.WriteString("TRUE")
		} else {
			b.WriteString("FALSE")
		}
	default:
		b.WriteString("NULL")
	}
}

// HasColumn reports whether {col}, or any column of ParseColumns, occurs in the
// expression.
func (e *Expr) HasColumn() bool { return len(e.Columns()) > 0 }

// IsColumn reports whether the expression is a column and nothing else.
func (e *Expr) IsColumn() bool { return e.kind == exprColumn }

// Columns lists the names of the columns in the expression, each once, in order
// of their first use.
func (e *Expr) Columns() []string {
	var names []string
	var walk func(e *Expr)
	walk = func(e *Expr) {
		if e.kind == exprColumn && !slices.Contains(names, e.name) {
			names = append(names, e.name)
		}
		for _, a := range e.args {
			walk(a)
		}
	}
	walk(e)
	return names
}

// Rename is the expression with other names of its columns, to be found by to.
// The column in {col} stays; to may answer "col" for another name of it.
func (e *Expr) Rename(to func(name string) (string, error)) (*Expr, error) {
	out := *e
	if e.kind == exprColumn && (e.bare || e.name != defaultColumn) {
		name, err := to(e.name)
		out.name, out.bare = name, false
		return &out, err
	}
	out.args = make([]*Expr, len(e.args))
	for i, a := range e.args {
		var err error
		if out.args[i], err = a.Rename(to); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// what names the sort of an argument in an error text.
func (e *Expr) what() string {
	switch e.kind {
	case exprColumn:
		return "{" + e.name + "}"
	case exprCall:
		return "a call of " + e.name
	case exprString:
		return "a string"
	case exprInt:
		return "an integer"
	case exprBool:
		return "a boolean"
	default:
		return "NULL"
	}
}
