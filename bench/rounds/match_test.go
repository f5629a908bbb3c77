package rounds

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// logging is sides that write down who ran.
func logging(names ...string) (sides []Side, log *[]string) {
	log = new([]string)
	for _, name := range names {
		sides = append(sides, Side{Name: name, Units: 1, Run: Clocked(func() error {
			*log = append(*log, name)
			return nil
		})})
	}
	return sides, log
}

func play(t *testing.T, m *Match, rounds int, sides []Side) {
	t.Helper()
	for range rounds {
		if err := m.Play(sides); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOrder: all warm up, then they take turns, every round begins with another,
// and every second one goes the other way around.
func TestOrder(t *testing.T) {
	sides, log := logging("a", "b", "c")
	var m Match
	play(t, &m, 4, sides)
	if got, want := strings.Join(*log, ""), "abc"+"abc"+"bac"+"cab"+"acb"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	for i, timing := range m.Timings() {
		if timing.Name != sides[i].Name || len(timing.Rounds) != 4 {
			t.Errorf("timing %d is %s of %d rounds", i, timing.Name, len(timing.Rounds))
		}
	}
}

// TestPasses: the passes of a round are interleaved too; no two turns of a side
// follow each other but where one round or pass ends and the next begins.
func TestPasses(t *testing.T) {
	sides, log := logging("a", "b")
	m := Match{Passes: 3}
	play(t, &m, 2, sides)
	if got, want := strings.Join(*log, ""), "ab"+"abbaab"+"baabba"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	// Where a round would take too long it has fewer passes, but one.
	slow := []Side{{Name: "a", Units: 1, Run: Clocked(func() error { time.Sleep(4 * time.Millisecond); return nil })}}
	for most, want := range map[time.Duration]int{time.Millisecond: 1, time.Hour: 3} {
		m := Match{Passes: 3, Most: most}
		if play(t, &m, 1, slow); m.passes != want {
			t.Errorf("%d passes where a round may take %v, want %d", m.passes, most, want)
		}
	}
}

// TestTurn: a quick side runs several times in a turn, a slow one once, and who
// says how often as often.
func TestTurn(t *testing.T) {
	runs := 0
	count := func() error { runs++; return nil }
	asked := Side{Name: "asked", Units: 1, Turn: 7, Run: Clocked(count)}
	m := Match{Least: time.Hour}
	if play(t, &m, 2, []Side{asked}); runs != 3*7 {
		t.Errorf("%d runs, want three turns of 7", runs)
	}
	runs, asked.Warm = 0, true
	m = Match{}
	if play(t, &m, 1, []Side{asked}); runs != 7 {
		t.Errorf("%d runs of a side that is warm, want one turn of 7", runs)
	}
	const least = time.Millisecond
	quick := Side{Name: "quick", Units: 1, Run: Clocked(count)}
	slow := Side{Name: "slow", Units: 1, Run: Clocked(func() error { time.Sleep(2 * least); return nil })}
	m = Match{Least: least}
	if play(t, &m, 1, []Side{quick, slow}); m.sides[0].runs < 2 || m.sides[1].runs != 1 {
		t.Errorf("turns of %d and %d runs", m.sides[0].runs, m.sides[1].runs)
	}
}

// TestUnits: times are by the unit and what a side says itself, whatever the
// clock says, and the warm-up does not count.
func TestUnits(t *testing.T) {
	calls := 0
	told := Side{Name: "told", Units: 10, Turn: 2, Run: Told(func() (time.Duration, error) {
		if calls++; calls <= 2 {
			return time.Hour, nil
		}
		return time.Duration(calls) * 1000, nil
	})}
	m := Match{Passes: 2}
	play(t, &m, 2, []Side{told})
	// Calls 3 and 4 are the first pass of the first round: 3.5 us by 10 units.
	got := m.Timings()[0]
	if got.Rounds[0] != (350+550)/2 || got.Rounds[1] != (750+950)/2 || got.Min != (350+550)/2 || got.Median != (750+950)/2 {
		t.Errorf("%+v after %d calls", got, calls)
	}
}

// TestSteady: what rests on one round alone is not steady.
func TestSteady(t *testing.T) {
	for _, c := range []struct {
		name string
		took [][]float64
		want float64
	}{
		{"alike", [][]float64{{2, 4}, {2, 4}, {2, 4}}, 0},
		{"one slow round", [][]float64{{2, 4}, {9, 9}, {2, 4}}, 0},
		{"one fast round", [][]float64{{3, 6}, {2, 4}, {3, 6}}, 0.5},
		{"each has a part of the best", [][]float64{{2, 6}, {3, 4}, {9, 9}}, 2.0 / 6},
		{"one round", [][]float64{{2, 4}}, 0},
	} {
		m := Match{sides: []played{{name: "a", took: [][]float64{{1}, {1}, {1}}[:len(c.took)]}, {name: "b", took: c.took}}}
		if got := m.unsure(); math.Abs(got-c.want) > 1e-12 || m.Steady() != (c.want == 0) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPlayErrors(t *testing.T) {
	broken := errors.New("broken")
	for after := range 4 {
		left := after
		bad := Side{Name: "bad", Units: 1, Run: Clocked(func() error {
			if left == 0 {
				return broken
			}
			left--
			return nil
		})}
		good, _ := logging("good")
		m := Match{Passes: 4}
		if err := m.Play(append(good, bad)); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("after %d runs: %v", after, err)
		}
		if m.Rounds() != 0 {
			t.Errorf("after %d runs: a round that failed counts", after)
		}
	}
	sides, _ := logging("a", "b")
	var m Match
	if err := m.Play([]Side{{Name: "idle", Run: sides[0].Run}}); err == nil {
		t.Error("a side without units")
	}
	play(t, &m, 1, sides)
	other, _ := logging("a", "c")
	for _, wrong := range [][]Side{other, sides[:1], append(sides, other[1])} {
		if err := m.Play(wrong); err == nil {
			t.Errorf("%d other sides", len(wrong))
		}
	}
}
