package mask

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/fips"
)

// in evaluates an expression over one cell in a dialect, by column and by
// reference.
func in(t *testing.T, dialect, src string, cell Value) (Value, error) {
	t.Helper()
	typ := Type{Kind: cell.Kind}
	p, err := compileErr(src, typ, Options{Dialect: dialect, Keys: testKeys(t)})
	if err != nil {
		return Value{}, err
	}
	ref, refErr := p.EvalRow(cell)
	out, err := p.Eval(context.Background(), build(rand.New(rand.NewPCG(1, 2)), typ, layoutOf(typ), []Value{cell}), EvalOptions{})
	if (err != nil) != (refErr != nil) {
		t.Fatalf("%s in %s of %s: column error %v, reference error %v", src, dialect, cell.spell(), err, refErr)
	}
	if err != nil {
		return Value{}, err
	}
	if got := cells(t, out)[0]; !sameCell(got, ref) {
		t.Fatalf("%s in %s of %s: column %s, reference %s", src, dialect, cell.spell(), got.spell(), ref.spell())
	}
	return ref, nil
}

func TestDialectNames(t *testing.T) {
	if got := Dialects(); !slices.Equal(got, []string{"safe", "hive", "impala", "impala-utf8", "spark", "trino", "opensearch"}) {
		t.Errorf("%q", got)
	}
	for _, d := range dialects {
		for _, name := range d.lacks {
			f := lookup(name)
			if f == nil {
				t.Errorf("%s lacks %s, which nobody has", d.name, name)
				continue
			}
			src := name + "({col})"
			if _, err := compileErr(src, text, Options{Dialect: d.name}); !errors.Is(err, ErrUnknownFunction) || !strings.Contains(err.Error(), d.name) {
				t.Errorf("%s in %s: %v", src, d.name, err)
			}
		}
		list, err := FunctionsOf(d.name)
		if err != nil || len(list)+len(d.lacks) != len(functions) {
			t.Errorf("%s: %d functions, %v", d.name, len(list), err)
		}
	}
	if _, err := FunctionsOf("nosuch"); !errors.Is(err, ErrDialect) {
		t.Error(err)
	}
}

// TestB19DialectClasses: the code points on which the engines differ, as their
// sources class them.
func TestB19DialectClasses(t *testing.T) {
	for _, c := range []struct{ in, hive, codepoint, impala, safe string }{
		{"A", "U", "U", "U", "U"}, {"é", "L", "L", "L", "L"}, {"7", "D", "D", "D", "D"}, {"-", "o", "o", "o", "o"},
		{"中", "o", "o", "o", "L"}, {"א", "o", "o", "o", "L"}, {"あ", "o", "o", "o", "L"},
		{"ǅ", "o", "o", "U", "U"}, {"ᾈ", "o", "o", "U", "U"}, {"ª", "o", "o", "L", "L"}, {"º", "o", "o", "L", "L"}, {"ʰ", "o", "o", "L", "L"},
		{"Ⅷ", "o", "o", "U", "D"}, {"ⅷ", "o", "o", "L", "D"}, {"Ⓐ", "o", "o", "U", "U"}, {"ⓐ", "o", "o", "L", "L"},
		{"٠", "D", "D", "o", "D"}, {"１", "D", "D", "o", "D"}, {"²", "o", "o", "o", "D"},
		{"𝐀", "oo", "U", "U", "U"}, {"𝐚", "oo", "L", "L", "L"}, {"𐐀", "oo", "U", "U", "U"}, {"𝟎", "oo", "D", "o", "D"}, {"😀", "oo", "o", "o", "o"},
	} {
		for d, want := range map[string]string{
			"hive": c.hive, "spark": c.hive, "spark-codepoint": c.codepoint, "impala-utf8": c.impala, "safe": c.safe,
		} {
			got, err := in(t, d, "mask({col}, 'U', 'L', 'D', 'o')", str(c.in))
			if err != nil || string(got.Bytes) != want {
				t.Errorf("%s in %s: %q, want %q (%v)", c.in, d, got.Bytes, want, err)
			}
		}
		want := strings.Repeat("o", len(c.in))
		if c.in[0] < utf8.RuneSelf {
			want = c.safe
		}
		if got, err := in(t, "impala", "mask({col}, 'U', 'L', 'D', 'o')", str(c.in)); err != nil || string(got.Bytes) != want {
			t.Errorf("%s in impala: %q, want %q (%v)", c.in, got.Bytes, want, err)
		}
	}
}

