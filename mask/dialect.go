package mask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/kernels"
)

// rules are what sets one dialect apart from another, as data. Compile reads
// them once; nothing asks for the dialect while rows are worked on.
type rules struct {
	name   string
	listed bool     // in Dialects; the others are old or unreleased forms, for comparing
	about  string   // one line
	lacks  []string // functions that the engine does not have

	// Characters.
	unit    unit
	bad     badBytes
	classes tableKind
	rep     [numClasses]rune // default replacement by class, or keep
	leaks   string           // what stays readable that the safe dialect hides, "" for nothing

	// How arguments of the mask family are read.
	args argRules

	// Defaults of the other parameters of the mask family.
	n      int64
	number int64
	date   dateRule

	// What the families answer for a type.
	mask, hash, digest typeRules
	wide               bool // signed integers become 64 bits wide before they are masked
	years              span64
	badDate            outcome // a day that does not exist
	castWraps          bool    // an integer that does not fit wraps; otherwise it is an error
	charBytes          bool    // lengths of CHAR and VARCHAR count bytes, not code points
	stripChar          bool    // digests do not see the blanks that pad a CHAR

	// Digests.
	sha2        map[int64]kernels.Alg // by bit length
	badLength   outcome               // any other length
	constLength bool                  // the length must not be a column
	sha2FIPS    []int64               // lengths that FIPS mode allows; nil: every one
	maskHash    kernels.Alg
	maskFIPS    kernels.Alg // maskHash in FIPS mode
	nullHash    bool        // mask_hash of NULL is the digest of the empty string
	hashDecoded bool        // mask_hash sees bad bytes as U+FFFD
	hashUpper   bool        // mask_hash writes upper-case hex
	rawDigest   bool        // md5, sha1 and the like answer bytes, not text
	hashArg     hashArg     // how mask_hash reads its argument
}

// keep, as a replacement, leaves the character or the part of a date as it is.
const keep = -1

// unit is what counts as one character.
type unit uint8

const (
	unitRune  unit = iota // a code point
	unitUTF16             // a UTF-16 unit: code points above U+FFFF are two
	unitByte
)

var unitNames = [...]string{unitRune: "code point", unitUTF16: "UTF-16 unit", unitByte: "byte"}

// badBytes is what becomes of bytes that are not part of valid UTF-8.
type badBytes uint8

const (
	badLower    badBytes = iota // each is one character of class lower; shown as U+FFFD
	badReplaced                 // decoded to U+FFFD as Java does, class other
	badPassed                   // left alone
	badRefused                  // NULL or an error where they are looked at
)

var badNames = [...]string{badLower: "one character of class lower a byte", badReplaced: "decoded to U+FFFD", badPassed: "left alone", badRefused: "NULL or an error"}

// outcome is what a function makes of a type or a value.
type outcome uint8

const (
	refuse  outcome = iota // an error
	answer                 // the function's own rule
	nothing                // NULL
)

// typeRules are the outcomes of a family of functions by type. rest is every
// type that is not named: boolean, float, decimal, timestamp and so on.
type typeRules struct{ text, binary, integer, date, rest outcome }

func (r typeRules) of(t Type) outcome {
	switch {
	case t.Kind == Text:
		return r.text
	case t.Kind == Binary:
		return r.binary
	case t.integer():
		return r.integer
	case t.Kind == Date32 || t.Kind == Date64:
		return r.date
	}
	return r.rest
}

// span64 bounds a number; outside of it the default counts. The zero value
// bounds nothing.
type span64 struct{ lo, hi int64 }

func (s span64) holds(n int64) bool { return s == span64{} || n >= s.lo && n <= s.hi }

// argRules are how a dialect reads the literals of the mask family.
type argRules struct {
	params  int      // parameters of mask after the value; the rest are not taken
	extra   bool     // surplus arguments are ignored
	columns bool     // an argument that is no literal is ignored too
	forms   bool     // only the overloads of impalaForms are taken
	null    nullRule // what NULL means as a replacement
	ints    intRule  // what an integer means as a replacement
	oneChar bool     // a replacement is exactly one character; otherwise the first counts, and none is the default
	narrow  bool     // integers are cut to 32 bits
	digits  bool     // the number, given as a string, is one digit or an error
}

type nullRule uint8

const (
	nullDefault nullRule = iota
	nullKeeps
	nullRefused
	nullByForm // Impala: the default where a string is expected, 0 where an integer is
)

type hashArg uint8

