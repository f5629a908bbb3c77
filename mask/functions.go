package mask

import (
	"math"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

// function is one function of the grammar: what it is called, what it takes
// and how a call of it is built. The list below is the whole registry.
type function struct {
	name   string
	help   string
	output string
	params []param
	preset settings // before the arguments are read
	build  func(c *compiler, n *node) error
	ints   bool // has a rule of its own for integers and dates

	masks     bool // of the mask family, whose arguments the dialect reads
	counts    bool // of those, n is the first parameter
	valueLast bool // of two arguments, the value may be the last
	repeats   bool // the parameters may be given any number of times
	rows      bool // takes any number of values, and then literals
}

// Output texts of signatures.
const (
	outHex      = "text: lower-case hex"
	outRaw      = "binary of fixed width"
	outSame     = "same as the input"
	outText     = "text"
	outTextNull = "text; NULL of the input's type for anything but text"
)

var (
	anyAlg  = func(kernels.Alg) bool { return true }
	sha2Alg = kernels.Alg.SHA2

	hmacAlg     = func(*rules) kernels.Alg { return kernels.SHA256 }
	maskHashAlg = func(d *rules) kernels.Alg {
		if fips.Enabled() {
			return d.maskFIPS
		}
		return d.maskHash
	}

	replacementParams = []param{
		replacementParam("upper", classUpper), replacementParam("lower", classLower),
		replacementParam("digit", classDigit), replacementParam("other", classOther),
	}
	maskParams    = append(slices.Clip(replacementParams), numberParam, dayParam, monthParam, yearParam)
	partialParams = append([]param{countParam}, maskParams...)
)

func plainDigest(name, help string, alg kernels.Alg) function {
	return function{name: name, help: help, output: outHex, preset: settings{alg: alg}, build: buildDigest}
}

func partial(name, help string, w window) function {
	return function{name: name, help: help, output: outSame, params: partialParams,
		preset: settings{window: w}, build: buildMask, ints: true, masks: true, counts: true}
}

// functions is filled once and then only read; by name.
var functions = []function{
	{name: "blake2b", help: "BLAKE2b of 32 bytes under a salt of the keyring, as OpenSearch masks fields; 'legacy' takes the salt as personalisation.",
		output: outHex, params: []param{saltParam, legacyParam}, build: buildHexDigest},
	{name: "date_trunc", help: "The first day of the 'year' or the 'month' of a date. The value may also come last, as in SQL.", output: outSame,
		params: []param{truncParam}, build: buildTrunc, valueLast: true},
	{name: "digest", help: "Raw digest of the bytes by any algorithm.", output: outRaw,
		params: []param{algParam(nil, anyAlg)}, build: buildRawDigest},
	{name: "hash_row", help: "SHA-256, or another digest named last, of all values of the row as row_bytes puts them together.",
		output: outHex, params: []param{{name: "algorithm"}}, rows: true},
	{name: "hex", help: "Hexadecimal text of the bytes, upper case unless 'lower' is asked for. Not a mask: anyone can undo it.",
		output: "text: hex", params: []param{caseParam}, build: buildHex},
	{name: "hmac", help: "HMAC of the bytes under a key of the keyring.", output: outHex,
		params: []param{keyParam(true), algParam(hmacAlg, sha2Alg)}, build: buildHexDigest},
	{name: "hmac_raw", help: "Raw HMAC of the bytes under a key of the keyring.", output: outRaw,
		params: []param{keyParam(true), algParam(hmacAlg, sha2Alg)}, build: buildRawDigest},
	{name: "mask", help: "Replaces every character by its class, every digit of an integer, the parts of a date.",
		output: outSame, params: maskParams, preset: settings{window: windowAll}, build: buildMask, ints: true, masks: true},
	{name: "mask_card", help: "Replaces letters and digits, keeps separators and the last four digits where at least four more are hidden.",
		output: outTextNull, params: []param{withParam}, build: buildCard},
	{name: "mask_email", help: "Replaces every character before the last @; all of them without one.",
		output: outTextNull, params: []param{withParam}, build: buildEmail},
	partial("mask_first_n", "Masks the first n characters or digits.", windowFirst),
	{name: "mask_hash", help: "Digest of text, SHA-256 unless another is named; NULL for anything but text. What it takes besides is the dialect's.",
		output: "text: lower-case hex; NULL of the input's type for anything but text",
		params: []param{maskHashParam, maskSaltParam}, build: buildMaskHash},
	{name: "mask_hmac", help: "HMAC of text under a key of the keyring; NULL for anything but text.",
		output: "text: lower-case hex; NULL of the input's type for anything but text",
		params: []param{keyParam(false), algParam(hmacAlg, sha2Alg)}, build: buildMaskHMAC},
	partial("mask_last_n", "Masks the last n characters or digits.", windowLast),
	{name: "mask_null", help: "NULL for every row.", output: outSame, build: buildMaskNull},
	partial("mask_show_first_n", "Masks all but the first n characters or digits.", windowShowFirst),
	partial("mask_show_last_n", "Masks all but the last n characters or digits.", windowShowLast),
	plainDigest("md5", "MD5 of the bytes (RFC 1321). Refused in FIPS mode.", kernels.MD5),
	{name: "regexp_replace", help: "Replaces every match of a regular expression of the Java platform; more pairs of expression and replacement may follow.",
		output: outText, params: []param{regexParam, regexWithParam}, build: buildRegex, repeats: true},
	{name: "row_bytes", help: "All values of the row in bytes, each with its type and length, so that no two rows look the same.",
		output: "binary", rows: true},
	plainDigest("sha", "The same as sha1.", kernels.SHA1),
	plainDigest("sha1", "SHA-1 of the bytes (FIPS 180-4). Refused in FIPS mode.", kernels.SHA1),
	{name: "sha2", help: "SHA-2 of the bytes by length 224, 256, 384 or 512; 0 means 256, any other length gives NULL.",
		output: outHex, params: []param{bitsParam}, build: buildDigest},
	plainDigest("sha224", "SHA-224 of the bytes (FIPS 180-4).", kernels.SHA224),
	plainDigest("sha256", "SHA-256 of the bytes (FIPS 180-4).", kernels.SHA256),
	plainDigest("sha384", "SHA-384 of the bytes (FIPS 180-4).", kernels.SHA384),
	plainDigest("sha512", "SHA-512 of the bytes (FIPS 180-4).", kernels.SHA512),
	plainDigest("sha512_256", "SHA-512/256 of the bytes (FIPS 180-4).", kernels.SHA512_256),
	{name: "to_hex", help: "Upper-case hexadecimal text of the bytes. Not a mask: anyone can undo it.", output: "text: hex", preset: settings{upper: true}, build: buildHex},
	{name: "to_utf8", help: "The bytes of text.", output: "binary", build: buildUTF8},
}

// lookup finds a function by its lower-case name, nil when there is none.
func lookup(name string) *function {
	for i := range functions {
		if functions[i].name == name {
			return &functions[i]
		}
	}
	return nil
}

// arity is the least and the greatest number of arguments, the value included,
// in a dialect.
func (f *function) arity(d *rules) (least, most int) {
	least, most = 1, 1+len(f.params)
	for _, p := range f.params {
		if p.required {
			least++
		}
	}
	switch {
	case f.masks && d.args.extra, f.repeats, f.rows:
		most = math.MaxInt
	case f.masks && f.counts:
		most = 2 + d.args.params
	case f.masks:
		most = 1 + d.args.params
	}
	return least, most
}

// paramName is what the argument number i after the value is called.
func (f *function) paramName(i int) string {
	switch {
	case f.repeats:
		return f.params[i%len(f.params)].name
	case i < len(f.params):
		return f.params[i].name
	}
	return "surplus"
}

// Signature describes a function for people.
type Signature struct {
	Name      string
	Usage     string   // "hmac(value, key[, algorithm])"
	Help      string   // one line
	Output    string   // "same as the input", "text: lower-case hex", ...
	Nullable  bool     // some call of it answers NULL for a value that is not
	MinArgs   int      // the value included
	MaxArgs   int      // the value included
	ArgNames  []string // the value first
	TakesText bool     // has an answer other than NULL for text
	TakesInts bool     // has an answer other than NULL for integers and dates
}

// Functions lists every function of the grammar, by name.
func Functions() []Signature {
	list := make([]Signature, len(functions))
	for i := range functions {
		list[i] = functions[i].signature()
	}
	return list
}

// FunctionsOf lists the functions that a dialect has, by name. The error wraps
// ErrDialect.
func FunctionsOf(name string) ([]Signature, error) {
	d, err := dialect(name)
	if err != nil {
		return nil, err
	}
	var list []Signature
	for i := range functions {
		if f := &functions[i]; d.has(f) {
			list = append(list, f.signature())
		}
	}
	return list, nil
}

func (f *function) signature() Signature {
	s := Signature{
		Name: f.name, Help: f.help, Output: f.output, ArgNames: []string{"value"},
		Nullable:  f.output == outSame || f.output == outTextNull || f.name == "mask_hash" || f.name == "mask_hmac" || f.name == "sha2",
		TakesText: f.name != "mask_null" && f.name != "date_trunc",
		TakesInts: f.ints,
	}
	s.MinArgs, s.MaxArgs = f.arity(dialects[0])
	for _, p := range f.params {
		s.ArgNames = append(s.ArgNames, p.name)
	}
	required := s.ArgNames[:min(s.MinArgs, len(s.ArgNames))]
	var usage strings.Builder
	usage.WriteString(f.name + "(" + strings.Join(required, ", "))
	for _, name := range s.ArgNames[len(required):] {
		usage.WriteString("[, " + name)
	}
	usage.WriteString(strings.Repeat("]", len(s.ArgNames)-len(required)))
	switch {
	case f.rows:
		usage.Reset()
		usage.WriteString(f.name + "(value[, value ...]")
		for _, p := range f.params {
			usage.WriteString("[, " + p.name + "]")
		}
	case f.repeats:
		usage.WriteString("[, ...]")
	}
	usage.WriteString(")")
	s.Usage = usage.String()
	return s
}
