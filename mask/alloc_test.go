package mask

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/arrowmask/arrowmask/internal/race"
)

// The number of allocations of one Eval does not depend on the rows.
func TestAllocationsDoNotGrow(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools at random")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	rng := rand.New(rand.NewPCG(1, 1))
	ctx := context.Background()
	words := [][]byte{{}, []byte("short"), []byte("日本語テスト"), []byte("a longer value that needs another block of the digest, and more of it"), []byte("bad \xff byte")}
	for src, in := range map[string]Type{
		"mask({col})":                                text,
		"mask_show_last_n({col}, 2)":                 text,
		"mask_first_n({col}, 2, '日')":                text,
		"mask_hash({col})":                           text,
		"hmac({col}, 'k1')":                          text,
		"digest({col}, 'sha512')":                    text,
		"hex({col})":                                 text,
		"{col}":                                      text,
		"mask_null({col})":                           text,
		"'constant'":                                 text,
		"md5(sha2(mask({col}), 256))":                text,
		"mask_last_n({col}, 3)":                      {Kind: Int64},
		"mask({col}, -1, -1, -1, -1, 9)":             {Kind: Uint8},
		"mask({col}, -1, -1, -1, -1, -1, -1, 1, -1)": {Kind: Date32},
	} {
		// The backends have such a test of their own; one will do here.
		p, err := compileErr(src, in, Options{Keys: testKeys(t), Backend: "std"})
		if err != nil {
			t.Fatal(err)
		}
		var few float64
		for i, rows := range []int{numberRows, 5 * numberRows} {
			column := make([]Value, rows)
			for j := range column {
				column[j] = Value{Kind: in.Kind, Null: j%7 == 3, Bytes: words[j%len(words)], Int: int64(j)}
			}
			v := build(rng, in, layoutOf(in), column)
			n := testing.AllocsPerRun(5, func() {
				if _, err := p.Eval(ctx, v, EvalOptions{}); err != nil {
					t.Fatal(err)
				}
			})
			if i == 0 {
				few = n
			} else if n > few+2 { // the process may allocate a little by itself
				t.Errorf("%s: %v allocations for %d rows, %v for a fifth of them", src, n, rows, few)
			}
		}
		if few > 40 {
			t.Errorf("%s: %v allocations", src, few)
		}
	}
}