const (
	hashFixed      hashArg = iota // there is none
	hashNamed                     // the name of a digest
	hashConfigured                // as the property hive.masking.algo: sha512, or anything else for SHA-256
	hashSalted                    // the name of a digest; without one BLAKE2b under a salt
)

type intRule uint8

const (
	intRune    intRule = iota // a code point, -1 keeps
	intByte                   // its low 8 bits, -1 keeps
	intKeeps                  // only -1, which keeps
	intRefused                // none
)

// tableKind is which class table counts.
type tableKind uint8

const (
	classesSafe tableKind = iota
	classesJava
	classesASCII
	classesGlibc
)

var tableNames = [...]string{
	classesSafe: "letters, marks and numbers of every kind", classesJava: "Lu, Ll, Nd",
	classesASCII: "A-Z, a-z, 0-9", classesGlibc: "isupper, islower, isdigit of glibc",
}

var (
	defaultReps = [numClasses]rune{classUpper: 'X', classLower: 'x', classDigit: 'n', classOther: keep}
	sha2Lengths = map[int64]kernels.Alg{224: kernels.SHA224, 256: kernels.SHA256, 384: kernels.SHA384, 512: kernels.SHA512}
	sha2OrZero  = with(sha2Lengths, 0, kernels.SHA256)

	textAndBinary = typeRules{text: answer, binary: answer}
	everyMask     = typeRules{text: answer, binary: nothing, integer: answer, date: answer, rest: nothing}
	textHash      = typeRules{text: answer, binary: nothing, integer: nothing, date: nothing, rest: nothing}
)

func with(m map[int64]kernels.Alg, bits int64, alg kernels.Alg) map[int64]kernels.Alg {
	out := map[int64]kernels.Alg{bits: alg}
	for b, a := range m {
		out[b] = a
	}
	return out
}

// dialects are those that can be chosen; the first is the default. The rules
// of the engines are those of their sources: Hive's BaseMaskUDF and
// GenericUDFMask*, Impala's mask-functions-ir.cc and utility-functions-ir.cc,
// Spark's maskExpressions.scala and hash.scala, Trino's VarbinaryFunctions and
// Ranger's masks for Trino, OpenSearch's FieldMasking.
var dialects = []*rules{&safe, &hive, &impala, &impalaUTF8, &spark, &trino, &openSearch, &sparkCodePoint, &spark34, &spark24}

// safe is Hive's signatures and defaults with its leaks closed: letters of
// every script, numbers of every kind and combining marks are masked. On ASCII
// it equals Hive.
var safe = rules{
	name: "safe", listed: true, about: "Hive's signatures and defaults with its leaks closed",
	unit: unitRune, bad: badLower, classes: classesSafe, rep: defaultReps,
	args: argRules{params: 8},
	n:    4, number: 1, date: dateRule{day: 1, month: 1, year: 0},
	mask: everyMask, hash: textHash, digest: textAndBinary, badDate: nothing,
	sha2: sha2OrZero, badLength: nothing, maskHash: kernels.SHA256, maskFIPS: kernels.SHA256, hashArg: hashNamed,
}

var hive = rules{
	name: "hive", listed: true, about: "Apache Hive 4",
	unit: unitUTF16, bad: badReplaced, classes: classesJava, rep: defaultReps,
	leaks: "letters without case, title case, modifier letters, marks, numerals such as Ⅷ and ², and everything above U+FFFF",
	args:  argRules{params: 8, extra: true, columns: true, narrow: true},
	n:     4, number: 1, date: dateRule{day: 1, month: 1, year: 0},
	mask: everyMask, hash: textHash, digest: textAndBinary, badDate: refuse, castWraps: true, stripChar: true,
	sha2: with(sha2OrZero, 1, kernels.SHA1), badLength: nothing, constLength: true,
	maskHash: kernels.SHA256, maskFIPS: kernels.SHA256, hashDecoded: true, hashArg: hashConfigured,
}

var impala = rules{
	name: "impala", listed: true, about: "Apache Impala, UTF8_MODE off",
	unit: unitByte, bad: badPassed, classes: classesASCII, rep: defaultReps,
	leaks: "everything outside ASCII",
	args:  argRules{params: 8, forms: true, null: nullByForm, ints: intByte, digits: true},
	n:     4, number: 1, date: dateRule{day: 1, month: 1, year: 1},
	mask: typeRules{text: answer, integer: answer, date: answer, rest: nothing},
	hash: typeRules{text: answer, integer: nothing, date: nothing, rest: nothing},
	wide: true, years: span64{1, 9998}, badDate: nothing, castWraps: true, charBytes: true,
	digest: typeRules{text: answer},
	sha2:   sha2Lengths, badLength: refuse, sha2FIPS: []int64{384, 512},
	maskHash: kernels.SHA256, maskFIPS: kernels.SHA512, nullHash: true,
}

