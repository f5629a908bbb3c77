package mask

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// Columns against the row-at-a-time reference.

var (
	byteLayouts = []Layout{LayoutOffsets32, LayoutOffsets64, LayoutViews}
	plainTypes  = []Type{
		{Kind: Int8}, {Kind: Int16}, {Kind: Int32}, {Kind: Int64},
		{Kind: Uint8}, {Kind: Uint16}, {Kind: Uint32}, {Kind: Uint64}, {Kind: Date32}, {Kind: Date64},
	}
)

// randomExpr is a random call over {col}, nested now and then.
func randomExpr(rng *rand.Rand, in Type) string {
	value := "{col}"
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	rep := func() string {
		return pick("'X'", "'x'", "'*'", "''", "NULL", "-1", "48", "'é'", "'日'", "'😀'", "'long'", "0")
	}
	tail := func(list ...func() string) string {
		s := ""
		for _, f := range list[:rng.IntN(len(list)+1)] {
			s += ", " + f()
		}
		return s
	}
	number := func() string { return pick("0", "1", "9", "5", "'7'", "10", "-1", "NULL") }
	n := func() string { return pick("0", "-1", "1", "2", "3", "4", "7", "299", "2147483647", "NULL", "'5'") }
	day := func() string { return pick("0", "1", "28", "29", "30", "31", "32", "-1", "NULL") }
	month := func() string { return pick("0", "1", "3", "11", "12", "-1", "NULL") }
	year := func() string { return pick("0", "-1", "-5", "2023", "2024", "10000", "NULL", "-5877640", "5881579") }
	mask := func() string {
		switch rng.IntN(5) {
		case 0:
			return "mask(" + value + tail(rep, rep, rep, rep, number, day, month, year) + ")"
		default:
			return pick("mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n") +
				"(" + value + tail(n, rep, rep, rep, rep, number, day, month, year) + ")"
		}
	}
	if !in.bytes() {
		return pick(mask(), mask(), mask(), mask(), "mask_hash({col})", "mask_null({col})", "{col}")
	}
	if rng.IntN(4) == 0 && in.Kind == Text {
		value = mask()
	}
	switch rng.IntN(8) {
	case 0:
		return pick("md5", "sha", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512_256", "hex", "mask_hash", "mask_null", "mask_hmac") + "(" + value + ")"
	case 1:
		return "sha2(" + value + ", " + pick("0", "1", "224", "256", "384", "512", "-1", "NULL") + ")"
	case 2:
		return pick("hmac", "hmac_raw", "mask_hmac") + "(" + value + ", 'k1'" + pick("", ", 'sha512'", ", 'sha224'", ", NULL") + ")"
	case 3:
		return pick("digest("+value+", 'sha384')", "hex("+value+", 'lower')", "mask_hash("+value+", 'sha512')", "md5(sha2("+value+", 512))", "hex(digest("+value+", 'md5'))")
	}
	return mask()
}

func TestColumnEqualsReference(t *testing.T) {
	rng := testRand(t)
	rounds := 800
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		in, layout := text, byteLayouts[rng.IntN(3)]
		switch rng.IntN(8) {
		case 0:
			in = bin
		case 1:
			in, layout = Type{Kind: Binary, Width: 1 + rng.IntN(40)}, LayoutFixed
		case 2, 3:
			in, layout = plainTypes[rng.IntN(len(plainTypes))], LayoutFixed
		}
		src := randomExpr(rng, in)
		p := compile(t, src, in)
		rows := rng.IntN(40)
		switch rng.IntN(20) {
		case 0:
			rows = chunkRows*2 + rng.IntN(chunkRows)
		case 1:
			rows = numberRows + rng.IntN(100)
		}
		column := randomCells(rng, in, rows)
		v := build(rng, in, layout, column)
		o := EvalOptions{Threads: []int{0, 1, 2, 16}[rng.IntN(4)], Large: rng.IntN(3) == 0}
		out := eval(t, p, v, o)
		checkAgainstRows(t, p, fmt.Sprintf("%s over %s, layout %d, %d rows, %d threads", src, in, layout, rows, o.Threads), column, out)
		if wide := o.Large || layout == LayoutOffsets64; out.Type.bytes() && out.Type.Width == 0 && wide != (out.Layout == LayoutOffsets64) {
			t.Fatalf("%s: output layout %d for input layout %d, large %v", src, out.Layout, layout, o.Large)
		}
	}
}

