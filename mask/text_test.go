package mask

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestNoLetterSurvives masks every code point there is, alone and beside
// ASCII: nothing that is a letter, a number or a combining mark stays, and
// nothing else changes.
func TestNoLetterSurvives(t *testing.T) {
	var column []Value
	var runes []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) {
			runes = append(runes, r)
			column = append(column, str("-"+string(r)))
		}
	}
	v := build(rand.New(rand.NewPCG(1, 1)), text, LayoutOffsets32, column)
	for src, put := range map[string][3]string{
		"mask({col})":                                {"X", "x", "n"},
		"mask({col}, 'Ü', 'ß', '😀')":                 {"Ü", "ß", "😀"},
		"mask_show_first_n({col}, 1, '.', '.', '.')": {".", ".", "."},
		"mask_last_n({col}, 1)":                      {"X", "x", "n"},
	} {
		out := eval(t, compile(t, src, text), v, EvalOptions{Threads: 2})
		for i, r := range runes {
			want := string(r)
			switch {
			case unicode.In(r, unicode.Lu, unicode.Lt):
				want = put[0]
			case unicode.IsLetter(r), unicode.IsMark(r):
				want = put[1]
			case unicode.IsNumber(r):
				want = put[2]
			case unicode.Is(unicode.Other_Uppercase, r): // circled letters and the like
				want = put[0]
			case unicode.Is(unicode.Other_Lowercase, r):
				want = put[1]
			}
			if got := out.Data[out.Offsets32[i]:out.Offsets32[i+1]]; string(got) != "-"+want {
				t.Fatalf("%s of %U: %q, want %q", src, r, got, "-"+want)
			}
		}
	}
}

func TestB17UnitIsTheCharacter(t *testing.T) {
	const word = "日本語テスト"
	for _, c := range []struct{ src, in, want string }{
		{"mask({col}, '*', '*', '*', '*')", "中国", "**"},
		{"mask_show_first_n({col}, 4, '*', '*', '*', '*')", word, "日本語テ**"},
		{"mask_show_last_n({col}, 1)", "añb", "xxb"},
		{"mask_show_last_n({col}, 2)", "añb", "xñb"},
		{"mask_first_n({col}, 2)", "añb", "xxb"},
		{"mask_last_n({col}, 2)", "añb", "axx"},
		{"mask_first_n({col}, 0)", word, word},
		{"mask_first_n({col}, -1)", word, word},
		{"mask_first_n({col}, 3)", word, "xxxテスト"},
		{"mask_first_n({col}, 6)", word, "xxxxxx"},
		{"mask_first_n({col}, 7)", word, "xxxxxx"},
		{"mask_first_n({col}, 2147483647)", word, "xxxxxx"},
		{"mask_first_n({col}, 9223372036854775807)", word, "xxxxxx"},
		{"mask_show_first_n({col}, 0)", word, "xxxxxx"},
		{"mask_show_first_n({col}, -1)", word, "xxxxxx"},
		{"mask_show_first_n({col}, 7)", word, word},
		{"mask_show_last_n({col}, 2147483647)", word, word},
		{"mask_first_n({col})", word, "xxxxスト"},
		{"mask({col}, 'é', 'ß', '日', '😀')", "Ab1-", "éß日😀"},
		{"mask({col}, 'é', 'ß', '日', '😀')", "中ñ１😀", "ßß日😀"},
		{"mask({col})", "中ñ１😀", "xxn😀"},
		{"mask_first_n({col}, 1, 'X', 'x', 'n', '*')", "😀ab", "*ab"},
	} {
		got := one(t, c.src, str(c.in))
		if string(got.Bytes) != c.want || !utf8.Valid(got.Bytes) {
			t.Errorf("%s of %q: %q, want %q", c.src, c.in, got.Bytes, c.want)
		}
	}
}

