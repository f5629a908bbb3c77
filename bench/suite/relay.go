package suite

import "sync"

// Relay lets suites run by turns: one at a time, a round each, so that the rounds
// of a short suite lie as far apart as those of a long one.
type Relay struct {
	mu    sync.Mutex
	turns []chan struct{} // who runs got something from his
	ended []bool
}

// NewRelay is a relay of n suites, numbered from 0. Number 0 has the first turn.
func NewRelay(n int) *Relay {
	r := &Relay{turns: make([]chan struct{}, n), ended: make([]bool, n)}
	for i := range r.turns {
		r.turns[i] = make(chan struct{}, 1)
	}
	r.turns[0] <- struct{}{}
	return r
}

// Begin waits for the first turn of suite i.
func (r *Relay) Begin(i int) { <-r.turns[i] }

// Yield hands the turn of suite i to the next that has not ended, and waits for it
// to come back.
func (r *Relay) Yield(i int) {
	r.pass(i)
	<-r.turns[i]
}

// End hands the turn on for good.
func (r *Relay) End(i int) {
	r.mu.Lock()
	r.ended[i] = true
	r.mu.Unlock()
	r.pass(i)
}

func (r *Relay) pass(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for step := range len(r.turns) {
		if next := (i + 1 + step) % len(r.turns); !r.ended[next] {
			r.turns[next] <- struct{}{}
			return
		}
	}
}
