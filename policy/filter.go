package policy

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Filter is a parsed row filter: a checked expression tree. It may hold
// parameters (${{..}}, current_user, current_date); Bind replaces them by
// values, as literals of the tree and never as text. Filters are immutable.
//
// The grammar: comparisons (= == <> != < <= > >=), IN, BETWEEN, LIKE with
// ESCAPE, IS [NOT] NULL, AND, OR, NOT; columns by name, letter case ignored;
// literals of text, numbers, TRUE, FALSE, NULL, DATE 'yyyy-mm-dd', INTERVAL 'n'
// DAY; + - * / % on numbers, + - on dates and days. Logic is SQL's with three
// values. Everything else, functions and subqueries among it, is ErrFilter.
type Filter struct {
	root *expr
	text string // canonical; empty while parameters are unbound
	hash Hash   // of text: equal filters are found without reading it again
}

type op uint8

const (
	opNull    op = iota
	opBool       // n is 0 or 1
	opInt        // n
	opDecimal    // text
	opText       // pieces
	opDate       // n is days since 1970-01-01
	opDays       // n days
	opColumn     // text
	opParam      // text is the expression, outside of a literal
	opToday      // current_date
	opUser       // current_user
	opNeg
	opAdd
	opSub
	opMul
	opDiv
	opMod
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opIn      // kids[0] among kids[1:]
	opBetween // kids[0] from kids[1] to kids[2]
	opLike    // kids[0] like kids[1], text is the escape character
	opIsNull
	opNot
	opAnd
	opOr
)

// expr is a node. Negated forms (NOT IN, IS NOT NULL) are opNot above them.
type expr struct {
	op     op
	n      int64
	text   string
	pieces []piece
	kids   []*expr
}

// Binder gives the values of parameters. An error of it closes the filter.
type Binder interface {
	// Text is the value of ${{src}} within a text literal, or as a number.
	Text(src string) (string, error)
	// List is the values of ${{src}} as the list of an IN.
	List(src string) ([]string, error)
	// User is current_user.
	User() (string, error)
	// Today is current_date, in days since 1970-01-01.
	Today() (int64, error)
}

