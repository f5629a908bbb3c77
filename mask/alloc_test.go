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
	type call struct {
		in      Type
		dialect string
	}
	int8s := Type{Kind: Int8}
	for src, c := range map[string]call{
		"mask({col})":                                {in: text},
		"mask_show_last_n({col}, 2)":                 {in: text},
		"mask_first_n({col}, 2, '日')":                {in: text},
		"mask_hash({col})":                           {in: text},
		"hmac({col}, 'k1')":                          {in: text},
		"digest({col}, 'sha512')":                    {in: text},
		"hex({col})":                                 {in: text},
		"{col}":                                      {in: text},
		"mask_null({col})":                           {in: text},
		"'constant'":                                 {in: text},
		"md5(sha2(mask({col}), 256))":                {in: text},
		"mask_last_n({col}, 3)":                      {in: Type{Kind: Int64}},
		"mask({col}, -1, -1, -1, -1, 9)":             {in: Type{Kind: Uint8}},
		"mask({col}, -1, -1, -1, -1, -1, -1, 1, -1)": {in: Type{Kind: Date32}},
		"mask({col}, 'X')":                           {text, "hive"},
		"mask({col}, '😀', 'x', 'n', '*')":            {text, "spark"},
		"mask_show_first_n({col}, 3)":                {text, "impala"},
		"mask_show_first_n({col}, 1)":                {text, "impala-utf8"},
		"mask_first_n({col})":                        {int8s, "impala"},
		"mask_hash({col}, 'sha512')":                 {text, "hive"},
		"mask_hash({col}, NULL)":                     {text, "impala"},
		"blake2b({col}, 'k1')":                       {in: text},
		"mask_email({col})":                          {in: text},
		"mask_card({col})":                           {in: text},
		"regexp_replace({col}, '[a-z]', 'x')":        {text, "trino"},
		"cast({col} AS char(9))":                     {in: text},
		"hash_row({col}, {col})":                     {in: text},
		"hash_row({col}, mask({col}))":               {in: Type{Kind: Int16}},
	} {
		in := c.in
		// The backends have such a test of their own; one will do here.
		p, err := compileErr(src, in, Options{Keys: testKeys(t), Backend: "std", Dialect: c.dialect})
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
