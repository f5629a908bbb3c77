package hexenc

import (
	"errors"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// TestChoose: what the variable makes of every kind of entry.
func TestChoose(t *testing.T) {
	backends := []*Backend{{Name: "avx512", Needs: cpu.AVX512F}, {Name: "avx2", Needs: cpu.AVX2}, {Name: "ssse3", Needs: cpu.SSSE3}, {Name: "generic"}}
	for _, c := range []struct {
		value, want string
		forced      bool
		says        string // part of the error; empty for none
	}{
		{"", "avx2", false, ""},
		{" , ,", "avx2", false, ""},
		{"generic", "generic", true, ""},
		{" generic ", "generic", true, ""},
		{"ssse3,generic", "ssse3", true, ""},
		{"generic,hex=ssse3", "ssse3", true, ""},
		{"hex = ssse3 ,hex=generic", "ssse3", true, ""},
		{"std", "avx2", false, ""},
		{"std,shani,generic", "generic", true, ""},
		{"sha256=generic", "avx2", false, ""},
		{"sha256=std,hex=generic", "generic", true, ""},

		{"hex=", "avx2", false, `""`},
		{"hex=shani", "avx2", false, `"shani"`},
		{"hex=SSSE3", "avx2", false, `"SSSE3"`},
		{"generic,hex=none", "avx2", false, `"none"`},
		{"hex=avx512", "avx2", false, "avx512f"},
		{"avx512", "avx2", false, "avx512f"},
		{"generic,avx512", "avx2", false, "avx512f"},
	} {
		got := choose(c.value, backends, cpu.AVX2|cpu.SSSE3)
		if got.Backend.Name != c.want || (got.Why == EnvBackend) != c.forced {
			t.Errorf("%q: %s because %s", c.value, got.Backend.Name, got.Why)
		}
		if (got.Err != nil) != (c.says != "") {
			t.Errorf("%q: error %v", c.value, got.Err)
		}
		if got.Err != nil && (!errors.Is(got.Err, ErrBackend) || !strings.Contains(got.Err.Error(), c.says) || !strings.Contains(got.Err.Error(), EnvBackend)) {
			t.Errorf("%q: error %q does not say %q", c.value, got.Err, c.says)
		}
	}
}

// TestChosen: the package is in the state that its environment asks for.
func TestChosen(t *testing.T) {
	if err := Err(); err != nil {
		t.Fatal(err)
	}
	if c := Chosen(); c.Backend != Active() || c.Why != EnvBackend && c.Backend != best(table, cpu.Features()) {
		t.Errorf("%+v, active is %s", c, Active().Name)
	}
}
