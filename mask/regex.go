package mask

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// replacement is one pair of regexp_replace, compiled once.
type replacement struct {
	re    *regexp.Regexp
	later *regexp.Regexp // re for what follows a match: there, no text begins
	with  []piece
	text  string // with, as it was written

	first  [256]bool // the bytes that a match can begin with
	groups bool      // with has one besides $0, the whole match
	chars  *charRuns // the same for a set of characters, repeated or not; else nil
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
	r := &replacement{text: with}
	if firstBytes(tree, &r.first) {
		return nil, errors.New("regular expression: it matches the empty text")
	}
	r.re = regexp.MustCompile(translated)
	if r.with, err = parseReplacement(with, r.re); err != nil {
		return nil, err
	}
	if r.later, err = withoutBegin(r.re, translated); err != nil {
		return nil, err
	}
	r.groups = slices.ContainsFunc(r.with, func(p piece) bool { return p.group > 0 })
	if !r.groups {
		r.chars = newCharRuns(tree, r.with)
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

// firstBytes notes the bytes that a match can begin with and reports whether
// an expression can match the empty text. All bytes outside ASCII are one.
func firstBytes(t *syntax.Regexp, first *[256]bool) (empty bool) {
	switch t.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		set := firstSet(t)
		for i := 0; i < len(set); i += 2 {
			for c := set[i]; c <= min(set[i+1], utf8.RuneSelf-1); c++ {
				first[c] = true
			}
			for c := utf8.RuneSelf; c < len(first) && set[i+1] >= utf8.RuneSelf; c++ {
				first[c] = true
			}
		}
		return false
	case syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return firstBytes(t.Sub[0], first)
	case syntax.OpRepeat:
		return firstBytes(t.Sub[0], first) || t.Min == 0
	case syntax.OpConcat:
		for _, s := range t.Sub {
			if !firstBytes(s, first) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, s := range t.Sub {
			empty = firstBytes(s, first) || empty
		}
		return empty
	case syntax.OpStar, syntax.OpQuest:
		firstBytes(t.Sub[0], first)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for c := range first {
			first[c] = true
		}
		return false
	}
	return true // star, quest, anchors
}

// firstSet is the first character of a literal, or the one of a set, as pairs
// of first and last.
func firstSet(t *syntax.Regexp) []rune {
	if t.Op == syntax.OpCharClass {
		return t.Rune
	}
	set := []rune{t.Rune[0], t.Rune[0]}
	if t.Flags&syntax.FoldCase != 0 { // so [Aa] is read
		for r := unicode.SimpleFold(t.Rune[0]); r != t.Rune[0]; r = unicode.SimpleFold(r) {
			set = append(set, r, r)
		}
	}
	return set
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
		step := &node{name: n.name, fn: n.fn, arg: n.arg, out: Type{Kind: Text}, mayNull: n.mayNull, rules: n.rules}
		step.op = appendStep{r.rows()}
		step.ref = r.refReplace
		n.arg = step
	}
	*n = *n.arg
	return nil
}

// rows replaces the matches in a row, without a search where that is possible.
func (r *replacement) rows() rowAppender {
	if r.chars != nil {
		return r.chars
	}
	return r
}

// appendRow appends a row with every match replaced.
func (r *replacement) appendRow(dst, row []byte, most int) []byte {
	var hit [2]int
	at := 0
	for len(dst) <= most {
		m := r.find(row, at, &hit)
		if m == nil {
			break
		}
		dst = append(dst, row[at:m[0]]...)
		dst = appendPieces(dst, r.with, row, m)
		at = m[1]
	}
	return append(dst, row[at:]...)
}

// find is the first match in row at or after a position, as the pairs of
// regexp.FindSubmatchIndex: that of the match, and those of the groups if the
// replacement has one. Without groups nothing is allocated. hit is memory for
// the answer.
func (r *replacement) find(row []byte, at int, hit *[2]int) []int {
	for at < len(row) && !r.first[row[at]] {
		at++
	}
	if at == len(row) {
		return nil
	}
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

// appendPieces appends a replacement of the match m in row.
func appendPieces(dst []byte, with []piece, row []byte, m []int) []byte {
	for _, p := range with {
		switch {
		case p.group < 0:
			dst = append(dst, p.text...)
		case m[2*p.group] >= 0:
			dst = append(dst, row[m[2*p.group]:m[2*p.group+1]]...)
		}
	}
	return dst
}

// charRuns replaces characters of a set: least of them or more in a row, and
// at most most at a time.
type charRuns struct {
	kind        [256]charKind // by first byte
	set         []rune        // pairs of first and last, in order
	least, most int
	with        []piece
}

// charKind is whether a character is of a set.
type charKind uint8

const (
	charOut charKind = iota
	charIn
	charLook // its first byte does not say
)

// newCharRuns is nil for an expression that is not a set, repeated or not.
func newCharRuns(t *syntax.Regexp, with []piece) *charRuns {
	c := &charRuns{least: 1, most: 1, with: with}
	inner := func() {
		for t.Op == syntax.OpCapture {
			t = t.Sub[0]
		}
	}
	if inner(); t.Op == syntax.OpPlus || t.Op == syntax.OpRepeat {
		if c.most = math.MaxInt; t.Op == syntax.OpRepeat {
			if c.least = t.Min; t.Max >= 0 {
				c.most = t.Max
			}
		}
		if t.Flags&syntax.NonGreedy != 0 {
			c.most = c.least
		}
		t = t.Sub[0]
		inner()
	}
	if t.Op != syntax.OpCharClass && (t.Op != syntax.OpLiteral || len(t.Rune) != 1) {
		return nil
	}
	c.set = firstSet(t)
	var first [256]bool
	firstBytes(t, &first)
	for b, is := range first {
		switch {
		case is && b < utf8.RuneSelf:
			c.kind[b] = charIn
		case is:
			c.kind[b] = charLook
		}
	}
	return c
}

// look is the width of the character at the start of b and whether it is of the
// set, where its first byte does not say.
func (c *charRuns) look(b []byte) (width int, is bool) {
	r, w := utf8.DecodeRune(b)
	for i := 0; i < len(c.set); i += 2 {
		if r >= c.set[i] && r <= c.set[i+1] {
			return w, true
		}
	}
	return w, false
}

func (c *charRuns) appendRow(dst, row []byte, most int) []byte {
	at := 0 // up to here row is done
	for i := 0; len(dst) <= most; {
		for i < len(row) && c.kind[row[i]] == charOut {
			i++
		}
		if i == len(row) {
			break
		}
		begin, n, out := i, 0, 0
		for ; n < c.most && i < len(row); n++ {
			w, is := 1, c.kind[row[i]] == charIn
			if c.kind[row[i]] == charLook {
				w, is = c.look(row[i:])
			}
			if !is {
				out = w
				break
			}
			i += w
		}
		if n < c.least { // nor is there a longer run further in
			i += out
			continue
		}
		dst = append(dst, row[at:begin]...)
		dst = appendPieces(dst, c.with, row, []int{begin, i})
		at = i
	}
	return append(dst, row[at:]...)
}
