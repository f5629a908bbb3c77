package mask

import (
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/internal/blake2b"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestBlakeBackends: BLAKE2b takes the backend of SHA-512's name and says which
// it is; every one gives the row version's digests, in every layout.
func TestBlakeBackends(t *testing.T) {
	if fips.Enabled() {
		t.Skip("BLAKE2b is refused in FIPS mode")
	}
	rng := testRand(t)
	column := make([]Value, chunkRows+9)
	for i := range column {
		if column[i] = str(strings.Repeat("é1 ", i%150)); i%7 == 3 {
			column[i] = null
		}
	}
	best, err := kernels.Active(kernels.SHA512)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"": best.Name}
	for _, b := range kernels.All(kernels.SHA512) {
		names[b.Name] = b.Name
	}
	for asked, name := range names {
		want := "generic"
		for _, b := range blake2b.All() {
			if b.Name == name && b.Available() {
				want = name
			}
		}
		for _, src := range []string{"blake2b({col}, 'k1')", "blake2b({col}, 'k1', 'legacy')"} {
			p, err := compileErr(src, text, Options{Keys: testKeys(t), Backend: asked})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Uses()[0].Backend; got != want {
				t.Errorf("%s by %q: backend %s, want %s", src, asked, got, want)
			}
			for _, layout := range byteLayouts {
				checkAgainstRows(t, p, src, column, eval(t, p, build(rng, text, layout, column), EvalOptions{Threads: 2}))
			}
		}
	}
}
