package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Syntax says how an engine's SQL is quoted where engines differ. The zero
// value refuses what is ambiguous.
type Syntax struct {
	// DoubleQuote is what "x" is: Hive and Spark read a string, Trino and
	// Presto a column.
	DoubleQuote Quote
	// Backslash says that a backslash in a string escapes the next character,
	// as in Hive and Spark. Only the escapes of quotes and of the backslash
	// itself are read; others are errors. Without it a backslash is refused.
	Backslash bool
	// PlainBackslash says that a backslash in a string is a plain character, as
	// in Trino and Presto.
	PlainBackslash bool

	// literal makes "${{" plain text: a bound filter has no parameters, and a
	// value must not become one.
	literal bool
}

// Quote is the meaning of a double quote.
type Quote uint8

// The meanings.
const (
	QuoteRefused Quote = iota
	QuoteString
	QuoteColumn
)

// canonical is the syntax that Filter.String writes.
var canonical = Syntax{PlainBackslash: true, literal: true}

// Bounds of a filter, far above what people write and low enough that a
// damaged or hostile one costs nothing.
const (
	maxFilterBytes = 1 << 20
	maxFilterDepth = 200
)

type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokWord             // bare word: keyword or column
	tokQuoted           // quoted column
	tokString           // pieces
	tokNumber
	tokParam // ${{text}}
	tokOp
)

type token struct {
	kind   tokenKind
	text   string // for tokWord the keyword in upper case, or nothing
	raw    string // as written, for tokWord
	pieces []piece
	pos    int
}

// piece is a part of a string literal: text, or the expression of a ${{..}}.
type piece struct {
	text  string
	param bool
}

// lexer cuts a filter into tokens. Their texts are parts of the source where
// nothing is escaped.
type lexer struct {
	src    string
	pos    int
	syn    Syntax
	pieces arena[piece]
}

// arena hands out memory that it allocates by the chunk: a filter has many small
// parts, which all live as long as it does.
type arena[T any] struct {
	free []T
	size int // of the last chunk
}

func (a *arena[T]) take(n int) []T {
	if len(a.free) < n {
		a.size = min(max(4, 2*a.size), 64)
		a.free = make([]T, max(n, a.size))
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	return out
}

func (l *lexer) errf(pos int, format string, args ...any) error {
	return fmt.Errorf("%w: byte %d: %s", ErrFilter, pos, fmt.Sprintf(format, args...))
}

func isWordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isWordStart(c) || isDigit(c) }

func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{kind: tokEOF, pos: start}, nil
	}
	c := l.src[start]
	switch {
	case isWordStart(c):
		for l.pos < len(l.src) && isWord(l.src[l.pos]) {
			l.pos++
		}
		raw := l.src[start:l.pos]
		return token{kind: tokWord, text: keyword(raw), raw: raw, pos: start}, nil
	case isDigit(c) || c == '.' && start+1 < len(l.src) && isDigit(l.src[start+1]):
		return l.number()
	case c == '\'':
		return l.str('\'')
	case c == '"':
		switch l.syn.DoubleQuote {
		case QuoteString:
			return l.str('"')
		case QuoteColumn:
			return l.quoted('"')
		}
		return token{}, l.errf(start, "a double quote means different things in different engines; use ' for text")
	case c == '`':
		return l.quoted('`')
	case l.atParam():
		text, err := l.param()
		return token{kind: tokParam, text: text, pos: start}, err
	}
	for _, op := range []string{"<=", ">=", "<>", "!=", "=="} {
		if strings.HasPrefix(l.src[start:], op) {
			l.pos += 2
			switch op {
			case "!=":
				op = "<>"
			case "==":
				op = "="
			}
			return token{kind: tokOp, text: op, pos: start}, nil
		}
	}
	if strings.HasPrefix(l.src[start:], "--") || strings.HasPrefix(l.src[start:], "/*") {
		return token{}, l.errf(start, "comments are not part of a filter")
	}
	if strings.IndexByte("=<>+-*/%(),.", c) >= 0 {
		l.pos++
		return token{kind: tokOp, text: l.src[start : start+1], pos: start}, nil
	}
	r, _ := utf8.DecodeRuneInString(l.src[start:])
	return token{}, l.errf(start, "unexpected %q", r)
}

