package blake2b

import (
	"strings"
	"testing"
)

// TestChoose: a backend of that name, or generic; one with wrong digests is
// dropped with a warning.
func TestChoose(t *testing.T) {
	for _, b := range All() {
		want := "generic"
		if b.Available() {
			want = b.Name
		}
		if got := Choose(b.Name).Name; got != want {
			t.Errorf("%s: %s, want %s", b.Name, got, want)
		}
	}
	if got := Choose("no such").Name; got != "generic" {
		t.Errorf("an unknown name: %s", got)
	}

	generic := &Backend{Name: "generic"}
	calls := 0
	right := &Backend{Name: "right", compress: func(l *lanes) {
		calls++
		for lane := range width {
			var s State
			var m [block / 8]uint64
			for i := range s {
				s[i] = l[wordState+i][lane]
			}
			for i := range m {
				m[i] = l[wordBlock+i][lane]
			}
			s.compress(&m, l[wordCount][lane], l[wordLast][lane])
			for i := range s {
				l[wordState+i][lane] = s[i]
			}
		}
	}}
	wrong := &Backend{Name: "wrong", compress: func(l *lanes) {
		right.compress(l)
		l[wordState][width-1] ^= 1 // one bit, in one lane
	}}
	var said []string
	warn := func(format string, v ...any) { said = append(said, format) }
	for name, want := range map[string]string{"right": "right", "wrong": "generic"} {
		if got := choose([]*Backend{right, wrong, generic}, name, warn).Name; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "dropped") {
		t.Errorf("warnings %q", said)
	}
	before := calls
	if choose([]*Backend{right, wrong, generic}, "right", warn); calls != before {
		t.Error("the self-test ran again")
	}
}
