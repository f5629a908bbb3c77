package rival

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/arrowmask/arrowmask/bench/rounds"
)

// ErrOutput: a rival's digests are not ours.
var ErrOutput = errors.New("outputs differ")

// Side is one way to compute a function, which tells itself how long it took:
// starting threads and talking to another process are not the work.
type Side struct {
	Name string
	Rows int // of one run
	Run  func() (time.Duration, error)
}

// Race times sides in turns, as rounds.RunPasses does. Sides may differ in the
// rows of a run: the times are scaled to rows.
func Race(n, passes, rows int, sides []Side) ([]rounds.Timing, error) {
	told := make([][]time.Duration, len(sides))
	turns := make([]rounds.Side, len(sides))
	for i, s := range sides {
		turns[i] = rounds.Side{Name: s.Name, Run: func() error {
			took, err := s.Run()
			told[i] = append(told[i], took)
			return err
		}}
	}
	timings, err := rounds.RunPasses(n, passes, turns)
	if err != nil {
		return nil, err
	}
	for i := range timings {
		t := &timings[i]
		counted := told[i][1:] // without the warm-up
		for round := range t.Times {
			t.Times[round] = 0
			for _, took := range counted[round*passes : (round+1)*passes] {
				t.Times[round] += time.Duration(float64(took) * float64(rows) / float64(sides[i].Rows))
			}
			t.Times[round] /= time.Duration(passes)
		}
		t.Min, t.Median = slices.Min(t.Times), rounds.Median(t.Times)
	}
	return timings, nil
}

// Compare says whether a rival's digests of the first rows are ours, which may
// be of more. The error, which wraps ErrOutput, tells no bytes.
func Compare(side string, got, ours []byte, rows, oursRows int) error {
	width := len(ours) / oursRows
	if len(got) != width*rows {
		return fmt.Errorf("%w: %s: %d bytes for %d rows, not %d", ErrOutput, side, len(got), rows, width*rows)
	}
	if bytes.Equal(got, ours[:len(got)]) {
		return nil
	}
	for i := range got {
		if got[i] != ours[i] {
			return fmt.Errorf("%w: %s: row %d", ErrOutput, side, i/width)
		}
	}
	return nil
}

// Repeat is the side with turns of n runs.
func (s Side) Repeat(n int) Side {
	once := s.Run
	return Side{Name: s.Name, Rows: n * s.Rows, Run: func() (total time.Duration, err error) {
		for range n {
			took, err := once()
			if err != nil {
				return 0, err
			}
			total += took
		}
		return total, nil
	}}
}
