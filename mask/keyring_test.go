package mask

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const secretText = "correct horse battery staple"

func TestKeyring(t *testing.T) {
	k := NewKeyring()
	key := []byte(secretText)
	if err := k.Add("a", key); err != nil {
		t.Fatal(err)
	}
	want := compileWith(t, k, "mask_hmac({col})")
	clear(key) // the keyring has a copy
	if got := compileWith(t, k, "hmac({col}, 'a')"); got != want {
		t.Error("the key changed with the caller's slice")
	}
	for _, c := range []struct {
		name string
		key  string
		ok   bool
	}{
		{"", secretText, false},
		{"a", secretText, false},
		{"short", "thirteen byte", false},
		{"empty", "", false},
		{"least", "fourteen bytes", true},
	} {
		err := k.Add(c.name, []byte(c.key))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", c.name, err)
		}
		if err != nil && c.key != "" && strings.Contains(err.Error(), c.key) {
			t.Errorf("%q: the error holds the key", c.name)
		}
	}
	if got := k.Names(); !slices.Equal(got, []string{"a", "least"}) {
		t.Errorf("%q", got)
	}
	// With two keys, or with none, the handle is needed.
	for _, keys := range []*Keyring{k, NewKeyring(), nil} {
		if _, err := compileErr("mask_hmac({col})", text, Options{Keys: keys}); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "mask_hmac") {
			t.Errorf("%v", err)
		}
	}
	if _, err := compileErr("hmac({col}, 'a')", text, Options{}); !errors.Is(err, ErrKey) {
		t.Errorf("no keyring: %v", err)
	}
}

func compileWith(t *testing.T, k *Keyring, src string) string {
	t.Helper()
	p, err := compileErr(src, text, Options{Keys: k})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.EvalRow(str("x"))
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Bytes)
}

// No way of printing shows a key: the ring, what holds it, or a program.
func TestKeysAreNeverPrinted(t *testing.T) {
	k := NewKeyring()
	if err := k.Add("handle", []byte(secretText)); err != nil {
		t.Fatal(err)
	}
	e, err := Parse("hmac({col}, 'handle')")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(e, text, Options{Keys: k})
	if err != nil {
		t.Fatal(err)
	}
	decimal := strings.Trim(fmt.Sprint([]byte(secretText)), "[]")
	spellings := []string{secretText, decimal, fmt.Sprintf("%x", secretText), fmt.Sprintf("%X", secretText), fmt.Sprintf("%#v", []byte(secretText))}
	for _, v := range []any{k, *k, Options{Keys: k}, &Options{Keys: k}, struct{ K Keyring }{*k}, struct{ k Keyring }{*k}, k.keys["handle"], []secret{k.keys["handle"]},
		p, *p, p.root, *p.root, p.root.set, e, p.Uses()} {
		texts := []string{fmt.Sprint(v), fmt.Sprintln(v), k.String(), k.GoString()}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
		if b, err := json.Marshal(v); err == nil {
			texts = append(texts, string(b))
		}
		for _, out := range texts {
			for _, s := range spellings {
				if strings.Contains(out, s) {
					t.Errorf("%T prints the key", v)
				}
			}
		}
	}
}
