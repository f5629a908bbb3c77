package suite

import (
	"strings"
	"sync"
	"testing"
)

// TestRelay: one at a time, in turns, until each has ended.
func TestRelay(t *testing.T) {
	var log strings.Builder // no lock: that is the relay's to see to
	rounds := []int{2, 0, 3}
	r := NewRelay(len(rounds))
	var done sync.WaitGroup
	for i, n := range rounds {
		done.Go(func() {
			r.Begin(i)
			defer r.End(i)
			for range n {
				log.WriteByte('a' + byte(i))
				r.Yield(i)
			}
			log.WriteByte('A' + byte(i))
		})
	}
	done.Wait()
	if got, want := log.String(), "a"+"B"+"c"+"a"+"c"+"A"+"c"+"C"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
