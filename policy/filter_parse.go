package policy

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// filterParser is a recursive-descent parser over the lexer's tokens.
type filterParser struct {
	lex   lexer
	tok   token
	depth int
	exprs arena[expr]
	kids  arena[*expr]
}

// node is a fresh node with these children.
func (p *filterParser) node(o op, kids ...*expr) *expr {
	e := &p.exprs.take(1)[0]
	e.op = o
	if len(kids) > 0 {
		e.kids = p.kids.take(len(kids))
		copy(e.kids, kids)
	}
	return e
}

func (p *filterParser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *filterParser) unexpected() error {
	switch p.tok.kind {
	case tokEOF:
		return p.lex.errf(p.tok.pos, "the filter ends too early")
	case tokWord:
		return p.lex.errf(p.tok.pos, "unexpected %s", p.tok.raw)
	case tokString:
		return p.lex.errf(p.tok.pos, "unexpected text")
	}
	return p.lex.errf(p.tok.pos, "unexpected %s", p.tok.text)
}

func (p *filterParser) word(w string) bool { return p.tok.kind == tokWord && p.tok.text == w }

func (p *filterParser) isOp(o string) bool { return p.tok.kind == tokOp && p.tok.text == o }

// accept skips a word.
func (p *filterParser) accept(w string) (bool, error) {
	if !p.word(w) {
		return false, nil
	}
	return true, p.advance()
}

func (p *filterParser) expectOp(o string) error {
	if !p.isOp(o) {
		return p.unexpected()
	}
	return p.advance()
}

// nested reads what stands behind a parenthesis, a minus sign or a NOT, and
// bounds how many of them are open: the printer counts the same.
func (p *filterParser) nested(inner func(*filterParser) (*expr, error)) (*expr, error) {
	if p.depth++; p.depth > maxFilterDepth {
		return nil, p.tooDeep()
	}
	e, err := inner(p)
	p.depth--
	return e, err
}

func (p *filterParser) tooDeep() error { return p.lex.errf(p.tok.pos, "nested too deep") }

// or and and are n-ary, so that long chains do not nest.
func (p *filterParser) or() (*expr, error) { return p.chain(opOr, "OR", (*filterParser).and) }

func (p *filterParser) and() (*expr, error) { return p.chain(opAnd, "AND", (*filterParser).not) }

func (p *filterParser) chain(o op, w string, inner func(*filterParser) (*expr, error)) (*expr, error) {
	first, err := inner(p)
	if err != nil || !p.word(w) {
		return first, err
	}
	out := p.node(o, first)
	for p.word(w) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		k, err := inner(p)
		if err != nil {
			return nil, err
		}
		out.kids = append(out.kids, k)
	}
	return out, nil
}

