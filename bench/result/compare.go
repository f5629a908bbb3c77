package result

import (
	"fmt"
	"io"
)

// Difference is a ratio that two runs disagree about.
type Difference struct {
	A, B Record
	// By is how much larger the larger ratio is: 0.15 is 15 %.
	By float64
}

// Comparison is what two runs have to say about each other.
type Comparison struct {
	Ratios      int // that both runs have
	Worst       float64
	Differences []Difference // in the order of the first run
	OnlyA       []Record     // with a ratio
	OnlyB       []Record
}

// Compare holds every ratio of run a against the same of run b and lists those
// that differ by more than limit (0.15: the larger is more than 1.15 times the
// smaller). Figures without a ratio are not compared: times alone say more
// about the machine's other work than about the code.
func Compare(a, b []Record, limit float64) Comparison {
	other := map[string]Record{}
	for _, r := range b {
		if r.Ratio != 0 {
			other[r.ID()] = r
		}
	}
	var c Comparison
	for _, r := range a {
		if r.Ratio == 0 {
			continue
		}
		s, ok := other[r.ID()]
		if !ok {
			c.OnlyA = append(c.OnlyA, r)
			continue
		}
		delete(other, r.ID())
		c.Ratios++
		by := max(r.Ratio, s.Ratio)/min(r.Ratio, s.Ratio) - 1
		c.Worst = max(c.Worst, by)
		if by > limit {
			c.Differences = append(c.Differences, Difference{r, s, by})
		}
	}
	for _, r := range b {
		if _, left := other[r.ID()]; left && r.Ratio != 0 {
			c.OnlyB = append(c.OnlyB, r)
			delete(other, r.ID())
		}
	}
	return c
}

// Print writes a line for each difference and each ratio that only one run has,
// and a last line that sums up.
func (c Comparison) Print(w io.Writer) error {
	for _, d := range c.Differences {
		if _, err := fmt.Fprintf(w, "differs %s ratio=%s,%s by=%.0f%% ratio_median=%s,%s\n", d.A.ID(),
			Figure(d.A.Ratio), Figure(d.B.Ratio), 100*d.By, Figure(d.A.Extra["ratio_median"]), Figure(d.B.Extra["ratio_median"])); err != nil {
			return err
		}
	}
	for i, only := range [][]Record{c.OnlyA, c.OnlyB} {
		for _, r := range only {
			if _, err := fmt.Fprintf(w, "only in run %d: %s ratio=%s\n", i+1, r.ID(), Figure(r.Ratio)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "ratios=%d differ=%d worst=%.0f%% only=%d,%d\n",
		c.Ratios, len(c.Differences), 100*c.Worst, len(c.OnlyA), len(c.OnlyB))
	return err
}
