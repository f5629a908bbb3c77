package mask

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"unicode/utf8"
)

// fuzzValues is how many values TestDialectsEqualReference compares; set
// ARROWMASK_FUZZ_VALUES for more (the full run has 10 million).
func fuzzValues(t *testing.T) int {
	if s := os.Getenv("ARROWMASK_FUZZ_VALUES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() {
		return 50_000
	}
	return 200_000
}

// TestDialectsEqualReference compares columns with the row reference: all
// dialects, all functions, text of every plane with bad bytes, 0 to 300 bytes,
// slices and NULLs.
func TestDialectsEqualReference(t *testing.T) {
	rng, seed := seededRand(t)
	want, done, failed := fuzzValues(t), 0, 0
	for done < want {
		d := dialects[rng.IntN(len(dialects))]
		in, layout := text, byteLayouts[rng.IntN(3)]
		switch rng.IntN(10) {
		case 0:
			in = bin
		case 1, 2:
			in, layout = plainTypes[rng.IntN(len(plainTypes))], LayoutFixed
		}
		src := randomDialectExpr(rng, in)
		o := Options{Dialect: d.name, Keys: testKeys(t), Char: rng.IntN(8) == 0}
		p, err := compileErr(src, in, o)
		if err != nil {
			continue // not of this dialect, or not of this type
		}
		rows := rng.IntN(60)
		if rng.IntN(10) == 0 {
			rows = chunkRows + rng.IntN(2*chunkRows)
		}
		column := randomCells(rng, in, rows)
		what := fmt.Sprintf("ARROWMASK_TEST_SEED=%d: %s over %s in %s, layout %d, %d rows", seed, src, in, d.name, layout, rows)
		fails := false
		for i, c := range column {
			if _, err := p.EvalRow(c); errors.Is(err, ErrValue) {
				fails, column[i] = true, Value{Kind: in.Kind, Null: true}
				if rng.IntN(8) == 0 { // the column must fail as well
					_, err := p.Eval(context.Background(), build(rng, in, layout, []Value{null2(in), c}), EvalOptions{})
					if !errors.Is(err, ErrValue) {
						t.Fatalf("%s: %s: error %v", what, c.spell(), err)
					}
				}
			} else if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if fails {
			failed++
		}
		v := build(rng, in, layout, column)
		out := eval(t, p, v, EvalOptions{Threads: []int{1, 2, 7}[rng.IntN(3)], Large: rng.IntN(3) == 0})
		checkAgainstRows(t, p, what, column, out)
		done += rows
	}
	t.Logf("%d values, ARROWMASK_TEST_SEED=%d, %d columns with values that fail", done, seed, failed)
}

func null2(t Type) Value { return Value{Kind: t.Kind, Null: true} }

// seededRand is testRand with its seed.
func seededRand(t *testing.T) (*rand.Rand, uint64) {
	seed := rand.Uint64()
	if s := os.Getenv("ARROWMASK_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return rand.New(rand.NewPCG(seed, 1)), seed
}

// randomDialectExpr is a call with arguments in the forms that dialects take.
func randomDialectExpr(rng *rand.Rand, in Type) string {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	if rng.IntN(6) == 0 {
		return pick("mask_email({col})", "mask_email({col}, 'é')", "mask_card({col})", "mask_card({col}, '😀')",
			"blake2b({col}, 'k1')", "blake2b({col}, 'k1', 'legacy')", "mask_hash({col}, 'BLAKE2B_LEGACY_DEFAULT', 'k1')", "mask_hash({col}, NULL, 'k1')",
			"regexp_replace({col}, '[A-Z]', 'X')", "regexp_replace({col}, '.', '*', '[0-9]', 'n')", "regexp_replace({col}, '([a-z]+)([0-9])', '$2-$1')",
			"regexp_replace({col}, '\\s', '')", "to_hex(to_utf8({col}))", "to_hex({col})", "date_trunc('year', {col})", "date_trunc({col}, 'month')",
			"cast({col} AS varchar(3))", "cast(mask({col}) AS char(7))", "cast({col} AS smallint)", "cast(mask({col}) AS bigint)", "cast(mask_hash({col}) AS varchar(9))")
	}
	if rng.IntN(2) == 0 {
		return randomExpr(rng, in)
	}
	str := func() string { return pick("'X'", "'*'", "'é'", "'日'", "'😀'", "''", "'long'", "NULL") }
	num := func() string {
		return pick("-1", "48", "0", "233", "128512", "55357", "56832", "255", "NULL", "4294967338")
	}
	n := pick("0", "-1", "1", "2", "3", "4", "7", "300", "2147483647", "NULL")
	args := ""
	forms := impalaForms[pick("text", "integer", "date", "rest")]
	counts := rng.IntN(3) > 0
	list := forms[counts]
	for i, f := range list[rng.IntN(len(list))] {
		switch {
		case i == 0 && counts:
			args += ", " + n
		case f == 'S' && rng.IntN(8) == 0:
			args += ", '" + pick("5", "0", "10", "a") + "'"
		case f == 'S':
			args += ", " + str()
		default:
			args += ", " + num()
		}
	}
	name := "mask"
	if counts {
		name = pick("mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n")
	}
	return name + "({col}" + args + ")"
}

// FuzzDialects lets the fuzzer choose bytes, dialect and arguments.
func FuzzDialects(f *testing.F) {
	f.Add([]byte("Ab1-\xff\xe6\x97\xa5\xf0\x9f\x98\x80"), uint8(1), uint8(2), int16(4), "😀")
	f.Add([]byte("\xed\xa0\x80\xe2\x82\xf4\x90\x80\x80"), uint8(3), uint8(0), int16(1), "*")
	names := []string{"mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n"}
	f.Fuzz(func(t *testing.T, data []byte, which, function uint8, n int16, with string) {
		e := &Expr{kind: exprCall, name: names[int(function)%len(names)], args: []*Expr{{kind: exprColumn}}}
		if e.name != "mask" {
			e.args = append(e.args, &Expr{kind: exprInt, num: int64(n)})
		}
		for range 4 {
			e.args = append(e.args, &Expr{kind: exprString, text: with})
		}
		if !utf8.ValidString(with) {
			return
		}
		p, err := Compile(e, text, Options{Dialect: dialects[int(which)%len(dialects)].name})
		if err != nil {
			return
		}
		cell := Value{Kind: Text, Bytes: data}
		v := build(rand.New(rand.NewPCG(1, 1)), text, LayoutOffsets32, []Value{cell})
		want, refErr := p.EvalRow(cell)
		out, err := p.Eval(context.Background(), v, EvalOptions{})
		if (err != nil) != (refErr != nil) {
			t.Fatalf("%s in %s: column %v, reference %v", e, p.root.rules.name, err, refErr)
		}
		if err == nil && !sameCell(cells(t, out)[0], want) {
			t.Fatalf("%s in %s of %q: column %s, reference %s", e, p.root.rules.name, data, cells(t, out)[0].spell(), want.spell())
		}
	})
}
