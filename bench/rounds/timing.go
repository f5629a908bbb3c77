package rounds

import (
	"slices"

	"github.com/arrowmask/arrowmask/bench/result"
)

// Timing is what one side took, in ns a unit.
type Timing struct {
	Name string
	// Rounds are the means of the rounds, in the order in which they were played.
	Rounds []float64
	// Min is the mean over the passes of the smallest time of each in any round:
	// what the work takes where nothing else disturbs it, for what does only adds.
	Min float64
	// Median is that of the rounds.
	Median float64
	// Allocated is bytes a unit, 0 where the match does not count them.
	Allocated float64
}

func newTiming(name string, took [][]float64) Timing {
	t := Timing{Name: name, Rounds: make([]float64, len(took)), Min: smallest(took)}
	for i, passes := range took {
		t.Rounds[i] = mean(passes)
	}
	t.Median = Median(t.Rounds)
	return t
}

// smallest is the mean of the smallest time of every pass.
func smallest(took [][]float64) float64 {
	best := slices.Clone(took[0])
	for _, passes := range took[1:] {
		for i, x := range passes {
			best[i] = min(best[i], x)
		}
	}
	return mean(best)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// Median is the middle of the values, the upper one of two.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Combine makes one series of two, round by round.
func Combine(a, b []float64, f func(a, b float64) float64) []float64 {
	c := make([]float64, len(a))
	for i := range a {
		c[i] = f(a[i], b[i])
	}
	return c
}

// Quotient is for Combine.
func Quotient(a, b float64) float64 { return a / b }

// Records are the records of a cell, a side each. Every side but arrowmask has
// its ratio to arrowmask, where that is among them, by the smallest times; the
// median, over the rounds, of the ratio within a round is Extra["ratio_median"].
// Extra["allocated"] is the bytes that a side allocated a unit, where they were
// counted.
// extra is added to all.
func Records(suite string, key []result.Key, unit string, timings []Timing, extra map[string]float64) []result.Record {
	ours := slices.IndexFunc(timings, func(t Timing) bool { return t.Name == result.Ours })
	records := make([]result.Record, len(timings))
	for i, t := range timings {
		r := result.Record{
			Suite: suite, Case: key, Side: t.Name, Unit: unit, Rounds: len(t.Rounds),
			Min: t.Min, Median: t.Median, Extra: map[string]float64{},
		}
		for name, x := range extra {
			r.Extra[name] = x
		}
		if t.Allocated > 0 {
			r.Extra["allocated"] = t.Allocated
		}
		if ours >= 0 && i != ours {
			r.Ratio = t.Min / timings[ours].Min
			r.Extra["ratio_median"] = Median(Combine(t.Rounds, timings[ours].Rounds, Quotient))
		}
		records[i] = r
	}
	return records
}
