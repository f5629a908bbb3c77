package costfit

import (
	"math"
	"testing"
)

// TestLine: an exact line is found again, and noise of large batches does not
// reach the fixed cost.
func TestLine(t *testing.T) {
	exact, noisy := make([]float64, len(Rows)), make([]float64, len(Rows))
	for i, n := range Rows {
		exact[i] = 1000 + 3*float64(n)
		noisy[i] = exact[i]
		if n > 1000 {
			noisy[i] *= 1.1
		}
	}
	near := func(got, want, off float64) bool { return math.Abs(got-want) <= off*want }
	if c := Line(Rows, exact); !near(c.Fixed, 1000, 1e-9) || !near(c.PerRow, 3, 1e-9) {
		t.Errorf("%+v", c)
	}
	if c := Line(Rows, noisy); !near(c.Fixed, 1000, 0.05) || !near(c.PerRow, 3, 0.12) {
		t.Errorf("with noise: %+v", c)
	}
}

// TestMeasure: every call is given every size as often as every other.
func TestMeasure(t *testing.T) {
	var seen [2][5]int
	costs := Measure(3,
		func(i int) { seen[0][i]++ },
		func(i int) { seen[1][i]++ })
	if len(costs) != 2 {
		t.Fatal(costs)
	}
	for k := range seen {
		for i, n := range seen[k] {
			if n < 2+3 {
				t.Errorf("call %d had %d rows %d times", k, Rows[i], n)
			}
		}
	}
}
