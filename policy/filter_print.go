package policy

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// Precedence, from loosest; a child prints in parentheses when it binds no
// tighter than its parent asks.
func (o op) level() int {
	switch o {
	case opOr:
		return 1
	case opAnd:
		return 2
	case opNot:
		return 3
	case opEq, opNe, opLt, opLe, opGt, opGe, opIn, opBetween, opLike, opIsNull:
		return 4
	case opAdd, opSub:
		return 5
	case opMul, opDiv, opMod:
		return 6
	case opNeg:
		return 7
	}
	return 8
}

var opSigns = [...]string{
	opAdd: "+", opSub: "-", opMul: "*", opDiv: "/", opMod: "%",
	opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=",
	opAnd: " and ", opOr: " or ",
}

// print is the canonical text, and how deep it nests as the parser counts; size
// is a guess at its length.
func (e *expr) print(size int) (text []byte, depth int) {
	var p printer
	p.Grow(size)
	p.write(e, 0)
	return p.Bytes(), p.deepest
}

// printer writes canonical text.
type printer struct {
	bytes.Buffer
	depth, deepest int
}

// open writes what nests the rest of an expression.
func (p *printer) open(s string) {
	p.WriteString(s)
	p.depth++
	p.deepest = max(p.deepest, p.depth)
}

// write puts an expression in parentheses where outer asks for it, and always
// where it begins with a minus: two in a row would read as a comment.
func (p *printer) write(e *expr, outer int) {
	depth, level := p.depth, e.op.level()
	wrap := level <= outer || e.signed()
	if wrap {
		p.open("(")
	}
	p.form(e, level)
	if wrap {
		p.WriteByte(')')
	}
	p.depth = depth
}

// signed reports whether the text begins with a minus.
func (e *expr) signed() bool {
	return e.op == opNeg || e.op == opInt && e.n < 0 || e.op == opDecimal && strings.HasPrefix(e.text, "-")
}

func (p *printer) form(e *expr, level int) {
	switch e.op {
	case opNull:
		p.WriteString("null")
	case opBool:
		p.WriteString(strconv.FormatBool(e.n != 0))
	case opInt:
		p.WriteString(strconv.FormatInt(e.n, 10))
	case opDecimal:
		p.WriteString(e.text)
	case opText:
		p.quote(e.str(), '\'')
	case opDate:
		p.WriteString("date '" + time.Unix(e.n*86400, 0).UTC().Format(dateLayout) + "'")
	case opDays:
		p.WriteString("interval '" + strconv.FormatInt(e.n, 10) + "' day")
	case opColumn:
		p.quote(e.text, '`')
	case opParam:
		p.WriteString("${{" + e.text + "}}")
	case opToday:
		p.WriteString("current_date")
	case opUser:
		p.WriteString("current_user")
	case opNeg:
		p.open("-")
		p.write(e.kids[0], level)
	case opNot:
		p.open("not ")
		p.write(e.kids[0], level-1)
	case opIsNull:
		p.write(e.kids[0], level)
		p.WriteString(" is null")
	case opIn:
		p.write(e.kids[0], level)
		p.WriteString(" in(")
		for i, k := range e.kids[1:] {
			if i > 0 {
				p.WriteByte(',')
			}
			p.write(k, level)
		}
		p.WriteByte(')')
	case opBetween:
		p.write(e.kids[0], level)
		p.WriteString(" between ")
		p.write(e.kids[1], level)
		p.WriteString(" and ")
		p.write(e.kids[2], level)
	case opLike:
		p.write(e.kids[0], level)
		p.WriteString(" like ")
		p.write(e.kids[1], level)
		if e.text != "" {
			p.WriteString(" escape ")
			p.quote(e.text, '\'')
		}
	default:
		for i, k := range e.kids {
			if i > 0 {
				p.WriteString(opSigns[e.op])
			}
			p.write(k, level)
		}
	}
}

// quote quotes so that the canonical syntax reads the same text back.
func (p *printer) quote(s string, q byte) {
	p.WriteByte(q)
	for {
		n := strings.IndexByte(s, q)
		if n < 0 {
			break
		}
		p.WriteString(s[:n+1])
		p.WriteByte(q)
		s = s[n+1:]
	}
	p.WriteString(s)
	p.WriteByte(q)
}
