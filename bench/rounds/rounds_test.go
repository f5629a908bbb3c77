package rounds

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
)

// logging is sides that write down who ran.
func logging(names ...string) (sides []Side, log *[]string) {
	log = new([]string)
	for _, name := range names {
		sides = append(sides, Side{Name: name, Run: func() error {
			*log = append(*log, name)
			return nil
		}})
	}
	return sides, log
}

// TestOrder: all warm up, then they take turns, and every round begins with
// another.
func TestOrder(t *testing.T) {
	sides, log := logging("a", "b", "c")
	timings, err := Run(4, sides)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(*log, ""), "abc"+"abc"+"bca"+"cab"+"abc"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	for i, name := range []string{"a", "b", "c"} {
		if timings[i].Name != name || len(timings[i].Times) != 4 {
			t.Errorf("timing %d is %s of %d rounds", i, timings[i].Name, len(timings[i].Times))
		}
	}
}

// TestPasses: the passes of a round are interleaved too; no two turns of a side
// follow each other but where one round or pass ends and the next begins.
func TestPasses(t *testing.T) {
	sides, log := logging("a", "b")
	if _, err := RunPasses(2, 3, sides); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(*log, ""), "ab"+"abbaab"+"baabba"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
}

// TestTurn: a quick side runs several times in a turn, a slow one once.
func TestTurn(t *testing.T) {
	runs := 0
	side := Side{Name: "a", Turn: 1000, Run: func() error { runs++; return nil }}
	if _, err := side.turn(); err != nil || runs != 1000 {
		t.Errorf("%d runs, %v", runs, err)
	}
	side, err := NewSide("b", func() error { runs++; return nil })
	if err != nil || side.Turn < 2 {
		t.Errorf("a turn of %d runs that do nothing, %v", side.Turn, err)
	}
	side, err = NewSide("c", func() error { time.Sleep(2 * least); return nil })
	if err != nil || side.Turn != 1 {
		t.Errorf("a turn of %d long runs, %v", side.Turn, err)
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for after := range 4 {
		left := after
		side := Side{Name: "bad", Run: func() error {
			if left == 0 {
				return broken
			}
			left--
			return nil
		}}
		good, _ := logging("good")
		if _, err := RunPasses(2, 2, append(good, side)); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("after %d runs: %v", after, err)
		}
		left = after
		if _, err := NewSide("bad", side.Run); !errors.Is(err, broken) {
			t.Errorf("a new side, after %d runs: %v", after, err)
		}
	}
	for _, n := range [][2]int{{0, 1}, {1, 0}, {-1, 1}} {
		if _, err := RunPasses(n[0], n[1], nil); err == nil {
			t.Errorf("%d rounds of %d passes are no error", n[0], n[1])
		}
	}
}

// TestUnsure: what agrees is sure, whatever one round in five was, and more
// rounds make surer.
func TestUnsure(t *testing.T) {
	if got := unsure([]float64{2, 2, 2, 9, 2}); got != 0 {
		t.Errorf("four that agree: %v", got)
	}
	few := unsure([]float64{1, 1.5, 2, 2.5, 3})
	if want := 0.93 * 1 / math.Sqrt(5) / 2; math.Abs(few-want) > 1e-12 {
		t.Errorf("got %v, want %v", few, want)
	}
	if more := unsure(slices.Repeat([]float64{1, 1.5, 2, 2.5, 3}, 3)); more >= few {
		t.Errorf("of 15 %v, of 5 %v", more, few)
	}
	if got := unsure([]float64{3}); got != 0 {
		t.Errorf("one: %v", got)
	}
}

// TestPatience: rounds are added where the ratios differ, up to the most, and
// while there is time.
func TestPatience(t *testing.T) {
	alike := []Timing{timing("a", 1, 1, 1), timing("b", 2, 2, 2)}
	differ := []Timing{timing("a", 1, 1, 1), timing("b", 2, 4, 8)}
	for _, c := range []struct {
		name    string
		p       *Patience
		timings []Timing
		want    bool
	}{
		{"none", nil, differ, false},
		{"unsure", &Patience{Rounds: 4, Left: 1}, differ, true},
		{"sure", &Patience{Rounds: 4, Left: 1}, alike, false},
		{"enough rounds", &Patience{Rounds: 3, Left: 1}, differ, false},
		{"no time", &Patience{Rounds: 4}, differ, false},
		{"one side", &Patience{Rounds: 4, Left: 1}, differ[:1], false},
	} {
		if got := c.p.more(c.timings); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// Rounds that are very different: one side sleeps ever longer.
	wait := time.Duration(0)
	slow := Side{Name: "b", Run: func() error { time.Sleep(wait); wait += 4 * time.Millisecond; return nil }}
	quick := Side{Name: "a", Run: func() error { time.Sleep(time.Millisecond); return nil }}
	p := &Patience{Rounds: 5, Left: time.Minute}
	timings, err := RunSteady(3, 1, []Side{quick, slow}, p)
	if err != nil || len(timings[0].Times) != 5 || len(timings[1].Times) != 5 || p.Left >= time.Minute {
		t.Errorf("%d rounds, %v left, %v", len(timings[0].Times), p.Left, err)
	}
}

// timing is one whose figures follow from the times.
func timing(name string, times ...time.Duration) Timing {
	return Timing{Name: name, Times: times, Min: slices.Min(times), Median: Median(times)}
}

// TestRecords: a disturbance that slows both sides of a round does not change
// the ratio.
func TestRecords(t *testing.T) {
	ours := timing(result.Ours, 10, 30, 11, 20, 12)
	rival := timing("rival", 50, 150, 56, 100, 59)
	records, err := Records("s", result.Keys("k", 1), "ns/row", 10, []Timing{ours, rival}, map[string]float64{"rows": 10})
	if err != nil {
		t.Fatal(err)
	}
	a, b := records[0], records[1]
	if a.Side != result.Ours || a.Min != 1 || a.Median != 1.2 || a.Rounds != 5 || a.Ratio != 0 || a.Extra["rows"] != 10 || len(a.Extra) != 1 {
		t.Errorf("ours: %+v", a)
	}
	if b.Side != "rival" || b.Min != 5 || b.Median != 5.9 || b.Ratio != 5 || b.Extra["ratio_min"] != 5 || b.Extra["rows"] != 10 {
		t.Errorf("rival: %+v", b)
	}
	if b.Get("k") != "1" || b.Suite != "s" || b.Unit != "ns/row" {
		t.Errorf("rival: %+v", b)
	}
	records, err = Records("s", nil, "s", 1, []Timing{rival}, nil)
	if err != nil || records[0].Ratio != 0 {
		t.Errorf("without ours there is no ratio: %+v, %v", records, err)
	}
	if _, err := Records("s", nil, "s", 0, []Timing{rival}, nil); err == nil {
		t.Error("no work is no error")
	}
}

func TestMedian(t *testing.T) {
	values := []int{3, 1, 2}
	if got := Median(values); got != 2 || values[0] != 3 {
		t.Errorf("median %d of %v", got, values)
	}
	if got := Median([]float64{1, 2}); got != 2 {
		t.Errorf("median %v", got)
	}
}
