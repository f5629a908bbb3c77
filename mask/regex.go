package mask

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// replacement is one pair of regexp_replace, compiled once.
type replacement struct {
	re    *regexp.Regexp
	later *regexp.Regexp // re for what follows a match: there, no text begins
	with  []piece
	text  string // with, as it was written

	groups bool // with has one besides $0, the whole match

	// single: the expression is one character of a set, replaced by a fixed
	// text. Then no search is needed.
	single *syntax.Regexp
}

// piece is a part of a replacement: text, or what a group matched.
type piece struct {
	text  string
	group int // -1 for text
}

// Regular expressions are Java's (java.util.regex), as OpenSearch and Ranger's
// masks for Trino are written, as far as Go's engine gives the same answer.
// What differs between the two is rewritten where that is possible and refused
// where it is not: "." and \s are not the same sets; "$", \b and case-blind
// matching have other rules; an expression that matches nothing at all is
// searched in other places.
func compileRegex(src, with string) (*replacement, error) {
	if !utf8.ValidString(src) || !utf8.ValidString(with) {
		return nil, errors.New("the regular expression is not valid UTF-8")
	}
	translated, err := translateRegex(src)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return nil, fmt.Errorf("regular expression: %s", e.Code)
		}
		return nil, errors.New("regular expression: not understood")
	}
	if matchesEmpty(tree) {
		return nil, errors.New("regular expression: it matches the empty text")
	}
	r := &replacement{re: regexp.MustCompile(translated), text: with}
	if r.with, err = parseReplacement(with, r.re); err != nil {
		return nil, err
	}
	if r.later, err = withoutBegin(r.re, translated); err != nil {
		return nil, err
	}
	r.groups = slices.ContainsFunc(r.with, func(p piece) bool { return p.group > 0 })
	plain := len(r.with) == 0 || len(r.with) == 1 && r.with[0].group < 0
	if tree = tree.Simplify(); plain {
		for tree.Op == syntax.OpCapture {
			tree = tree.Sub[0]
		}
		if tree.Op == syntax.OpCharClass || tree.Op == syntax.OpLiteral && len(tree.Rune) == 1 && tree.Flags&syntax.FoldCase == 0 {
			r.single = tree
		}
	}
	return r, nil
}

const (
	javaDot   = `[^\n\r\x{85}\x{2028}\x{2029}]`
	javaSpace = `\t\n\x0B\f\r `
)

// translateRegex rewrites a Java expression for Go, or says why it cannot.
func translateRegex(src string) (string, error) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\':
			i++
			if i == len(src) {
				return "", errors.New(`regular expression: it ends in "\"`)
			}
			switch e := src[i]; {
			case e == 's' && inClass:
				b.WriteString(javaSpace)
			case e == 's':
				b.WriteString("[" + javaSpace + "]")
			case e == 'S' && !inClass:
				b.WriteString("[^" + javaSpace + "]")
			case e == 'u' && i+4 < len(src):
				b.WriteString(`\x{` + src[i+1:i+5] + "}")
				i += 4
			case strings.IndexByte("SbBvVhHRXZGkQE0123456789C", e) >= 0:
				return "", fmt.Errorf(`regular expression: \%c is not offered`, e)
			default:
				b.WriteString(src[i-1 : i+1])
			}
		case inClass:
			switch {
			case c == '[' || c == '&' && i+1 < len(src) && src[i+1] == '&':
				return "", errors.New("regular expression: a set within a set is not offered")
			case c == ']':
				inClass = false
			}
			b.WriteByte(c)
		case c == '[':
			inClass = true
			b.WriteByte(c)
			if i+1 < len(src) && src[i+1] == '^' {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(src) && src[i+1] == ']' {
				return "", errors.New(`regular expression: "]" at the start of a set is not offered`)
			}
		case c == '.':
			b.WriteString(javaDot)
		case c == '$':
			return "", errors.New(`regular expression: "$" is not offered; \z is the end of the text`)
		case c == '(' && strings.HasPrefix(src[i:], "(?") && !strings.HasPrefix(src[i:], "(?:"):
			return "", errors.New(`regular expression: of the groups that begin with "(?" only "(?:" is offered`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// matchesEmpty reports whether an expression can match the empty text.
func matchesEmpty(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpLiteral:
		return len(t.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return matchesEmpty(t.Sub[0])
	case syntax.OpRepeat:
		return t.Min == 0 || matchesEmpty(t.Sub[0])
	case syntax.OpConcat:
		for _, s := range t.Sub {
			if !matchesEmpty(s) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, s := range t.Sub {
			if matchesEmpty(s) {
				return true
			}
		}
		return false
	}
	return true // star, quest, anchors
}

// withoutBegin is re, which was compiled from src, where nothing is the
// beginning of the text. Of all that is offered only "^" and \A look at what
// comes before a match, so with them gone the rest of a text may be searched by
// itself.
func withoutBegin(re *regexp.Regexp, src string) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return nil, errors.New("regular expression: not understood")
	}
	if !dropBegin(tree) {
		return re, nil
	}
	later, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, errors.New("regular expression: not understood")
	}
	return later, nil
}