func (l *lexer) number() (token, error) {
	start := l.pos
	digits := func() {
		for l.pos < len(l.src) && isDigit(l.src[l.pos]) {
			l.pos++
		}
	}
	digits()
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		l.pos++
		digits()
	}
	if l.pos < len(l.src) && (l.src[l.pos]|0x20) == 'e' {
		mark := l.pos
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '+' || l.src[l.pos] == '-') {
			l.pos++
		}
		if l.pos == len(l.src) || !isDigit(l.src[l.pos]) {
			l.pos = mark
		}
		digits()
	}
	if l.pos < len(l.src) && isWord(l.src[l.pos]) {
		return token{}, l.errf(start, "malformed number")
	}
	return token{kind: tokNumber, text: l.src[start:l.pos], pos: start}, nil
}

// plain is the text up to the quote that ends it, if every byte of it stands for
// itself.
func (l *lexer) plain(q byte) (string, bool) {
	rest := l.src[l.pos:]
	n := strings.IndexByte(rest, q)
	if n < 0 || n+1 < len(rest) && rest[n+1] == q {
		return "", false
	}
	return rest[:n], l.syn.literal || !strings.Contains(rest[:n], "${{")
}

// quoted reads a quoted column name; the quote doubled stands for itself.
func (l *lexer) quoted(q byte) (token, error) {
	start := l.pos
	l.pos++
	if s, ok := l.plain(q); ok && s != "" {
		l.pos += len(s) + 1
		return token{kind: tokQuoted, text: s, pos: start}, nil
	}
	var b strings.Builder
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c == q {
			if l.pos+1 < len(l.src) && l.src[l.pos+1] == q {
				b.WriteByte(q)
				l.pos += 2
				continue
			}
			l.pos++
			if b.Len() == 0 {
				return token{}, l.errf(start, "empty column name")
			}
			return token{kind: tokQuoted, text: b.String(), pos: start}, nil
		}
		if l.atParam() {
			return token{}, l.errf(l.pos, "an expression cannot name a column")
		}
		b.WriteByte(c)
		l.pos++
	}
	return token{}, l.errf(start, "column name without an end")
}

func (l *lexer) str(q byte) (token, error) {
	start := l.pos
	l.pos++
	if s, ok := l.plain(q); ok && (strings.IndexByte(s, '\\') < 0 || l.syn.PlainBackslash && !l.syn.Backslash) {
		l.pos += len(s) + 1
		return token{kind: tokString, pieces: l.literal(s), pos: start}, nil
	}
	var b strings.Builder
	var pieces []piece
	flush := func() {
		if b.Len() > 0 {
			pieces = append(pieces, piece{text: b.String()})
			b.Reset()
		}
	}
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == q && l.pos+1 < len(l.src) && l.src[l.pos+1] == q:
			b.WriteByte(q)
			l.pos += 2
		case c == q:
			l.pos++
			flush()
			return token{kind: tokString, pieces: pieces, pos: start}, nil
		case c == '\\' && l.syn.Backslash:
			if l.pos+1 < len(l.src) && strings.IndexByte(`'"\`, l.src[l.pos+1]) >= 0 {
				b.WriteByte(l.src[l.pos+1])
				l.pos += 2
				continue
			}
			return token{}, l.errf(l.pos, "this escape is not read")
		case c == '\\' && !l.syn.PlainBackslash:
			return token{}, l.errf(l.pos, "a backslash means different things in different engines")
		case l.atParam():
			text, err := l.param()
			if err != nil {
				return token{}, err
			}
			flush()
			pieces = append(pieces, piece{text: text, param: true})
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	return token{}, l.errf(start, "text without an end")
}

// literal is a text of one piece; the empty text has none.
func (l *lexer) literal(s string) []piece {
	if s == "" {
		return nil
	}
	pieces := l.pieces.take(1)
	pieces[0].text = s
	return pieces
}

func (l *lexer) atParam() bool { return !l.syn.literal && strings.HasPrefix(l.src[l.pos:], "${{") }

// param reads ${{expression}}.
func (l *lexer) param() (string, error) {
	start := l.pos
	end := strings.Index(l.src[start:], "}}")
	if end < 0 {
		return "", l.errf(start, "${{ without }}")
	}
	l.pos = start + end + 2
	text := strings.TrimSpace(l.src[start+3 : start+end])
	if text == "" {
		return "", l.errf(start, "empty ${{ }}")
	}
	return text, nil
}
