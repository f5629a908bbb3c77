package cpu

import (
	"slices"
	"testing"
)

func TestOverrides(t *testing.T) {
	for value, want := range map[string][]Override{
		"":        nil,
		" , ,":    nil,
		" avx2 ,": {{Text: "avx2", Backend: "avx2"}},
		"std,sha256 = shani , hex=,=x,a=b=c": {
			{Text: "std", Backend: "std"},
			{Text: "sha256 = shani", What: "sha256", Backend: "shani", Pair: true},
			{Text: "hex=", What: "hex", Pair: true},
			{Text: "=x", Backend: "x", Pair: true},
			{Text: "a=b=c", What: "a", Backend: "b=c", Pair: true},
		},
	} {
		if got := slices.Collect(Overrides(value)); !slices.Equal(got, want) {
			t.Errorf("%q: %+v", value, got)
		}
		for range Overrides(value) { // it may be left early
			break
		}
	}
}
