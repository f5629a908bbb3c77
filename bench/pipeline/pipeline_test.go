package pipeline

import (
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	j := job{rows: 10, rounds: 2, cases: []string{"1", "8-values"}}
	for rounds, want := range map[int]string{0: "--job 10 2 1 8-values", 7: "--job 10 7 1 8-values"} {
		if got := strings.Join(j.arguments(rounds), " "); got != want {
			t.Errorf("rounds %d: got %s, want %s", rounds, got, want)
		}
	}
}

// TestJobs: 1 and 10 of 20 columns of ten million rows are what the suite is
// for, and one other file has the curve, each case once.
func TestJobs(t *testing.T) {
	byRows := map[int][]string{}
	for _, j := range jobs {
		byRows[j.rows] = append(byRows[j.rows], j.cases...)
	}
	if large := byRows[10_000_000]; !slices.Equal(large, []string{"1", "10"}) || len(byRows) != 2 {
		t.Errorf("cases by rows are %v", byRows)
	}
	for rows, cases := range byRows {
		if slices.Sort(cases); len(slices.Compact(slices.Clone(cases))) != len(cases) {
			t.Errorf("%d rows have a case twice: %v", rows, cases)
		}
	}
}
