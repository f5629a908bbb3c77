package overhead

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

func TestFitLine(t *testing.T) {
	rows := []float64{1, 16, 256, 4096, 65536}
	line := Line{Intercept: 900, Slope: 0.25}
	var y []float64
	for _, x := range rows {
		y = append(y, line.Intercept+line.Slope*x)
	}
	got, err := FitLine(rows, y)
	if err != nil || !near(got.Intercept, 900, 1e-9) || !near(got.Slope, 0.25, 1e-9) {
		t.Errorf("%+v, %v", got, err)
	}
	// Noise of 5 % on every point moves the intercept by about as much, although
	// the last point's noise is as large as the intercept itself.
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		noisy := make([]float64, len(y))
		for i := range y {
			noisy[i] = y[i] * (1 + 0.1*(rng.Float64()-0.5))
		}
		if got, err := FitLine(rows, noisy); err != nil || !near(got.Intercept, 900, 0.06) || !near(got.Slope, 0.25, 0.06) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	for name, points := range map[string][2][]float64{
		"one x": {{3, 3}, {1, 2}}, "one point": {{3}, {1}}, "none": {nil, nil},
		"zero": {{1, 2}, {0, 1}}, "lengths": {{1, 2}, {1}}, "not a number": {{1, 2}, {math.NaN(), 1}},
	} {
		if l, err := FitLine(points[0], points[1]); err == nil {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestUntil(t *testing.T) {
	// 99 of 9900 is 1 %.
	l := Line{Intercept: 99, Slope: 9.801}
	if x := l.Until(0.01); !near(x, 1000, 1e-9) || !near(l.Intercept/(l.Intercept+l.Slope*x), 0.01, 1e-9) {
		t.Error(x)
	}
	if x := (Line{Intercept: -1, Slope: 1}).Until(0.01); x != 0 {
		t.Error(x)
	}
	if x := (Line{Intercept: 1}).Until(0.01); !math.IsInf(x, 1) {
		t.Error(x)
	}
}

func TestExponent(t *testing.T) {
	x := []float64{5, 50, 100, 1000}
	for _, p := range []float64{0, 0.5, 1, 2} {
		var y []float64
		for _, v := range x {
			y = append(y, 7*math.Pow(v, p))
		}
		if got, err := Exponent(x, y); err != nil || math.Abs(got-p) > 1e-9 {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
	// n log n lies a little above linear.
	var y []float64
	for _, v := range x {
		y = append(y, v*math.Log(v))
	}
	if got, err := Exponent(x, y); err != nil || got < 1.2 || got > 1.5 {
		t.Error(got, err)
	}
	for name, points := range map[string][2][]float64{"zero": {{1, 2}, {0, 1}}, "lengths": {{1, 2}, {1}}, "one x": {{1, 1}, {1, 2}}} {
		if p, err := Exponent(points[0], points[1]); err == nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}
