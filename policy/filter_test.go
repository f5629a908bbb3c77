package policy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/internal/race"
	"github.com/arrowmask/arrowmask/mask"
)

// cell is a value for the row-at-a-time reference; nil is NULL.
type cell any

// build lays cells out as a vector of the kind.
func build(kind mask.Kind, cells []cell) *mask.Vector {
	v := &mask.Vector{Type: mask.Type{Kind: kind}, Len: len(cells), Nulls: -1, ValidOffset: 3}
	v.Valid = make([]byte, (len(cells)+3+7)/8)
	set := func(b []byte, i int) { b[(i+3)>>3] |= 1 << ((i + 3) & 7) }
	if kind == mask.Bool {
		v.Data = make([]byte, len(v.Valid))
	}
	if kind == mask.Text {
		v.Layout = mask.LayoutOffsets32
		v.Data = []byte("slack")
		v.Offsets32 = []int32{5}
	}
	for i, c := range cells {
		if c != nil {
			set(v.Valid, i)
		}
		switch kind {
		case mask.Text:
			if c != nil {
				v.Data = append(v.Data, c.(string)...)
			}
			v.Offsets32 = append(v.Offsets32, int32(len(v.Data)))
		case mask.Bool:
			if c == true || c == nil { // garbage under a NULL
				set(v.Data, i)
			}
		case mask.Int8:
			n, _ := c.(int64)
			v.Data = append(v.Data, byte(n))
		case mask.Int32, mask.Date32:
			n, _ := c.(int64)
			v.Data = binary.LittleEndian.AppendUint32(v.Data, uint32(n))
		case mask.Int64, mask.Uint64:
			n, _ := c.(int64)
			v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(n))
		case mask.Float64:
			f, _ := c.(float64)
			v.Data = binary.LittleEndian.AppendUint64(v.Data, math.Float64bits(f))
		}
	}
	return v
}

