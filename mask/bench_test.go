package mask

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchColumn is a column of names, addresses and the like.
func benchColumn(rows int, ascii bool, nulls float64) *Vector {
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"Anna", "Schmidt", "4012-8888-8888-1881", "mail@example.org", "Main Street 12", "1984-02-29"}
	if !ascii {
		words = append(words, "Müller", "日本語テスト", "Ελένη")
	}
	v := &Vector{Type: text, Len: rows, Layout: LayoutOffsets32, Offsets32: []int32{0}}
	if nulls > 0 {
		v.Valid = make([]byte, bitmapSize(rows))
	}
	for i := range rows {
		if rng.Float64() >= nulls {
			v.Data = append(v.Data, words[rng.IntN(len(words))]+" "+words[rng.IntN(len(words))]...)
			if nulls > 0 {
				v.Valid[i>>3] |= 1 << (i & 7)
			}
		}
		v.Offsets32 = append(v.Offsets32, int32(len(v.Data)))
	}
	return v
}

func benchEval(b *testing.B, src string, in *Vector) {
	p := compile(b, src, in.Type)
	b.SetBytes(int64(len(in.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Eval(context.Background(), in, EvalOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(in.Len)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkEval is whole evaluations, each output newly allocated.
func BenchmarkEval(b *testing.B) {
	const rows = 65536
	for _, data := range []struct {
		name string
		in   *Vector
	}{
		{"data=ascii/nulls=0", benchColumn(rows, true, 0)},
		{"data=ascii/nulls=0.1", benchColumn(rows, true, 0.1)},
		{"data=mixed/nulls=0.1", benchColumn(rows, false, 0.1)},
	} {
		for _, f := range []string{"mask", "mask_first_n", "mask_show_last_n", "mask_hash", "hex"} {
			b.Run(fmt.Sprintf("fn=%s/rows=%d/%s", f, rows, data.name), func(b *testing.B) {
				benchEval(b, f+"({col})", data.in)
			})
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, in := range []Type{{Kind: Int32}, {Kind: Int64}, {Kind: Date32}} {
		b.Run(fmt.Sprintf("fn=mask/rows=%d/data=%s/nulls=0", rows, in), func(b *testing.B) {
			column := make([]Value, rows)
			for i := range column {
				column[i] = Value{Kind: in.Kind, Int: randomInt(rng, in)}
			}
			benchEval(b, "mask({col})", build(rng, in, LayoutFixed, column))
		})
	}
}
