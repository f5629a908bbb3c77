package mask

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The grammar; white space may stand between any two tokens, names and
// keywords ignore case:
//
//	expr    = call | column | literal
//	call    = name "(" [ expr { "," expr } ] ")" | "CAST" "(" expr "AS" type ")"
//	type    = name [ "(" digits [ "," digits ] ")" ]
//	column  = "{col}"; with ParseColumns "{" name of a column "}";
//	          with ParseSQL also name, or "`" name of a column "`"
//	literal = string | integer | "TRUE" | "FALSE" | "NULL"
//	string  = "'" ... "'" | '"' ... '"'     a doubled quote stands for one; no other escape
//	integer = [ "+" | "-" ] digit { digit } within 64 bits
//	name    = letter or "_", then letters, digits and "_"
//
// Bounds keep a hostile policy from costing more than a line of an error.
const (
	maxDepth  = 32
	maxSource = 1 << 16
)

// Parse reads a mask expression. The error is a *SyntaxError (wraps ErrSyntax)
// with the byte position.
func Parse(src string) (*Expr, error) { return parse(parser{src: src}) }

// ParseColumns is Parse for an expression over several columns: any name may
// stand in the braces, as it is spelled, such as hash_row({first_name}, {born}).
func ParseColumns(src string) (*Expr, error) { return parse(parser{src: src, columns: true}) }

// ParseSQL is ParseColumns for an expression as SQL spells it: a name that no
// parenthesis follows is a column, and so is what stands in backquotes, letter
// case as it is: hash_row({col}, born, `last name`). Rename finds the columns.
func ParseSQL(src string) (*Expr, error) { return parse(parser{src: src, columns: true, bare: true}) }

func parse(p parser) (*Expr, error) {
	src := p.src
	if len(src) > maxSource {
		return nil, p.fail(maxSource, fmt.Sprintf("longer than %d bytes", maxSource))
	}
	for i, r := range src {
		if r == utf8.RuneError {
			if _, w := utf8.DecodeRuneInString(src[i:]); w == 1 {
				return nil, p.fail(i, "not valid UTF-8")
			}
		}
	}
	e, err := p.expr(1)
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(src) {
		return nil, p.fail(p.pos, "unexpected "+p.found()+" after the expression")
	}
	// Quotes make the canonical spelling longer, which must be read again.
	if len(src) > maxSource/4 && len(e.String()) > maxSource {
		return nil, p.fail(0, fmt.Sprintf("longer than %d bytes in canonical spelling", maxSource))
	}
	return e, nil
}

type parser struct {
	src     string
	pos     int
	columns bool // any name in braces is a column
	bare    bool // and any other name
}

func (p *parser) fail(pos int, msg string) error { return &SyntaxError{Pos: pos, Msg: msg} }

func (p *parser) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

// peek is the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

