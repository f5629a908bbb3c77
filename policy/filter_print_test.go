package policy

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// printed is the filter of a tree.
func printed(root *expr) *Filter {
	f, err := newFilter(root, "")
	if err != nil {
		panic(err)
	}
	return f
}

// wildBinder answers every expression with the same value.
type wildBinder struct {
	value string
	today int64
}

func (b wildBinder) Text(string) (string, error)   { return b.value, nil }
func (b wildBinder) List(string) ([]string, error) { return []string{b.value, "x"}, nil }
func (b wildBinder) User() (string, error)         { return b.value, nil }
func (b wildBinder) Today() (int64, error)         { return b.today, nil }

// checkCanonical parses and binds. Of what is accepted the canonical text must
// be its own canonical text; what is refused is ErrFilter, and nil here.
func checkCanonical(t *testing.T, src string, syn Syntax, b Binder) *Filter {
	t.Helper()
	f, err := ParseFilter(src, syn)
	if err == nil {
		f, err = f.Bind(b)
	}
	if err != nil {
		if !errors.Is(err, ErrFilter) {
			t.Fatalf("%.200q: %v", src, err)
		}
		return nil
	}
	again, err := ParseFilter(f.String(), canonical)
	if err != nil {
		t.Fatalf("%.200q: canonical %.200q: %v", src, f, err)
	}
	if again.String() != f.String() {
		t.Fatalf("%.200q: canonical %.200q reads back as %.200q", src, f, again)
	}
	return f
}

// TestCanonicalReadsBack has forms whose signs and quotes meet.
func TestCanonicalReadsBack(t *testing.T) {
	for src, want := range map[string]string{
		"i - -j = 0":                     "`i`-(-`j`)=0", // two signs in a row are a comment
		"i - - -j = 0":                   "`i`-(-(-`j`))=0",
		"i - -j * k = 0":                 "`i`-(-`j`)*`k`=0",
		"i - -5 = - - 3":                 "`i`-(-5)=3",
		"- -9223372036854775808 = i":     "(-(-9223372036854775808))=`i`",
		"-9223372036854775809 < -.5e-3":  "(-9223372036854775809)<(-.5e-3)",
		"-interval '-3' day = i":         "interval '3' day=`i`",
		"i - -${{x}} = 0":                "`i`-5=0", // a bound value's sign is folded as a written one is
		"i - ${{x}} = 0":                 "`i`-(-5)=0",
		"i - - current_date = 0":         "`i`-(-date '2020-01-01')=0",
		"not not (not b)":                "not not not `b`",
		"(a - b) - (c - d) - e = 0":      "((`a`-`b`)-(`c`-`d`))-`e`=0",
		"'it''s' = `a``b`":               "'it''s'=`a``b`",
		`s like 'a!\''' escape '!'`:      "`s` like 'a!\\''' escape '!'",
		"s like '${{x}}''' escape ''''":  "`s` like '-5''' escape ''''",
		"t.s in (- 1, ${{x}}, '') and b": "`t.s` in((-1),'-5','x','') and `b`",
	} {
		f := checkCanonical(t, src, Syntax{PlainBackslash: true}, wildBinder{"-5", 18262})
		if f == nil || f.String() != want {
			t.Errorf("%s: canonical %v, want %s", src, f, want)
		}
	}
}

// TestCanonicalBounds: what its canonical text would make too deep or too long
// is refused when it is read.
func TestCanonicalBounds(t *testing.T) {
	chains := func(levels, terms int) string {
		s := "i"
		for range levels {
			s = "(" + s + strings.Repeat("+1", terms) + ")"
		}
		return s + " = 0"
	}
	minus := func(n int) string { return strings.Repeat("- ", n) + "i = 0" }
	paren := func(n int) string { return strings.Repeat("(", n) + "b" + strings.Repeat(")", n) }
	not := func(n int) string { return strings.Repeat("not ", n) + "b" }
	for _, c := range []struct {
		name, src string
		accepted  bool
	}{
		{"200 parentheses", paren(200), true},
		{"201 parentheses", paren(201), false},
		{"200 times not", not(200), true},
		{"201 times not", not(201), false},
		{"100 minus signs", minus(100), true}, // each is in parentheses
		{"101 minus signs", minus(101), false},
		{"a chain of 150", chains(1, 150), true},
		{"3 chains of 60", chains(3, 60), true},
		{"150 chains of 150", chains(150, 150), false},
		{"an and of 20,000", strings.Repeat("b and ", 20000) + "b", true},
		{"500,000 bytes of names", strings.Repeat("a or ", 100000) + "a", true}, // quotes make it longer
		{"900,000 bytes of names", strings.Repeat("a or ", 180000) + "a", false},
		{"the longest interval", "interval '-2147483647' day = -interval '2147483647' day", true},
		{"an interval without a negation", "-interval '-2147483648' day = i", false},
	} {
		if got := checkCanonical(t, c.src, Syntax{}, wildBinder{}) != nil; got != c.accepted {
			t.Errorf("%s: accepted %v", c.name, got)
		}
	}
	long := wildBinder{value: strings.Repeat("'", maxFilterBytes/2)}
	if checkCanonical(t, "s = '${{x}}'", Syntax{}, long) != nil {
		t.Error("a value that fills the filter is accepted")
	}
	for day, accepted := range map[int64]bool{minDate: true, maxDate: true, minDate - 1: false, maxDate + 1: false, math.MinInt64: false, math.MaxInt64: false} {
		if got := checkCanonical(t, "d = current_date", Syntax{}, wildBinder{today: day}) != nil; got != accepted {
			t.Errorf("current_date %d: accepted %v", day, got)
		}
	}
}

