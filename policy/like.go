package policy

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// like matches a LIKE pattern: % is any run of characters, _ is one character
// (a byte that is no UTF-8 counts as one). Patterns are cut at their % once.
type like struct {
	parts    [][]likeRune // between the %, the first and last may be empty
	contains []byte       // "%x%" without _: the common case
}

type likeRune struct {
	r   rune
	any bool
}

func newLike(pattern, escape string) (*like, error) {
	esc := rune(-1)
	if escape != "" {
		esc, _ = utf8.DecodeRuneInString(escape)
	} else if strings.ContainsRune(pattern, '\\') {
		return nil, fmt.Errorf("a backslash in a LIKE pattern means different things in different engines; write ESCAPE")
	}
	m := &like{}
	var part []likeRune
	plain := true
	rs := []rune(pattern)
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		switch {
		case r == esc:
			i++
			if i == len(rs) || rs[i] != '%' && rs[i] != '_' && rs[i] != esc {
				return nil, fmt.Errorf("an escape in a LIKE pattern stands before %%, _ or itself")
			}
			part = append(part, likeRune{r: rs[i]})
		case r == '%':
			m.parts = append(m.parts, part)
			part = nil
		case r == '_':
			plain = false
			part = append(part, likeRune{any: true})
		default:
			part = append(part, likeRune{r: r})
		}
	}
	m.parts = append(m.parts, part)
	if p := m.parts; len(p) == 3 && len(p[0])+len(p[2]) == 0 && len(p[1]) > 0 && plain {
		for _, lr := range p[1] {
			m.contains = utf8.AppendRune(m.contains, lr.r)
		}
	}
	return m, nil
}

// prefix matches a part at the start of s and returns what is left.
func prefix(s []byte, part []likeRune) ([]byte, bool) {
	for _, lr := range part {
		if len(s) == 0 {
			return nil, false
		}
		r, n := utf8.DecodeRune(s)
		if !lr.any && (r != lr.r || r == utf8.RuneError && n == 1) {
			return nil, false
		}
		s = s[n:]
	}
	return s, true
}

func (m *like) match(s []byte) bool {
	if m.contains != nil {
		return bytes.Contains(s, m.contains)
	}
	if len(m.parts) == 1 {
		rest, ok := prefix(s, m.parts[0])
		return ok && len(rest) == 0
	}
	s, ok := prefix(s, m.parts[0])
	if !ok {
		return false
	}
	// Leftmost matches of the middle parts leave the most for the last one.
	last := len(m.parts) - 1
	for _, part := range m.parts[1:last] {
		for {
			if rest, ok := prefix(s, part); ok {
				s = rest
				break
			}
			if len(s) == 0 {
				return false
			}
			_, n := utf8.DecodeRune(s)
			s = s[n:]
		}
	}
	for {
		if rest, ok := prefix(s, m.parts[last]); ok && len(rest) == 0 {
			return true
		}
		if len(s) == 0 {
			return false
		}
		_, n := utf8.DecodeRune(s)
		s = s[n:]
	}
}
