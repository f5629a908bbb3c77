package mask

import (
	"fmt"
	"unicode/utf8"
)

// Masks of values with a known shape. Their characters are the code points and
// classes of the safe dialect in every dialect, since no engine has them.

// emailMask replaces every character before the last "@"; without one, all.
type emailMask struct{ with []byte }

// local is the bytes before the last "@".
func (m emailMask) local(row []byte) int {
	for i := len(row) - 1; i >= 0; i-- {
		if row[i] == '@' {
			return i
		}
	}
	return len(row)
}

func (m emailMask) size(row []byte) int {
	at := m.local(row)
	return utf8.RuneCount(row[:at])*len(m.with) + shownSize(row[at:])
}

func (m emailMask) write(dst, row []byte) int {
	at, n := m.local(row), 0
	for range utf8.RuneCount(row[:at]) {
		n += copy(dst[n:], m.with)
	}
	return n + show(dst[n:], row[at:])
}

// A card number keeps its last four digits when at least as many are hidden.
const (
	cardShown = 4
	cardLeast = 2 * cardShown
)

// cardMask replaces letters and digits but the last four digits, and keeps
// what separates them.
type cardMask struct {
	with    []byte
	classes *classTable
}

func newCardMask(with []byte) *cardMask {
	return &cardMask{with: with, classes: safeClasses()}
}

func (m *cardMask) size(row []byte) int       { return m.mask(nil, row) }
func (m *cardMask) write(dst, row []byte) int { return m.mask(dst, row) }

// mask writes the answer, or only counts where dst is nil.
func (m *cardMask) mask(dst, row []byte) int {
	hidden := m.digits(row) - cardShown // digits from the left
	if hidden < cardLeast-cardShown {
		hidden += cardShown
	}
	n := 0
	put := func(b []byte) {
		if dst != nil {
			copy(dst[n:], b)
		}
		n += len(b)
	}
	for i := 0; i < len(row); {
		c, w := m.class(row[i:])
		shown := c == classOther
		if c == classDigit {
			hidden--
			shown = hidden < 0
		}
		if shown {
			put(row[i : i+w])
		} else {
			put(m.with)
		}
		i += w
	}
	return n
}

func (m *cardMask) digits(row []byte) int {
	n := 0
	for i := 0; i < len(row); {
		c, w := m.class(row[i:])
		if c == classDigit {
			n++
		}
		i += w
	}
	return n
}

// class is the class of the character at the start of b; bad bytes are letters.
func (m *cardMask) class(b []byte) (class, int) {
	r, w := utf8.DecodeRune(b)
	if r == utf8.RuneError && w == 1 {
		return classLower, w
	}
	return m.classes.of(r), w
}

// withParam is what replaces a character that is masked.
var withParam = param{name: "with", read: func(s *settings, arg *Expr, c *compiler) error {
	s.rep = [numClasses]rune{'x', 'x', 'x', 'x'}
	if optional(arg) {
		return nil
	}
	if arg.kind != exprString || utf8.RuneCountInString(arg.text) != 1 {
		return fmt.Errorf("want exactly one character")
	}
	r, _ := utf8.DecodeRuneInString(arg.text)
	s.rep = [numClasses]rune{r, r, r, r}
	return nil
}}

func buildEmail(c *compiler, n *node) error {
	return c.part(n, emailMask{utf8.AppendRune(nil, n.set.rep[0])})
}

func buildCard(c *compiler, n *node) error {
	return c.part(n, newCardMask(utf8.AppendRune(nil, n.set.rep[0])))
}

// part makes a step of a rowMasker. Only text has a mask of this kind.
func (c *compiler) part(n *node, rows rowMasker) error {
	if n.arg.out.Kind != Text {
		c.note(fmt.Sprintf("%s of %s is always NULL: only text is masked.", n.name, n.arg.out))
		n.nothing(n.arg.out)
		return nil
	}
	n.out = Type{Kind: Text}
	n.op = textStep{op: rowText{rows}, out: n.out}
	return nil
}
