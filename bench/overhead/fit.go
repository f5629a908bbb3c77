package overhead

import (
	"fmt"
	"math"
)

// Line is y = Intercept + Slope x.
type Line struct{ Intercept, Slope float64 }

// FitLine is the line whose relative errors have the least sum of squares:
// every point counts by 1/y². Without the weights the dearest point alone would
// set the intercept, which is what the fit is for. It needs two different x
// and positive y.
func FitLine(x, y []float64) (Line, error) {
	if len(x) != len(y) {
		return Line{}, fmt.Errorf("fit: %d x, %d y", len(x), len(y))
	}
	w := make([]float64, len(y))
	for i, v := range y {
		if !(v > 0) {
			return Line{}, fmt.Errorf("fit: y of point %d is %v", i, v)
		}
		w[i] = 1 / (v * v)
	}
	return leastSquares(x, y, w)
}

// leastSquares solves the normal equations around the weighted means, which
// loses the fewest digits.
func leastSquares(x, y, w []float64) (Line, error) {
	var sum, mx, my float64
	for i := range x {
		sum += w[i]
		mx += w[i] * x[i]
		my += w[i] * y[i]
	}
	mx, my = mx/sum, my/sum
	var xx, xy float64
	for i := range x {
		xx += w[i] * (x[i] - mx) * (x[i] - mx)
		xy += w[i] * (x[i] - mx) * (y[i] - my)
	}
	if !(xx > 0) {
		return Line{}, fmt.Errorf("fit: %d points of one x", len(x))
	}
	slope := xy / xx
	return Line{Intercept: my - slope*mx, Slope: slope}, nil
}

// Until is the x from which on the intercept is at most a share of y; 0 where
// it always is, infinite where it never gets there.
func (l Line) Until(share float64) float64 {
	switch {
	case l.Intercept <= 0:
		return 0
	case l.Slope <= 0:
		return math.Inf(1)
	}
	return l.Intercept * (1 - share) / (share * l.Slope)
}

// Exponent is p of y = c x^p: the slope of log y over log x. 1 is linear.
func Exponent(x, y []float64) (float64, error) {
	if len(x) != len(y) {
		return 0, fmt.Errorf("exponent: %d x, %d y", len(x), len(y))
	}
	lx, ly, w := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		if !(x[i] > 0 && y[i] > 0) {
			return 0, fmt.Errorf("exponent: point %d is (%v, %v)", i, x[i], y[i])
		}
		lx[i], ly[i], w[i] = math.Log(x[i]), math.Log(y[i]), 1
	}
	l, err := leastSquares(lx, ly, w)
	return l.Slope, err
}
