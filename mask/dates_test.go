package mask

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func day(s string) int64 {
	t, err := time.Parse("2006-01-02", s)
	if err != nil {
		panic(err)
	}
	return t.Unix() / 86400
}

func TestDates(t *testing.T) {
	const year0 = -719528 // 0000-01-01
	for _, c := range []struct {
		args string // day, month, year
		in   string
		want string // "" is NULL
	}{
		{"0, 0, 0", "2016-04-20", "0000-01-01"}, // day 0 is out of range: 1
		{"-1, 0, 0", "2016-04-20", "0000-01-20"},
		{"1, -1, 0", "2016-04-20", "0000-04-01"},
		{"1, -1, -1", "2016-04-20", "2016-04-01"},
		{"-1, 0, -1", "2016-04-20", "2016-01-20"},
		{"-1, -1, 0", "2016-04-20", "0000-04-20"},
		{"-1, -1, -1", "2016-04-20", "2016-04-20"},
		{"1, 0, -1", "2016-02-29", "2016-01-01"}, // MASK_DATE_SHOW_YEAR
		{"-1, -1, 2000", "2016-02-29", "2000-02-29"},
		{"-1, -1, 2001", "2016-02-29", ""},
		{"-1, 1, -1", "2019-01-31", ""}, // 31 February
		{"-1, 1, -1", "2020-01-29", "2020-02-29"},
		{"31, -1, -1", "2019-04-02", ""},
		{"32, 12, 9999", "2019-04-02", "9999-01-01"}, // out of range: the defaults
		{"'5', '6', '1999'", "2019-04-02", "1999-07-05"},
		{"NULL, NULL, NULL", "2019-04-02", "0000-01-01"},
		{"-1, -1, -1", "1582-10-05", "1582-10-05"}, // one calendar throughout
		{"15, 9, -1", "1582-10-05", "1582-10-15"},
	} {
		src := "mask({col}, 'x', 'x', 'x', -1, '1', " + c.args + ")"
		for _, src := range []string{src, "mask_first_n({col}, 4, 'x', 'x', 'x', -1, '1', " + c.args + ")"} {
			d := one(t, src, Value{Kind: Date32, Int: day(c.in)})
			ms := one(t, src, Value{Kind: Date64, Int: day(c.in) * millisPerDay})
			if c.want == "" {
				if !d.Null || !ms.Null {
					t.Errorf("%s of %s: %s, %s, want NULL", src, c.in, d.spell(), ms.spell())
				}
				continue
			}
			if d.Null || ms.Null || d.Int != day(c.want) || ms.Int != day(c.want)*millisPerDay {
				t.Errorf("%s of %s: %s, %s, want %s", src, c.in, d.spell(), ms.spell(), c.want)
			}
		}
	}
	for _, f := range []string{"mask({col})", "mask_last_n({col}, 2)", "mask_show_first_n({col})"} {
		if got := one(t, f, Value{Kind: Date32, Int: day("2024-05-06")}); got.Int != year0 {
			t.Errorf("%s: %s", f, got.spell())
		}
	}
	// A Date64 with a time of day loses it, before 1970 as well.
	for ms, want := range map[int64]string{
		1: "2000-01-01", millisPerDay - 1: "2000-01-01", millisPerDay: "2000-01-02",
		-1: "2000-12-31", -millisPerDay: "2000-12-31", -millisPerDay - 1: "2000-12-30",
	} {
		if got := one(t, "mask({col}, -1, -1, -1, -1, -1, -1, -1, 2000)", Value{Kind: Date64, Int: ms}); got.Int != day(want)*millisPerDay {
			t.Errorf("%d ms: %s, want %s", ms, got.spell(), want)
		}
	}
}

// The first year of a type is not whole: its first of January is no answer.
func TestDatesOutsideTheType(t *testing.T) {
	const showYear = "mask({col}, 'x', 'x', 'x', -1, '1', 1, 0, -1)"
	const lastDay = "mask({col}, 'x', 'x', 'x', -1, '1', 31, 11, -1)"
	for _, c := range []struct {
		src   string
		first Value
	}{
		{showYear, Value{Kind: Date32, Int: math.MinInt32}},
		{showYear, Value{Kind: Date64, Int: math.MinInt64}},
		{lastDay, Value{Kind: Date32, Int: math.MaxInt32}},
		{lastDay, Value{Kind: Date64, Int: math.MaxInt64}},
	} {
		if got := one(t, c.src, c.first); !got.Null {
			t.Errorf("%s of the outermost %s: %s", c.src, c.first.Kind, got.spell())
		}
	}
}

// The calendar against package time, day by day over two eras and at the ends
// of the types.
func TestCalendar(t *testing.T) {
	check := func(days int64) {
		year, month, d := civil(days)
		y, m, dd := time.Unix(days*86400, 0).UTC().Date()
		if year != int64(y) || month != int64(m) || d != int64(dd) {
			t.Fatalf("day %d: %d-%d-%d, want %d-%d-%d", days, year, month, d, y, m, dd)
		}
		if back := dayNumber(year, month, d); back != days {
			t.Fatalf("day %d comes back as %d", days, back)
		}
	}
	for days := int64(-2 * eraDays); days < 2*eraDays; days++ {
		check(days)
	}
	for d := range int64(800) {
		for _, end := range []int64{math.MinInt32, math.MaxInt32, math.MinInt64 / millisPerDay, math.MaxInt64 / millisPerDay, -eraOffset} {
			check(end - d)
			check(end + d)
		}
	}
	for _, year := range []int64{minYear, maxYear} {
		for _, d := range []int64{dayNumber(year, 1, 1), dayNumber(year, 12, 31)} {
			if d != int64(int32(d)) {
				t.Errorf("year %d does not fit", year)
			}
		}
	}
}

// Nullable says exactly whether some date has no answer.
func TestDateNullable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var column []Value
	for _, from := range []int64{math.MinInt32, day("1999-01-01"), math.MaxInt32 - 1500} {
		for d := range int64(1500) {
			column = append(column, Value{Kind: Date32, Int: from + d})
		}
	}
	v := build(rng, Type{Kind: Date32}, LayoutFixed, column)
	seen := map[bool]int{}
	for _, d := range []int{-1, 1, 28, 29, 30, 31} {
		for _, m := range []int{-1, 0, 1, 3} {
			for _, y := range []int{-1, 0, 2023, 2024} {
				src := fmt.Sprintf("mask({col}, -1, -1, -1, -1, -1, %d, %d, %d)", d, m, y)
				p := compile(t, src, Type{Kind: Date32})
				out := eval(t, p, v, EvalOptions{Threads: 2})
				if p.Nullable() != (out.Nulls > 0) {
					t.Errorf("%s: nullable %v, %d of %d are NULL", src, p.Nullable(), out.Nulls, out.Len)
				}
				checkAgainstRows(t, p, src, column, out)
				seen[p.Nullable()]++
			}
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("the table covers one side only: %v", seen)
	}
}