var impalaUTF8 = impala.but("impala-utf8", "Apache Impala, UTF8_MODE on", func(d *rules) {
	d.unit, d.bad, d.classes, d.args.ints = unitRune, badRefused, classesGlibc, intRune
	d.leaks = "letters without case, digits outside ASCII, marks"
})

var spark = rules{
	name: "spark", listed: true, about: "Apache Spark 3.4 and later",
	lacks: []string{"mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n", "mask_hash"},
	unit:  unitUTF16, bad: badReplaced, classes: classesJava, rep: defaultReps,
	leaks: hive.leaks,
	args:  argRules{params: 4, null: nullKeeps, ints: intRefused, oneChar: true},
	n:     4, number: 1, date: dateRule{day: 1, month: 1, year: 0},
	mask: typeRules{text: answer}, hash: typeRules{text: answer}, digest: textAndBinary, badDate: refuse,
	sha2: sha2OrZero, badLength: nothing, maskHash: kernels.SHA256, maskFIPS: kernels.SHA256,
}

// trino has no masks of its own; its mask functions do what the regular
// expressions of Ranger's definition of the Trino service do.
var trino = rules{
	name: "trino", listed: true, about: "Trino, with the masks of Ranger's Trino service",
	lacks: []string{"sha", "sha2", "sha224", "sha384", "sha512_256", "mask_first_n", "mask_last_n"},
	unit:  unitRune, bad: badLower, classes: classesASCII,
	rep:   [numClasses]rune{classUpper: 'X', classLower: 'x', classDigit: '0', classOther: keep},
	leaks: "letters and digits outside ASCII",
	args:  argRules{params: 8},
	n:     4, number: 1, date: dateRule{day: 1, month: 1, year: 0},
	mask: typeRules{text: answer, date: answer}, hash: typeRules{text: answer}, digest: typeRules{binary: answer}, badDate: nothing,
	maskHash: kernels.SHA256, maskFIPS: kernels.SHA256, hashUpper: true, rawDigest: true,
}

var openSearch = rules{
	name: "opensearch", listed: true, about: "field masking of OpenSearch Security",
	lacks: []string{"mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n"},
	unit:  unitRune, bad: badReplaced, classes: classesJava, rep: defaultReps,
	hash: textAndBinary, digest: textAndBinary, badDate: nothing,
	sha2: sha2OrZero, badLength: nothing, maskHash: kernels.SHA256, maskFIPS: kernels.SHA256, hashArg: hashSalted,
}

// The forms of Spark's mask that were not released, or not yet.
var (
	sparkCodePoint = spark.but("spark-codepoint", "Spark with SPARK-48973, and Velox: code points instead of UTF-16 units", func(d *rules) {
		d.unit = unitRune
		d.leaks = "letters without case, title case, modifier letters, marks, numerals such as Ⅷ and ²"
	})
	spark34 = spark.but("spark-3.4-dev", "Spark's mask while 3.4 was developed: -1 keeps, NULL is an error", func(d *rules) {
		d.args.null, d.args.ints = nullRefused, intKeeps
	})
	spark24 = sparkCodePoint.but("spark-2.4-reverted", "the mask functions that Spark took back before 2.4", func(d *rules) {
		d.lacks = nil
		d.args = argRules{params: 3, ints: intRefused}
		d.maskHash, d.maskFIPS = kernels.MD5, kernels.MD5
	})
)

// but is a copy under another name, changed. Copies are not listed, unless
// they are modes of an engine.
func (d *rules) but(name, about string, change func(*rules)) rules {
	c := *d
	c.name, c.about, c.listed = name, about, strings.HasPrefix(name, d.name+"-utf8")
	change(&c)
	return c
}

// Dialects lists the names that Options.Dialect takes, the default first.
func Dialects() []string {
	var names []string
	for _, d := range dialects {
		if d.listed {
			names = append(names, d.name)
		}
	}
	return names
}

// dialect finds the rules by name; "" is the default.
func dialect(name string) (*rules, error) {
	if name == "" {
		return dialects[0], nil
	}
	for _, d := range dialects {
		if d.name == strings.ToLower(name) {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%w: %q (one of: %s)", ErrDialect, name, strings.Join(Dialects(), ", "))
}

// has reports whether the dialect offers a function.
func (d *rules) has(f *function) bool { return !slices.Contains(d.lacks, f.name) }
