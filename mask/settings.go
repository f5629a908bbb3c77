package mask

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/kernels"
)

// settings are what the arguments of one call say, after the defaults of the
// function and the dialect. The column version and the row reference both
// start from them.
type settings struct {
	// Digests.
	alg   kernels.Alg
	noAlg bool // the answer is NULL: sha2 of an unsupported length
	keyID string
	key   secret // nil for a plain digest
	upper bool   // hex in upper case

	// The mask family.
	window window
	n      int // characters or digits, never negative
	rep    [numClasses]rune
	number int // 0 to 9
	date   dateRule
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
func readInt(arg *Expr) (int64, error) {
	switch arg.kind {
	case exprInt:
		return arg.num, nil
	case exprString:
		if n, err := strconv.ParseInt(arg.text, 10, 64); err == nil {
			return n, nil
		}
		return 0, fmt.Errorf("the string is not an integer")
	}
	return 0, fmt.Errorf("want an integer, not %s", arg.what())
}

// replacementParam is the replacement of a class of characters.
func replacementParam(name string, c class) param {
	return param{name: name, read: func(s *settings, arg *Expr, cc *compiler) error {
		s.rep[c] = cc.rules.rep[c]
		if optional(arg) || arg.kind == exprString && arg.text == "" {
			return nil
		}
		switch arg.kind {
		case exprString:
			s.rep[c], _ = utf8.DecodeRuneInString(arg.text)
		case exprInt:
			if arg.num != keep && (arg.num < 0 || arg.num > utf8.MaxRune || !utf8.ValidRune(rune(arg.num))) {
				return fmt.Errorf("%d is not a code point, nor -1 for keep", arg.num)
			}
			s.rep[c] = rune(arg.num)
		default:
			return fmt.Errorf("want a character or a code point, not %s", arg.what())
		}
		return nil
	}}
}

// countParam is n of the partial masks; a negative one counts as 0.
var countParam = param{name: "n", read: func(s *settings, arg *Expr, c *compiler) error {
	n := c.rules.n
	if !optional(arg) {
		var err error
		if n, err = readInt(arg); err != nil {
			return err
		}
	}
	s.n = int(min(max(n, 0), math.MaxInt))
	return nil
}}

// numberParam is the digit that masks digits of integers.
var numberParam = param{name: "number", read: func(s *settings, arg *Expr, c *compiler) error {
	n := c.rules.number
	if !optional(arg) {
		var err error
		if n, err = readInt(arg); err != nil {
			return err
		}
		if n < 0 || n > 9 {
			n = c.rules.number
		}
	}
	s.number = int(n)
	return nil
}}

// datePart reads a part of a date: -1 keeps, a value outside lo..hi means the
// default.
func datePart(arg *Expr, lo, hi, def int64) (int64, error) {
	if optional(arg) {
		return def, nil
	}
	n, err := readInt(arg)
	if err != nil || n == keep || n >= lo && n <= hi {
		return n, err
	}
	return def, nil
}

var dayParam = param{name: "day", read: func(s *settings, arg *Expr, c *compiler) (err error) {
	s.date.day, err = datePart(arg, 1, 31, c.rules.date.day)
	return err
}}

// monthParam counts from 0 in an expression and from 1 in a dateRule.
var monthParam = param{name: "month", read: func(s *settings, arg *Expr, c *compiler) error {
	n, err := datePart(arg, 0, 11, c.rules.date.month-1)
	if s.date.month = n; n != keep {
		s.date.month++
	}
	return err
}}

var yearParam = param{name: "year", read: func(s *settings, arg *Expr, c *compiler) error {
	s.date.year = c.rules.date.year
	if optional(arg) {
		return nil
	}
	n, err := readInt(arg)
	if err != nil {
		return err
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
		alg, err := kernels.ParseAlg(strings.ToLower(arg.text))
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

// keyParam is the handle of a key. Where it may be left out, the keyring must
// hold exactly one.
func keyParam(required bool) param {
	return param{name: "key", required: required, read: func(s *settings, arg *Expr, c *compiler) (err error) {
		handle := ""
		if !optional(arg) || required {
			if arg.kind != exprString || arg.text == "" {
				return fmt.Errorf("want the handle of a key, not %s", arg.what())
			}
			handle = arg.text
		}
		s.keyID, s.key, err = c.keys.find(handle)
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
