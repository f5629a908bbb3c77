package rounds

import (
	"slices"
	"testing"

	"github.com/arrowmask/arrowmask/bench/result"
)

// TestTiming: the smallest times are taken pass by pass.
func TestTiming(t *testing.T) {
	got := newTiming("a", [][]float64{{1, 9}, {5, 5}, {8, 4}})
	if got.Name != "a" || !slices.Equal(got.Rounds, []float64{5, 5, 6}) || got.Min != (1+4)/2.0 || got.Median != 5 {
		t.Errorf("%+v", got)
	}
}

// timing is one of rounds of one pass.
func timing(name string, rounds ...float64) Timing {
	return Timing{Name: name, Rounds: rounds, Min: slices.Min(rounds), Median: Median(rounds)}
}

// TestRecords: ratios are of the smallest times, and beside them the median of
// those within a round.
func TestRecords(t *testing.T) {
	ours := timing(result.Ours, 1, 3, 1.25, 2, 1.5)
	rival := timing("rival", 6, 18, 7.5, 10, 5)
	records := Records("s", result.Keys("k", 1), "ns/row", []Timing{ours, rival}, map[string]float64{"rows": 10})
	a, b := records[0], records[1]
	if a.Side != result.Ours || a.Min != 1 || a.Median != 1.5 || a.Rounds != 5 || a.Ratio != 0 || a.Extra["rows"] != 10 || len(a.Extra) != 1 {
		t.Errorf("ours: %+v", a)
	}
	if b.Side != "rival" || b.Min != 5 || b.Median != 7.5 || b.Ratio != 5 || b.Extra["ratio_median"] != 6 || b.Extra["rows"] != 10 {
		t.Errorf("rival: %+v", b)
	}
	if b.Get("k") != "1" || b.Suite != "s" || b.Unit != "ns/row" {
		t.Errorf("rival: %+v", b)
	}
	if records := Records("s", nil, "s", []Timing{rival}, nil); records[0].Ratio != 0 {
		t.Errorf("without ours there is no ratio: %+v", records)
	}
}

func TestMedian(t *testing.T) {
	values := []float64{3, 1, 2}
	if got := Median(values); got != 2 || values[0] != 3 {
		t.Errorf("median %v of %v", got, values)
	}
	if got := Median([]float64{1, 2}); got != 2 {
		t.Errorf("median %v", got)
	}
}
