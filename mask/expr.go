package mask

import (
	"strconv"
	"strings"
)

// Expr is a parsed expression: a tree of calls over {col} and literals.
// Read-only and safe for any goroutine.
type Expr struct {
	kind exprKind
	pos  int    // byte position in the source
	name string // of a call, in lower case
	args []*Expr
	text string   // of a string literal
	num  int64    // of an integer literal; 0 or 1 of a boolean
	typ  *sqlType // of a cast
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
		b.WriteString("{col}")
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

// HasColumn reports whether {col} occurs in the expression.
func (e *Expr) HasColumn() bool {
	if e.kind == exprColumn {
		return true
	}
	for _, a := range e.args {
		if a.HasColumn() {
			return true
		}
	}
	return false
}

// what names the sort of an argument in an error text.
func (e *Expr) what() string {
	switch e.kind {
	case exprColumn:
		return "{col}"
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