// TestGlibcClasses compares the class of every code point with what iswupper,
// iswlower and iswdigit of glibc 2.36 answered (recorded as a digest of one
// letter a code point). glibc 2.36 has Unicode 14: what Unicode 15 made a
// small letter is not one there.
func TestGlibcClasses(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Skipf("recorded for Unicode 15.0.0, this is %s", unicode.Version)
	}
	const glibc236 = "4d4be02f48cc0e0f363afe52eefaf4a85b9ab78325e61a08539dcc5021556317"
	newer := func(r rune) bool {
		return r == 0x10fc || r >= 0xa7f2 && r <= 0xa7f4 || r == 0xab69 || r >= 0x1df25 && r <= 0x1df2a || r >= 0x1e030 && r <= 0x1e06d
	}
	table, letters := glibcClasses(), make([]byte, unicode.MaxRune+1)
	for r := range letters {
		letters[r] = "ULDo"[table.of(rune(r))]
		if newer(rune(r)) {
			letters[r] = 'o'
		}
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(letters)); got != glibc236 {
		t.Errorf("the classes of glibc differ: %s", got)
	}
}

// TestSafeHidesAtLeastAsMuch: no dialect masks a character that safe shows.
func TestSafeHidesAtLeastAsMuch(t *testing.T) {
	var column []Value
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) {
			column = append(column, str(string(r)))
		}
	}
	v := build(rand.New(rand.NewPCG(1, 1)), text, LayoutOffsets32, column)
	shown := func(d string) []bool {
		p, err := compileErr("mask({col})", text, Options{Dialect: d})
		if err != nil {
			t.Fatal(err)
		}
		out := eval(t, p, v, EvalOptions{Threads: 2})
		same := make([]bool, len(column))
		for i, c := range column {
			same[i] = bytes.Equal(out.Data[out.Offsets32[i]:out.Offsets32[i+1]], c.Bytes)
		}
		return same
	}
	safe := shown("safe")
	for i, c := range column {
		if r, _ := utf8.DecodeRune(c.Bytes); safe[i] && unicode.In(r, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune("Xxn", r) {
			t.Fatalf("safe leaves %U", r)
		}
	}
	for _, d := range dialects[1:] {
		if slices.Contains(d.lacks, "mask") {
			continue
		}
		hidden := 0
		for i, same := range shown(d.name) {
			if same {
				continue
			}
			hidden++
			if safe[i] && !strings.Contains("Xxn", string(column[i].Bytes)) { // what they become

				t.Errorf("%s masks %q, safe does not", d.name, column[i].Bytes)
			}
		}
		if hidden < 59 { // ASCII
			t.Errorf("%s hides only %d characters", d.name, hidden)
		}
	}
}

// TestB17ByteModeOnlyByName: bytes are the unit only where Impala's name says
// so.
func TestB17ByteModeOnlyByName(t *testing.T) {
	for d, want := range map[string]string{"safe": "**", "hive": "**", "spark": "**", "impala-utf8": "**", "impala": "******"} {
		if got, err := in(t, d, "mask({col}, '*', '*', '*', '*')", str("中国")); err != nil || string(got.Bytes) != want {
			t.Errorf("%s: %q, %v", d, got.Bytes, err)
		}
	}
	for src, want := range map[string]string{
		"mask_show_first_n({col}, 4, '*', '*', '*', '*')":   "日\xe6*****",
		"mask_show_last_n({col}, 1, '*', '*', '*', '*')":    "********\x9e",
		"mask({col}, 'é', 'é', 'é', 'é')":                   strings.Repeat("\xc3", 9),
		"mask({col}, -1, -1, -1, 321, 1)":                   strings.Repeat("A", 9), // its low 8 bits
		"mask_first_n({col}, NULL, -1, -1, -1, 'o')":        "日本語",                  // NULL is 0 there
		"mask_show_first_n({col}, -5, NULL, 'x', 'n', 'o')": "ooooooooo",
	} {
		src = strings.ReplaceAll(src, "語", "")
		want := strings.ReplaceAll(want, "語", "\xe8\xaa\x9e")
		if got, err := in(t, "impala", src, str("日本\xe8\xaa\x9e")); err != nil || string(got.Bytes) != want {
			t.Errorf("%s: %q, want %q (%v)", src, got.Bytes, want, err)
		}
	}
}

