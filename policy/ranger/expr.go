package ranger

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Expressions are the small part of Ranger's JavaScript that policies commonly
// use, evaluated exactly or not at all: comparisons (== != === !== < <= > >=),
// && || !, parentheses, text, numbers, true, false, null; USER.attr, TAG.attr
// (tag.attr), RES.level, REQ.user, REQ.accessType, also as USER['attr']; and
// the macros of boolMacros and listMacros below. What does not parse, or reads an
// attribute that is not there, closes the policy.

var errExpr = errors.New("expression outside of what can be evaluated")

// script is a parsed expression.
type script struct {
	src  string
	root *sexpr
	// column: the answer may differ between the columns of a table.
	column bool
}

type sexpr struct {
	kind string // "lit", "attr", "call", or an operator
	lit  any    // string, float64, bool, nil
	name string // object of an attr, name of a macro
	key  string // of an attr
	kids []*sexpr
}

// env is what expressions read.
type env struct {
	user, owner, access string
	userAttr            func(string) (string, bool)
	groups, roles, tags []string // sorted
	tag                 map[string]string
	hasTag              bool // tag is set: a tag policy is evaluated
	res                 map[string]string
	tagAttrs            []map[string]string // of every tag
	groupAttr           func(group, attr string) (string, bool)
}

var (
	sToken = regexp.MustCompile(`^(?:\s+|[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)?|'[^'\\]*'|"[^"\\]*"|===|!==|==|!=|<=|>=|&&|\|\||[<>!()\[\].,\-])`)
	sWord  = regexp.MustCompile(`^[A-Za-z_]`)
)

// boolMacros take the number of texts given, or none and no parentheses.
var boolMacros = map[string]int{
	"IS_IN_GROUP": 1, "IS_IN_ROLE": 1, "HAS_TAG": 1, "HAS_USER_ATTR": 1, "HAS_UG_ATTR": 1, "HAS_TAG_ATTR": 1,
	"HAS_ANY_TAG": 0, "HAS_NO_TAG": 0, "IS_IN_ANY_GROUP": 0, "IS_IN_ANY_ROLE": 0, "IS_NOT_IN_ANY_GROUP": 0, "IS_NOT_IN_ANY_ROLE": 0,
}

// listMacros give texts parted by commas, or in quotes with _Q; true: of the
// attribute that the argument names.
var listMacros = map[string]bool{
	"GET_UG_NAMES": false, "GET_UR_NAMES": false, "GET_TAG_NAMES": false,
	"GET_USER_ATTR": true, "GET_UG_ATTR": true,
}

func parseScript(src string) (*script, error) {
	p := &scriptParser{src: src, s: &script{src: src}}
	rest := strings.TrimSuffix(strings.TrimSpace(src), ";")
	for rest != "" {
		t := sToken.FindString(rest)
		if t == "" {
			return nil, fmt.Errorf("%w: %q", errExpr, clip(src))
		}
		rest = rest[len(t):]
		if strings.TrimSpace(t) != "" {
			p.toks = append(p.toks, t)
		}
	}
	if len(p.toks) > 10000 {
		return nil, fmt.Errorf("%w: too long", errExpr)
	}
	root, err := p.or(0)
	if err == nil && p.i < len(p.toks) {
		err = errExpr
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %q", errExpr, clip(src))
	}
	p.s.root = root
	return p.s, nil
}

// clip shortens a policy's text for a message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

type scriptParser struct {
	src  string
	toks []string
	i    int
	s    *script
}

func (p *scriptParser) peek() string {
	if p.i < len(p.toks) {
		return p.toks[p.i]
	}
	return ""
}

func (p *scriptParser) eat(t string) bool {
	if p.peek() == t {
		p.i++
		return true
	}
	return false
}

