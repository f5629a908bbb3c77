package mask

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

// settings are what the arguments of one call say, after the defaults of the
// function and the dialect. The column version and the row reference both
// start from them.
type settings struct {
	// Digests.
	alg      kernels.Alg
	noAlg    bool // the answer is NULL: sha2 of an unsupported length
	keyID    string
	key      secret // nil for a plain digest
	upper    bool   // hex in upper case
	nullHash bool   // NULL is hashed as the empty string
	blake    *blake // BLAKE2b instead of alg
	legacy   bool   // its salt is the personalisation

	// The mask family.
	window window
	n      int // characters or digits, never negative
	rep    [numClasses]rune
	number int // 0 to 9
	date   dateRule

	regex []replacement // pairs of regexp_replace
}

// window is the part of a value that is masked.
type window uint8

const (
	windowAll       window = iota
	windowFirst            // the first n
	windowLast             // the last n
	windowShowFirst        // all but the first n
	windowShowLast         // all but the last n
)

// param is one literal parameter of a function, after the value.
type param struct {
	name     string
	required bool
	// read puts the argument into the settings; arg is nil when it was left
	// out. The error needs no context: the caller names function and position.
	read func(s *settings, arg *Expr, c *compiler) error
}

// optional reports whether an argument asks for the default: left out or NULL.
func optional(arg *Expr) bool { return arg == nil || arg.kind == exprNull }

// readInt reads an integer, or a string that is one, as Hive does.
func (c *compiler) readInt(arg *Expr) (int64, error) {
	n := arg.num
	switch arg.kind {
	case exprInt:
	case exprString:
		var err error
		if n, err = strconv.ParseInt(arg.text, 10, 64); err != nil {
			return 0, fmt.Errorf("the string is not an integer")
		}
	case exprNull: // only where the dialect does not take it as the default
		return 0, nil
	default:
		return 0, fmt.Errorf("want an integer, not %s", arg.what())
	}
	if c.rules.args.narrow {
		n = int64(int32(n))
	}
	return n, nil
}

// usesDefault reports whether an integer parameter takes its default.
func (c *compiler) usesDefault(arg *Expr) bool {
	return arg == nil || arg.kind == exprNull && c.rules.args.null != nullByForm
}

// replacementParam is the replacement of a class of characters.
func replacementParam(name string, cl class) param {
	return param{name: name, read: func(s *settings, arg *Expr, c *compiler) (err error) {
		s.rep[cl] = c.rules.rep[cl]
		if arg == nil {
			return nil
		}
		switch arg.kind {
		case exprNull:
			switch c.rules.args.null {
			case nullKeeps:
				s.rep[cl] = keep
			case nullRefused:
				return fmt.Errorf("must not be NULL")
			case nullByForm:
				if c.form == formInt {
					s.rep[cl] = 0
				}
			}
		case exprString:
			return c.readChar(&s.rep[cl], arg.text)
		case exprInt:
			s.rep[cl], err = c.readCode(arg.num)
		default:
			return fmt.Errorf("want a character or a code point, not %s", arg.what())
		}
		return err
	}}
}

// readChar reads a replacement given as a string.
func (c *compiler) readChar(to *rune, text string) error {
	if c.rules.args.oneChar && utf8.RuneCountInString(text) != 1 {
		return fmt.Errorf("want exactly one character")
	}
	if text == "" {
		return nil
	}
	switch r, _ := utf8.DecodeRuneInString(text); {
	case c.rules.unit == unitByte:
		*to = rune(text[0])
	case c.rules.unit == unitUTF16 && r > maxUnit:
		*to, _ = utf16.EncodeRune(r)
	default:
		*to = r
	}
	return nil
}

// maxUnit is the greatest code point of one UTF-16 unit.
const maxUnit = 0xffff

// readCode reads a replacement given as an integer.
func (c *compiler) readCode(n int64) (rune, error) {
	if c.rules.args.narrow {
		n = int64(int32(n))
	}
	switch rule := c.rules.args.ints; {
	case n == keep && rule != intRefused:
		return keep, nil
	case rule == intByte:
		return rune(n & 0xff), nil
	case rule == intRefused || rule == intKeeps:
		return 0, fmt.Errorf("want a character, not an integer")
	case n < 0 || n > utf8.MaxRune || c.rules.unit != unitUTF16 && !utf8.ValidRune(rune(n)):
		return 0, fmt.Errorf("%d is not a code point, nor -1 for keep", n)
	}
	return rune(n), nil
}