// TestBadUTF8InDialects: bytes that are not part of valid UTF-8.
func TestBadUTF8InDialects(t *testing.T) {
	const row = "a\xffb\xe2\x82c\xed\xa0\x80d" // stray, cut short, half of a pair
	for _, c := range []struct{ dialect, src, want string }{
		{"safe", "mask({col}, 'X', 'x', 'n', '*')", "xxxxxxxxxx"},
		{"hive", "mask({col})", "x\ufffdx\ufffdx\ufffdx"},
		{"hive", "mask({col}, 'X', 'x', 'n', '*')", "x*x*x*x"},
		{"hive", "mask_first_n({col}, 2, 'X', 'x', 'n', '*')", "x*b\ufffdc\ufffdd"},
		{"spark", "mask({col}, 'X', 'x', 'n', '*')", "x*x*x*x"},
		{"impala", "mask({col})", "x\xffx\xe2\x82x\xed\xa0\x80x"},
		{"impala", "mask({col}, 'X', 'x', 'n', '*')", "x*x**x***x"},
		{"impala-utf8", "mask({col})", "NULL"},
		{"impala-utf8", "mask_first_n({col}, 2)", "NULL"},
		{"impala-utf8", "mask_first_n({col}, 1)", "x" + row[1:]},
		{"impala-utf8", "mask_show_first_n({col}, 1)", "NULL"},
		{"impala-utf8", "mask_show_first_n({col}, 10)", row},
		{"impala-utf8", "mask_show_last_n({col}, 10)", row},
		{"impala-utf8", "mask_show_last_n({col}, 9)", "error"},
		{"impala-utf8", "mask_last_n({col}, 1)", "error"},
		{"hive", "mask_hash({col})", fmt.Sprintf("%x", sha256.Sum256([]byte("a\ufffdb\ufffdc\ufffdd")))},
		{"hive", "sha256({col})", fmt.Sprintf("%x", sha256.Sum256([]byte(row)))},
		{"impala", "mask_hash({col})", fmt.Sprintf("%x", sha256.Sum256([]byte(row)))},
		{"safe", "mask_hash({col})", fmt.Sprintf("%x", sha256.Sum256([]byte(row)))},
	} {
		got, err := in(t, c.dialect, c.src, str(row))
		switch {
		case c.want == "error":
			if !errors.Is(err, ErrValue) {
				t.Errorf("%s in %s: %v", c.src, c.dialect, err)
			}
		case err != nil || got.Null != (c.want == "NULL") || !got.Null && string(got.Bytes) != c.want:
			t.Errorf("%s in %s: %s, want %q (%v)", c.src, c.dialect, got.spell(), c.want, err)
		}
	}
	// How the JDK cuts bad sequences.
	for row, want := range map[string]int{
		"\xc0\x80": 2, "\xe0\x80\x80": 3, "\xe0\xa0": 1, "\xed\xa0": 1, "\xed\xa0\x80": 1, "\xed\xa0\x80\xed\xb0\x80": 2,
		"\xf0\x90\x80": 1, "\xf0\x80\x80\x80": 4, "\xf4\x90\x80\x80": 4, "\xf5\x80\x80\x80": 4, "\xf0\x90\x80\x41": 1, "\xc3": 1, "\x80": 1, "\xef\xbf\xbd": 1,
	} {
		n := strings.Count(string(refJava([]byte(row))), "\ufffd")
		if got, _ := in(t, "hive", "mask({col})", str(row)); n != want || strings.Count(string(got.Bytes), "\ufffd") != want {
			t.Errorf("%q: %d and %q, want %d", row, n, got.Bytes, want)
		}
	}
}

// TestUTF16Replacements: in Hive a replacement above U+FFFF given as text is
// half a pair, given as an integer it is whole.
func TestUTF16Replacements(t *testing.T) {
	for _, c := range []struct{ src, in, want string }{
		{"mask({col}, '😀')", "AB", "??"},
		{"mask({col}, 128512)", "AB", "😀😀"},
		{"mask({col}, 55357, 'x', 56832)", "A0", "😀"}, // two halves that meet
		{"mask({col}, 55357)", "A-", "?-"},
		{"mask_first_n({col}, 1, -1, -1, -1, 'x')", "😀a", "x?a"},
		{"mask_first_n({col}, 1, -1, -1, -1, 55357)", "😀a", "😀a"}, // the half that it was
		{"mask({col}, 'é', 'é')", "Aa", "éé"},
	} {
		if got, err := in(t, "hive", c.src, str(c.in)); err != nil || string(got.Bytes) != c.want {
			t.Errorf("%s of %q: %q, want %q (%v)", c.src, c.in, got.Bytes, c.want, err)
		}
	}
}

