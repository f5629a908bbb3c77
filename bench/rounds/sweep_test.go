package rounds

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
)

// cell has one side that takes what took says, run by run from the warm-up on,
// and then always the last.
func cell(key string, log *string, took ...time.Duration) *Cell {
	runs := 0
	return &Cell{Key: result.Keys("k", key), Sides: func() ([]Side, error) {
		*log += key
		return []Side{{Name: "s", Units: 1, Run: Told(func() (time.Duration, error) {
			runs++
			return took[min(runs, len(took))-1], nil
		})}}, nil
	}}
}

// TestSweep: every cell has had a round before one has its next.
func TestSweep(t *testing.T) {
	var log string
	var told []int
	cells := []*Cell{cell("a", &log, 5), cell("b", &log, 7)}
	s := Sweep{Rounds: 3, Patience: time.Hour, Told: func(round int) { told = append(told, round) }}
	if err := s.Run(t.Context(), cells); err != nil {
		t.Fatal(err)
	}
	if log != "ababab" || len(told) != 3 || told[2] != 2 {
		t.Errorf("played %s, told %v", log, told)
	}
	if got := cells[1].Timings()[0]; len(got.Rounds) != 3 || got.Min != 7 {
		t.Errorf("%+v", got)
	}
}

// TestPatience: cells whose smallest times rest on one round play on, while
// there is time and at most three times as long.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		patience time.Duration
		took     []time.Duration
		want     string
	}{
		{time.Hour, []time.Duration{9, 8, 9, 8}, "abab" + "b"},                           // the third is as fast
		{time.Hour, []time.Duration{9, 128, 64, 32, 16, 8, 4}, "abab" + "bbbb"},          // ever faster
		{0, []time.Duration{9, 128, 64, 32, 16, 8, 4}, "abab"},                           // no time
		{time.Hour, []time.Duration{9, 8, 8}, "abab"},                                    // steady
		{time.Hour, []time.Duration{9, 1000, 1010, 900}, "abab"},                         // within the limit
		{time.Hour, []time.Duration{9, 1000, 1100, 900, 1100, 905}, "abab" + "bb" + "b"}, // the fastest twice
	} {
		var log string
		cells := []*Cell{cell("a", &log, 5), cell("b", &log, c.took...)}
		if err := (Sweep{Rounds: 2, Patience: c.patience}).Run(t.Context(), cells); err != nil || log != c.want {
			t.Errorf("%v: played %s, want %s, %v", c.took, log, c.want, err)
		}
	}
}

func TestSweepErrors(t *testing.T) {
	broken := errors.New("broken")
	var log string
	good := cell("a", &log, 5)
	bad := &Cell{Key: result.Keys("k", "bad"), Sides: func() ([]Side, error) { return nil, broken }}
	if err := (Sweep{Rounds: 1}).Run(t.Context(), []*Cell{good, bad}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("%v", err)
	}
	if err := (Sweep{}).Run(t.Context(), nil); err == nil {
		t.Error("no rounds are no error")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (Sweep{Rounds: 1}).Run(ctx, []*Cell{good}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
