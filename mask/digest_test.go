package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

// TestB10NullIsNotEmpty: NULL gives NULL with nothing under it, the empty
// string gives the digest of no bytes.
func TestB10NullIsNotEmpty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	column := []Value{null, str(""), str("a")}
	for src, empty := range map[string]string{
		"md5({col})":       "d41d8cd98f00b204e9800998ecf8427e",
		"sha1({col})":      "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"sha2({col}, 256)": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"mask_hash({col})": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"hex({col})":       "",
		"mask({col})":      "",
	} {
		p := compile(t, src, text)
		for _, layout := range byteLayouts {
			out := eval(t, p, build(rng, text, layout, column), EvalOptions{})
			got := cells(t, out) // checks what lies under the NULL
			if !got[0].Null || got[1].Null || string(got[1].Bytes) != empty || got[2].Null {
				t.Errorf("%s, layout %d: %s, %s, %s", src, layout, got[0].spell(), got[1].spell(), got[2].spell())
			}
			if out.Nulls != 1 {
				t.Errorf("%s: %d NULLs", src, out.Nulls)
			}
		}
		// All NULL, and no bitmap at all.
		if out := eval(t, p, build(rng, text, LayoutOffsets32, []Value{null, null}), EvalOptions{}); out.Nulls != 2 || len(out.Data) != 0 {
			t.Errorf("%s of NULLs: %d NULLs, %d bytes", src, out.Nulls, len(out.Data))
		}
		if out := eval(t, p, build(rng, text, LayoutOffsets32, texts("", "")), EvalOptions{}); out.Nulls != 0 || out.Valid != nil {
			t.Errorf("%s without NULLs has a bitmap", src)
		}
	}
	// A raw digest under NULL is zero.
	out := eval(t, compile(t, "digest({col}, 'sha256')", text), build(rng, text, LayoutOffsets32, column), EvalOptions{})
	if cells(t, out); string(out.Data[:32]) != strings.Repeat("\x00", 32) {
		t.Error("a raw digest lies under a NULL")
	}
}

// TestHexOfDigestIsOneStep: no column of raw digests is made on the way to their
// text, and the text is that of the two steps.
func TestHexOfDigestIsOneStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	column := []Value{null, str(""), str("abc"), str(strings.Repeat("long ", 99))}
	for src, dialect := range map[string]string{
		"hex(digest({col}, 'sha256'))": "",
		"hex(digest({col}, 'md5'))":    "",
		"hex(digest({col}, 'sha512'))": "trino",
	} {
		e, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(e, text, Options{Dialect: dialect})
		if err != nil {
			t.Fatal(err)
		}
		if n := p.root; n.reads == nil || n.reads != n.arg.arg {
			t.Errorf("%s: the text is not made straight of the column", src)
		}
		for _, layout := range byteLayouts {
			got := cells(t, eval(t, p, build(rng, text, layout, column), EvalOptions{}))
			for i, v := range column {
				if want, err := p.EvalRow(v); err != nil || !sameCell(got[i], want) {
					t.Errorf("%s, layout %d, row %d: %s, want %s, %v", src, layout, i, got[i].spell(), want.spell(), err)
				}
			}
		}
	}
}

// TestB11Sha2Lengths: every length of sha2 against known digests of "abc".
func TestB11Sha2Lengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for bits, want := range map[string]string{
		"0":          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"224":        "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
		"256":        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"384":        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
		"512":        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
		"1":          "NULL",
		"128":        "NULL",
		"-1":         "NULL",
		"257":        "NULL",
		"NULL":       "NULL",
		"4294967552": "NULL", // 2^32 + 256
	} {
		for _, in := range []Type{text, bin, {Kind: Binary, Width: 3}} {
			p := compile(t, "sha2({col}, "+bits+")", in)
			abc := Value{Kind: in.Kind, Bytes: []byte("abc")}
			out := cells(t, eval(t, p, build(rng, in, layoutOf(in), []Value{abc, {Kind: in.Kind, Null: true}}), EvalOptions{}))
			if p.Out() != text || !out[1].Null || out[0].Null != (want == "NULL") || !out[0].Null && string(out[0].Bytes) != want {
				t.Errorf("sha2 of %s with %s: %s of %s", in, bits, out[0].spell(), p.Out())
			}
		}
	}
}