// countParam is n of the partial masks; a negative one counts as 0.
var countParam = param{name: "n", read: func(s *settings, arg *Expr, c *compiler) error {
	n := c.rules.n
	if !c.usesDefault(arg) {
		var err error
		if n, err = c.readInt(arg); err != nil {
			return err
		}
	}
	s.n = int(min(max(n, 0), math.MaxInt))
	return nil
}}

// numberParam is the digit that masks digits of integers.
var numberParam = param{name: "number", read: func(s *settings, arg *Expr, c *compiler) error {
	s.number = int(c.rules.number)
	if c.usesDefault(arg) {
		return nil
	}
	if c.rules.args.digits && (arg.kind == exprString || c.form == formString) {
		switch {
		case !c.value.integer():
		case len(arg.text) == 1 && isDigit(arg.text[0]):
			s.number = int(arg.text[0] - '0')
		default:
			return fmt.Errorf("want one digit")
		}
		return nil
	}
	n, err := c.readInt(arg)
	if err == nil && n >= 0 && n <= 9 {
		s.number = int(n)
	}
	return err
}}

// datePart reads a part of a date: -1 keeps, a value outside lo..hi means the
// default.
func (c *compiler) datePart(arg *Expr, lo, hi, def int64) (int64, error) {
	if c.usesDefault(arg) {
		return def, nil
	}
	n, err := c.readInt(arg)
	if err != nil || n == keep || n >= lo && n <= hi {
		return n, err
	}
	return def, nil
}

var dayParam = param{name: "day", read: func(s *settings, arg *Expr, c *compiler) (err error) {
	s.date.day, err = c.datePart(arg, 1, 31, c.rules.date.day)
	return err
}}

// monthParam counts from 0 in an expression and from 1 in a dateRule.
var monthParam = param{name: "month", read: func(s *settings, arg *Expr, c *compiler) error {
	n, err := c.datePart(arg, 0, 11, c.rules.date.month-1)
	if s.date.month = n; n != keep {
		s.date.month++
	}
	return err
}}

var yearParam = param{name: "year", read: func(s *settings, arg *Expr, c *compiler) error {
	s.date.year = c.rules.date.year
	if c.usesDefault(arg) {
		return nil
	}
	n, err := c.readInt(arg)
	if err != nil {
		return err
	}
	if n != keep && !c.rules.years.holds(n) {
		return nil
	}
	if n < minYear || n > maxYear {
		return fmt.Errorf("a year must lie between %d and %d", minYear, maxYear)
	}
	s.date.year = n
	return nil
}}

// bitsParam is the digest length of sha2.
var bitsParam = param{name: "bits", required: true, read: func(s *settings, arg *Expr, c *compiler) error {
	if arg.kind != exprInt && arg.kind != exprNull {
		return fmt.Errorf("want an integer, not %s", arg.what())
	}
	alg, ok := c.rules.sha2[arg.num]
	s.alg, s.noAlg = alg, !ok || arg.kind == exprNull
	switch d := c.rules; {
	case arg.kind == exprNull:
	case !ok && d.badLength == refuse:
		return fmt.Errorf("no digest has that length")
	case fips.Enabled() && d.sha2FIPS != nil && !slices.Contains(d.sha2FIPS, arg.num):
		return fmt.Errorf("a length of %d: %w", arg.num, fips.NotApproved("sha2"))
	}
	return nil
}}

// algParam is the algorithm of a digest by name, out of those that ok takes.
// Without a default it must be given.
func algParam(def func(*rules) kernels.Alg, ok func(kernels.Alg) bool) param {
	return param{name: "algorithm", required: def == nil, read: func(s *settings, arg *Expr, c *compiler) error {
		if optional(arg) && def != nil {
			s.alg = def(c.rules)
			return nil
		}
		if arg.kind != exprString {
			return fmt.Errorf("want the name of a digest, not %s", arg.what())
		}
		alg, err := parseAlg(arg.text)
		if err != nil {
			return err
		}
		if !ok(alg) {
			return fmt.Errorf("%s is not offered here", alg)
		}
		s.alg = alg
		return nil
	}}
}