func (p *scriptParser) chain(depth int, o string, inner func(int) (*sexpr, error)) (*sexpr, error) {
	if depth > 100 {
		return nil, errExpr
	}
	left, err := inner(depth + 1)
	for err == nil && p.eat(o) {
		var right *sexpr
		right, err = inner(depth + 1)
		left = &sexpr{kind: o, kids: []*sexpr{left, right}}
	}
	return left, err
}

func (p *scriptParser) or(depth int) (*sexpr, error)  { return p.chain(depth, "||", p.and) }
func (p *scriptParser) and(depth int) (*sexpr, error) { return p.chain(depth, "&&", p.compare) }

// compare does not chain: a == b == c is refused, for it surprises.
func (p *scriptParser) compare(depth int) (*sexpr, error) {
	left, err := p.unary(depth + 1)
	if err != nil {
		return nil, err
	}
	switch o := p.peek(); o {
	case "==", "!=", "===", "!==", "<", "<=", ">", ">=":
		p.i++
		right, err := p.unary(depth + 1)
		return &sexpr{kind: o, kids: []*sexpr{left, right}}, err
	}
	return left, nil
}

func (p *scriptParser) unary(depth int) (*sexpr, error) {
	if depth > 100 {
		return nil, errExpr
	}
	if p.eat("!") {
		k, err := p.unary(depth + 1)
		return &sexpr{kind: "!", kids: []*sexpr{k}}, err
	}
	if p.eat("(") {
		k, err := p.or(depth + 1)
		if err == nil && !p.eat(")") {
			err = errExpr
		}
		return k, err
	}
	sign := 1.0
	if p.eat("-") {
		sign = -1
	}
	t := p.peek()
	p.i++
	switch {
	case t == "":
		return nil, errExpr
	case t[0] >= '0' && t[0] <= '9':
		f, err := strconv.ParseFloat(t, 64)
		return &sexpr{kind: "lit", lit: sign * f}, err
	case sign < 0:
		return nil, errExpr
	case t[0] == '\'' || t[0] == '"':
		return &sexpr{kind: "lit", lit: t[1 : len(t)-1]}, nil
	case !sWord.MatchString(t):
		return nil, errExpr
	}
	return p.name(t)
}

func (p *scriptParser) name(t string) (*sexpr, error) {
	switch t {
	case "true", "false":
		return &sexpr{kind: "lit", lit: t == "true"}, nil
	case "null":
		return &sexpr{kind: "lit"}, nil
	case "USER", "TAG", "tag", "RES", "REQ":
		if t == "tag" {
			t = "TAG"
		}
		// A tag is evaluated on its own; the resource differs by column.
		p.s.column = p.s.column || t == "RES" || t == "TAG"
		e := &sexpr{kind: "attr", name: t}
		switch {
		case p.eat("."):
			if !sWord.MatchString(p.peek()) {
				return nil, errExpr
			}
			e.key = p.peek()
			p.i++
		case p.eat("["):
			k := p.peek()
			p.i++
			if len(k) < 2 || k[0] != '\'' && k[0] != '"' || !p.eat("]") {
				return nil, errExpr
			}
			e.key = k[1 : len(k)-1]
		default:
			return nil, errExpr
		}
		// Nothing hangs below an attribute.
		if p.peek() == "." || p.peek() == "[" || p.peek() == "(" {
			return nil, errExpr
		}
		return e, nil
	}
	e := &sexpr{kind: "call", name: t}
	if strings.Contains(t, "TAG") {
		p.s.column = true
	}
	args, ok := boolMacros[t]
	if ok && args == 0 {
		return e, nil
	}
	if !ok {
		ofAttr, ok := listMacros[strings.TrimSuffix(t, "_Q")]
		if !ok {
			return nil, errExpr
		}
		if !ofAttr {
			if !p.eat("(") || !p.eat(")") {
				return nil, errExpr
			}
			return e, nil
		}
	}
	if !p.eat("(") {
		return nil, errExpr
	}
	arg := p.peek()
	p.i++
	if len(arg) < 2 || arg[0] != '\'' && arg[0] != '"' || !p.eat(")") {
		return nil, errExpr
	}
	e.key = arg[1 : len(arg)-1]
	return e, nil
}

