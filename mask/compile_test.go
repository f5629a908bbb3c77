package mask

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		src  string
		in   Type
		want error
		says string // function and position
	}{
		{"nosuch({col})", text, ErrUnknownFunction, `"nosuch" at byte 0`},
		{"md5(nosuch({col}))", text, ErrUnknownFunction, `"nosuch" at byte 4`},
		{"md5()", text, ErrArgument, "md5: invalid argument: takes 1 argument, got 0"},
		{"md5({col}, 1)", text, ErrArgument, "takes 1 argument, got 2"},
		{"sha2({col})", text, ErrArgument, "sha2: invalid argument: takes 2 arguments, got 1"},
		{"mask({col}, 1, 2, 3, 4, 5, 6, 7, 8, 9)", text, ErrArgument, "takes 1 to 9 arguments, got 10"},
		{"hmac({col}, {col})", text, ErrArgument, "hmac: invalid argument 2 (key): must be a literal, not {col}"},
		{"sha2({col}, md5('x'))", text, ErrArgument, "must be a literal, not a call of md5"},
		{"sha2({col}, '256')", text, ErrArgument, "sha2: invalid argument 2 (bits)"},
		{"sha2({col}, TRUE)", text, ErrArgument, "want an integer, not a boolean"},
		{"mask({col}, TRUE)", text, ErrArgument, "mask: invalid argument 2 (upper)"},
		{"mask({col}, 55296)", text, ErrArgument, "55296 is not a code point"},
		{"mask({col}, 'x', 'x', 1114112)", text, ErrArgument, "mask: invalid argument 4 (digit)"},
		{"mask({col}, -2)", text, ErrArgument, "-2 is not a code point"},
		{"mask({col}, 4294967295)", text, ErrArgument, "4294967295 is not a code point"},
		{"mask({col}, 'x', 'x', 'x', 'x', 'a')", text, ErrArgument, "mask: invalid argument 6 (number): the string is not an integer"},
		{"mask_first_n({col}, 'four')", text, ErrArgument, "mask_first_n: invalid argument 2 (n)"},
		{"mask_first_n({col}, FALSE)", text, ErrArgument, "mask_first_n: invalid argument 2 (n)"},
		{"mask({col}, 'x', 'x', 'x', 'x', 1, 1, 1, 99999999)", Type{Kind: Date32}, ErrArgument, "mask: invalid argument 9 (year)"},
		{"digest({col}, 'sha3')", text, ErrArgument, "digest: invalid argument 2 (algorithm)"},
		{"digest({col}, 256)", text, ErrArgument, "digest: invalid argument 2 (algorithm)"},
		{"digest({col}, NULL)", text, ErrArgument, "digest: invalid argument 2 (algorithm)"},
		{"mask_hash({col}, 'md4')", text, ErrArgument, "mask_hash: invalid argument 2 (algorithm): "},
		{"hmac({col}, 'k1', 'sha1')", text, ErrArgument, "hmac: invalid argument 3 (algorithm)"},
		{"hmac({col}, NULL)", text, ErrArgument, "hmac: invalid argument 2 (key)"},
		{"hmac({col}, '')", text, ErrArgument, "hmac: invalid argument 2 (key)"},
		{"hmac({col}, 'other')", text, ErrKey, `hmac: argument 2 (key): invalid key: no key has the handle "other"`},
		{"mask_hmac({col}, 'other')", Type{Kind: Int32}, ErrKey, "mask_hmac: argument 2"},
		{"hex({col}, 'middle')", text, ErrArgument, "hex: invalid argument 2 (case)"},
		{"md5({col})", Type{Kind: Int64}, ErrType, "md5: type not supported: int64"},
		{"sha2({col}, 256)", Type{Kind: Date32}, ErrType, "sha2: type not supported: date32"},
		{"hex({col})", Type{Kind: Float64}, ErrType, "hex: type not supported: float64"},
		{"hmac({col}, 'k1')", Type{Kind: Bool}, ErrType, "hmac: type not supported: bool"},
		{"digest({col}, 'sha256')", Type{Kind: Decimal}, ErrType, "digest: type not supported: decimal"},
		{"md5(1)", Type{}, ErrType, "md5: type not supported: int32"},
		{"{col}", Type{Kind: Bool}, ErrType, "bool"},
		{"{col}", Type{}, ErrType, "no type"},
		{"mask({col})", Type{Kind: 200}, ErrType, "no type"},
		{"NULL", Type{Kind: Nested}, ErrType, "nested"},
	} {
		_, err := compileErr(c.src, c.in, Options{Keys: testKeys(t)})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s over %s: %v, want %v saying %q", c.src, c.in, err, c.want, c.says)
		}
	}
	if _, err := Compile(nil, text, Options{}); !errors.Is(err, ErrArgument) {
		t.Errorf("nil expression: %v", err)
	}
	for _, name := range []string{"hives", "nosuch", " safe"} {
		if _, err := compileErr("mask({col})", text, Options{Dialect: name}); !errors.Is(err, ErrDialect) || !strings.Contains(err.Error(), "safe") {
			t.Errorf("dialect %q: %v", name, err)
		}
	}
	for _, name := range []string{"", "safe", "SAFE"} {
		if _, err := compileErr("mask({col})", text, Options{Dialect: name}); err != nil {
			t.Errorf("dialect %q: %v", name, err)
		}
	}
	if _, err := compileErr("md5({col})", text, Options{Backend: "nosuch"}); !errors.Is(err, kernels.ErrUnknownBackend) || !strings.Contains(err.Error(), "md5") {
		t.Errorf("backend: %v", err)
	}
}

