package mask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestAppendGrowth: rows that become longer or shorter than there was room for,
// in every layout and on any number of goroutines, and the limit of the output
// to the byte. Nothing is allocated for an output that is refused.
func TestAppendGrowth(t *testing.T) {
	rng := testRand(t)
	column := make([]Value, 3*chunkRows+17)
	for i := range column {
		if column[i] = str(strings.Repeat("ab1 ", rng.IntN(9))); rng.IntN(5) == 0 || i/chunkRows == 1 {
			column[i] = null
		}
	}
	for _, with := range []string{"", "x", "a longer text", "$0$0$0"} {
		for _, expr := range []string{"[ab]", "[ab]+", "a|b"} {
			src := fmt.Sprintf("regexp_replace({col}, '%s', '%s')", expr, with)
			p := compile(t, src, text)
			size := int64(0)
			for _, layout := range byteLayouts {
				in := build(rng, text, layout, column)
				for threads := range 4 {
					out := eval(t, p, in, EvalOptions{Threads: threads})
					checkAgainstRows(t, p, src, column, out)
					size = int64(len(out.Data))
				}
				for limit := size - 1; limit <= size+1; limit++ {
					a := &countingAlloc{}
					out, err := p.Eval(context.Background(), in, EvalOptions{Limit: limit, Threads: 2, Alloc: a})
					if limit >= size || layout == LayoutOffsets64 {
						if err != nil || int64(len(out.Data)) != size {
							t.Errorf("%s, limit %d of %d: %v", src, limit, size, err)
						}
					} else if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "regexp_replace") || out != nil || a.calls != 0 {
						t.Errorf("%s, limit %d of %d: %v after %d allocations", src, limit, size, err, a.calls)
					}
				}
			}
		}
	}
}

// TestAppendStopsInARow: a row that would grow beyond all memory is given up
// once it has passed the limit; an input beyond the limit is no hindrance.
func TestAppendStopsInARow(t *testing.T) {
	rng := testRand(t)
	long := str(strings.Repeat("a", 1<<20))
	in := build(rng, text, LayoutOffsets32, []Value{null, long, long})
	for _, expr := range []string{"a", "(?:a|b)"} { // without and with a search
		src := func(with string) string { return fmt.Sprintf("regexp_replace({col}, '%s', '%s')", expr, with) }
		grow := compile(t, src(strings.Repeat("x", 60000)), text) // 60 GB a row
		if _, err := grow.Eval(context.Background(), in, EvalOptions{Limit: 1 << 22}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", expr, err)
		}
		out := eval(t, compile(t, src(""), text), in, EvalOptions{Limit: 1})
		checkAgainstRows(t, compile(t, src(""), text), expr, []Value{null, long, long}, out)
	}
}
