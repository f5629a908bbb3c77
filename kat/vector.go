// Package kat runs known-answer vectors: digests on every backend of package
// kernels, in every column layout, at every alignment and between neighbours
// of other lengths; functions through both evaluators of package mask. The
// format of the files is described in testdata/kat/README.md.
package kat

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrFormat: a vector file breaks the format. Every such error is a *LineError.
var ErrFormat = errors.New("malformed vector")

// LineError says which line of which file breaks the format; it wraps
// ErrFormat.
type LineError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error is "file:line: malformed vector: what".
func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v: %s", e.File, e.Line, ErrFormat, e.Msg)
}

// Unwrap is ErrFormat.
func (e *LineError) Unwrap() error { return ErrFormat }

// Vector is one line of a vector file.
type Vector struct {
	File     string
	Line     int
	ID       string
	Function string
	Dialect  string // dialectRaw for a digest without any SQL around it
	Mode     string
	Type     string // SQL type of the first argument
	Args     []Token
	Expected []Token
	Kind     string // "fact" or "derived"
	Source   string
	Note     string
}

// dialectRaw marks a vector of package kernels: the function is an algorithm's
// name, or "hmac_" and the name; the answer is the raw digest.
const dialectRaw = "raw"

// fail is a LineError about the vector.
func (v *Vector) fail(format string, args ...any) error {
	return &LineError{File: v.File, Line: v.Line, Msg: fmt.Sprintf(format, args...)}
}

// mode splits the mode column, "name=value;name=value".
func (v *Vector) modes() []string {
	if v.Mode == "" {
		return nil
	}
	return strings.Split(v.Mode, ";")
}

// Tag is what a token holds.
type Tag string

// The tags. TagPattern and TagRepeat are short forms of long byte strings:
// "n:LENGTH" has i mod 251 at byte i, "r:COUNT*HEX" repeats the bytes.
const (
	TagNull      Tag = "null"
	TagInt       Tag = "i"
	TagFloat     Tag = "f"
	TagBool      Tag = "bool"
	TagText      Tag = "s"
	TagBytes     Tag = "b"
	TagPattern   Tag = "n"
	TagRepeat    Tag = "r"
	TagDate      Tag = "d"
	TagTimestamp Tag = "ts"
	TagDecimal   Tag = "dec"
	TagError     Tag = "error"
	TagColumn    Tag = "col"
	TagIntArray  Tag = "array_int"
	TagTinyint   Tag = "tinyint"
)

// Token is one value of a vector.
type Token struct {
	Tag   Tag
	Text  string // as written after the colon
	Bytes []byte // TagText, TagBytes, TagPattern, TagRepeat
	Int   int64  // TagInt; TagBool: 0 or 1; TagDate: days since 1970-01-01
}

// String is the token as written.
func (t Token) String() string {
	if t.Tag == TagNull {
		return string(TagNull)
	}
	return string(t.Tag) + ":" + t.Text
}

// maxPattern bounds the bytes that a short form may stand for.
const maxPattern = 1 << 26

func parseToken(s string) (Token, error) {
	if s == string(TagNull) {
		return Token{Tag: TagNull}, nil
	}
	tag, text, ok := strings.Cut(s, ":")
	if !ok {
		return Token{}, fmt.Errorf("token without a tag")
	}
	t := Token{Tag: Tag(tag), Text: text}
	var err error
	switch t.Tag {
	case TagInt:
		t.Int, err = strconv.ParseInt(text, 10, 64)
	case TagBool:
		switch text {
		case "true":
			t.Int = 1
		case "false":
		default:
			err = errors.New("neither true nor false")
		}
	case TagText:
		t.Bytes, err = unescape(text)
	case TagBytes:
		t.Bytes, err = hex.DecodeString(text)
	case TagPattern:
		t.Bytes, err = pattern(text)
	case TagRepeat:
		t.Bytes, err = repeat(text)
	case TagDate:
		t.Int, err = parseDate(text)
	case TagFloat, TagTimestamp, TagDecimal, TagError, TagColumn, TagIntArray, TagTinyint:
	default:
		return Token{}, fmt.Errorf("unknown tag %q", tag)
	}
	if err != nil {
		return Token{}, fmt.Errorf("token %s: %v", tag, err)
	}
	return t, nil
}

// unescape undoes \xNN, the only escape.
func unescape(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i+4 > len(s) || s[i+1] != 'x' {
			return nil, errors.New(`a backslash that is not \xNN`)
		}
		b, err := hex.DecodeString(s[i+2 : i+4])
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
		i += 3
	}
	return out, nil
}

func pattern(s string) ([]byte, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxPattern {
		return nil, fmt.Errorf("length outside 0 to %d", maxPattern)
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i % 251)
	}
	return out, nil
}

func repeat(s string) ([]byte, error) {
	count, digits, ok := strings.Cut(s, "*")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 0 {
		return nil, errors.New("not COUNT*HEX")
	}
	unit, err := hex.DecodeString(digits)
	if err != nil {
		return nil, err
	}
	if len(unit) > 0 && n > maxPattern/len(unit) {
		return nil, fmt.Errorf("longer than %d bytes", maxPattern)
	}
	return []byte(strings.Repeat(string(unit), n)), nil
}

// parseDate reads [-]YYYY-MM-DD, at least four digits of the year, and gives
// the days since 1970-01-01 in the proleptic Gregorian calendar.
func parseDate(s string) (int64, error) {
	bad := errors.New("not a date")
	body, neg := strings.CutPrefix(s, "-")
	parts := strings.Split(body, "-")
	if len(parts) != 3 || len(parts[0]) < 4 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return 0, bad
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return 0, bad
		}
		n[i] = int(v)
	}
	if neg {
		n[0] = -n[0]
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], 0, 0, 0, 0, time.UTC)
	if t.Month() != time.Month(n[1]) || t.Day() != n[2] {
		return 0, bad
	}
	return t.Unix() / secondsPerDay, nil
}

const secondsPerDay = 24 * 60 * 60

// formatDate is the token text of a number of days since 1970-01-01.
func formatDate(days int64) string {
	t := time.Unix(days*secondsPerDay, 0).UTC()
	sign, year := "", t.Year()
	if year < 0 {
		sign, year = "-", -year
	}
	return fmt.Sprintf("%s%04d-%02d-%02d", sign, year, t.Month(), t.Day())
}
