package mask

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/race"
)

// TestRegex: where Java and Go differ the answer is Java's, or the expression
// is refused.
func TestRegex(t *testing.T) {
	for _, c := range []struct {
		args, in, want string // no want: refused
	}{
		{"'<secret>', '+masked+', '\\d', '*'", "foo<secret>bar42", "foo+masked+bar**"},
		{"'[A-Z]', 'X'", "ABcÄ", "XXcÄ"},
		{"'([A-Z])', 'X'", "ABc", "XXc"},
		{"'[^a-c]', ''", "abXc1", "abc"},
		{"'a', 'é'", "aXa", "éXé"},
		{"'.', '*'", "a\nb\u2028é\r😀\u0085", "*\n*\u2028*\r*\u0085"},
		{"'\\s+', '_'", "a \t\x0bb\u00a0", "a_b\u00a0"},
		{"'[\\s,]', '_'", "a,\x0b b", "a___b"},
		{"'\\S', 'x'", "a \x0b.", "x \x0bx"},
		{"'(\\w+)@(\\w+)', '$2 at $1'", "me@home", "home at me"},
		{"'(a)(b)?', '[$1$2]'", "aab", "[a][ab]"},
		{"'(a)', '$12'", "a", "a2"},
		{"'a', '\\$\\\\'", "a", "$\\"},
		{"'\\u0041', 'x'", "A", "x"},
		{"'\\p{Lu}', 'x'", "Äb", "xb"},
		{"'a{2}', 'x'", "aaa", "xa"},
		{"'a|bc', 'x'", "abc", "xx"},
		{"'\\z|a', 'x'", "a", ""},
		{"'a\\z', 'x'", "aa", "ax"},
		{"'a*', 'x'", "a", ""}, {"'a?', 'x'", "a", ""}, {"'(a*)(b*)', 'x'", "a", ""}, {"'^', 'x'", "a", ""}, {"'', 'x'", "a", ""}, {"'a{0,2}', 'x'", "a", ""}, {"'(a|)', 'x'", "a", ""},
		{"'a$', 'x'", "a", ""}, {"'(?i)a', 'x'", "a", ""}, {"'(?=a)a', 'x'", "a", ""}, {"'(?<n>a)', 'x'", "a", ""}, {"'(a)\\1', 'x'", "a", ""},
		{"'\\bfoo', 'x'", "a", ""}, {"'a++', 'x'", "a", ""}, {"'[a&&b]', 'x'", "a", ""}, {"'[a[b]]', 'x'", "a", ""}, {"'[]a]', 'x'", "a", ""}, {"'[\\S]', 'x'", "a", ""},
		{"'(', 'x'", "a", ""}, {"'[a', 'x'", "a", ""}, {"'a\\', 'x'", "a", ""}, {"'\\Qa.b\\E', 'x'", "a", ""}, {"'\\h', 'x'", "a", ""},
		{"'a', '$'", "a", ""}, {"'a', '$x'", "a", ""}, {"'a', '$1'", "a", ""}, {"'a', 'x\\'", "a", ""},
		{"'a'", "a", ""}, {"'a', 'b', 'c'", "a", ""}, {"1, 'b'", "a", ""}, {"'a', NULL", "a", ""},
	} {
		src := "regexp_replace({col}, " + c.args + ")"
		if c.want == "" && c.args != "'[^a-c]', ''" {
			if _, err := compileErr(src, text, Options{}); !errors.Is(err, ErrArgument) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s: %v", src, err)
			}
			continue
		}
		if got := one(t, src, str(c.in)); string(got.Bytes) != c.want {
			t.Errorf("%s of %q: %q, want %q", src, c.in, got.Bytes, c.want)
		}
	}
	if p := compile(t, "regexp_replace({col}, 'a', 'b')", text); !strings.Contains(strings.Join(p.Notes(), "\n"), "stays readable") {
		t.Errorf("notes %q", p.Notes())
	}
}

