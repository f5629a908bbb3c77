package ranger

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// binder resolves what stands for something else in a resource value.
type binder interface {
	// token is the value of {NAME}; false leaves the text as it is.
	token(name string) (string, bool)
	// expr is the value of ${{src}}; an error closes the policy.
	expr(src string) (string, error)
}

// segment is a part of a policy's resource value.
type segment struct {
	kind segmentKind
	text string // literal text, the token's name, or the expression
	raw  string // of a token, as written
}

type segmentKind uint8

const (
	segText  segmentKind = iota
	segStar              // any run of characters
	segOne               // any one character
	segToken             // {NAME}
	segExpr              // ${{..}}
)

// pattern is a policy's resource value, cut up once.
type pattern struct {
	segs   []segment
	static string // the text of a value without wildcards and tokens, folded if letter case is ignored
	key    string // that text folded in any case
	plain  bool   // static is the value
	moving bool   // has a token or an expression
}

// newPattern cuts a value. Wildcards are found before anything is replaced, so
// that no replaced text turns into one.
func newPattern(value string, o *options) pattern {
	var p pattern
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			p.segs = append(p.segs, segment{kind: segText, text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(value); {
		rest := value[i:]
		if o.exprs && strings.HasPrefix(rest, "${{") {
			if end := strings.Index(rest, "}}"); end > 0 {
				flush()
				p.segs = append(p.segs, segment{kind: segExpr, text: strings.TrimSpace(rest[3:end])})
				p.moving = true
				i += end + 2
				continue
			}
		}
		if o.tokens {
			// An escape counts only in front of a delimiter or of itself.
			if rest[0] == o.escape[0] && len(rest) > 1 && (rest[1] == o.start[0] || rest[1] == o.end[0] || rest[1] == o.escape[0]) {
				text.WriteByte(rest[1])
				i += 2
				continue
			}
			if rest[0] == o.start[0] {
				end := strings.IndexByte(rest[1:], o.end[0])
				if end >= 0 && strings.HasPrefix(rest[1:1+end], o.prefix) {
					flush()
					p.segs = append(p.segs, segment{kind: segToken, text: rest[1+len(o.prefix) : 1+end], raw: rest[:end+2]})
					p.moving = true
					i += end + 2
					continue
				}
			}
		}
		switch {
		case o.wildCard && rest[0] == '*':
			flush()
			// A run of * is one.
			if n := len(p.segs); n == 0 || p.segs[n-1].kind != segStar {
				p.segs = append(p.segs, segment{kind: segStar})
			}
		case o.wildCard && rest[0] == '?':
			flush()
			p.segs = append(p.segs, segment{kind: segOne})
		default:
			text.WriteByte(rest[0])
		}
		i++
	}
	flush()
	if !p.moving && (len(p.segs) == 0 || len(p.segs) == 1 && p.segs[0].kind == segText) {
		p.plain = true
		if len(p.segs) == 1 {
			p.static = fold(p.segs[0].text, o.ignoreCase)
			p.key = fold(p.segs[0].text, true)
		}
	}
	return p
}

// star reports whether the value is only *.
func (p *pattern) star() bool { return len(p.segs) == 1 && p.segs[0].kind == segStar }

// fold maps letters to one form, a letter at a time as Java's comparison does,
// without the rules of any language.
func fold(s string, ignoreCase bool) string {
	if !ignoreCase {
		return s
	}
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
}

// expand replaces tokens and expressions by text.
func (p *pattern) expand(o *options, b binder) ([]segment, error) {
	if !p.moving {
		return p.segs, nil
	}
	out := make([]segment, 0, len(p.segs))
	for _, s := range p.segs {
		switch s.kind {
		case segToken:
			v, ok := b.token(s.text)
			if !ok {
				v = s.raw
			}
			s = segment{kind: segText, text: v}
		case segExpr:
			v, err := b.expr(s.text)
			if err != nil {
				return nil, err
			}
			// The value of an expression may hold tokens in its turn.
			inner := *o
			inner.exprs, inner.wildCard = false, false
			ip := newPattern(v, &inner)
			segs, err := ip.expand(&inner, b)
			if err != nil {
				return nil, err
			}
			out = append(out, segs...)
			continue
		}
		out = append(out, s)
	}
	return out, nil
}

// matchSegments matches folded text. Only the latest star is ever moved, so
// the work is bounded by the product of the lengths.
func matchSegments(segs []segment, s string, ignoreCase bool) bool {
	star, retry, i := -1, "", 0
	for {
		ok := false
		switch {
		case i == len(segs):
			if s == "" {
				return true
			}
		case segs[i].kind == segStar:
			star, retry, ok = i, s, true
		case segs[i].kind == segOne:
			if s != "" {
				_, n := utf8.DecodeRuneInString(s)
				s, ok = s[n:], true
			}
		default:
			s, ok = strings.CutPrefix(s, fold(segs[i].text, ignoreCase))
		}
		if ok {
			i++
			continue
		}
		if star < 0 || retry == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(retry)
		retry = retry[n:]
		s, i = retry, star+1
	}
}

// valueMatcher matches the value of one level.
type valueMatcher struct {
	opts     options
	patterns []pattern
	any      bool // matches every value
	excludes bool
	moving   bool // some pattern has a token or an expression
	exact    bool // every pattern is plain and nothing is excluded
}

// newValueMatcher reads a policy's values for a level. No values, or only empty
// ones, match everything, as in Ranger; Load refuses them in mask and filter
// policies.
func newValueMatcher(values []string, excludes bool, o options) *valueMatcher {
	m := &valueMatcher{opts: o, excludes: excludes}
	for _, v := range values {
		if v == "" {
			continue
		}
		p := newPattern(v, &o)
		if p.star() {
			m.patterns, m.any, m.moving = nil, true, false
			return m
		}
		m.moving = m.moving || p.moving
		m.patterns = append(m.patterns, p)
	}
	m.any = len(m.patterns) == 0
	m.exact = !m.any && !excludes && !slices.ContainsFunc(m.patterns, func(p pattern) bool { return !p.plain })
	return m
}

// match answers for a request's value; "" and "*" ask for all values.
func (m *valueMatcher) match(value string, b binder) (bool, error) {
	all := value == "" || value == "*"
	ok := m.any
	if !all && !m.any {
		var err error
		if ok, err = m.matchOne(value, b); err != nil {
			return false, err
		}
	}
	if m.excludes && !(all && !m.any) {
		return !ok, nil
	}
	return ok, nil
}

func (m *valueMatcher) matchOne(value string, b binder) (bool, error) {
	ignore := m.opts.ignoreCase
	if m.opts.quoted && value != "" && strings.Contains(m.opts.quoteChars, value[:1]) {
		ignore = false
	}
	folded := fold(value, ignore)
	var first error
	for i := range m.patterns {
		p := &m.patterns[i]
		if p.plain && ignore == m.opts.ignoreCase {
			if p.static == folded {
				return true, nil
			}
			continue
		}
		segs, err := p.expand(&m.opts, b)
		if err != nil {
			// The value is unknown; it matters only where it could be the
			// request's. Another value may still match for certain.
			if first == nil && matchSegments(p.loose(), folded, ignore) {
				first = err
			}
			continue
		}
		if matchSegments(segs, folded, ignore) {
			return true, nil
		}
	}
	return false, first
}

// loose is the pattern with everything that moves as a *.
func (p *pattern) loose() []segment {
	out := slices.Clone(p.segs)
	for i := range out {
		if out[i].kind == segToken || out[i].kind == segExpr {
			out[i] = segment{kind: segStar}
		}
	}
	return out
}

// looseMatch reports whether some value of the tokens and expressions makes
// the level match.
func (m *valueMatcher) looseMatch(value string) bool {
	if !m.moving || m.any {
		ok, err := m.match(value, nil)
		return ok && err == nil
	}
	if m.excludes {
		return true
	}
	folded := fold(value, m.opts.ignoreCase)
	return slices.ContainsFunc(m.patterns, func(p pattern) bool { return matchSegments(p.loose(), folded, m.opts.ignoreCase) })
}
