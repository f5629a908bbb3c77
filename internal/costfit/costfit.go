// Package costfit tells what a call costs by itself from what it costs for
// each row, for benchmarks.
package costfit

import (
	"slices"
	"time"
)

// Rows are the sizes of batch that a line is fitted through.
var Rows = []int{1, 16, 256, 4096, 65536}

// Cost is a line: a call on n rows takes Fixed + n*PerRow nanoseconds.
type Cost struct{ Fixed, PerRow float64 }

// burst is about how long one call is repeated before it is another's turn.
const burst = 20 * time.Microsecond

// Measure times calls, which take turns, so that a machine that is slow for a
// while is slow for all of them. call(i) must work on Rows[i] rows. A line is
// fitted through the medians of the rounds.
func Measure(rounds int, calls ...func(i int)) []Cost {
	times := make([][][]float64, len(calls)) // by call, then rows
	repeat := make([][]int, len(calls))
	for k, call := range calls {
		times[k], repeat[k] = make([][]float64, len(Rows)), make([]int, len(Rows))
		for i := range Rows {
			call(i) // warm
			start := time.Now()
			call(i)
			repeat[k][i] = 1 + int(burst/(time.Since(start)+1))
		}
	}
	for i := range Rows { // one size after the other: large batches leave cold caches behind
		for range rounds {
			for k, call := range calls {
				start := time.Now()
				for range repeat[k][i] {
					call(i)
				}
				times[k][i] = append(times[k][i], float64(time.Since(start))/float64(repeat[k][i]))
			}
		}
	}
	out := make([]Cost, len(calls))
	for k := range calls {
		medians := make([]float64, len(Rows))
		for i, all := range times[k] {
			slices.Sort(all)
			medians[i] = all[len(all)/2]
		}
		out[k] = Line(Rows, medians)
	}
	return out
}

// Line fits a line by least squares of the relative errors: a batch of 65536
// rows takes a thousand times as long as the cost of the call, and its noise
// alone would drown that if errors counted by their size.
func Line(rows []int, ns []float64) Cost {
	var w, x, y, xx, xy float64
	for i, n := range rows {
		weight, n := 1/(ns[i]*ns[i]), float64(n)
		w += weight
		x += weight * n
		y += weight * ns[i]
		xx += weight * n * n
		xy += weight * n * ns[i]
	}
	slope := (w*xy - x*y) / (w*xx - x*x)
	return Cost{Fixed: (y - slope*x) / w, PerRow: slope}
}