func TestCast(t *testing.T) {
	for _, c := range []struct {
		dialect, src string
		cell         Value
		want         string // "": refused
	}{
		{"safe", "cast({col} AS varchar(2))", str("é中x"), `"é中"`},
		{"safe", "cast({col} as char(4))", str("é"), `"é   "`},
		{"safe", "CAST({col} AS VARCHAR)", str("abc"), `"abc"`},
		{"safe", "cast({col} AS string)", str("abc"), `"abc"`},
		{"safe", "cast({col} AS char)", str("abc"), `"a"`},
		{"impala", "cast({col} AS varchar(2))", str("é中x"), `"é"`},
		{"impala", "cast({col} AS char(4))", str("é"), `"é  "`},
		{"safe", "cast({col} AS tinyint)", Value{Kind: Int32, Int: 127}, "127"},
		{"safe", "cast({col} AS bigint)", Value{Kind: Int8, Int: -5}, "-5"},
		{"safe", "cast({col} AS tinyint)", Value{Kind: Int32, Int: 128}, ""},
		{"safe", "cast({col} AS tinyint)", Value{Kind: Int32, Int: -129}, ""},
		{"safe", "cast({col} AS bigint)", Value{Kind: Uint64, Int: -1}, ""},
		{"hive", "cast({col} AS tinyint)", Value{Kind: Int32, Int: 128}, "-128"},
		{"impala", "cast({col} AS tinyint)", Value{Kind: Int64, Int: 555}, "43"},
		{"impala", "cast(mask({col}) AS tinyint)", Value{Kind: Int8, Int: -9}, "-1"},
		{"safe", "cast(mask({col}) AS double)", Value{Kind: Float64, Int: 1}, "NULL"},
		{"safe", "cast(mask_null({col}) AS int)", str("x"), "NULL"},
		{"safe", "cast(NULL AS int)", str("x"), "NULL"},
		{"safe", "cast({col} AS int)", str("5"), ""},
		{"safe", "cast({col} AS varchar)", Value{Kind: Int32, Int: 5}, ""},
		{"safe", "cast({col} AS date)", Value{Kind: Date32, Int: 5}, "5"},
		{"safe", "cast({col} AS boolean)", Value{Kind: Bool, Int: 1}, ""},
	} {
		got, err := in(t, c.dialect, c.src, c.cell)
		if c.want == "" {
			if !errors.Is(err, ErrType) && !errors.Is(err, ErrValue) {
				t.Errorf("%s of %s: %s, %v", c.src, c.cell.spell(), got.spell(), err)
			}
		} else if err != nil || got.spell() != c.want {
			t.Errorf("%s of %s in %s: %s, want %s (%v)", c.src, c.cell.spell(), c.dialect, got.spell(), c.want, err)
		}
	}
	for src, spelled := range map[string]string{
		"cast({col} as Char( 5 ))":                  "cast({col} AS char(5))",
		"CAST(mask({col}) AS decimal(10, 2))":       "cast(mask({col}) AS decimal)",
		"mask_hash(cast({col} AS varchar(3)),NULL)": "mask_hash(cast({col} AS varchar(3)), NULL)",
	} {
		e, err := Parse(src)
		if err != nil || e.String() != spelled {
			t.Errorf("%s: %v, %v", src, e, err)
			continue
		}
		if again, err := Parse(e.String()); err != nil || again.String() != spelled {
			t.Errorf("%s does not read back: %v", e, err)
		}
	}
	for _, src := range []string{
		"cast()", "cast({col})", "cast({col}, 'int')", "cast({col} AS)", "cast({col} AS nosuch)", "cast({col} AS char(0))", "cast({col} AS char(x))", "cast({col} AS char(5)",
		"cast({col} AS char(5", "cast({col} AS int x)", "cast({col} AS 'int')", "cast({col} A int)", "cast({col} AS char(99999999999))",
	} {
		if _, err := Parse(src); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestParts: mask_email and mask_card.
func TestParts(t *testing.T) {
	for _, c := range []struct{ src, in, want string }{
		{"mask_email({col})", "john.smith@example.org", "xxxxxxxxxx@example.org"},
		{"mask_email({col})", "a@b@c", "xxx@c"},
		{"mask_email({col})", "no address", "xxxxxxxxxx"},
		{"mask_email({col})", "@x", "@x"},
		{"mask_email({col})", "ü\xff@\xff", "xx@\ufffd"},
		{"mask_email({col}, '😀')", "ab@c", "😀😀@c"},
		{"mask_card({col})", "4929-2518 0083.4407", "xxxx-xxxx xxxx.4407"},
		{"mask_card({col})", "12345678", "xxxx5678"},
		{"mask_card({col})", "1234567", "xxxxxxx"},
		{"mask_card({col})", "Visa 4929 2518", "xxxx xxxx 2518"},
		{"mask_card({col})", "٤٩٢٩٢٥١٨", "xxxx٢٥١٨"},
		{"mask_card({col})", "4929251\xff8", "xxxx251x8"},
		{"mask_card({col}, '日')", "12345678", "日日日日5678"},
	} {
		if got := one(t, c.src, str(c.in)); string(got.Bytes) != c.want {
			t.Errorf("%s of %q: %q, want %q", c.src, c.in, got.Bytes, c.want)
		}
	}
	for _, src := range []string{"mask_email({col}, '')", "mask_email({col}, 'ab')", "mask_card({col}, 5)", "mask_card({col}, 'x', 'y')"} {
		if _, err := compileErr(src, text, Options{}); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// regexCases are expressions and replacements of all kinds.
var regexCases = [][2]string{
	{`[0-9]{3,}`, "#"}, {`\d+`, "n"}, {`^a`, "X"}, {`\Aab|b`, "X"}, {`(?:^|b)a`, "-"}, {`a\z`, "é"}, {`(\w+)@(\w+)`, "$2 at $1"}, {`(a)(b)?`, "[$1$2]"},
	{`(a)|(b)`, "<$2$1>"}, {`a|ab`, "x"}, {`ab|a`, "x"}, {`a+?b*`, "x"}, {`.b`, ""}, {`\p{Lu}+`, "U"}, {`(?:a|b)*c`, "$0$0"}, {`[^a]+`, "_"}, {`é+`, "e"}, {`(^a)?b`, "[$1]"},
	{`(a(b(1)?)+)`, "$1$2$3"}, {`\s+\S`, " "}, {`(?:^a)*b`, "y"}, {`\x{fffd}`, "bad"},
}

// FuzzRegex: the replaced text is that of the standard library's ReplaceAll.
func FuzzRegex(f *testing.F) {
	for i := range regexCases {
		for _, s := range []string{"", "a", "aab", "abab1 ab11", "aé É b", "me@home, you@work", "\n\ta b", "12 345 6789", "bad \xff \xef\xbf\xbd", "ccabcbac", strings.Repeat("ab1 ", 30)} {
			f.Add(i, []byte(s))
		}
	}
	all := make([]*replacement, len(regexCases))
	for i, c := range regexCases {
		r, err := compileRegex(c[0], c[1])
		if err != nil {
			f.Fatalf("%s: %v", c[0], err)
		}
		all[i] = r
	}
	f.Fuzz(func(t *testing.T, i int, row []byte) {
		i = int(uint(i) % uint(len(all)))
		want, err := all[i].refReplace(Value{Kind: Text, Bytes: row})
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []rowAppender{all[i].rows(), all[i]} {
			if got := rows.appendRow([]byte("before"), row, math.MaxInt); string(got) != "before"+string(want.Bytes) {
				t.Errorf("%s of %q by %T: %q, want %q", regexCases[i][0], row, rows, got, want.Bytes)
			}
		}
	})
}

// TestRegexWithoutSearch: what is found without a search, and what is not.
func TestRegexWithoutSearch(t *testing.T) {
	for src, want := range map[string]bool{
		`[0-9]`: true, `[0-9]+`: true, `(\d{3,})`: true, `a`: true, `(a)+?`: true, `[^a]{1,2}`: true, `[Aa]+`: true, `.`: true,
		`ab`: false, `a+b`: false, `^a`: false, `a\z`: false, `a+|b`: false, `(?:a+)+`: false, `(?:ab)+`: false, `a*b`: false,
	} {
		r, err := compileRegex(src, "x")
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got := r.chars != nil; got != want {
			t.Errorf("%s: without a search is %v, want %v", src, got, want)
		}
	}
	if r, err := compileRegex(`([0-9])+`, "$1"); err != nil || r.chars != nil {
		t.Errorf("the last character of a run has no search: %v", err)
	}
}

// TestRegexRandom: random expressions over random rows, against the standard
// library's ReplaceAll.
func TestRegexRandom(t *testing.T) {
	rng := testRand(t)
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 {
			return pick("a", "b", "é", "[ab]", "[^a]", "[Aa]", `\d`, ".", "[é-ü1]", `\x{fffd}`)
		}
		switch rng.IntN(6) {
		case 0:
			return expr(depth-1) + expr(depth-1)
		case 1:
			return "(?:" + expr(depth-1) + "|" + expr(depth-1) + ")"
		case 2:
			return "(" + expr(depth-1) + ")"
		case 3:
			return "(?:" + expr(depth-1) + ")" + pick("+", "*", "?", "{2}", "{1,2}", "{2,}", "+?", "{1,3}?")
		case 4:
			return pick("^", `\A`, "") + expr(depth-1) + pick(`\z`, "", "")
		}
		return expr(depth - 1)
	}
	done, chars := 0, 0
	for range 3000 {
		src, with := expr(rng.IntN(4)), pick("", "x", "<$0>", "$0é$0")
		r, err := compileRegex(src, with)
		if err != nil { // it matches the empty text
			continue
		}
		if done++; r.chars != nil {
			chars++
		}
		for range 5 {
			var row []byte
			for range rng.IntN(20) {
				row = append(row, pick("a", "a", "b", "A", "é", "ü", "1", "2", "\n", "\xff", "\xc3", "\xef\xbf\xbd")...)
			}
			want, err := r.refReplace(Value{Kind: Text, Bytes: row})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.rows().appendRow(nil, row, math.MaxInt); string(got) != string(want.Bytes) {
				t.Fatalf("%s to %s of %q: %q, want %q", src, with, row, got, want.Bytes)
			}
		}
	}
	if done < 1000 || chars < 100 {
		t.Errorf("only %d expressions, %d of them without a search", done, chars)
	}
}

// TestRegexAllocations: no row allocates; a replacement that names a group
// allocates once for a match, which is what the standard library's search for
// groups takes.
func TestRegexAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	row := []byte("ab 1234 me@home ABC 99999 abab")
	dst := make([]byte, 0, 1000)
	for _, c := range regexCases {
		r, err := compileRegex(c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if r.groups {
			want = float64(len(r.re.FindAllIndex(row, -1)))
		}
		if n := testing.AllocsPerRun(100, func() {
			dst = r.rows().appendRow(dst[:0], row, math.MaxInt)
		}); n > want {
			t.Errorf("%s, %s: %v allocations, want %v", c[0], c[1], n, want)
		}
	}
}

// BenchmarkRegex is a column by the evaluation and by ReplaceAll of an
// expression that was compiled once, row by row.
func BenchmarkRegex(b *testing.B) {
	in := benchColumn(65536, true, 0)
	for _, c := range [][2]string{{`[0-9]{3,}`, "#"}, {`(\w+)@(\w+)`, "$2 at $1"}, {`Main`, "x"}} {
		p := compile(b, "regexp_replace({col}, '"+c[0]+"', '"+c[1]+"')", text)
		r, err := compileRegex(c[0], c[1])
		if err != nil {
			b.Fatal(err)
		}
		b.Run("regex="+c[0]+"/impl=column", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(b.Context(), in, EvalOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("regex="+c[0]+"/impl=std", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range in.Len {
					if _, err := r.refReplace(Value{Bytes: in.Data[in.Offsets32[i]:in.Offsets32[i+1]]}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