// found names what stands at the position.
func (p *parser) found() string {
	if p.pos >= len(p.src) {
		return "end"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser) expr(depth int) (*Expr, error) {
	c := p.peek()
	if depth > maxDepth {
		return nil, p.fail(p.pos, fmt.Sprintf("nested deeper than %d", maxDepth))
	}
	switch {
	case c == '{':
		return p.column()
	case c == '\'' || c == '"':
		return p.str(c)
	case isDigit(c) || c == '-' || c == '+':
		return p.integer()
	case isNameStart(c):
		return p.word(depth)
	case c == '`' && p.bare:
		return p.quoted()
	}
	return nil, p.fail(p.pos, "expected a function, {col} or a literal, found "+p.found())
}

func (p *parser) column() (*Expr, error) {
	name, _, ok := strings.Cut(p.src[p.pos+1:], "}")
	switch {
	case !p.columns && (!ok || name != defaultColumn):
		return nil, p.fail(p.pos, "the only placeholder is {"+defaultColumn+"}")
	case !ok || name == "" || strings.ContainsAny(name, "{\x00"):
		return nil, p.fail(p.pos, "expected the name of a column in braces")
	}
	e := &Expr{kind: exprColumn, pos: p.pos, name: name}
	p.pos += len(name) + 2
	return e, nil
}

// quoted reads a name in backquotes; a doubled one stands for one.
func (p *parser) quoted() (*Expr, error) {
	e, err := p.str('`')
	if err != nil || e.text == "" {
		return nil, p.fail(p.pos, "expected the name of a column in backquotes")
	}
	return &Expr{kind: exprColumn, pos: e.pos, name: e.text, bare: true}, nil
}

func (p *parser) str(quote byte) (*Expr, error) {
	e := &Expr{kind: exprString, pos: p.pos}
	var b strings.Builder
	for i := p.pos + 1; i < len(p.src); i++ {
		if p.src[i] != quote {
			b.WriteByte(p.src[i])
			continue
		}
		if i+1 < len(p.src) && p.src[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		e.text, p.pos = b.String(), i+1
		return e, nil
	}
	return nil, p.fail(p.pos, "string without an end")
}

func (p *parser) integer() (*Expr, error) {
	start := p.pos
	if c := p.src[p.pos]; c == '-' || c == '+' {
		p.pos++
	}
	digits := p.pos
	for p.pos < len(p.src) && isDigit(p.src[p.pos]) {
		p.pos++
	}
	if p.pos == digits {
		return nil, p.fail(p.pos, "expected a digit, found "+p.found())
	}
	if p.pos < len(p.src) && (isNameStart(p.src[p.pos]) || p.src[p.pos] == '.') {
		return nil, p.fail(p.pos, "only whole numbers are taken, found "+p.found())
	}
	n, err := strconv.ParseInt(p.src[start:p.pos], 10, 64)
	if err != nil {
		return nil, p.fail(start, "integer does not fit 64 bits")
	}
	return &Expr{kind: exprInt, pos: start, num: n}, nil
}

// word reads a keyword or a call.
func (p *parser) word(depth int) (*Expr, error) {
	start := p.pos
	name := p.name()
	if p.peek() == '(' {
		return p.call(name, start, depth)
	}
	switch name {
	case "null":
		return &Expr{kind: exprNull, pos: start}, nil
	case "true":
		return &Expr{kind: exprBool, pos: start, num: 1}, nil
	case "false":
		return &Expr{kind: exprBool, pos: start}, nil
	}
	if p.bare {
		return &Expr{kind: exprColumn, pos: start, name: p.src[start : start+len(name)], bare: true}, nil
	}
	return nil, p.fail(p.pos, "expected \"(\" after the name "+strconv.Quote(name)+", found "+p.found())
}

func (p *parser) call(name string, start, depth int) (*Expr, error) {
	e := &Expr{kind: exprCall, pos: start, name: name}
	p.pos++ // the parenthesis
	if name == castName {
		return e, p.cast(e, depth)
	}
	if p.peek() == ')' {
		p.pos++
		return e, nil
	}
	for {
		a, err := p.expr(depth + 1)
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, a)
		switch p.peek() {
		case ',':
			p.pos++
		case ')':
			p.pos++
			return e, nil
		default:
			return nil, p.fail(p.pos, "expected \",\" or \")\", found "+p.found())
		}
	}
}

// cast reads what stands in the parentheses of a cast.
func (p *parser) cast(e *Expr, depth int) error {
	x, err := p.expr(depth + 1)
	if err != nil {
		return err
	}
	e.args = []*Expr{x}
	if p.space(); p.name() != "as" {
		return p.fail(p.pos, "expected \"AS\" and a type, found "+p.found())
	}
	p.space()
	at := p.pos
	t := &sqlType{name: p.name(), length: -1}
	var known bool
	if t.kind, known = castKinds[t.name]; !known {
		return p.fail(at, "expected a type after \"AS\"")
	}
	if p.peek() == '(' {
		at = p.pos
		digits, rest, ok := strings.Cut(p.src[p.pos+1:], ")")
		if !ok {
			return p.fail(len(p.src), "expected \")\", found end")
		}
		p.pos = len(p.src) - len(rest)
		first, _, _ := strings.Cut(digits, ",")
		n, err := strconv.ParseUint(strings.TrimSpace(first), 10, 31)
		if err != nil || n == 0 {
			return p.fail(at+1, "expected the length of a type")
		}
		if t.kind == Text {
			t.length = int(n)
		}
	}
	if t.name == "char" && t.length < 0 {
		t.length = 1 // as SQL has it
	}
	if p.peek() != ')' {
		return p.fail(p.pos, "expected \")\", found "+p.found())
	}
	p.pos++
	e.typ = t
	return nil
}

// name reads a name, in lower case; empty when none stands there.
func (p *parser) name() string {
	start := p.pos
	for p.pos < len(p.src) && (isNameStart(p.src[p.pos]) || p.pos > start && isDigit(p.src[p.pos])) {
		p.pos++
	}
	return strings.ToLower(p.src[start:p.pos])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
