package mask

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDecodeIsUTF8 holds the decoding of the fast path to the standard
// library: every pair and triple of bytes from a lead on, in both directions,
// and four bytes about the bounds.
func TestDecodeIsUTF8(t *testing.T) {
	check := func(b []byte) {
		want, width := utf8.DecodeRune(b)
		if want == utf8.RuneError && width == 1 {
			want = -1
		}
		if r, w := decode(b); r != want || w != width {
			t.Fatalf("decode(% x) = %U, %d, want %U, %d", b, r, w, want, width)
		}
		for n := 1; n <= len(b); n++ {
			if b[n-1] < utf8.RuneSelf {
				continue
			}
			_, width := utf8.DecodeLastRune(b[:n])
			if w := lastWidth(b[:n]); w != width {
				t.Fatalf("lastWidth(% x) = %d, want %d", b[:n], w, width)
			}
		}
	}
	edges := []byte{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf4, 0xf5, 0xff}
	for a := 0x80; a < 0x100; a++ {
		check([]byte{byte(a)})
		for b := range 256 {
			check([]byte{byte(a), byte(b)})
			for _, c := range edges {
				check([]byte{byte(a), byte(b), c})
				for _, d := range edges {
					check([]byte{byte(a), byte(b), c, d})
				}
			}
		}
	}
}

// windowForms are all forms of the text masks around the bounds of eight bytes.
func windowForms() []string {
	forms := []string{"mask({col})", "mask({col}, 'A', 'b', '7', '.')", "mask({col}, -1, -1, -1, -1)", "mask({col}, '*', -1, '*', -1)"}
	for _, f := range []string{"mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n"} {
		for _, n := range []int64{0, 1, 4, 7, 8, 9, 40, math.MaxInt32 - 1, math.MaxInt64} {
			forms = append(forms, fmt.Sprintf("%s({col}, %d)", f, n))
		}
		forms = append(forms, f+"({col}, 4, -1, -1, -1, -1)", f+"({col}, 3, 'U', -1, 'D', 'O')")
	}
	return forms
}

// TestFastColumns mixes rows that are ASCII with some that are not, NULLs with
// and without bytes, rows that become shorter and, by bad bytes that are shown,
// longer; over several chunks, sliced, in both widths of offsets.
func TestFastColumns(t *testing.T) {
	rng := testRand(t)
	kinds := map[string][]string{
		"ascii":  {"", "a", "Ab1-", "1234567", "12345678", "A longer Row, of 40 Characters, 12345-67"},
		"mixed":  {"", "plain", "Müller", "日本語", "x", "ends in é", "é begins", strings.Repeat("long ASCII ", 9) + "ø" + strings.Repeat(" and more", 9), "😀 A1", "\u00d7 kept"},
		"longer": {"a", "\xff", "\xe2\x82", "ok then", "\xff\xfe\xfd\xfc at first", "at last \xff\xfe\xfd\xfc"},
		"rare":   append(slicesOf("Plain row 123", 400), "one é", "one \xff"),
	}
	for kind, words := range kinds {
		for f, src := range windowForms() {
			p := compile(t, src, text)
			rows := []int{1, 9, 300, 700}[rng.IntN(4)]
			if f%8 == 0 {
				rows = 2*fastRows + 100
			}
			column := make([]Value, rows)
			nulls := rng.IntN(2) * 8
			for i := range column {
				column[i] = str(words[rng.IntN(len(words))])
				column[i].Null = nulls > 0 && rng.IntN(nulls) == 0
			}
			for _, layout := range []Layout{LayoutOffsets32, LayoutOffsets64, LayoutViews} {
				o := EvalOptions{Threads: 1 + rng.IntN(3), Large: rng.IntN(2) == 0, Alloc: &countingAlloc{}}
				out := eval(t, p, build(rng, text, layout, column), o)
				checkAgainstRows(t, p, fmt.Sprintf("%s of %s, layout %d", src, kind, layout), column, out)
			}
		}
	}
}

func slicesOf(s string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// TestOnePassTakesOneBuffer: a column whose rows keep their length is written
// where it stays; one that becomes shorter is moved to a buffer of its own
// size, and the first is freed; one that becomes longer is done in two passes.
func TestOnePassTakesOneBuffer(t *testing.T) {
	for _, c := range []struct {
		rows    []Value
		buffers int
		size    int
	}{
		{texts("abc", "", "DEF 12"), 1, 9},
		{texts("abc", "äöü", "x"), 2, 7},
		{texts("äöü"), 2, 3},
		{texts("\u00d7"), 1, 2},
		{texts("", ""), 0, 0},
	} {
		a := &countingAlloc{}
		in := build(rand.New(rand.NewPCG(1, 1)), text, LayoutOffsets32, c.rows)
		out := eval(t, compile(t, "mask({col})", text), in, EvalOptions{Alloc: a})
		if in.Valid == nil && (a.calls != c.buffers || len(a.live) != min(c.buffers, 1)) || len(out.Data) != c.size {
			t.Errorf("%s: %d buffers, %d of them live, %d bytes", c.rows[0].spell(), a.calls, len(a.live), len(out.Data))
		}
	}
	a := &countingAlloc{}
	in := build(rand.New(rand.NewPCG(1, 1)), text, LayoutOffsets32, texts("\xff\xff\xff\xff"))
	out := eval(t, compile(t, "mask_show_first_n({col}, 4)", text), in, EvalOptions{Alloc: a})
	if string(out.Data) != strings.Repeat("\uFFFD", 4) || len(a.live) != 1+min(len(out.Valid), 1) {
		t.Errorf("%q, %d buffers live", out.Data, len(a.live))
	}
}

// TestB37BytesUnderNullsInSIMD: bytes under NULLs among ASCII rows do not come
// out, not even masked.
func TestB37BytesUnderNullsInSIMD(t *testing.T) {
	data := []byte("firstSECRETsecondSECRET" + strings.Repeat("z", 100))
	in := &Vector{Type: text, Len: 5, Layout: LayoutOffsets32, Offsets32: []int32{0, 5, 11, 17, 23, 123}, Data: data, Valid: []byte{0b10101}, Nulls: -1}
	for _, src := range []string{"mask({col})", "mask_show_last_n({col}, 2)", "mask_first_n({col}, 0)"} {
		out := eval(t, compile(t, src, text), in, EvalOptions{})
		if len(out.Data) != 5+6+100 || bytes.Contains(out.Data, []byte("X")) || bytes.Contains(out.Data, []byte("SEC")) {
			t.Errorf("%s: %q", src, out.Data)
		}
		cells(t, out)
	}
}

// TestFastPathOfLongRows: one row of more than an assembly call takes, with a
// character that is not ASCII far inside.
func TestFastPathOfLongRows(t *testing.T) {
	long := strings.Repeat("Ab1-", 100_000)
	for _, row := range []string{long, long + "é" + long, "é" + long, long + "é"} {
		for _, src := range []string{"mask({col})", "mask_show_last_n({col}, 100000)", "mask_first_n({col}, 300001)"} {
			p := compile(t, src, text)
			column := texts("short", row, "short é", row)
			out, err := p.Eval(context.Background(), build(rand.New(rand.NewPCG(1, 3)), text, LayoutOffsets32, column), EvalOptions{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range cells(t, out) {
				want, err := p.EvalRow(column[i])
				if err != nil || !sameCell(got, want) {
					t.Errorf("%s: row %d differs from the reference (%v)", src, i, err)
				}
			}
		}
	}
}