func (p *filterParser) not() (*expr, error) {
	if !p.word("NOT") {
		return p.predicate()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	k, err := p.nested((*filterParser).not)
	return p.node(opNot, k), err
}

var comparisons = map[string]op{"=": opEq, "<>": opNe, "<": opLt, "<=": opLe, ">": opGt, ">=": opGe}

func (p *filterParser) predicate() (*expr, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.tok.kind == tokOp {
		o, ok := comparisons[p.tok.text]
		if !ok {
			return left, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.sum()
		return p.node(o, left, right), err
	}
	if is, err := p.accept("IS"); is || err != nil {
		if err != nil {
			return nil, err
		}
		neg, err := p.accept("NOT")
		if err != nil {
			return nil, err
		}
		if !p.word("NULL") {
			return nil, p.unexpected()
		}
		return p.negated(neg, p.node(opIsNull, left)), p.advance()
	}
	neg, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	var out *expr
	switch {
	case p.word("IN"):
		out, err = p.in(left)
	case p.word("BETWEEN"):
		out, err = p.between(left)
	case p.word("LIKE"):
		out, err = p.like(left)
	case neg:
		return nil, p.unexpected()
	default:
		return left, nil
	}
	return p.negated(neg, out), err
}

func (p *filterParser) negated(neg bool, e *expr) *expr {
	if neg {
		return p.node(opNot, e)
	}
	return e
}

func (p *filterParser) in(left *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	out := p.node(opIn, left)
	for {
		k, err := p.sum()
		if err != nil {
			return nil, err
		}
		out.kids = append(out.kids, k)
		if p.isOp(",") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		}
		return out, p.expectOp(")")
	}
}

func (p *filterParser) between(left *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	lo, err := p.sum()
	if err != nil {
		return nil, err
	}
	if !p.word("AND") {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	hi, err := p.sum()
	return p.node(opBetween, left, lo, hi), err
}

func (p *filterParser) like(left *expr) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	pat, err := p.sum()
	if err != nil {
		return nil, err
	}
	out := p.node(opLike, left, pat)
	esc, err := p.accept("ESCAPE")
	if err != nil || !esc {
		return out, err
	}
	if p.tok.kind != tokString || len(p.tok.pieces) != 1 || p.tok.pieces[0].param || len([]rune(p.tok.pieces[0].text)) != 1 {
		return nil, p.lex.errf(p.tok.pos, "ESCAPE takes one character")
	}
	out.text = p.tok.pieces[0].text
	return out, p.advance()
}

var (
	sums     = map[string]op{"+": opAdd, "-": opSub}
	products = map[string]op{"*": opMul, "/": opDiv, "%": opMod}
)

func (p *filterParser) sum() (*expr, error) { return p.binary(sums, (*filterParser).product) }

func (p *filterParser) product() (*expr, error) { return p.binary(products, (*filterParser).unary) }

func (p *filterParser) binary(ops map[string]op, inner func(*filterParser) (*expr, error)) (*expr, error) {
	left, err := inner(p)
	if err != nil {
		return nil, err
	}
	for n := 0; p.tok.kind == tokOp; n++ {
		o, ok := ops[p.tok.text]
		if !ok {
			break
		}
		// Left-associative chains nest to the left.
		if p.depth+n > maxFilterDepth {
			return nil, p.tooDeep()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := inner(p)
		if err != nil {
			return nil, err
		}
		left = p.node(o, left, right)
	}
	return left, nil
}

func (p *filterParser) unary() (*expr, error) {
	if !p.isOp("-") && !p.isOp("+") {
		return p.primary()
	}
	minus := p.isOp("-")
	if err := p.advance(); err != nil {
		return nil, err
	}
	// The smallest integer has no positive counterpart: read it with its sign.
	if minus && p.tok.kind == tokNumber {
		if n, err := strconv.ParseInt("-"+p.tok.text, 10, 64); err == nil {
			return &expr{op: opInt, n: n}, p.advance()
		}
	}
	k, err := p.nested((*filterParser).unary)
	if err != nil || !minus {
		return k, err
	}
	return negate(k), nil
}

// keywords mean something in the grammar; those that are reserved cannot be
// columns unless quoted.
var keywords, reserved = words()

func words() (all map[string]string, reserved map[string]bool) {
	reserved = map[string]bool{
		"AND": true, "OR": true, "NOT": true, "IN": true, "BETWEEN": true, "LIKE": true, "ESCAPE": true, "IS": true,
		"NULL": true, "TRUE": true, "FALSE": true, "SELECT": true, "FROM": true, "WHERE": true, "CASE": true, "WHEN": true,
		"THEN": true, "ELSE": true, "END": true, "EXISTS": true, "CAST": true, "RLIKE": true, "REGEXP": true, "UNION": true,
	}
	all = map[string]string{}
	for w := range reserved {
		all[w] = w
	}
	for _, w := range []string{"CURRENT_DATE", "CURRENT_USER", "DATE", "INTERVAL", "DAY", "DAYS"} {
		all[w] = w
	}
	return all, reserved
}

// keyword is the word in upper case if it is one, in any letter case.
func keyword(word string) string {
	var upper [len("CURRENT_DATE")]byte // none is longer
	if len(word) > len(upper) {
		return ""
	}
	for i := range len(word) {
		if upper[i] = word[i]; 'a' <= upper[i] && upper[i] <= 'z' {
			upper[i] -= 'a' - 'A'
		}
	}
	return keywords[string(upper[:len(word)])]
}

func (p *filterParser) primary() (*expr, error) {
	t := p.tok
	switch t.kind {
	case tokNumber:
		e, err := numberExpr(t.text)
		if err != nil {
			return nil, err
		}
		return e, p.advance()
	case tokString:
		e := p.node(opText)
		e.pieces = t.pieces
		return e, p.advance()
	case tokParam:
		return &expr{op: opParam, text: t.text}, p.advance()
	case tokQuoted:
		return p.column(t.text)
	case tokOp:
		if t.text != "(" {
			return nil, p.unexpected()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.nested((*filterParser).or)
		if err != nil {
			return nil, err
		}
		return e, p.expectOp(")")
	case tokWord:
		return p.wordExpr(t)
	}
	return nil, p.unexpected()
}

func (p *filterParser) wordExpr(t token) (*expr, error) {
	switch t.text {
	case "NULL":
		return &expr{op: opNull}, p.advance()
	case "TRUE":
		return &expr{op: opBool, n: 1}, p.advance()
	case "FALSE":
		return &expr{op: opBool}, p.advance()
	}
	if reserved[t.text] {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch t.text {
	case "CURRENT_DATE", "CURRENT_USER":
		if p.isOp("(") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			if err := p.expectOp(")"); err != nil {
				return nil, err
			}
		}
		if t.text == "CURRENT_USER" {
			return &expr{op: opUser}, nil
		}
		return &expr{op: opToday}, nil
	case "DATE":
		if p.tok.kind == tokString && len(p.tok.pieces) == 1 && !p.tok.pieces[0].param {
			n, ok := parseDate(p.tok.pieces[0].text)
			if !ok {
				return nil, p.lex.errf(p.tok.pos, "malformed date")
			}
			return &expr{op: opDate, n: n}, p.advance()
		}
	case "INTERVAL":
		if p.tok.kind == tokString || p.tok.kind == tokNumber {
			return p.interval()
		}
	}
	if p.isOp("(") {
		return nil, p.lex.errf(t.pos, "function %s is not part of the grammar", strings.ToLower(t.raw))
	}
	return p.columnRest(t.raw)
}

func (p *filterParser) interval() (*expr, error) {
	text := p.tok.text
	if p.tok.kind == tokString {
		if len(p.tok.pieces) != 1 || p.tok.pieces[0].param {
			return nil, p.unexpected()
		}
		text = p.tok.pieces[0].text
	}
	// The smallest integer has no negation that reads back.
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n == math.MinInt32 {
		return nil, p.lex.errf(p.tok.pos, "malformed interval")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.word("DAY") && !p.word("DAYS") {
		return nil, p.lex.errf(p.tok.pos, "intervals are in days")
	}
	return &expr{op: opDays, n: n}, p.advance()
}

func (p *filterParser) column(name string) (*expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.columnRest(name)
}

// columnRest reads the parts after a dot: a table's name before the column's,
// or a field after it. Which of them is decided when the columns are known.
func (p *filterParser) columnRest(name string) (*expr, error) {
	for p.isOp(".") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind != tokWord && p.tok.kind != tokQuoted {
			return nil, p.unexpected()
		}
		part := p.tok.raw
		if p.tok.kind == tokQuoted {
			part = p.tok.text
		}
		name += "." + part
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.isOp("(") {
		return nil, p.lex.errf(p.tok.pos, "functions are not part of the grammar")
	}
	e := p.node(opColumn)
	e.text = name
	return e, nil
}

// The dates that parseDate reads, and how they are written: the days from minDate
// to maxDate, the years 0 to 9999.
const (
	dateLayout = "2006-01-02"
	minDate    = -719528
	maxDate    = 2932896
)

// parseDate reads yyyy-mm-dd as days since 1970-01-01.
func parseDate(s string) (int64, bool) {
	t, err := time.Parse(dateLayout, s)
	if err != nil {
		return 0, false
	}
	return t.Unix() / 86400, true
}