// ParseFilter reads a filter. The error wraps ErrFilter and says where.
func ParseFilter(src string, syn Syntax) (*Filter, error) {
	if len(src) > maxFilterBytes {
		return nil, fmt.Errorf("%w: %d bytes long", ErrFilter, len(src))
	}
	p := &filterParser{lex: lexer{src: src, syn: syn}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEOF {
		return nil, p.unexpected()
	}
	if root.hasParams() {
		return &Filter{root: root}, nil
	}
	return newFilter(root, src)
}

// newFilter is a filter without parameters. Where its text is the source, the
// two are one string. What the canonical text makes too long or too deep is
// refused here, where a policy can be named, and not when a plan is read back.
func newFilter(root *expr, src string) (*Filter, error) {
	b, depth := root.print(len(src))
	if len(b) > maxFilterBytes || depth > maxFilterDepth {
		return nil, fmt.Errorf("%w: %d bytes long, nested %d deep in canonical form", ErrFilter, len(b), depth)
	}
	text := src
	if string(b) != src {
		text = string(b)
	}
	return &Filter{root: root, text: text, hash: hashOf(b)}, nil
}

// Bound reports whether the filter holds no parameter any more.
func (f *Filter) Bound() bool { return f.text != "" }

// Params lists the expressions of the ${{..}} within, sorted and distinct.
func (f *Filter) Params() []string {
	var out []string
	f.root.walk(func(e *expr) {
		if e.op == opParam {
			out = append(out, e.text)
		}
		for _, p := range e.pieces {
			if p.param {
				out = append(out, p.text)
			}
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// Bind replaces the parameters.
func (f *Filter) Bind(b Binder) (*Filter, error) {
	if f.Bound() {
		return f, nil
	}
	root, err := f.root.bind(b)
	if err != nil {
		return nil, err
	}
	return newFilter(root, "")
}

// UsesToday reports whether current_date occurs, so that the bound filter
// holds for one day only.
func (f *Filter) UsesToday() bool {
	found := false
	f.root.walk(func(e *expr) { found = found || e.op == opToday })
	return found
}

// String is the canonical text, which Decode reads back; equal filters have
// equal text. A filter with unbound parameters prints as a note only.
func (f *Filter) String() string {
	if f.text == "" {
		return "(unbound filter)"
	}
	return f.text
}

// Columns lists the columns that the filter reads, sorted and distinct, as
// the filter writes them.
func (f *Filter) Columns() []string {
	var out []string
	f.root.walk(func(e *expr) {
		if e.op == opColumn {
			out = append(out, e.text)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

func (e *expr) walk(visit func(*expr)) {
	visit(e)
	for _, k := range e.kids {
		k.walk(visit)
	}
}

func (e *expr) hasParams() bool {
	found := false
	e.walk(func(e *expr) {
		switch e.op {
		case opParam, opToday, opUser:
			found = true
		}
		for _, p := range e.pieces {
			found = found || p.param
		}
	})
	return found
}

func (e *expr) bind(b Binder) (*expr, error) {
	switch e.op {
	case opParam:
		v, err := b.Text(e.text)
		if err != nil {
			return nil, err
		}
		return bindNumber(e.text, v)
	case opToday:
		n, err := b.Today()
		if err == nil && (n < minDate || n > maxDate) {
			err = fmt.Errorf("%w: current_date is outside of the years 0 to 9999", ErrFilter)
		}
		return &expr{op: opDate, n: n}, err
	case opUser:
		u, err := b.User()
		return textExpr(u), err
	}
	out := *e
	if len(e.pieces) > 0 {
		var s strings.Builder
		for _, p := range e.pieces {
			if !p.param {
				s.WriteString(p.text)
				continue
			}
			v, err := b.Text(p.text)
			if err != nil {
				return nil, err
			}
			s.WriteString(v)
		}
		out.pieces = textExpr(s.String()).pieces
	}
	out.kids = nil
	for i, k := range e.kids {
		// A bare parameter in the list of an IN may stand for several values.
		if e.op == opIn && i > 0 && k.op == opParam {
			list, err := b.List(k.text)
			if err != nil {
				return nil, err
			}
			// SQL has no empty list; an engine would refuse the query.
			if len(list) == 0 {
				return nil, fmt.Errorf("%w: ${{%s}} gives an empty list", ErrFilter, k.text)
			}
			for _, v := range list {
				out.kids = append(out.kids, textExpr(v))
			}
			continue
		}
		nk, err := k.bind(b)
		if err != nil {
			return nil, err
		}
		out.kids = append(out.kids, nk)
	}
	if e.op == opNeg {
		return negate(out.kids[0]), nil
	}
	return &out, nil
}

// textExpr is a literal of one piece; the empty text has none.
func textExpr(s string) *expr {
	e := &expr{op: opText}
	if s != "" {
		e.pieces = []piece{{text: s}}
	}
	return e
}

func (e *expr) str() string {
	if len(e.pieces) == 0 {
		return ""
	}
	return e.pieces[0].text
}

// bindNumber makes a literal of a value that stands outside of quotes: only a
// number can, anything else would be read as part of the expression.
func bindNumber(src, v string) (*expr, error) {
	neg := strings.HasPrefix(v, "-")
	l := lexer{src: strings.TrimPrefix(v, "-")}
	t, err := l.next()
	if err != nil || t.kind != tokNumber || l.pos != len(l.src) {
		return nil, fmt.Errorf("%w: the value of ${{%s}} is no number and the expression is not in quotes", ErrFilter, src)
	}
	e, err := numberExpr(t.text)
	if err != nil {
		return nil, err
	}
	if neg {
		return negate(e), nil
	}
	return e, nil
}

func numberExpr(text string) (*expr, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return &expr{op: opInt, n: n}, nil
	}
	// Exponents are bounded before big.Rat would spell them out.
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if x, err := strconv.Atoi(text[i+1:]); err != nil || x > 400 || x < -400 {
			return nil, fmt.Errorf("%w: number out of range", ErrFilter)
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || len(text) > 400 {
		return nil, fmt.Errorf("%w: malformed number", ErrFilter)
	}
	return decimalExpr(r, text), nil
}

// decimalExpr is an integer literal where the value is one that fits.
func decimalExpr(r *big.Rat, text string) *expr {
	if r.IsInt() && r.Num().IsInt64() {
		return &expr{op: opInt, n: r.Num().Int64()}
	}
	return &expr{op: opDecimal, text: strings.ToLower(text)}
}

// negate folds the sign into a literal.
func negate(e *expr) *expr {
	switch e.op {
	case opInt:
		if e.n != -1<<63 {
			return &expr{op: opInt, n: -e.n}
		}
	case opDecimal:
		text := "-" + e.text
		if strings.HasPrefix(e.text, "-") {
			text = e.text[1:]
		}
		if r, ok := new(big.Rat).SetString(text); ok {
			return decimalExpr(r, text)
		}
	case opDays:
		return &expr{op: opDays, n: -e.n}
	}
	return &expr{op: opNeg, kids: []*expr{e}}
}