// allKinds is every kind that a column can have.
func allKinds() []Type {
	var all []Type
	for k := Null; k < Nested; k++ {
		all = append(all, Type{Kind: k})
	}
	return append(all, Type{Kind: Binary, Width: 16})
}

// TestB21EveryMaskTakesEveryType: a defined answer for every function and
// type, the declared type is the produced one, and "not nullable" is kept.
func TestB21EveryMaskTakesEveryType(t *testing.T) {
	rng := testRand(t)
	for _, f := range Functions() {
		if f.Name == "hash_row" || f.Name == "row_bytes" {
			continue // TestRows
		}
		src := f.Name + "({col}" + map[string]string{"sha2": ", 256", "hmac": ", 'k1'", "hmac_raw": ", 'k1'", "digest": ", 'sha256'",
			"blake2b": ", 'k1'", "date_trunc": ", 'year'", "regexp_replace": ", 'a', 'b'"}[f.Name] + ")"
		masks := strings.HasPrefix(f.Name, "mask")
		for _, in := range allKinds() {
			p, err := compileErr(src, in, Options{Keys: testKeys(t)})
			dates := in.Kind == Date32 || in.Kind == Date64
			takes := in.bytes()
			switch f.Name {
			case "regexp_replace", "to_utf8":
				takes = in.Kind == Text
			case "date_trunc":
				takes = dates
			}
			if !masks && !takes && in.Kind != Null {
				if !errors.Is(err, ErrType) || !strings.Contains(err.Error(), f.Name) || !strings.Contains(err.Error(), in.String()) {
					t.Errorf("%s over %s: %v", src, in, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s over %s: %v", src, in, err)
				continue
			}
			want := in
			if in.Kind != Null && (!masks || in.Kind == Text) && in.bytes() && f.Name != "mask_null" {
				want = text
				if f.Name == "digest" || f.Name == "hmac_raw" {
					want = Type{Kind: Binary, Width: 32}
				}
				if f.Name == "to_utf8" {
					want = bin
				}
			}
			if p.Out() != want {
				t.Errorf("%s over %s: declares %s, want %s", src, in, p.Out(), want)
			}
			ruled := in.Kind == Text || f.TakesInts && (in.integer() || dates)
			nulls := in.Kind == Null || f.Name == "mask_null" || masks && !ruled
			if p.Nullable() != (nulls || f.Name == "date_trunc") {
				t.Errorf("%s over %s: nullable %v", src, in, p.Nullable())
			}
			if p.Nullable() && !f.Nullable && in.Kind != Null {
				t.Errorf("%s over %s is nullable, its signature denies it", f.Name, in)
			}
			v := build(rng, in, layoutOf(in), randomCells(rng, in, 9))
			if in.size() == 0 && !in.bytes() {
				v = &Vector{Type: in, Len: 9} // no data, as the contract allows
			}
			out, err := p.Eval(context.Background(), v, EvalOptions{})
			if err != nil {
				t.Errorf("%s over %s: %v", src, in, err)
				continue
			}
			if out.Type != p.Out() || out.Len != 9 {
				t.Errorf("%s over %s: %d rows of %s", src, in, out.Len, out.Type)
			}
			for i, c := range cells(t, out) {
				if nulls && !c.Null {
					t.Errorf("%s over %s: row %d is not NULL", src, in, i)
				}
			}
		}
		if _, err := compileErr(src, Type{Kind: Nested}, Options{Keys: testKeys(t)}); !errors.Is(err, ErrType) {
			t.Errorf("%s over nested: %v", src, err)
		}
	}
}

func layoutOf(t Type) Layout {
	if t.bytes() && t.Width == 0 {
		return LayoutOffsets32
	}
	return LayoutFixed
}

// Every output type is taken by the functions above it.
func TestChains(t *testing.T) {
	in := str("Ab1")
	for src, want := range map[string]string{
		"md5(sha2(mask({col}), 256))":         one(t, "md5({col})", one(t, "sha2({col}, 256)", str("Xxn"))).spell(),
		"mask_hash(md5({col}))":               one(t, "mask_hash({col})", one(t, "md5({col})", in)).spell(),
		"hex(digest({col}, 'sha1'), 'lower')": one(t, "sha1({col})", in).spell(),
		"hex(hmac_raw({col}, 'k1'), 'lower')": one(t, "hmac({col}, 'k1')", in).spell(),
		"mask(mask_null({col}))":              "NULL",
		"md5(sha2({col}, 1))":                 "NULL",
	} {
		if got := one(t, src, in).spell(); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
	if got := compile(t, "mask(digest({col}, 'md5'))", text); got.Out() != (Type{Kind: Binary, Width: 16}) || !got.Nullable() {
		t.Errorf("mask of a raw digest: %s", got.Out())
	}
}

func TestUsesAndNotes(t *testing.T) {
	p := compile(t, "md5(hmac(mask({col}), 'k1', 'sha512'))", text)
	uses := p.Uses()
	if len(uses) != 2 || uses[0].Function != "md5" || uses[0].Keyed || uses[1].Function != "hmac" ||
		uses[1].Alg != "sha512" || !uses[1].Keyed || uses[1].KeyID != "k1" || uses[1].Backend == "" {
		t.Errorf("%+v", uses)
	}
	if got := compile(t, "mask_hmac({col})", text).Uses(); len(got) != 1 || got[0].KeyID != "k1" || got[0].Alg != "sha256" {
		t.Errorf("the only key: %+v", got)
	}
	for _, c := range []struct {
		src  string
		in   Type
		says string // "" for no note at all
	}{
		{"mask({col})", text, ""},
		{"mask({col})", Type{Kind: Int8}, ""},
		{"mask_hmac({col})", text, ""},
		{"hmac({col}, 'k1')", text, ""},
		{"mask_null({col})", Type{Kind: Bool}, ""},
		{"mask_hash({col})", text, "mask_hmac"},
		{"sha2({col}, 512)", text, "no key"},
		{"digest({col}, 'sha256')", bin, "no key"},
		{"mask_hash({col})", Type{Kind: Int32}, "mask_hash of int32 is always NULL"},
		{"mask_hash({col})", bin, "always NULL"},
		{"mask({col})", Type{Kind: Float64}, "mask of float64 is always NULL"},
		{"sha2({col}, 5)", text, "always NULL"},
		{"{col}", text, "nothing is masked"},
		{"hex({col})", text, "nothing is masked"},
		{"mask({col}, -1, 'x', -1)", text, "upper-case letters, digits"},
		{"mask({col}, -1, -1, -1, -1, -1, -1, -1, -1)", Type{Kind: Date32}, "nothing is masked"},
	} {
		notes := compile(t, c.src, c.in).Notes()
		if c.says == "" && len(notes) != 0 || c.says != "" && !strings.Contains(strings.Join(notes, "\n"), c.says) {
			t.Errorf("%s over %s: notes %q, want %q", c.src, c.in, notes, c.says)
		}
	}
}

func TestFunctions(t *testing.T) {
	list := Functions()
	if !slices.IsSortedFunc(list, func(a, b Signature) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not in order of name")
	}
	seen := map[string]bool{}
	for _, f := range list {
		if seen[f.Name] || f.Help == "" || f.Output == "" || len(f.ArgNames) != f.MaxArgs && f.MaxArgs != math.MaxInt || f.MinArgs < 1 {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
	}
	for name, want := range map[string]string{
		"md5":          "md5(value)",
		"sha2":         "sha2(value, bits)",
		"hmac":         "hmac(value, key[, algorithm])",
		"mask_hmac":    "mask_hmac(value[, key[, algorithm]])",
		"mask_first_n": "mask_first_n(value[, n[, upper[, lower[, digit[, other[, number[, day[, month[, year]]]]]]]]])",
	} {
		if got := lookup(name).signature().Usage; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, name := range strings.Fields("md5 sha1 sha sha2 sha224 sha256 sha384 sha512 sha512_256 digest hex hmac hmac_raw mask_hmac mask mask_first_n mask_last_n mask_show_first_n mask_show_last_n mask_hash mask_null") {
		if !seen[name] {
			t.Errorf("no %s", name)
		}
	}
}

func TestLiterals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		src  string
		kind Kind
		want string
	}{
		{"'a''b'", Text, `"a'b"`},
		{"''", Text, `""`},
		{"7", Int32, "7"},
		{"-2147483649", Int64, "-2147483649"},
		{"NULL", Null, "NULL"},
		{"mask('Ab1')", Text, `"Xxn"`},
		{"mask(12345)", Int32, "11111"},
		{"mask(TRUE)", Bool, "NULL"},
		{"TRUE", Bool, "1"},
		{"FALSE", Bool, "0"},
		{"mask(NULL)", Null, "NULL"},
		{"sha2(NULL, 300)", Null, "NULL"},
		{"mask_null('x')", Text, "NULL"},
		{"md5('')", Text, `"d41d8cd98f00b204e9800998ecf8427e"`},
		{"hex('az')", Text, `"617A"`},
		{"hex('az', 'lower')", Text, `"617a"`},
	} {
		p, err := compileErr(c.src, Type{}, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		ref, err := p.EvalRow(Value{})
		if err != nil || ref.spell() != c.want {
			t.Errorf("%s: reference %s, %v", c.src, ref.spell(), err)
		}
		for _, rows := range []int{1, 0, 5, 1000} {
			in := build(rng, Type{Kind: Int8}, LayoutFixed, make([]Value, rows))
			in.Type.Kind = Int8
			if rows == 1 {
				in = nil
			}
			got := cells(t, eval(t, p, in, EvalOptions{Large: rows == 5}))
			if len(got) != rows {
				t.Errorf("%s: %d rows, want %d", c.src, len(got), rows)
			}
			for _, g := range got {
				if g.Kind != c.kind || g.spell() != c.want {
					t.Errorf("%s: %s %s, want %s %s", c.src, g.Kind, g.spell(), c.kind, c.want)
				}
			}
		}
	}
	// A NULL literal over a column takes the column's type.
	for _, in := range allKinds() {
		p := compile(t, "NULL", in)
		out := eval(t, p, &Vector{Type: Type{Kind: Null}, Len: 3}, EvalOptions{})
		if p.Out() != in || out.Type != in || out.Nulls != 3 || !p.Nullable() {
			t.Errorf("NULL over %s: %s, %d NULLs", in, out.Type, out.Nulls)
		}
	}
}
