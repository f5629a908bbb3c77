package mask

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestIntegers(t *testing.T) {
	const nines = 9999999999999999999 - 1<<64 // nineteen nines, wrapped at 64 bits
	for _, c := range []struct {
		src  string
		kind Kind
		in   int64
		want int64
	}{
		{"mask({col})", Int32, 0, 1},
		{"mask({col})", Int32, -1, -1},
		{"mask({col})", Int32, 12345, 11111},
		{"mask({col})", Int32, -12345, -11111},
		{"mask({col}, -1, -1, -1, -1, 9)", Int8, 127, -25},   // 999 wraps
		{"mask({col}, -1, -1, -1, -1, 9)", Int8, -128, 25},   // the least value
		{"mask({col}, -1, -1, -1, -1, '5')", Int8, 123, 43},  // 555 wraps
		{"mask({col}, -1, -1, -1, -1, 10)", Int32, 55, 11},   // out of range: 1
		{"mask({col}, -1, -1, -1, -1, '10')", Int32, 55, 11}, // the same as text
		{"mask({col}, -1, -1, -1, -1, -1)", Int32, 55, 11},   // numbers have no keep
		{"mask({col}, -1, -1, -1, -1, NULL)", Int32, 55, 11},
		{"mask_first_n({col}, 2, -1, -1, -1, -1, 0)", Int32, 12345, 345},
		{"mask_first_n({col})", Int32, 1234567, 1111567},
		{"mask_last_n({col}, 2)", Int32, -98765, -98711},
		{"mask_show_first_n({col}, 1)", Int32, 98765, 91111},
		{"mask_show_first_n({col}, 1)", Int8, -128, 89}, // kept digits count against masked ones
		{"mask_show_last_n({col}, 2)", Int32, 98765, 11165},
		{"mask_show_first_n({col}, 5)", Int32, 98765, 98765},
		{"mask_first_n({col}, 0)", Int32, 0, 0},
		{"mask_first_n({col}, 1)", Int32, 0, 1},
		{"mask_show_last_n({col}, 0)", Int32, 0, 1},
		{"mask_show_last_n({col}, 1)", Int32, 0, 0},
		{"mask({col}, -1, -1, -1, -1, 9)", Int64, math.MaxInt64, nines},
		{"mask({col})", Uint8, 255, 111},
		{"mask({col}, -1, -1, -1, -1, 9)", Uint8, 255, 231}, // 999 mod 256
		{"mask({col})", Uint64, -1, -7335632962598440505},   // 20 ones, wrapped at 64 bits
		{"mask_show_last_n({col}, 3)", Uint64, -1, -7335632962598440001},
		{"mask_first_n({col}, 1)", Uint16, 65535, 15535},
		{"mask_last_n({col}, 9)", Uint32, 4294967295, 4111111111},
	} {
		if got := one(t, c.src, Value{Kind: c.kind, Int: c.in}); got.Null || got.Int != c.want {
			t.Errorf("%s of %s %d: %s, want %d", c.src, c.kind, c.in, got.spell(), c.want)
		}
	}
}

// Every value of the narrow types against the reference; of the wide ones the
// values around each power of ten and the ends.
func TestIntegersExhaustive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, in := range plainTypes[:8] {
		var column []Value
		add := func(v int64) {
			drop := 64 - 8*in.size()
			if s := v << drop >> drop; kinds[in.Kind].signed && s == v || !kinds[in.Kind].signed && uint64(v)<<drop>>drop == uint64(v) {
				column = append(column, Value{Kind: in.Kind, Int: v})
			}
		}
		if in.size() <= 2 {
			for v := int64(-1 << 16); v < 1<<16; v++ {
				add(v)
			}
		}
		for p := uint64(1); ; p *= 10 {
			for d := int64(-1); d <= 1; d++ {
				add(int64(p) + d)
				add(-(int64(p) + d))
			}
			if p > math.MaxUint64/10 {
				break
			}
		}
		for b := range 64 {
			add(1<<b - 1)
			add(-1 << b)
			add(1 << b)
		}
		v := build(rng, in, LayoutFixed, column)
		for _, f := range []string{"mask({col}", "mask_first_n({col}, 2", "mask_last_n({col}, 2", "mask_show_first_n({col}, 1", "mask_show_last_n({col}, 3"} {
			for _, number := range []int{0, 9} {
				src := fmt.Sprintf("%s, -1, -1, -1, -1, %d)", f, number)
				p := compile(t, src, in)
				checkAgainstRows(t, p, src, column, eval(t, p, v, EvalOptions{Threads: 2}))
			}
		}
	}
}

// What stays of an integer is what was asked to stay: masks of two values that
// differ only under the window are equal.
func TestIntegersDoNotLeak(t *testing.T) {
	rng := testRand(t)
	for range 3000 {
		digits := 2 + rng.IntN(16)
		n := rng.IntN(digits)
		a := []byte(strings.Repeat("0", digits))
		for i := range a {
			a[i] = byte('1' + rng.IntN(9))
		}
		b := append([]byte(nil), a...)
		for i := n; i < digits; i++ {
			b[i] = byte('0' + rng.IntN(10))
		}
		if n == 0 {
			b[0] = '4'
		}
		var x, y int64
		fmt.Sscan(string(a), &x)
		fmt.Sscan(string(b), &y)
		src := fmt.Sprintf("mask_show_first_n({col}, %d)", n)
		if got, other := one(t, src, Value{Kind: Int64, Int: x}), one(t, src, Value{Kind: Int64, Int: -y}); got.Int != -other.Int {
			t.Fatalf("%s tells %d from %d: %d, %d", src, x, -y, got.Int, other.Int)
		}
	}
}