// TestDialectArguments: what a dialect refuses, and what it takes where safe
// does not.
func TestDialectArguments(t *testing.T) {
	day := Value{Kind: Date32, Int: 19000}
	for _, c := range []struct {
		dialect, src string
		cell         Value
		want         string // "" for ErrArgument, "type" for ErrType
	}{
		{"hive", "mask({col}, 'X', 'x', 'n', '*', 1, 1, 0, 0, 'surplus', 5)", str("Ab-"), "Xx*"},
		{"hive", "mask({col}, {col})", str("Ab"), "Xx"}, // not a literal: ignored
		{"hive", "mask({col}, 4294967361)", str("Ab"), "Ax"},
		{"hive", "mask({col}, -2)", str("Ab"), ""},
		{"hive", "mask({col}, 'a', 'b', 'c', 'd', 'e')", str("Ab"), ""}, // number is no integer
		{"spark", "mask({col}, NULL, 'x')", str("Ab1"), "Axn"},
		{"spark", "mask({col}, '')", str("Ab"), ""},
		{"spark", "mask({col}, 'XY')", str("Ab"), ""},
		{"spark", "mask({col}, 65)", str("Ab"), ""},
		{"spark", "mask({col}, {col})", str("Ab"), ""},
		{"spark", "mask({col}, 'X', 'x', 'n', '*', 1)", str("Ab"), ""},
		{"spark", "mask({col})", Value{Kind: Int32, Int: 5}, "type"},
		{"spark", "mask({col})", day, "type"},
		{"spark-3.4-dev", "mask({col}, -1)", str("Ab"), "Ax"},
		{"spark-3.4-dev", "mask({col}, NULL)", str("Ab"), ""},
		{"impala", "mask({col}, 'X')", str("Ab"), ""}, // no such overload
		{"impala", "mask({col}, 'X', 'x', 'n')", str("Ab"), ""},
		{"impala", "mask({col}, 65, 97, 48, '*')", str("Ab-"), "Aa*"},
		{"impala", "mask({col}, 65, 97, 48, 'longer')", str("Ab-"), "Aal"},
		{"impala", "mask({col}, 4294967361, 97, 48, 42, 1)", str("Ab"), ""}, // not an INT
		{"impala", "mask({col}, TRUE)", str("Ab"), ""},
		{"impala", "mask({col}, 'X', 'x', 'n', NULL)", str("Ab-"), "Xx-"},
		{"impala", "mask({col}, 65, NULL, 48, 'o')", str("Ab"), "A\x00"},
		{"impala", "mask({col}, 'x', 'x', 'x', -1, '10')", str("Ab"), "xx"}, // the number is for numbers
		{"impala", "mask({col}, 'x', 'x', 'x', -1, '10')", Value{Kind: Int64, Int: 5}, ""},
		{"impala", "mask({col}, 'x', 'x', 'x', -1, NULL)", Value{Kind: Int64, Int: 5}, ""},
		{"impala", "mask({col}, 'x', 'x', 'x', 'x', NULL)", Value{Kind: Int64, Int: 5}, "0"},
		{"impala", "mask_first_n({col}, 2)", day, ""},
		{"impala", "mask_first_n({col}, 2, 'x', 'x', 'x', -1, '1')", day, "-719162"},
		{"impala", "mask({col})", Value{Kind: Binary, Bytes: []byte("a")}, "type"},
		{"impala", "mask_hash({col})", Value{Kind: Binary, Bytes: []byte("a")}, "type"},
		{"impala", "md5({col})", Value{Kind: Binary, Bytes: []byte("a")}, "type"},
		{"impala", "sha2({col}, 0)", str("a"), ""},
		{"impala", "sha2({col}, 300)", str("a"), ""},
		{"impala", "sha2({col}, NULL)", str("a"), "NULL"},
		{"impala", "mask_hash({col})", Value{Kind: Float64, Int: 1}, "NULL"},
		{"trino", "md5({col})", str("a"), "type"},
		{"trino", "mask_hash({col}, 'sha256')", str("a"), ""},
		{"impala", "mask_hash({col}, 'sha512')", str("a"), ""},
		{"hive", "mask_hash({col}, ' SHA512 ')", str("abc"), "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
		{"hive", "mask_hash({col}, 'md5')", str("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}, // as hive.masking.algo is read
		{"hive", "mask_hash({col}, 'sha256', 'k1')", str("a"), ""},
		{"safe", "mask_hash({col}, 'sha384')", str("abc"), "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
		{"opensearch", "mask_hash({col}, 'SHA-256', 'k1')", str("a"), ""}, // a named digest has no salt
	} {
		got, err := in(t, c.dialect, c.src, c.cell)
		switch c.want {
		case "":
			if !errors.Is(err, ErrArgument) {
				t.Errorf("%s in %s: %s, %v", c.src, c.dialect, got.spell(), err)
			}
		case "type":
			if !errors.Is(err, ErrType) {
				t.Errorf("%s in %s: %s, %v", c.src, c.dialect, got.spell(), err)
			}
		default:
			if s := strings.Trim(got.spell(), `"`); err != nil || s != c.want && s != strings.Trim(fmt.Sprintf("%q", c.want), `"`) {
				t.Errorf("%s in %s: %s, want %s (%v)", c.src, c.dialect, s, c.want, err)
			}
		}
	}
}

// TestB11Sha2InDialects: every length of sha2 in every dialect that has it.
func TestB11Sha2InDialects(t *testing.T) {
	chars := map[string]int{"0": 64, "1": 0, "224": 56, "256": 64, "384": 96, "512": 128, "-1": 0, "128": 0, "NULL": 0}
	for _, d := range dialects {
		if slices.Contains(d.lacks, "sha2") {
			continue
		}
		for bits, want := range chars {
			refused := strings.HasPrefix(d.name, "impala") && (bits == "0" || want == 0) && bits != "NULL"
			if d.name == "hive" && bits == "1" {
				want = 40 // the JDK knows a "SHA-1"
			}
			if fips.Enabled() && (d.name == "hive" && bits == "1" || strings.HasPrefix(d.name, "impala") && (bits == "224" || bits == "256")) {
				continue // TestFIPSChild has these
			}
			got, err := in(t, d.name, "sha2({col}, "+bits+")", str("abc"))
			switch {
			case refused:
				if !errors.Is(err, ErrArgument) {
					t.Errorf("sha2 by %s in %s: %v", bits, d.name, err)
				}
			case err != nil || got.Null != (want == 0) || len(got.Bytes) != want || strings.Trim(string(got.Bytes), "0123456789abcdef") != "":
				t.Errorf("sha2 by %s in %s: %s, %v", bits, d.name, got.spell(), err)
			}
			if bits == "224" && err == nil && !strings.HasPrefix(string(got.Bytes), "23097d22") {
				t.Errorf("sha2 by 224 in %s: %s", d.name, got.spell())
			}
		}
	}
}

// TestB16SaltIsNotPersonalisation: both forms of BLAKE2b against Python's
// hashlib, on either side of a block; the two must differ.
func TestB16SaltIsNotPersonalisation(t *testing.T) {
	if fips.Enabled() {
		t.Skip("BLAKE2b is refused in FIPS mode")
	}
	keys := NewKeyring()
	for name, salt := range map[string]string{"demo": "e1ukloTsQlOgPquJ", "more": "e1ukloTsQlOgPquJ and more of it, up to 64 bytes and not cut silently", "fifteen": "e1ukloTsQlOgPqu"} {
		if err := keys.Add(name, []byte(salt)); err != nil {
			t.Fatal(err)
		}
	}
	if err := keys.Add("none", nil); !errors.Is(err, ErrKey) {
		t.Errorf("an empty salt: %v", err)
	}
	hash := func(src, dialect, value string) (string, []string, error) {
		p, err := compileErr(src, text, Options{Dialect: dialect, Keys: keys})
		if err != nil {
			return "", nil, err
		}
		got := cells(t, eval(t, p, build(rand.New(rand.NewPCG(1, 1)), text, LayoutViews, []Value{str(value)}), EvalOptions{}))[0]
		if ref, _ := p.EvalRow(str(value)); !sameCell(got, ref) {
			t.Errorf("%s of %q: column %s, reference %s", src, value, got.spell(), ref.spell())
		}
		return string(got.Bytes), p.Notes(), nil
	}
	for _, c := range []struct{ in, salt, person string }{
		{"", "cecc9deb0f9770e3c6b9f7bae96304e6c34793b14d2d647c3b8a938df2eaf179", "46a70d68467abc495992c0f1bf48ccb38c3238fa6d1335cdb83f8b7ce5110755"},
		{"foobar", "c042e214a8b49561577445be44c188a8e6274006b36cd0c6fba5312253cf9293", "96c8d1da7eb153db858d4f0585120319e17ed1162db9e94bee19fb10b6d19727"},
		{strings.Repeat("a", 127), "46f5dde02d712800166e08eacad7b193df126747c9eec32a1e16c1a27eec8b50", "6978e01eec9dfbc6034352c829d6ae1b9cf84617e7d2824f905c13b4e785090a"},
		{strings.Repeat("a", 128), "1c83fc91a939c629ebf13dbd2f159d9d8261105ad0c26c23fbd2c663bfbf26e6", "b28b0fbfdaec521acd3d58ee24c6f449589b1b0abd098b5905daa33b56e75d64"},
		{strings.Repeat("a", 129), "1f1644dbc0280c07d1e550035571c6109339e897480c6f0b417e13e1827b1852", "73ca2488119aea137590726e0249b6cd08ae3e14b995519e5498368ac5341ac5"},
	} {
		for src, want := range map[string]string{
			"blake2b({col}, 'demo')": c.salt, "blake2b({col}, 'demo', 'legacy')": c.person, "blake2b({col}, 'more')": c.salt,
		} {
			got, notes, err := hash(src, "safe", c.in)
			if err != nil || got != want {
				t.Errorf("%s of %d bytes: %s, want %s (%v)", src, len(c.in), got, want, err)
			}
			if said := strings.Contains(strings.Join(notes, "\n"), "first 16 bytes"); said != strings.Contains(src, "more") {
				t.Errorf("%s: notes %q", src, notes)
			}
		}
		for src, want := range map[string]string{
			"mask_hash({col}, NULL, 'demo')": c.salt, "mask_hash({col}, 'BLAKE2B_LEGACY_DEFAULT', 'demo')": c.person,
		} {
			if got, _, err := hash(src, "opensearch", c.in); err != nil || got != want {
				t.Errorf("%s of %d bytes: %s, want %s (%v)", src, len(c.in), got, want, err)
			}
		}
	}
	for _, src := range []string{"blake2b({col}, 'fifteen')", "blake2b({col}, 'nosuch')"} {
		if _, _, err := hash(src, "safe", ""); !errors.Is(err, ErrKey) || strings.Contains(err.Error(), "e1ukl") {
			t.Errorf("%s: %v", src, err)
		}
	}
	if _, _, err := hash("mask_hash({col})", "opensearch", ""); !errors.Is(err, ErrKey) { // three to choose from
		t.Errorf("no handle: %v", err)
	}
}

// TestB21EveryDialectAndType: masks over every type in every dialect have an
// answer of the declared type or are refused with the type or the overload.
func TestB21EveryDialectAndType(t *testing.T) {
	rng := testRand(t)
	for _, d := range dialects {
		for _, src := range []string{
			"mask({col})", "mask_show_last_n({col}, 4, 'x', 'x', 'x', -1, '1')", "mask_show_first_n({col}, 4, 'x', 'x', 'x', -1, '1')",
			"mask_hash({col})", "mask_null({col})", "mask({col}, 'x', 'x', 'x', -1, '1', 1, 0, -1)", "mask_email({col})", "mask_card({col})",
		} {
			for _, typ := range allKinds() {
				p, err := compileErr(src, typ, Options{Dialect: d.name, Keys: testKeys(t)})
				if err != nil {
					if !errors.Is(err, ErrType) && !errors.Is(err, ErrArgument) && !errors.Is(err, ErrUnknownFunction) && !errors.Is(err, fips.ErrNotApproved) {
						t.Errorf("%s over %s in %s: %v", src, typ, d.name, err)
					}
					continue
				}
				column := randomCells(rng, typ, 9)
				out, err := p.Eval(context.Background(), build(rng, typ, layoutOf(typ), column), EvalOptions{})
				if errors.Is(err, ErrValue) && (d.bad == badRefused || d.badDate == refuse) {
					continue // text that Impala refuses, or the first year of the type
				}
				if err != nil {
					t.Errorf("%s over %s in %s: %v", src, typ, d.name, err)
					continue
				}
				checkAgainstRows(t, p, src+" in "+d.name, column, out)
				if k := p.Out().Kind; d.mask.of(typ) == answer && !d.wide && k != typ.Kind && !strings.HasPrefix(src, "mask_hash") {
					t.Errorf("%s over %s in %s: declares %s", src, typ, d.name, p.Out())
				}
			}
		}
	}
	for _, c := range []struct {
		dialect, src string
		kind         Kind
		in, want     int64
	}{
		{"hive", "mask({col}, -1, -1, -1, -1, 5)", Int8, 123, 43},
		{"impala", "mask({col}, -1, -1, -1, -1, 5)", Int8, 123, 555},
		{"hive", "mask_show_first_n({col}, 1)", Int8, -128, 89},
		{"impala", "mask_show_first_n({col}, 1)", Int8, -128, -111},
		{"impala", "mask({col})", Int64, -9223372036854775807, -1111111111111111111},
		{"hive", "mask({col})", Date32, 19000, -719528},   // 0000-01-01
		{"impala", "mask({col})", Date32, 19000, -719162}, // 0001-01-01
	} {
		if got, err := in(t, c.dialect, c.src, Value{Kind: c.kind, Int: c.in}); err != nil || got.Int != c.want {
			t.Errorf("%s of %d in %s: %s, want %d (%v)", c.src, c.in, c.dialect, got.spell(), c.want, err)
		}
	}
}

// TestDatesInDialects: the limits of years, and days that do not exist.
func TestDatesInDialects(t *testing.T) {
	date := func(y, m, d int) Value {
		return Value{Kind: Date32, Int: time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400}
	}
	leap := date(2016, 2, 29)
	for _, c := range []struct {
		dialect, args string
		cell          Value
		want          string
	}{
		{"hive", "-1, -1, 9999", leap, "error"}, {"impala", "-1, -1, 9999", leap, "NULL"}, // 0001-02-29
		{"hive", "1, -1, 9999", leap, date(9999, 2, 1).spell()}, {"impala", "1, -1, 9999", leap, date(1, 2, 1).spell()},
		{"impala", "1, -1, 9998", leap, date(9998, 2, 1).spell()}, {"impala", "1, -1, 0", leap, date(1, 2, 1).spell()},
		{"hive", "1, -1, 0", leap, date(0, 2, 1).spell()}, {"hive", "1, -1, 10000", leap, date(10000, 2, 1).spell()},
		{"hive", "-1, 1, -1", date(2019, 1, 31), "error"}, {"impala", "-1, 1, -1", date(2019, 1, 31), "NULL"}, {"safe", "-1, 1, -1", date(2019, 1, 31), "NULL"},
		{"hive", "-1, -1, -1", date(1582, 10, 5), date(1582, 10, 5).spell()},
	} {
		got, err := in(t, c.dialect, "mask({col}, -1, -1, -1, -1, -1, "+c.args+")", c.cell)
		if c.want == "error" {
			if !errors.Is(err, ErrValue) {
				t.Errorf("%s in %s: %s, %v", c.args, c.dialect, got.spell(), err)
			}
		} else if err != nil || got.spell() != c.want {
			t.Errorf("%s in %s: %s, want %s (%v)", c.args, c.dialect, got.spell(), c.want, err)
		}
	}
}

// TestB39OneBadRow: a bad row is NULL alone, or fails the call with its number
// and nothing of its value; the cut into batches changes nothing.
func TestB39OneBadRow(t *testing.T) {
	const rows, bad = 1001, 500
	rng := rand.New(rand.NewPCG(3, 9))
	texts, days := make([]Value, rows), make([]Value, rows)
	for i := range rows {
		texts[i], days[i] = str(fmt.Sprintf("Row %d é", i)), Value{Kind: Date32, Int: 18262 + int64(i%28)}
	}
	texts[bad] = str(marker + "\xff")
	days[bad].Int = 18292 // 2020-01-31
	for _, c := range []struct {
		dialect, src string
		column       []Value
		fails        bool
	}{
		{"impala-utf8", "mask({col})", texts, false},
		{"impala-utf8", "mask_last_n({col}, 2)", texts, true},
		{"hive", "mask({col}, -1, -1, -1, -1, -1, -1, 1, 2020)", days, true},
		{"impala", "mask({col}, -1, -1, -1, -1, -1, -1, 1, 2020)", days, false},
	} {
		typ := Type{Kind: c.column[0].Kind}
		p, err := compileErr(c.src, typ, Options{Dialect: c.dialect})
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{rows, 101, 1} {
			var all []Value
			failed := 0
			for lo := 0; lo < rows; lo += batch {
				part := c.column[lo:min(rows, lo+batch)]
				out, err := p.Eval(context.Background(), build(rng, typ, layoutOf(typ), part), EvalOptions{Threads: 2})
				if err != nil {
					failed++
					if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), fmt.Sprintf("row %d", bad-lo)) || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "18292") {
						t.Errorf("%s in %s: %v", c.src, c.dialect, err)
					}
					all = append(all, part...)
					continue
				}
				all = append(all, cells(t, out)...)
			}
			if failed != map[bool]int{true: 1}[c.fails] {
				t.Errorf("%s in %s, batches of %d: %d failed", c.src, c.dialect, batch, failed)
			}
			for i, got := range all {
				if batch == rows && c.fails || failed > 0 && i >= bad/batch*batch && i < (bad/batch+1)*batch {
					continue
				}
				if got.Null != (i == bad) {
					t.Fatalf("%s in %s, batches of %d: row %d is %s", c.src, c.dialect, batch, i, got.spell())
				}
			}
		}
	}
}

// TestCastBackAndChar: what Arrow has no type for.
func TestCastBackAndChar(t *testing.T) {
	p, err := compileErr("cast(mask({col}, -1, -1, -1, -1, 5) AS tinyint)", Type{Kind: Int8}, Options{Dialect: "impala"})
	if err != nil || p.Out().Kind != Int8 {
		t.Fatal(p.Out(), err)
	}
	column := []Value{{Kind: Int8, Int: 123}, {Kind: Int8, Null: true}, {Kind: Int8, Int: -7}}
	out := eval(t, p, build(rand.New(rand.NewPCG(1, 1)), Type{Kind: Int8}, LayoutFixed, column), EvalOptions{})
	checkAgainstRows(t, p, "impala, type kept", column, out)
	if got := cells(t, out); got[0].Int != 43 || got[2].Int != -5 {
		t.Errorf("%v", got)
	}
	for dialect, stripped := range map[string]bool{"hive": true, "impala": false, "safe": false} {
		for src, always := range map[string]bool{"sha256({col})": false, "mask_hash({col})": true} {
			p, err := compileErr(src, text, Options{Dialect: dialect, Char: true})
			if err != nil {
				t.Fatal(err)
			}
			column := []Value{str("ab   "), str("   "), null}
			out := eval(t, p, build(rand.New(rand.NewPCG(1, 1)), text, LayoutViews, column), EvalOptions{})
			checkAgainstRows(t, p, src, column, out)
			want := sha256.Sum256([]byte("ab   "))
			if stripped && !always {
				want = sha256.Sum256([]byte("ab"))
			}
			if got := cells(t, out)[0]; string(got.Bytes) != fmt.Sprintf("%x", want) {
				t.Errorf("%s of a CHAR in %s: %s", src, dialect, got.spell())
			}
		}
	}
}

// TestImpalaHashesNull: the one place where NULL is not NULL.
func TestImpalaHashesNull(t *testing.T) {
	p, err := compileErr("mask_hash({col})", text, Options{Dialect: "impala"})
	if err != nil || p.Nullable() {
		t.Fatal(err)
	}
	rng := testRand(t)
	for _, layout := range byteLayouts {
		column := randomCells(rng, text, 1200)
		column[3].Null, column[700] = true, str("")
		out := eval(t, p, build(rng, text, layout, column), EvalOptions{Threads: 2})
		checkAgainstRows(t, p, "mask_hash in impala", column, out)
		got := cells(t, out)
		if got[3].Null || !sameCell(got[3], got[700]) {
			t.Errorf("NULL becomes %s, the empty text %s", got[3].spell(), got[700].spell())
		}
	}
	// NULL without a type stays NULL.
	if got := compile(t, "mask_hash(NULL)", Type{}); got.Out().Kind != Null {
		t.Errorf("%s", got.Out())
	}
}