// TestB12OutputForm: type and letter case of each function for one input.
func TestB12OutputForm(t *testing.T) {
	const md5of101 = "38b3eff8baf56627478ec76a704e9b52"
	raw, _ := hex.DecodeString(md5of101)
	mac := hmac.New(sha256.New, []byte("0123456789abcdef0123"))
	mac.Write([]byte("101"))
	tag := mac.Sum(nil)
	for _, c := range []struct {
		src  string
		out  Type
		want string
	}{
		{"md5({col})", text, md5of101},
		{"hex(digest({col}, 'md5'))", text, strings.ToUpper(md5of101)},
		{"hex(digest({col}, 'md5'), 'lower')", text, md5of101},
		{"digest({col}, 'MD5')", Type{Kind: Binary, Width: 16}, string(raw)},
		{"sha1({col})", text, "dbc0f004854457f59fb16ab863a3a1722cef553f"},
		{"sha({col})", text, "dbc0f004854457f59fb16ab863a3a1722cef553f"},
		{"sha256({col})", text, "16dc368a89b428b2485484313ba67a3912ca03f2b2b42429174a4f8b3dc84e44"},
		{"mask_hash({col})", text, "16dc368a89b428b2485484313ba67a3912ca03f2b2b42429174a4f8b3dc84e44"},
		{"hmac({col}, 'k1')", text, hex.EncodeToString(tag)},
		{"mask_hmac({col})", text, hex.EncodeToString(tag)},
		{"mask_hmac({col}, 'k1', 'sha256')", text, hex.EncodeToString(tag)},
		{"hmac_raw({col}, 'k1')", Type{Kind: Binary, Width: 32}, string(tag)},
	} {
		p := compile(t, c.src, text)
		if got := one(t, c.src, str("101")); p.Out() != c.out || string(got.Bytes) != c.want {
			t.Errorf("%s: %s of %s, want %q of %s", c.src, got.spell(), p.Out(), c.want, c.out)
		}
	}
	if got := one(t, "mask_hash({col})", str("TestString-123")); string(got.Bytes) != "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90" {
		t.Errorf("mask_hash: %s", got.spell())
	}
	if got := one(t, "mask_hash({col}, 'sha512')", str("TestString-123")); len(got.Bytes) != 128 || !strings.HasPrefix(string(got.Bytes), "f3a58111") {
		t.Errorf("mask_hash sha512: %s", got.spell())
	}
}

// Every backend of every algorithm, through the column and against the
// reference.
func TestBackends(t *testing.T) {
	rng := testRand(t)
	column := randomCells(rng, text, chunkRows+77)
	v := build(rng, text, LayoutOffsets32, column)
	for _, alg := range kernels.Algs() {
		for _, b := range kernels.All(alg) {
			src := fmt.Sprintf("digest({col}, '%s')", alg)
			p, err := compileErr(src, text, Options{Backend: b.Name})
			if errors.Is(err, kernels.ErrUnsupportedBackend) {
				t.Logf("%s/%s not run: %v", alg, b.Name, err)
				continue
			}
			if err != nil {
				t.Errorf("%s/%s: %v", alg, b.Name, err)
				continue
			}
			if u := p.Uses(); len(u) != 1 || u[0].Backend != b.Name {
				t.Errorf("%s/%s: uses %+v", alg, b.Name, u)
			}
			checkAgainstRows(t, p, src+" by "+b.Name, column, eval(t, p, v, EvalOptions{Threads: 2}))
		}
	}
}