// TestCanonicalRandom has filters of every form, bound to every sort of value.
func TestCanonicalRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	space := func() string { return pick("", "", " ", "\n\t") }
	var value, cond func(depth int) string
	value = func(depth int) string {
		if depth <= 0 {
			return pick("i", "`a``b`", "t.s", "'x'", "'it''s'", "'a${{x}}b${{y}}'", "''", "${{x}}", "0", "5", "9223372036854775807", "9223372036854775808",
				"1.50", ".5", "7.", "1E5", "2e-3", "12345678901234567890.5", "date '2020-02-29'", "date '0000-01-01'", "interval '-3' day", "interval 7 days",
				"current_date", "current_date()", "current_user", "null", "true", "false", `"q"`)
		}
		switch rnd.IntN(4) {
		case 0:
			return pick("- ", "+", "-\t", " - ") + value(depth-1)
		case 1:
			return "(" + value(depth-1) + ")"
		case 2:
			return "(" + cond(depth-1) + ")"
		}
		return value(depth-1) + space() + pick("+", " - ", "*", "/", "%") + space() + value(depth-1)
	}
	cond = func(depth int) string {
		if depth <= 0 {
			return value(0)
		}
		not := pick("", "", " not")
		switch rnd.IntN(9) {
		case 0:
			return cond(depth-1) + pick(" and ", " or ", " AND\n") + cond(depth-1)
		case 1:
			return "not " + cond(depth-1)
		case 2:
			return "(" + cond(depth-1) + ")"
		case 3:
			return value(depth-1) + " is" + not + " null"
		case 4:
			return value(depth-1) + not + " in (" + value(depth-1) + pick("", ", ${{x}}", ",1,'a'") + ")"
		case 5:
			return value(depth-1) + not + " between " + value(depth-1) + " and " + value(depth-1)
		case 6:
			return value(depth-1) + not + " like " + value(depth-1) + pick("", " escape '!'", " escape ''''", " escape 'ä'")
		}
		return value(depth-1) + space() + pick("=", "==", "<>", "!=", "<", "<=", ">", ">=") + space() + value(depth-1)
	}
	values := []string{"", "5", "-5", "- 5", "--5", "-0", "0", "1e3", "-1e3", "-.5", "a", "it's", "${{x}}", "-9223372036854775808", "9223372036854775808", "\xff", "`", "1 or 1"}
	accepted := 0
	const n = 20000
	for range n {
		b := wildBinder{values[rnd.IntN(len(values))], minDate + rnd.Int64N(maxDate-minDate+1)}
		syn := Syntax{DoubleQuote: Quote(1 + rnd.IntN(2)), Backslash: rnd.IntN(2) == 0}
		if checkCanonical(t, cond(rnd.IntN(6)), syn, b) != nil {
			accepted++
		}
	}
	// Enough of them are filters for the test to say something.
	if accepted < n/4 {
		t.Errorf("%d of %d were accepted", accepted, n)
	}
}

// FuzzParseFilter: what is accepted, its parameters bound, has a canonical text
// that reads back; nothing panics.
func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"a = 1", "s like 'x%' escape '!' and not b", "d > date '2020-01-01' or x in (1,2,null)", "'${{USER.a}}' = b", "((1)) = -1e5", "0- -A", "-${{x}} = current_date"} {
		f.Add(s, byte(5), "a'b", int64(18262))
		f.Add(s, byte(8), "-5", int64(-1))
	}
	tab := testTable(f)
	f.Fuzz(func(t *testing.T, src string, syntax byte, value string, today int64) {
		syn := Syntax{DoubleQuote: Quote(syntax % 3), Backslash: syntax&4 != 0, PlainBackslash: syntax&8 != 0}
		flt := checkCanonical(t, src, syn, wildBinder{value, today})
		if flt == nil {
			return
		}
		if _, err := flt.Compile(tab); err != nil && !errors.Is(err, ErrFilter) {
			t.Fatal(err)
		}
	})
}
