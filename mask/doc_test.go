package mask

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/fips"
)

// The tables of doc/functions.md that are made of the code: what every
// function answers for every type in every dialect, by compiling it, and the
// rules of the dialects. ARROWMASK_UPDATE_DOCS=1 writes them.

const docFile = "../doc/functions.md"

func TestDocTables(t *testing.T) {
	if fips.Enabled() {
		t.Skip("the tables are those outside FIPS mode")
	}
	raw, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	for name, table := range map[string]string{"dialects": dialectTable(), "types": typeTable(t)} {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->\n"
		head, rest, ok := strings.Cut(doc, begin)
		old, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no markers for %q", docFile, name)
		}
		if old != table && os.Getenv("ARROWMASK_UPDATE_DOCS") == "" {
			t.Errorf("the table %q of %s is not that of the code; ARROWMASK_UPDATE_DOCS=1 go test ./mask -run TestDocTables writes it. It should be\n%s", name, docFile, table)
		}
		doc = head + begin + table + end + tail
	}
	if os.Getenv("ARROWMASK_UPDATE_DOCS") != "" && doc != string(raw) {
		if err := os.WriteFile(docFile, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func listed() []*rules {
	return slices.DeleteFunc(slices.Clone(dialects), func(d *rules) bool { return !d.listed })
}

func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// typeTable has a row for each function and sort of type.
func typeTable(t *testing.T) string {
	sorts := []struct {
		name string
		typ  Type
	}{{"text", text}, {"binary", bin}, {"int32", Type{Kind: Int32}}, {"date32", Type{Kind: Date32}}, {"other", Type{Kind: Float64}}}
	head := []string{"function", "type"}
	for _, d := range listed() {
		head = append(head, d.name)
	}
	var rows [][]string
	for i := range functions {
		f := &functions[i]
		for _, s := range sorts {
			row := []string{"`" + f.name + "`", s.name}
			useful := false
			for _, d := range listed() {
				cell := docCell(t, d, f, s.typ)
				useful = useful || cell != "error" && cell != "-"
				row = append(row, cell)
			}
			if useful {
				rows = append(rows, row)
			}
		}
	}
	return table(head, rows)
}

// docCell is the type of the answer of a function, or why there is none.
func docCell(t *testing.T, d *rules, f *function, typ Type) string {
	args := map[string]string{
		"sha2": ", 256", "hmac": ", 'k1'", "hmac_raw": ", 'k1'", "digest": ", 'sha256'", "blake2b": ", 'k1'", "date_trunc": ", 'year'", "regexp_replace": ", 'a', 'b'",
	}[f.name]
	compiled := func(args string) (*Program, error) {
		return compileErr(f.name+"({col}"+args+")", typ, Options{Dialect: d.name, Keys: testKeys(t)})
	}
	p, err := compiled(args)
	if errors.Is(err, ErrArgument) && f.counts && d.args.forms { // dates have one overload only
		p, err = compiled(", 4, 'x', 'x', 'x', -1, '1'")
	}
	switch {
	case errors.Is(err, ErrUnknownFunction):
		return "-"
	case errors.Is(err, ErrType):
		return "error"
	case err != nil:
		t.Fatalf("%s over %s in %s: %v", f.name, typ, d.name, err)
	}
	if _, ok := p.root.op.(allNull); ok {
		return "NULL"
	}
	return p.Out().String()
}

// dialectTable has a row for each rule.
func dialectTable() string {
	head := []string{"rule"}
	for _, d := range listed() {
		head = append(head, d.name)
	}
	var rows [][]string
	rule := func(name string, f func(d *rules) string) {
		row := []string{name}
		for _, d := range listed() {
			row = append(row, f(d))
		}
		rows = append(rows, row)
	}
	masks := func(f func(d *rules) string) func(d *rules) string {
		return func(d *rules) string {
			if slices.Contains(d.lacks, "mask") {
				return "-"
			}
			return f(d)
		}
	}
	hash := func(f func(d *rules) string) func(d *rules) string {
		return func(d *rules) string {
			if slices.Contains(d.lacks, "mask_hash") {
				return "-"
			}
			return f(d)
		}
	}
	sha2 := func(f func(d *rules) string) func(d *rules) string {
		return func(d *rules) string {
			if slices.Contains(d.lacks, "sha2") {
				return "-"
			}
			return f(d)
		}
	}
	outcomes := [...]string{refuse: "error", nothing: "NULL", answer: "answer"}
	yes := func(b bool, yes, no string) string {
		if b {
			return yes
		}
		return no
	}
	rule("is", func(d *rules) string { return d.about })
	rule("what a character is", masks(func(d *rules) string { return unitNames[d.unit] }))
	rule("upper, lower, digit are", masks(func(d *rules) string { return tableNames[d.classes] }))
	rule("invalid UTF-8", masks(func(d *rules) string { return badNames[d.bad] }))
	rule("default replacements", masks(func(d *rules) string {
		return fmt.Sprintf("`%c` `%c` `%c`, other kept", d.rep[classUpper], d.rep[classLower], d.rep[classDigit])
	}))
	rule("NULL as a replacement", masks(func(d *rules) string {
		return [...]string{nullDefault: "the default", nullKeeps: "keep", nullRefused: "error", nullByForm: "the default; 0 where an integer is expected"}[d.args.null]
	}))
	rule("an integer as a replacement", masks(func(d *rules) string {
		return [...]string{intRune: "a code point; -1 keeps", intByte: "its low 8 bits; -1 keeps", intKeeps: "-1 keeps", intRefused: "error"}[d.args.ints]
	}))
	rule("text of several characters as a replacement", masks(func(d *rules) string {
		return yes(d.args.oneChar, "error", "the first "+unitNames[d.unit])
	}))
	rule("empty text as a replacement", masks(func(d *rules) string { return yes(d.args.oneChar, "error", "the default") }))
	rule("arguments", masks(func(d *rules) string {
		return yes(d.args.forms, "fixed overloads", yes(d.args.extra, "any number", fmt.Sprintf("at most %d after the value (and n)", d.args.params)))
	}))
	rule("an argument that is a column", masks(func(d *rules) string { return yes(d.args.columns, "the default", "error") }))
	rule("integers", masks(func(d *rules) string {
		return yes(d.mask.integer != answer, outcomes[d.mask.integer], yes(d.wide, "masked as 64 bits", "wrap at their width"))
	}))
	rule("default date", masks(func(d *rules) string {
		return yes(d.mask.date != answer, outcomes[d.mask.date], fmt.Sprintf("%04d-%02d-%02d", d.date.year, d.date.month, d.date.day))
	}))
	rule("years", masks(func(d *rules) string {
		return yes(d.mask.date != answer, "-", yes(d.years == span64{}, "any", fmt.Sprintf("%d to %d, else the default", d.years.lo, d.years.hi)))
	}))
	rule("a day that does not exist", masks(func(d *rules) string { return yes(d.mask.date != answer, "-", outcomes[d.badDate]) }))
	rule("`mask_hash`", hash(func(d *rules) string {
		return yes(d.hashArg == hashSalted, "BLAKE2b under a salt, or a digest by name", d.maskHash.String()+yes(d.hashUpper, ", upper-case hex", ""))
	}))
	rule("argument of `mask_hash`", hash(func(d *rules) string {
		return [...]string{hashFixed: "none", hashNamed: "any digest by name", hashConfigured: "'sha512', anything else is SHA-256", hashSalted: "a digest of the Java platform by name"}[d.hashArg]
	}))
	rule("`mask_hash` in FIPS mode", hash(func(d *rules) string {
		return yes(d.hashArg == hashSalted, "refused without the name of a digest", d.maskFIPS.String())
	}))
	rule("`mask_hash` of NULL", hash(func(d *rules) string { return yes(d.nullHash, "digest of the empty text", "NULL") }))
	rule("`mask_hash` of invalid UTF-8", hash(func(d *rules) string { return yes(d.hashDecoded, "decoded to U+FFFD first", "the bytes") }))
	rule("`md5`, `sha1` in FIPS mode", func(*rules) string { return "refused" })
	rule("`sha2` 224, 256 in FIPS mode", sha2(func(d *rules) string { return yes(d.sha2FIPS != nil, "refused", "allowed") }))
	rule("`sha2` of length 0", sha2(func(d *rules) string { _, ok := d.sha2[0]; return yes(ok, "256", outcomes[d.badLength]) }))
	rule("`sha2` of another length", sha2(func(d *rules) string { _, ok := d.sha2[1]; return outcomes[d.badLength] + yes(ok, "; 1 is SHA-1", "") }))
	rule("`md5` and the like answer", func(d *rules) string { return yes(d.rawDigest, "bytes", "lower-case hex") })
	rule("digests of a CHAR", func(d *rules) string { return yes(d.stripChar, "without its padding", "with its padding") })
	rule("cast to a narrower integer", func(d *rules) string { return yes(d.castWraps, "wraps", "error where it does not fit") })
	rule("cast to CHAR(n), VARCHAR(n) counts", func(d *rules) string { return yes(d.charBytes, "bytes", "code points") })
	return table(head, rows)
}
