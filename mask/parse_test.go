package mask

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseAndString(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"{col}", "{col}"},
		{" NULL ", "NULL"},
		{"tRue", "TRUE"},
		{"FALSE", "FALSE"},
		{"'it''s'", "'it''s'"},
		{`"a ""b"" 'c'"`, `'a "b" ''c'''`},
		{`'back\slash'`, `'back\slash'`},
		{"''", "''"},
		{"+7", "7"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"MASK_Hash ( {col} )", "mask_hash({col})"},
		{"mask({col},'x','x','x',-1,'1',1,0,-1)", "mask({col}, 'x', 'x', 'x', -1, '1', 1, 0, -1)"},
		{"md5(\tsha2(mask({col}),\n256))", "md5(sha2(mask({col}), 256))"},
		{"f()", "f()"},
		{"mask({col}, '日')", "mask({col}, '日')"},
	} {
		e, err := Parse(c.src)
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if got := e.String(); got != c.want {
			t.Errorf("%q: %s, want %s", c.src, got, c.want)
		}
		if e.HasColumn() != strings.Contains(c.src, "{col}") {
			t.Errorf("%q: HasColumn %v", c.src, e.HasColumn())
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		src string
		pos int
	}{
		{"", 0},
		{"   ", 3},
		{"{column}", 0},
		{"{COL}", 0},
		{"mask({type})", 5},
		{"mask", 4},
		{"mask {col}", 5},
		{"mask({col}", 10},
		{"mask({col},", 11},
		{"mask({col},)", 11},
		{"mask({col} 4)", 11},
		{"mask(,)", 5},
		{"mask({col}) x", 12},
		{"'open", 0},
		{"mask({col}, 'it''s)", 12},
		{"1.5", 1},
		{"12ab", 2},
		{"--1", 1},
		{"-", 1},
		{"9223372036854775808", 0},
		{"a + b", 2},
		{"col", 3},
		{"'a\xffb'", 2},
		{"(1)", 0},
		{"é()", 0},
		{"mask({col}); drop", 11},
		{strings.Repeat("f(", maxDepth) + "1", 2 * maxDepth},
		{strings.Repeat(" ", maxSource) + "1", maxSource},
		{`"` + strings.Repeat("'", maxSource/2) + `"`, 0}, // each is doubled in the canonical spelling
	} {
		_, err := Parse(c.src)
		var syntax *SyntaxError
		if !errors.Is(err, ErrSyntax) || !errors.As(err, &syntax) {
			t.Errorf("%.40q: %v is no syntax error", c.src, err)
			continue
		}
		if syntax.Pos != c.pos || !strings.Contains(err.Error(), fmt.Sprintf("syntax error at byte %d: ", c.pos)) {
			t.Errorf("%.40q: at %d, want %d: %v", c.src, syntax.Pos, c.pos, err)
		}
	}
	deepest := strings.Repeat("f(", maxDepth-1) + "1" + strings.Repeat(")", maxDepth-1)
	if _, err := Parse(deepest); err != nil {
		t.Errorf("%d levels: %v", maxDepth, err)
	}
	longest := `"` + strings.Repeat("'", maxSource/2-1) + `"`
	e, err := Parse(longest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(e.String()); err != nil || len(e.String()) != maxSource {
		t.Errorf("%d bytes, spelled in %d: %v", len(longest), len(e.String()), err)
	}
}

// FuzzParse: no panic, every error has a position, and what was parsed parses
// again from its own spelling.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"mask({col}, 'x', -1)", `"a""b"`, "md5(sha2({col}, 256))", "NULL", "f(", "{col", "-", "'\xff'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Parse(src)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Pos < 0 || syntax.Pos > len(src) {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := Parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q spells %q, which gives %v", src, e, err)
		}
		// Whatever the expression, compiling it is no more than an error.
		for _, in := range []Type{text, {Kind: Int32}, {Kind: Date32}, {}} {
			Compile(e, in, Options{Keys: testKeys(t)})
		}
	})
}

// TestParseSQL: a bare name and one in backquotes are columns; Rename finds them
// and leaves {col}.
func TestParseSQL(t *testing.T) {
	for src, want := range map[string]string{
		"f({col}, Born, `last name`)":      "f({col}, <Born>, <last name>)",
		"f(col, {other}, TRUE, null, 'x')": "f(<col>, <other>, TRUE, NULL, 'x')",
		"cast(a AS varchar(3))":            "cast(<a> AS varchar(3))",
		"f(g(`a``b`), \"c\")":              "f(g(<a`b>), 'c')",
		"x":                                "<x>",
	} {
		e, err := ParseSQL(src)
		if err == nil {
			e, err = e.Rename(func(name string) (string, error) { return "<" + name + ">", nil })
		}
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := strings.NewReplacer("{<", "<", ">}", ">").Replace(e.String()); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
	for _, src := range []string{"f(a b)", "f(``)", "f(`a)", "f(a.b)", "a, b"} {
		var syntax *SyntaxError
		if _, err := ParseSQL(src); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", src, err)
		}
	}
	if _, err := ParseColumns("f({col}, a)"); err == nil {
		t.Error("a bare name is a column without ParseSQL")
	}
	e, err := ParseSQL("f({col}, a)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Rename(func(string) (string, error) { return "", ErrColumn }); !errors.Is(err, ErrColumn) {
		t.Error(err)
	}
}