func randomCells(rng *rand.Rand, t Type, rows int) []Value {
	column := make([]Value, rows)
	nulls := []int{0, 0, 2, 10}[rng.IntN(4)]
	longest := []int{8, 30, 300}[rng.IntN(3)]
	ascii := rng.IntN(3) == 0
	for i := range column {
		c := &column[i]
		c.Kind = t.Kind
		c.Null = nulls > 0 && rng.IntN(nulls) == 0
		switch {
		case t.Width > 0:
			c.Bytes = make([]byte, t.Width)
			for j := range c.Bytes {
				c.Bytes[j] = byte(rng.IntN(256))
			}
		case t.bytes():
			c.Bytes = randomText(rng, rng.IntN(longest))
			for j := range c.Bytes {
				if ascii {
					c.Bytes[j] %= utf8.RuneSelf
				}
			}
		default:
			c.Int = randomInt(rng, t)
		}
	}
	return column
}

// randomInt is a value of the type, of a random number of bits.
func randomInt(rng *rand.Rand, t Type) int64 {
	if t.Kind == Date32 && rng.IntN(4) > 0 {
		return int64(rng.IntN(60000) - 20000)
	}
	if t.Kind == Date64 && rng.IntN(4) > 0 {
		return rng.Int64N(8e12) - 4e12
	}
	drop := 64 - 8*t.size()
	v := rng.Uint64() >> rng.IntN(64)
	switch rng.IntN(10) {
	case 0:
		v = 1 << 63 >> drop // the least value of a signed type
	case 1:
		v = -v
	}
	if kinds[t.Kind].signed {
		return int64(v<<drop) >> drop
	}
	return int64(v << drop >> drop)
}

func checkAgainstRows(t testing.TB, p *Program, what string, column []Value, out *Vector) {
	t.Helper()
	if out.Type != p.Out() {
		t.Fatalf("%s: type %s, declared %s", what, out.Type, p.Out())
	}
	for i, got := range cells(t, out) {
		want, err := p.EvalRow(column[i])
		if err != nil {
			t.Fatalf("%s: row %d: %v", what, i, err)
		}
		if !sameCell(got, want) {
			t.Fatalf("%s: row %d, %s: column %s, reference %s", what, i, column[i].spell(), got.spell(), want.spell())
		}
		if got.Null && !column[i].Null && !p.Nullable() {
			t.Fatalf("%s: row %d is NULL, declared not nullable", what, i)
		}
	}
}

// FuzzColumn lets the fuzzer choose the bytes and the cuts between rows.
func FuzzColumn(f *testing.F) {
	f.Add([]byte("Ab1-\xff\xe6\x97\xa5"), uint8(3), uint8(2), int16(4))
	f.Add([]byte("plain ascii text only"), uint8(1), uint8(5), int16(-1))
	var programs []*Program
	for _, w := range []window{windowAll, windowFirst, windowLast, windowShowFirst, windowShowLast} {
		name := []string{"mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n"}[w]
		programs = append(programs, compile(f, name+"({col})", text))
	}
	f.Fuzz(func(t *testing.T, data []byte, which, step uint8, n int16) {
		p := programs[int(which)%len(programs)]
		if p.root.set.window != windowAll {
			p = compile(t, fmt.Sprintf("%s({col}, %d)", p.root.name, n), text)
		}
		var column []Value
		for rest := data; len(rest) > 0; {
			cut := min(len(rest), int(step)%7+1)
			column = append(column, Value{Kind: Text, Bytes: rest[:cut], Null: rest[0] == '0'})
			rest = rest[cut:]
		}
		v := build(rand.New(rand.NewPCG(1, uint64(step))), text, LayoutOffsets32, column)
		checkAgainstRows(t, p, p.root.name, column, eval(t, p, v, EvalOptions{Threads: 2}))
	})
}