// dropBegin has nothing match where the beginning of the text would, and
// reports whether there was such a place.
func dropBegin(t *syntax.Regexp) bool {
	if t.Op == syntax.OpBeginText {
		t.Op = syntax.OpNoMatch
		return true
	}
	found := false
	for _, s := range t.Sub {
		found = dropBegin(s) || found
	}
	return found
}

// parseReplacement reads a Java replacement: $n is a group, \ takes the next
// character as it is. A group number takes a further digit as long as there is
// such a group.
func parseReplacement(with string, re *regexp.Regexp) ([]piece, error) {
	var out []piece
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			out = append(out, piece{text: text.String(), group: -1})
			text.Reset()
		}
	}
	for i := 0; i < len(with); i++ {
		switch c := with[i]; c {
		case '\\':
			if i++; i == len(with) {
				return nil, errors.New(`replacement: it ends in "\"`)
			}
			text.WriteByte(with[i])
		case '$':
			if i++; i == len(with) || !isDigit(with[i]) {
				return nil, errors.New(`replacement: "$" needs the number of a group; "\$" is the sign`)
			}
			g := int(with[i] - '0')
			for i+1 < len(with) && isDigit(with[i+1]) && g*10+int(with[i+1]-'0') <= re.NumSubexp() {
				i++
				g = g*10 + int(with[i]-'0')
			}
			if g > re.NumSubexp() {
				return nil, fmt.Errorf("replacement: there is no group %d", g)
			}
			flush()
			out = append(out, piece{group: g})
		default:
			text.WriteByte(c)
		}
	}
	flush()
	return out, nil
}

// regexParams are a regular expression and what replaces every match of it;
// there may be more pairs, applied one after the other.
var (
	regexParam = param{name: "regex", required: true, read: func(s *settings, arg *Expr, c *compiler) error {
		if arg == nil || arg.kind != exprString {
			return errors.New("want a regular expression as a string")
		}
		s.regex = append(s.regex, replacement{text: arg.text})
		return nil
	}}
	regexWithParam = param{name: "replacement", required: true, read: func(s *settings, arg *Expr, c *compiler) error {
		if arg == nil || arg.kind != exprString {
			return errors.New("want the replacement as a string")
		}
		last := &s.regex[len(s.regex)-1]
		r, err := compileRegex(last.text, arg.text)
		if err == nil {
			*last = *r
		}
		return err
	}}
)

// buildRegex is regexp_replace. Bad bytes are decoded as U+FFFD first, as
// everywhere on the Java platform.
func buildRegex(c *compiler, n *node) error {
	if n.arg.out.Kind != Text {
		return n.wrongType()
	}
	c.note(n.name + " changes only what its regular expressions find: everything else stays readable.")
	n.arg = decoded(n.arg)
	for i := range n.set.regex {
		r := &n.set.regex[i]
		out := Type{Kind: Text}
		step := &node{name: n.name, fn: n.fn, arg: n.arg, out: out, mayNull: n.mayNull, rules: n.rules}
		if step.op = (textStep{op: regexText{r}, out: out}); r.single != nil {
			step.op = textStep{op: rowText{newSingle(r)}, out: out}
		}
		step.ref = r.refReplace
		n.arg = step
	}
	*n = *n.arg
	return nil
}