// TestB19CharacterClasses has one character for each general category.
func TestB19CharacterClasses(t *testing.T) {
	for _, c := range []struct{ category, in, def, other string }{
		{"Lu", "Ä", "X", "X"}, {"Lt", "ǅ", "X", "X"}, {"Ll", "é", "x", "x"}, {"Lm", "ʰ", "x", "x"}, {"Lo", "中", "x", "x"},
		{"Lo", "ª", "x", "x"}, {"Mn", "\u0301", "x", "x"}, {"Mc", "\u0903", "x", "x"}, {"Me", "\u20dd", "x", "x"},
		{"Nd", "٣", "n", "n"}, {"Nd", "１", "n", "n"}, {"Nl", "Ⅷ", "n", "n"}, {"No", "²", "n", "n"},
		{"Pc", "_", "_", "*"}, {"Pd", "-", "-", "*"}, {"Ps", "(", "(", "*"}, {"Pe", ")", ")", "*"}, {"Pi", "«", "«", "*"}, {"Pf", "»", "»", "*"}, {"Po", "!", "!", "*"},
		{"Sm", "+", "+", "*"}, {"Sc", "€", "€", "*"}, {"Sk", "^", "^", "*"}, {"So", "©", "©", "*"}, {"So with case", "Ⓐ", "X", "X"}, {"So with case", "ⓐ", "x", "x"},
		{"Zs", " ", " ", "*"}, {"Zl", "\u2028", "\u2028", "*"}, {"Zp", "\u2029", "\u2029", "*"},
		{"Cc", "\x00", "\x00", "*"}, {"Cf", "\u200d", "\u200d", "*"}, {"Co", "\ue000", "\ue000", "*"}, {"Cn", "\U000e0fff", "\U000e0fff", "*"},
		{"Lu beyond U+FFFF", "𝐀", "X", "X"}, {"Nd beyond U+FFFF", "𝟎", "n", "n"},
	} {
		if got := one(t, "mask({col})", str(c.in)); string(got.Bytes) != c.def {
			t.Errorf("%s: %q becomes %q, want %q", c.category, c.in, got.Bytes, c.def)
		}
		if got := one(t, "mask({col}, 'X', 'x', 'n', '*')", str(c.in)); string(got.Bytes) != c.other {
			t.Errorf("%s: %q becomes %q, want %q", c.category, c.in, got.Bytes, c.other)
		}
	}
}

func TestReplacementArguments(t *testing.T) {
	for src, want := range map[string]string{
		"mask({col}, 'U', 'l', '#')":           "Ul#-",
		"mask({col}, 'Upper', 'lower')":        "Uln-", // the first character
		"mask({col}, '', '')":                  "Xxn-", // empty: the default
		"mask({col}, NULL, NULL, NULL, NULL)":  "Xxn-",
		"mask({col}, -1, -1, -1)":              "Ab1-", // keep
		"mask({col}, '-1')":                    "-xn-", // a string is a character
		"mask({col}, 42, 233, 128512)":         "*é😀-",
		"mask({col}, 0)":                       "\x00xn-",
		"mask({col}, 'X', 'x', 'n', '*')":      "Xxn*",
		"mask({col}, 'X', 'x', 'n', ':', '9')": "Xxn:",
	} {
		if got := one(t, src, str("Ab1-")); string(got.Bytes) != want {
			t.Errorf("%s: %q, want %q", src, got.Bytes, want)
		}
	}
}

// A byte that is not part of valid UTF-8 is one character of class lower, and
// the output is valid wherever the byte stood.
func TestInvalidUTF8(t *testing.T) {
	const bad = "\uFFFD"
	for _, c := range []struct{ src, in, want string }{
		{"mask({col})", "A\xffb", "Xxx"},
		{"mask({col})", "\xe2\x82", "xx"},
		{"mask({col})", "\xed\xa0\x80", "xxx"},
		{"mask({col})", "\xc0\x80", "xx"},
		{"mask({col})", "\xf4\x90\x80\x80", "xxxx"},
		{"mask({col})", bad, bad}, // a valid character of class other
		{"mask({col}, 'X', '日')", "A\xff", "X日"},
		{"mask({col}, 'X', -1)", "A\xff", "X" + bad},
		{"mask_show_first_n({col}, 2)", "\xff\xffab", bad + bad + "xx"},
		{"mask_last_n({col}, 3)", "\xe2\x82\xe2\x82\xacz", bad + "x€x"},
		{"mask_show_last_n({col}, 2)", "\xe2\x82\xe2\x82\xacz", "xx€z"},
		{"mask_first_n({col}, 1)", "\x80\x80", "x" + bad},
		{"mask_last_n({col}, 1)", "ab\xf0\x9f\x98", "ab" + bad + bad + "x"},
		{"mask_first_n({col}, 0)", "a\xffb", "a" + bad + "b"},
	} {
		got := one(t, c.src, str(c.in))
		if string(got.Bytes) != c.want || !utf8.Valid(got.Bytes) {
			t.Errorf("%s of %q: %q, want %q", c.src, c.in, got.Bytes, c.want)
		}
	}
}

// Any mixture of arguments and bytes gives valid UTF-8 with as many characters
// as the input has.
func TestTextOutputIsValid(t *testing.T) {
	rng := testRand(t)
	for range 300 {
		src := randomExpr(rng, Type{Kind: Int8}) // a mask of anything
		if !strings.HasPrefix(src, "mask") || strings.HasPrefix(src, "mask_h") || strings.HasPrefix(src, "mask_null") {
			continue
		}
		column := randomCells(rng, text, 30)
		for i, got := range cells(t, eval(t, compile(t, src, text), build(rng, text, LayoutViews, column), EvalOptions{})) {
			if !utf8.Valid(got.Bytes) {
				t.Fatalf("%s of %q: %q is not valid UTF-8", src, column[i].Bytes, got.Bytes)
			}
			if !got.Null && utf8.RuneCount(got.Bytes) != utf8.RuneCount(column[i].Bytes) {
				t.Fatalf("%s of %q: %q has another number of characters", src, column[i].Bytes, got.Bytes)
			}
		}
	}
}