// parseAlg reads the name of a digest, in the spelling of kernels ("sha512_256")
// or of the Java platform ("SHA-512/256").
func parseAlg(name string) (kernels.Alg, error) {
	name = strings.ToLower(name)
	if alg, err := kernels.ParseAlg(name); err == nil {
		return alg, nil
	}
	java := strings.NewReplacer("sha-", "sha", "/", "_").Replace(name)
	if java == "sha" {
		java = "sha1"
	}
	return kernels.ParseAlg(java)
}

// readHandle reads the handle of a key; empty when it was left out.
func readHandle(arg *Expr, required bool) (string, error) {
	if optional(arg) && !required {
		return "", nil
	}
	if arg.kind != exprString || arg.text == "" {
		return "", fmt.Errorf("want the handle of a key, not %s", arg.what())
	}
	return arg.text, nil
}

// keyParam is the handle of a key. Where it may be left out, the keyring must
// hold exactly one.
func keyParam(required bool) param {
	return param{name: "key", required: required, read: func(s *settings, arg *Expr, c *compiler) error {
		handle, err := readHandle(arg, required)
		if err == nil {
			s.keyID, s.key, err = c.keys.find(handle)
		}
		return err
	}}
}

// caseParam is the letter case of hex.
var caseParam = param{name: "case", read: func(s *settings, arg *Expr, _ *compiler) error {
	s.upper = true
	if optional(arg) {
		return nil
	}
	if arg.kind == exprString {
		switch strings.ToLower(arg.text) {
		case "upper":
			return nil
		case "lower":
			s.upper = false
			return nil
		}
	}
	return fmt.Errorf("want 'upper' or 'lower'")
}}

// maskHashParam is the algorithm of mask_hash. OpenSearch names any digest of
// the Java platform there, and means BLAKE2b under a salt when it names none.
var maskHashParam = param{name: "algorithm", read: func(s *settings, arg *Expr, c *compiler) error {
	rule := c.rules.hashArg
	switch {
	case optional(arg) && rule == hashSalted:
		s.noAlg = true // until there is a salt
	case optional(arg):
		s.alg = maskHashAlg(c.rules)
	case rule == hashFixed:
		return fmt.Errorf("the dialect %s has none here", c.rules.name)
	case rule == hashConfigured && arg.kind == exprString:
		if s.alg = kernels.SHA256; strings.EqualFold(strings.TrimSpace(arg.text), "sha512") {
			s.alg = kernels.SHA512
		}
	case rule == hashSalted && arg.kind == exprString && strings.EqualFold(arg.text, legacyHash):
		s.noAlg, s.legacy = true, true
	default:
		return algParam(nil, anyAlg).read(s, arg, c)
	}
	return nil
}}

// maskSaltParam is the handle of the salt; it may be left out where the
// keyring holds one key.
var maskSaltParam = param{name: "salt", read: func(s *settings, arg *Expr, c *compiler) error {
	switch {
	case !s.noAlg && optional(arg):
		return nil
	case c.rules.hashArg != hashSalted || !s.noAlg:
		return fmt.Errorf("no salt belongs here: only the BLAKE2b of the dialect opensearch has one")
	}
	s.noAlg = false
	handle, err := readHandle(arg, false)
	if err != nil {
		return err
	}
	return c.salted(s, handle, s.legacy)
}}

// saltParam and legacyParam are the arguments of blake2b.
var (
	saltParam = param{name: "salt", required: true, read: func(s *settings, arg *Expr, c *compiler) (err error) {
		s.keyID, err = readHandle(arg, true)
		return err
	}}
	legacyParam = param{name: "form", read: func(s *settings, arg *Expr, c *compiler) error {
		if !optional(arg) && (arg.kind != exprString || !strings.EqualFold(arg.text, "legacy")) {
			return fmt.Errorf("want 'legacy' or nothing")
		}
		return c.salted(s, s.keyID, !optional(arg))
	}}
)

// truncParam is a unit of the calendar.
var truncParam = param{name: "unit", required: true, read: func(s *settings, arg *Expr, _ *compiler) error {
	if arg.kind == exprString {
		switch strings.ToLower(arg.text) {
		case "year":
			s.date = dateRule{day: 1, month: 1, year: keep}
			return nil
		case "month":
			s.date = dateRule{day: 1, month: keep, year: keep}
			return nil
		}
	}
	return fmt.Errorf("want 'year' or 'month'")
}}