// regexText replaces every match. The sizes pass searches too: nothing is kept
// between the two passes.
type regexText struct{ r *replacement }

func (t regexText) sizes(lens []int, in *Vector, lo, hi int) {
	col := in.column(lo, hi)
	for i := range lens {
		lens[i] = 0
		if !in.IsNull(lo + i) {
			lens[i] = t.r.size(col.Row(i))
		}
	}
}

func (t regexText) write(dst []byte, in *Vector, lo, hi int) error {
	col := in.column(lo, hi)
	dst = dst[:0]
	for i := range hi - lo {
		if !in.IsNull(lo + i) {
			dst = t.r.appendReplaced(dst, col.Row(i))
		}
	}
	return nil
}

// find is the first match in row at or after a position, as the pairs of
// regexp.FindSubmatchIndex: that of the match, and those of the groups if the
// replacement has one. Without groups nothing is allocated. hit is memory for
// the answer.
func (r *replacement) find(row []byte, at int, hit *[2]int) []int {
	re := r.re
	if at > 0 {
		re = r.later
	}
	if r.groups {
		m := re.FindSubmatchIndex(row[at:])
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		return m
	}
	b := re.Find(row[at:])
	if len(b) == 0 {
		return nil
	}
	for &row[at] != &b[0] {
		at++
	}
	hit[0], hit[1] = at, at+len(b)
	return hit[:]
}

// size is the length of a row with every match replaced.
func (r *replacement) size(row []byte) int {
	var hit [2]int
	n := len(row)
	for at := 0; at < len(row); {
		m := r.find(row, at, &hit)
		if m == nil {
			break
		}
		n -= m[1] - m[0]
		for _, p := range r.with {
			if p.group < 0 {
				n += len(p.text)
			} else {
				n += m[2*p.group+1] - m[2*p.group] // -1 less -1 for a group that is not there
			}
		}
		at = m[1]
	}
	return n
}

// appendReplaced appends a row with every match replaced.
func (r *replacement) appendReplaced(dst, row []byte) []byte {
	var hit [2]int
	at := 0
	for at < len(row) {
		m := r.find(row, at, &hit)
		if m == nil {
			break
		}
		dst = append(dst, row[at:m[0]]...)
		for _, p := range r.with {
			switch {
			case p.group < 0:
				dst = append(dst, p.text...)
			case m[2*p.group] >= 0:
				dst = append(dst, row[m[2*p.group]:m[2*p.group+1]]...)
			}
		}
		at = m[1]
	}
	return append(dst, row[at:]...)
}

// single replaces the characters of a set.
type single struct {
	ascii [utf8.RuneSelf]bool
	set   []rune // pairs of first and last
	with  string
}

func newSingle(r *replacement) *single {
	s := &single{set: r.single.Rune}
	if r.single.Op == syntax.OpLiteral {
		s.set = []rune{r.single.Rune[0], r.single.Rune[0]}
	}
	if len(r.with) > 0 {
		s.with = r.with[0].text
	}
	for c := range s.ascii {
		s.ascii[c] = s.search(rune(c))
	}
	return s
}

func (s *single) search(r rune) bool {
	for i := 0; i < len(s.set); i += 2 {
		if r >= s.set[i] && r <= s.set[i+1] {
			return true
		}
	}
	return false
}

// next is the width of the character at the start of b and whether it is
// replaced.
func (s *single) next(b []byte) (width int, hit bool) {
	if b[0] < utf8.RuneSelf {
		return 1, s.ascii[b[0]]
	}
	r, w := utf8.DecodeRune(b)
	return w, s.search(r)
}

func (s *single) size(row []byte) int {
	n := 0
	for i := 0; i < len(row); {
		w, hit := s.next(row[i:])
		if i += w; hit {
			w = len(s.with)
		}
		n += w
	}
	return n
}

func (s *single) write(dst, row []byte) int {
	n := 0
	for i := 0; i < len(row); {
		w, hit := s.next(row[i:])
		if hit {
			n += copy(dst[n:], s.with)
		} else {
			n += copy(dst[n:], row[i:i+w])
		}
		i += w
	}
	return n
}