// testTable has one column of each kind the filters know.
func testTable(t testing.TB) *Table {
	t.Helper()
	tab, err := NewTable([]string{"db", "t"}, "", []Column{
		{Name: "s", Type: mask.Type{Kind: mask.Text}},
		{Name: "u", Type: mask.Type{Kind: mask.Text}},
		{Name: "i", Type: mask.Type{Kind: mask.Int64}},
		{Name: "j", Type: mask.Type{Kind: mask.Int32}},
		{Name: "k", Type: mask.Type{Kind: mask.Int8}},
		{Name: "f", Type: mask.Type{Kind: mask.Float64}},
		{Name: "d", Type: mask.Type{Kind: mask.Date32}},
		{Name: "b", Type: mask.Type{Kind: mask.Bool}},
		{Name: "Mixed Case", Type: mask.Type{Kind: mask.Text}},
		{Name: "dec", Type: mask.Type{Kind: mask.Decimal}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func testRows(rnd *rand.Rand, n int) [][]cell {
	texts := []string{"", "a", "A", "ab", "abc", "b%", "x_y", "äö", "\xff", "2020-01-01", "12"}
	ints := []int64{0, 1, -1, 2, 3, 5, 7, 100, math.MaxInt32, 1 << 53, 1<<53 + 1}
	floats := []float64{0, 1, -1, 2.5, 3, 1 << 53, 1e300, math.NaN(), math.Inf(1)}
	rows := make([][]cell, n)
	for r := range rows {
		null := func(c cell) cell {
			if rnd.IntN(5) == 0 {
				return nil
			}
			return c
		}
		rows[r] = []cell{
			null(texts[rnd.IntN(len(texts))]), null(texts[rnd.IntN(len(texts))]),
			null(ints[rnd.IntN(len(ints))]), null(int64(int32(ints[rnd.IntN(9)]))), null(int64(int8(ints[rnd.IntN(8)]))),
			null(floats[rnd.IntN(len(floats))]), null(int64(18262 + rnd.IntN(5))), null(rnd.IntN(2) == 0),
			null(texts[rnd.IntN(len(texts))]), nil,
		}
	}
	return rows
}

// ---- the reference: one row at a time, numbers as rationals

type refErr struct{ s string }

func refValue(tab *Table, row []cell, e *expr) any {
	switch e.op {
	case opNull:
		return nil
	case opBool:
		return e.n != 0
	case opInt:
		return new(big.Rat).SetInt64(e.n)
	case opDecimal:
		r, _ := new(big.Rat).SetString(e.text)
		return r
	case opText:
		return e.str()
	case opDate:
		return time.Unix(e.n*86400, 0).UTC()
	case opDays:
		return time.Duration(e.n) * 24 * time.Hour
	case opColumn:
		for i, c := range tab.Columns() {
			if c.Name != e.text {
				continue
			}
			switch v := row[i].(type) {
			case nil:
				return nil
			case int64:
				if c.Type.Kind == mask.Date32 {
					return time.Unix(v*86400, 0).UTC()
				}
				return new(big.Rat).SetInt64(v)
			case float64:
				if math.IsNaN(v) {
					return nil
				}
				return v
			default:
				return v
			}
		}
	case opAdd, opSub, opMul, opMod, opNeg:
		a := refValue(tab, row, e.kids[0])
		if e.op == opNeg {
			if a == nil {
				return nil
			}
			return new(big.Rat).Neg(a.(*big.Rat))
		}
		b := refValue(tab, row, e.kids[1])
		if a == nil || b == nil {
			return nil
		}
		if d, ok := a.(time.Time); ok {
			var n int64
			switch y := b.(type) {
			case time.Duration:
				n = int64(y.Hours() / 24)
			case *big.Rat:
				n = y.Num().Int64()
			}
			if e.op == opSub {
				n = -n
			}
			return d.AddDate(0, 0, int(n))
		}
		x, y := a.(*big.Rat), b.(*big.Rat)
		z := new(big.Rat)
		switch e.op {
		case opAdd:
			z.Add(x, y)
		case opSub:
			z.Sub(x, y)
		case opMul:
			z.Mul(x, y)
		case opMod:
			if y.Sign() == 0 {
				return nil
			}
			z.SetInt(new(big.Int).Rem(x.Num(), y.Num()))
		}
		if !z.Num().IsInt64() {
			panic(refErr{"overflow"})
		}
		return z
	}
	text, _ := e.print(0)
	panic("reference: " + string(text))
}

// refCompare is nil for NULL.
func refCompare(a, b any) *int {
	if a == nil || b == nil {
		return nil
	}
	if s, ok := b.(string); ok {
		switch a.(type) {
		case time.Time:
			t, err := time.Parse("2006-01-02", s)
			if err != nil {
				panic(err)
			}
			b = t
		case *big.Rat, float64:
			r, ok := new(big.Rat).SetString(s)
			if !ok {
				panic(s)
			}
			b = r
		}
	}
	var c int
	num := func(x any) (*big.Float, bool) {
		switch v := x.(type) {
		case *big.Rat:
			return new(big.Float).SetPrec(2000).SetRat(v), true
		case float64:
			return new(big.Float).SetPrec(2000).SetFloat64(v), true
		}
		return nil, false
	}
	switch x := a.(type) {
	case string:
		c = strings.Compare(x, b.(string))
	case time.Time:
		c = x.Compare(b.(time.Time))
	case bool:
		if x != b.(bool) {
			c = 1
		}
	default:
		p, _ := num(a)
		q, _ := num(b)
		// A decimal literal meets a float as the nearest float.
		if r, ok := b.(*big.Rat); ok && !r.IsInt() {
			if _, ok := a.(float64); ok {
				f, _ := r.Float64()
				q, _ = num(f)
			}
		}
		c = p.Cmp(q)
	}
	return &c
}

func refBool(tab *Table, row []cell, e *expr) *bool {
	ret := func(b bool) *bool { return &b }
	switch e.op {
	case opAnd, opOr:
		// Every part is evaluated: an overflow is an error wherever it stands.
		stop, null, stopped := e.op == opOr, false, false
		for _, k := range e.kids {
			v := refBool(tab, row, k)
			null = null || v == nil
			stopped = stopped || v != nil && *v == stop
		}
		if stopped {
			return ret(stop)
		}
		if null {
			return nil
		}
		return ret(!stop)
	case opNot:
		v := refBool(tab, row, e.kids[0])
		if v == nil {
			return nil
		}
		return ret(!*v)
	case opIsNull:
		if e.kids[0].op.level() <= 4 {
			return ret(refBool(tab, row, e.kids[0]) == nil)
		}
		return ret(refValue(tab, row, e.kids[0]) == nil)
	case opEq, opNe, opLt, opLe, opGt, opGe:
		c := refCompare(refValue(tab, row, e.kids[0]), refValue(tab, row, e.kids[1]))
		if c == nil {
			return nil
		}
		return ret(map[op]bool{opEq: *c == 0, opNe: *c != 0, opLt: *c < 0, opLe: *c <= 0, opGt: *c > 0, opGe: *c >= 0}[e.op])
	case opBetween:
		a := refBool(tab, row, &expr{op: opGe, kids: []*expr{e.kids[0], e.kids[1]}})
		b := refBool(tab, row, &expr{op: opLe, kids: []*expr{e.kids[0], e.kids[2]}})
		switch {
		case a != nil && !*a || b != nil && !*b:
			return ret(false)
		case a == nil || b == nil:
			return nil
		}
		return ret(true)
	case opIn:
		null := false
		for _, k := range e.kids[1:] {
			v := refBool(tab, row, &expr{op: opEq, kids: []*expr{e.kids[0], k}})
			if v == nil {
				null = true
			} else if *v {
				return v
			}
		}
		if null {
			return nil
		}
		return ret(false)
	case opLike:
		a, p := refValue(tab, row, e.kids[0]), refValue(tab, row, e.kids[1])
		if a == nil || p == nil {
			return nil
		}
		var re strings.Builder
		re.WriteString("(?s)^")
		esc := false
		for _, r := range p.(string) {
			switch {
			case esc:
				re.WriteString(regexp.QuoteMeta(string(r)))
				esc = false
			case e.text != "" && string(r) == e.text:
				esc = true
			case r == '%':
				re.WriteString(".*")
			case r == '_':
				re.WriteString(".")
			default:
				re.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
		re.WriteString("$")
		return ret(regexp.MustCompile(re.String()).MatchString(a.(string)))
	}
	v := refValue(tab, row, e)
	if v == nil {
		return nil
	}
	return ret(v.(bool))
}

// checkFilter evaluates src over rows both ways.
func checkFilter(t *testing.T, tab *Table, rows [][]cell, src string) {
	t.Helper()
	f, err := ParseFilter(src, Syntax{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	again, err := ParseFilter(f.String(), canonical)
	if err != nil || again.String() != f.String() {
		t.Fatalf("%s: canonical %q reads back as %v, %v", src, f, again, err)
	}
	for _, f := range []*Filter{f, again} {
		p, err := f.Compile(tab)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var in []*mask.Vector
		for _, c := range p.Columns() {
			col := make([]cell, len(rows))
			for r := range rows {
				col[r] = rows[r][c]
			}
			in = append(in, build(tab.Columns()[c].Type.Kind, col))
		}
		keep := make([]byte, (len(rows)+7)/8)
		kept, err := p.Eval(context.Background(), len(rows), in, keep)
		want := 0
		for r, row := range rows {
			res, overflow := func() (v *bool, over bool) {
				defer func() {
					if e := recover(); e != nil {
						if _, ok := e.(refErr); !ok {
							panic(fmt.Sprint(src, ": ", e))
						}
						over = true
					}
				}()
				return refBool(tab, row, f.root), false
			}()
			if overflow {
				if !errors.Is(err, ErrValue) {
					t.Fatalf("%s: row %d overflows, error is %v", src, r, err)
				}
				return
			}
			if err != nil {
				continue
			}
			got := keep[r>>3]>>(r&7)&1 != 0
			if got != (res != nil && *res) {
				t.Fatalf("%s (%s): row %d %v: kept %v", src, f, r, row, got)
			}
			if got {
				want++
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if kept != want {
			t.Fatalf("%s: %d kept, counted %d", src, want, kept)
		}
	}
}

func TestFilterAgainstRows(t *testing.T) {
	tab := testTable(t)
	rnd := rand.New(rand.NewPCG(5, 5))
	rows := testRows(rnd, 1300)
	for _, src := range []string{
		"s = 'a'", "s <> 'a'", "'a' < s", "s = u", "s >= u", "s in ('a','abc')", "s not in ('a', null)", "s in ('a', u)",
		"s like 'a%'", "s like '%b'", "s like '%b%'", "s like '_'", "s like 'a_%'", "s like '%'", "s like ''", "s not like 'x!_%' escape '!'",
		"s is null", "s is not null", "(s = 'a') is null", "not (s = 'a' or i > 3)", "s = 'a' and i > 3 or b", "b", "not b", "b = true", "b <> false",
		"i = 3", "i <> 3", "i < 3", "i <= 3", "i > 3", "i >= 3", "3 = i", "i = '3'", "i < 2.5", "i > 2.5", "i = 2.5", "i <> 2.5", "i >= -1e30", "i < 1e30",
		"i = j", "i < j + 1", "i * 2 > j - k", "i % 2 = 1", "i % 0 = 1", "-i < 0", "i between 1 and 5", "i not between j and 5", "i in (1, 2, null)", "i not in (1,2)", "k in ('1', 5)",
		"f > 1", "f = 2.5", "f <= i", "i >= f", "f in (1, 2.5)", "f = 9007199254740993", "i = 9007199254740993", "f is null", "f between 0 and 3",
		"d = '2020-01-01'", "d > date '2020-01-02'", "d + 1 = date '2020-01-03'", "d - interval '1' day < date '2020-01-02'", "d in ('2020-01-01', '2020-01-03')",
		"1 = 1", "1 = 2", "null", "null = 1", "true", "false or null", "'a' = 'a'", "1.5 < 2", "s = null", "`Mixed Case` = 'a'", "s in (null)",
		"i + 9223372036854775807 > 0",
	} {
		checkFilter(t, tab, rows, src)
	}
	for n := range []int{0, 1, 7, 8, 63, 64, 65, 1023, 1024, 1025} {
		checkFilter(t, tab, rows[:n], "s = 'a' or i > 1 and not b")
	}
}

// TestFilterRandom builds random filters of every operator.
func TestFilterRandom(t *testing.T) {
	tab := testTable(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	pick := func(xs ...string) string { return xs[rnd.IntN(len(xs))] }
	var num, cond func(depth int) string
	num = func(depth int) string {
		if depth > 0 && rnd.IntN(3) == 0 {
			return "(" + num(depth-1) + pick(" + ", " - ", " * ") + num(depth-1) + ")"
		}
		return pick("i", "j", "k", "0", "1", "-2", "7")
	}
	cond = func(depth int) string {
		if depth > 0 {
			switch rnd.IntN(5) {
			case 0:
				return "(" + cond(depth-1) + " and " + cond(depth-1) + ")"
			case 1:
				return "(" + cond(depth-1) + " or " + cond(depth-1) + ")"
			case 2:
				return "not (" + cond(depth-1) + ")"
			case 3:
				return "(" + cond(depth-1) + ") is " + pick("", "not ") + "null"
			}
		}
		cmp := pick("=", "<>", "<", "<=", ">", ">=")
		switch rnd.IntN(7) {
		case 0:
			return pick("s", "u") + cmp + pick("'a'", "'ab'", "u", "null")
		case 1:
			return num(2) + cmp + num(1)
		case 2:
			return "f" + cmp + pick("1", "2.5", "i", "f")
		case 3:
			return "d" + cmp + pick("'2020-01-01'", "date '2020-01-03'", "d + 1")
		case 4:
			return pick("s", "u") + pick(" in ", " not in ") + pick("('a')", "('a','ab',null)", "(u,'a')")
		case 5:
			return "s" + pick(" like ", " not like ") + pick("'a%'", "'%b%'", "'_'", "'%'")
		}
		return pick("b", "b = true", "i between j and 5", "null", "true", "false")
	}
	rows := testRows(rnd, 1100)
	for range 80 {
		checkFilter(t, tab, rows, cond(4))
	}
}

func TestFilterRefused(t *testing.T) {
	tab := testTable(t)
	for _, src := range []string{
		"", " ", "s =", "= 1", "s = 'a", "s = \"a\"", "s = 'a' -- x", "s = 'a'; drop", "lower(s) = 'a'", "s in (select x from y)", "exists (select 1)",
		"case when s = 'a' then true end", "cast(i as int) = 1", "s rlike 'a'", "s = 'a\\'", "s in ()", "i = 1abc", "s like 'a\\%'", "(s = 'a'", "s = 'a')",
		"${{USER.x", "${{ }} = 1", "s === 'a'", "s = 'a' && b", "!b", "interval '1' month > i", "date '2020-13-01' = d", "jsonAttr.address.state == 'CA'",
		"s || 'a' = 'ab'", strings.Repeat("(", 1000) + "1=1" + strings.Repeat(")", 1000), strings.Repeat("not ", 1000) + "b", strings.Repeat("-", 1000) + "i = 1",
		"s", "i", "s = 1", "s = i", "i = 'x'", "d = 'x'", "i / 2 = 1", "i + 1.5 = 2", "dec = 1", "dec > dec", "b < true", "b = b", "nosuch = 1", "s.t = 1", "x.s = 'a'",
		"i in (" + strings.Repeat("1+1,", 2000) + "1)", "f > 0 and (" + strings.Repeat("f > f + 1 or ", 2000) + "b)",
		"s like u", "i like '1'", "d + d = d", "s = d", "1", "'a'", "i = date '2020-01-01'", "s + 1 = 2", "current_user = 'x'",
	} {
		f, err := ParseFilter(src, Syntax{})
		if err == nil {
			_, err = f.Compile(tab)
		}
		if !errors.Is(err, ErrFilter) {
			t.Errorf("%.60q: error is %v", src, err)
		}
	}
	for _, src := range []string{"t.s = 'a'", "db.t.s = 'a'", "T.S = 'a'", "S = 'a'", "dec is null", "`mixed case` = 'a'"} {
		f, err := ParseFilter(src, Syntax{})
		if err == nil {
			_, err = f.Compile(tab)
		}
		if err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

type testBinder map[string]string

func (b testBinder) Text(src string) (string, error) {
	if v, ok := b[src]; ok {
		return v, nil
	}
	return "", fmt.Errorf("%w: no %s", ErrFilter, src)
}

func (b testBinder) List(src string) ([]string, error) {
	v, err := b.Text(src)
	return strings.Fields(v), err
}
func (b testBinder) User() (string, error) { return b.Text("user") }
func (b testBinder) Today() (int64, error) { return 18262, nil }

// TestFilterBindIsNotPasting binds values that would change the expression if
// they were pasted as text.
func TestFilterBindIsNotPasting(t *testing.T) {
	for _, c := range []struct{ src, value, want string }{
		{"dept = '${{USER.dept}}'", "engg", "`dept`='engg'"},
		{"dept = '${{USER.dept}}'", "x' or '1'='1", "`dept`='x'' or ''1''=''1'"},
		{"dept = 'a_${{USER.dept}}_b'", "${{USER.dept}}", "`dept`='a_${{USER.dept}}_b'"},
		{"dept = '${{USER.dept}}'", `\`, "`dept`='\\'"},
		{"age > ${{USER.dept}}", "18", "`age`>18"},
		{"age > ${{USER.dept}}", "-1.5", "`age`>(-1.5)"},
		{"age > ${{USER.dept}}", "1 or 1=1", ""},
		{"age > ${{USER.dept}}", "", ""},
		{"age > ${{USER.dept}}", "age", ""},
		{"g in (${{USER.dept}})", "g1 g2", "`g` in('g1','g2')"},
		{"g in (${{USER.dept}})", "", ""},
		{"o = current_user and d < current_date()", "", "`o`='me' and `d`<date '2020-01-01'"},
		{"dept = '${{USER.other}}'", "", ""},
	} {
		f, err := ParseFilter(c.src, Syntax{})
		if err != nil {
			t.Fatal(c.src, err)
		}
		b, err := f.Bind(testBinder{"USER.dept": c.value, "user": "me"})
		switch {
		case c.want == "" && !errors.Is(err, ErrFilter):
			t.Errorf("%s with %q: error is %v, filter %v", c.src, c.value, err, b)
		case c.want != "" && err != nil:
			t.Errorf("%s with %q: %v", c.src, c.value, err)
		case c.want != "" && b.String() != c.want:
			t.Errorf("%s with %q: %s", c.src, c.value, b)
		case c.want != "" && c.value != "":
			if again, err := ParseFilter(b.String(), canonical); err != nil || again.String() != c.want {
				t.Errorf("%s does not read back: %v, %v", b, again, err)
			}
		}
	}
}

func TestFilterSyntax(t *testing.T) {
	hive, trino := Syntax{DoubleQuote: QuoteString, Backslash: true}, Syntax{DoubleQuote: QuoteColumn, PlainBackslash: true}
	for _, c := range []struct {
		syn       Syntax
		src, want string
	}{
		{hive, `a = "it\'s"`, "`a`='it''s'"},
		{trino, `"a" = 'x\'`, "`a`='x\\'"},
		{hive, `a = 'x\n'`, ""},
		{Syntax{}, `a = "x"`, ""},
		{Syntax{}, `a = 'x\'`, ""},
		{Syntax{Backslash: true, PlainBackslash: true}, `a = 'x\'y'`, "`a`='x''y'"},
		// A quote doubled, at either end too, and one within a parameter.
		{Syntax{}, "a = 'it''s'", "`a`='it''s'"},
		{Syntax{}, "`b``c` = ''''", "`b``c`=''''"},
		{Syntax{}, "```a` = ''", "```a`=''"},
		{Syntax{}, "`` = 1", ""},
		{Syntax{}, "a = 'x${{ f('y') }}z'", "(unbound filter)"},
		{Syntax{}, "`${{x}}` = 1", ""},
		{canonical, "`${{x}}`='${{y}}'", "`${{x}}`='${{y}}'"},
		{Syntax{}, "a Is nOT nuLL OR Current_Dates = 1", "not `a` is null or `Current_Dates`=1"},
	} {
		f, err := ParseFilter(c.src, c.syn)
		switch {
		case c.want == "" && !errors.Is(err, ErrFilter):
			t.Errorf("%s: %v", c.src, err)
		case c.want != "" && (err != nil || f.String() != c.want):
			t.Errorf("%s: %v, %v", c.src, f, err)
		}
	}
}

func TestFilterEvalChecksColumns(t *testing.T) {
	tab := testTable(t)
	f, err := ParseFilter("s = 'a' and i = 1", Syntax{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Compile(tab)
	if err != nil {
		t.Fatal(err)
	}
	s, i := build(mask.Text, []cell{"a", nil, "b"}), build(mask.Int64, []cell{int64(1), int64(1), int64(1)})
	keep := make([]byte, 1)
	if n, err := p.Eval(context.Background(), 3, []*mask.Vector{s, i}, keep); err != nil || n != 1 || keep[0] != 1 {
		t.Fatal(n, err, keep)
	}
	short, offsets, valid := *i, *s, *i
	short.Data = short.Data[:20]
	offsets.Offsets32 = []int32{5, 9, 6, 7}
	valid.Valid = valid.Valid[:0]
	for name, in := range map[string][]*mask.Vector{
		"missing": {s}, "nil": {s, nil}, "kind": {i, s}, "short": {s, &short}, "offsets": {&offsets, i}, "validity": {s, &valid},
	} {
		keep[0] = 0xff
		if n, err := p.Eval(context.Background(), 3, in, keep); !errors.Is(err, ErrFilter) || n != 0 || keep[0] != 0 {
			t.Errorf("%s: %d kept, %v", name, n, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Eval(ctx, 3, []*mask.Vector{s, i}, keep); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	u := build(mask.Uint64, []cell{int64(-1), nil})
	tab2, err := NewTable([]string{"t"}, "", []Column{{Name: "u", Type: mask.Type{Kind: mask.Uint64}}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := ParseFilter("u > 1", Syntax{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := g.Compile(tab2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Eval(context.Background(), 2, []*mask.Vector{u}, keep); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "row 0") {
		t.Error(err)
	}
}

func TestFilterAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	tab := testTable(t)
	rows := testRows(rand.New(rand.NewPCG(1, 2)), 5000)
	f, err := ParseFilter("s in ('a','b') and i + 1 > 3 or f < 2 and s like 'a%' or not b", Syntax{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Compile(tab)
	if err != nil {
		t.Fatal(err)
	}
	var in []*mask.Vector
	for _, c := range p.Columns() {
		col := make([]cell, len(rows))
		for r := range rows {
			col[r] = rows[r][c]
			if n, ok := col[r].(int64); ok && n > math.MaxInt32 {
				col[r] = int64(1)
			}
		}
		in = append(in, build(tab.Columns()[c].Type.Kind, col))
	}
	keep := make([]byte, (len(rows)+7)/8)
	if n := testing.AllocsPerRun(20, func() {
		if _, err := p.Eval(context.Background(), len(rows), in, keep); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