// undefined is the value of what is not there: only a comparison with null may
// look at it.
type undefined struct{ what string }

func (e *sexpr) eval(v *env) (any, error) {
	switch e.kind {
	case "lit":
		return e.lit, nil
	case "attr":
		return e.attr(v), nil
	case "call":
		return e.call(v)
	case "!":
		b, err := e.kids[0].bool(v)
		return !b, err
	case "&&", "||":
		b, err := e.kids[0].bool(v)
		if err != nil || b == (e.kind == "||") {
			return b, err
		}
		return e.kids[1].bool(v)
	}
	a, err := e.kids[0].eval(v)
	if err != nil {
		return nil, err
	}
	b, err := e.kids[1].eval(v)
	if err != nil {
		return nil, err
	}
	return compareValues(e.kind, a, b)
}

func (e *sexpr) bool(v *env) (bool, error) {
	x, err := e.eval(v)
	if err != nil {
		return false, err
	}
	b, ok := x.(bool)
	if !ok {
		return false, fmt.Errorf("%w: a condition that is neither true nor false", errExpr)
	}
	return b, nil
}

func (e *sexpr) attr(v *env) any {
	var s string
	ok := true
	switch e.name {
	case "USER":
		if e.key == "_name" {
			s = v.user
		} else {
			s, ok = v.userAttr(e.key)
		}
	case "TAG":
		if s, ok = v.tag[e.key]; e.key == "_type" {
			ok = false
		}
	case "RES":
		if s, ok = v.res[e.key]; e.key == "_ownerUser" && v.owner != "" {
			s, ok = v.owner, true
		}
	case "REQ":
		switch e.key {
		case "user":
			s = v.user
		case "accessType":
			s = v.access
		default:
			ok = false
		}
	}
	if !ok {
		return undefined{e.name + "." + e.key}
	}
	return s
}

