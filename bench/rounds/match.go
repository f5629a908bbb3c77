package rounds

import (
	"fmt"
	"time"
)

// Match is what the sides of one cell took, over as many rounds as were played.
// The zero value has one pass and turns of one run. It is for one goroutine.
type Match struct {
	// Least is how long a turn takes at least: a quick side runs several times in
	// its turn, so that it is long beside a reading of the clock and the waking of
	// a processor's wide units.
	Least time.Duration
	// Passes is how often every side has its turn in a round. The shorter the
	// turns, the less a disturbance can fall on one side alone.
	Passes int
	// Most is how long a round may take, about, 0 for ever: it has fewer passes
	// where some sides are slow, but one.
	Most time.Duration
	// Growth is by how many bytes the heap may grow before Go's collector runs, while
	// the clock stands: between turns, and between the runs of one that allocates more,
	// so that every side finds as much memory to use again. A turn of some milliseconds
	// would have one cycle or none, by chance, and what a cycle takes is up to all that
	// the process holds: the bytes that a side allocates are counted instead. 0 leaves
	// the collector alone and counts nothing.
	Growth uint64

	heap   heap
	passes int
	sides  []played
}

// played is what a side took.
type played struct {
	name string
	runs int         // in a turn
	once int         // of which so many may follow each other without a collection
	took [][]float64 // ns a unit, by round and pass
	// What it allocated in how many units, over all turns.
	allocated uint64
	units     float64
}

// Play adds a round: the sides have their turns one after the other, in an order
// that changes from pass to pass and from round to round. The first round warms
// them up. They are the same in every round, in the same order. The first error
// ends it.
func (m *Match) Play(sides []Side) error {
	m.heap.growth = m.Growth
	defer m.heap.quiet()()
	if m.sides == nil {
		if err := m.begin(sides); err != nil {
			return err
		}
	}
	round := m.Rounds()
	for i, s := range sides {
		if len(sides) != len(m.sides) || s.Name != m.sides[i].name {
			return fmt.Errorf("rounds: side %d of %d was not there before: %s", i, len(sides), s.Name)
		}
	}
	took := make([][]float64, len(sides))
	for pass := range m.passes {
		for turn := range sides {
			i := order(len(sides), round, pass, turn)
			ns, err := m.turn(sides[i], &m.sides[i])
			if err != nil {
				return err
			}
			took[i] = append(took[i], ns)
		}
	}
	for i := range m.sides {
		m.sides[i].took = append(m.sides[i].took, took[i])
	}
	return nil
}

// turn is what a side took in its turn, in ns a unit.
func (m *Match) turn(s Side, p *played) (float64, error) {
	var sum time.Duration
	for left := p.runs; left > 0; left -= p.once {
		n := min(left, p.once)
		m.heap.ready()
		before := m.heap.allocated()
		_, told, err := s.turn(n)
		if err != nil {
			return 0, err
		}
		sum += told
		p.allocated += m.heap.allocated() - before
		p.units += float64(n) * s.Units
	}
	return float64(sum) / (float64(p.runs) * s.Units), nil
}

// order is the side whose turn it is: each is the first of a pass as often, and
// in every second round they go the other way around, so that none always comes
// after the same one and finds the memory as that left it.
func order(sides, round, pass, turn int) int {
	if round%2 == 1 {
		turn = sides - turn
	}
	return (turn + round + pass) % sides
}

// begin finds how long turns and rounds are.
func (m *Match) begin(sides []Side) error {
	var all time.Duration // of a turn of every side
	played := make([]played, len(sides))
	for i, s := range sides {
		if !(s.Units > 0) {
			return fmt.Errorf("rounds: a run of %s does %v units", s.Name, s.Units)
		}
		n, clock, err := s.fit(m.Least)
		if err != nil {
			return err
		}
		all += clock
		played[i].name, played[i].runs = s.Name, n
		if played[i].once, err = m.once(s, n); err != nil {
			return err
		}
	}
	m.passes = max(m.Passes, 1)
	if m.Most > 0 {
		m.passes = int(max(1, min(time.Duration(m.passes), m.Most/max(all, 1))))
	}
	m.sides = played
	return nil
}

// once is how many of the runs of a turn allocate no more than the heap may grow.
func (m *Match) once(s Side, runs int) (int, error) {
	if m.Growth == 0 || runs == 1 {
		return runs, nil
	}
	before := m.heap.allocated()
	if _, _, err := s.turn(1); err != nil {
		return 0, err
	}
	return int(min(max(m.Growth/max(m.heap.allocated()-before, 1), 1), uint64(runs))), nil
}

// Rounds is how many were played.
func (m *Match) Rounds() int {
	if len(m.sides) == 0 {
		return 0
	}
	return len(m.sides[0].took)
}

// Timings are those of the rounds so far, a side each.
func (m *Match) Timings() []Timing {
	timings := make([]Timing, len(m.sides))
	for i, s := range m.sides {
		timings[i] = newTiming(s.name, s.took)
		timings[i].Allocated = float64(s.allocated) / s.units
	}
	return timings
}

// steady is by which part the smallest times of a side may rest on one round.
const steady = 0.02

// Steady reports whether the smallest times of all sides are about the same
// whichever round is left out: then more rounds would hardly change them.
func (m *Match) Steady() bool { return m.unsure() <= steady }

// unsure is by which part the smallest times of a side grow at most when one
// round is left out.
func (m *Match) unsure() float64 {
	most := 0.0
	for _, s := range m.sides {
		whole := smallest(s.took)
		for out := range s.took {
			rest := append(append([][]float64(nil), s.took[:out]...), s.took[out+1:]...)
			if len(rest) > 0 {
				most = max(most, smallest(rest)/whole-1)
			}
		}
	}
	return most
}