func (e *sexpr) call(v *env) (any, error) {
	in := func(list []string) bool { _, ok := slices.BinarySearch(list, e.key); return ok }
	switch e.name {
	case "IS_IN_GROUP":
		return in(v.groups), nil
	case "IS_IN_ROLE":
		return in(v.roles), nil
	case "HAS_TAG":
		return in(v.tags), nil
	case "HAS_USER_ATTR":
		_, ok := v.userAttr(e.key)
		return ok, nil
	case "HAS_UG_ATTR":
		return slices.ContainsFunc(v.groups, func(g string) bool { _, ok := v.groupAttr(g, e.key); return ok }), nil
	case "HAS_TAG_ATTR":
		return slices.ContainsFunc(v.tagAttrs, func(m map[string]string) bool { _, ok := m[e.key]; return ok }), nil
	case "HAS_ANY_TAG":
		return len(v.tags) > 0, nil
	case "HAS_NO_TAG":
		return len(v.tags) == 0, nil
	case "IS_IN_ANY_GROUP":
		return len(v.groups) > 0, nil
	case "IS_NOT_IN_ANY_GROUP":
		return len(v.groups) == 0, nil
	case "IS_IN_ANY_ROLE":
		return len(v.roles) > 0, nil
	case "IS_NOT_IN_ANY_ROLE":
		return len(v.roles) == 0, nil
	}
	list, quoted := e.names(v)
	if len(list) == 0 && e.key != "" {
		return undefined{e.name + " of " + e.key}, nil
	}
	if !quoted {
		return strings.Join(list, ","), nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		if strings.ContainsAny(s, `'\`) {
			return nil, fmt.Errorf("%w: a name with a quote in it", errExpr)
		}
		out[i] = "'" + s + "'"
	}
	return strings.Join(out, ","), nil
}

// names is the list of a list macro, and whether its text is quoted.
func (e *sexpr) names(v *env) (list []string, quoted bool) {
	base, quoted := strings.CutSuffix(e.name, "_Q")
	switch base {
	case "GET_UG_NAMES":
		list = v.groups
	case "GET_UR_NAMES":
		list = v.roles
	case "GET_TAG_NAMES":
		list = v.tags
	case "GET_USER_ATTR":
		if s, ok := v.userAttr(e.key); ok {
			list = []string{s}
		}
	case "GET_UG_ATTR":
		for _, g := range v.groups {
			if s, ok := v.groupAttr(g, e.key); ok {
				list = append(list, s)
			}
		}
		list = sorted(list)
	}
	return list, quoted
}

// compareValues follows JavaScript for text, numbers and booleans of one kind,
// and for text against a number; other mixtures are refused.
func compareValues(o string, a, b any) (bool, error) {
	null := func(x any) bool {
		_, un := x.(undefined)
		return x == nil || un
	}
	eq := strings.HasPrefix(o, "=")
	if o == "==" || o == "!=" || o == "===" || o == "!==" {
		if a == nil || b == nil {
			return (null(a) && null(b)) == eq, nil
		}
	}
	for _, x := range []any{a, b} {
		if u, ok := x.(undefined); ok {
			return false, fmt.Errorf("%w: there is no %s", errExpr, u.what)
		}
	}
	refused := fmt.Errorf("%w: comparison of different kinds", errExpr)
	switch x := a.(type) {
	case bool:
		y, ok := b.(bool)
		if !ok || !strings.HasSuffix(o, "=") || o[0] == '<' || o[0] == '>' {
			return false, refused
		}
		return (x == y) == eq, nil
	case string:
		if y, ok := b.(string); ok {
			return compareOrder(o, strings.Compare(x, y)), nil
		}
	}
	if strings.HasSuffix(o, "==") && len(o) == 3 {
		if fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) {
			return !eq, nil
		}
	}
	x, ok1 := number(a)
	y, ok2 := number(b)
	if !ok1 || !ok2 {
		return false, refused
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return o == "!=" || o == "!==", nil
	}
	switch {
	case x < y:
		return compareOrder(o, -1), nil
	case x > y:
		return compareOrder(o, 1), nil
	}
	return compareOrder(o, 0), nil
}

func compareOrder(o string, c int) bool {
	switch o {
	case "==", "===":
		return c == 0
	case "!=", "!==":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// number is JavaScript's: blank text is 0, text that is no number is NaN. Text
// that JavaScript reads and this does not (0x10, Infinity) is refused.
func number(x any) (float64, bool) {
	switch v := x.(type) {
	case float64:
		return v, true
	case string:
		s := strings.TrimSpace(v)
		switch {
		case s == "":
			return 0, true
		case decimal.MatchString(s):
			f, err := strconv.ParseFloat(s, 64)
			return f, err == nil
		case len(s) > 1 && s[0] == '0' || strings.Contains(s, "Infinity"):
			return 0, false
		}
		return math.NaN(), true
	}
	return 0, false
}

// text is the value of the expression as text in a ${{..}}. Ranger takes null
// for empty text; here it is an error.
func (s *script) text(v *env) (string, error) {
	x, err := s.root.eval(v)
	if err != nil {
		return "", err
	}
	switch y := x.(type) {
	case string:
		return y, nil
	case undefined:
		return "", fmt.Errorf("%w: there is no %s", errExpr, y.what)
	case bool:
		return strconv.FormatBool(y), nil
	}
	return "", fmt.Errorf("%w: ${{%s}} is no text", errExpr, clip(s.src))
}

// list is the value as the list of an IN.
func (s *script) list(v *env) ([]string, error) {
	if s.root.kind == "call" {
		list, quoted := s.root.names(v)
		if quoted && len(list) == 0 && s.root.key != "" {
			return nil, fmt.Errorf("%w: nobody has %s", errExpr, s.root.key)
		}
		if quoted {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%w: ${{%s}} is no list of quoted names", errExpr, clip(s.src))
}
