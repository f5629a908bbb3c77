package kernels

import "github.com/arrowmask/arrowmask/internal/cpu"

// newLanes makes a backend of a lane kernel.
func newLanes(name string, needs cpu.Set, k laneKernel) *Backend {
	k.single = singleStream(k.alg)
	k.broadcast(&k.start, &initial[k.alg])
	b := &Backend{
		Alg: k.alg, Name: name, Needs: needs, Lanes: k.lanes,
		sum: k.sum, prepare: k.prepare,
	}
	lanesOf[b] = &k
	return b
}

// lanesOf is the lane kernel of each backend that has one.
var lanesOf = map[*Backend]*laneKernel{}

// singleStream is the fastest sum function for one row after the other.
func singleStream(alg Alg) func([]byte, *Column, int, int, *macKey) {
	if alg == SHA256 {
		if b := newSimd(); b.Available() {
			return b.sum
		}
	}
	return newStd(alg).sum
}

// laneStates are the chaining values of an HMAC key in every lane.
type laneStates struct{ inner, outer [512]byte }

// prepare prepares both ways in which rows are hashed: the states for the
// lanes, and hashers for a row on its own.
func (k *laneKernel) prepare(alg Alg, key []byte) (*macKey, error) {
	mac, err := prepareStates(alg, key)
	if err != nil {
		return nil, err
	}
	std, err := prepareStd(alg, key)
	if err != nil {
		return nil, err
	}
	mac.std = std.std
	mac.lanes = new(laneStates)
	k.broadcast(&mac.lanes.inner, &mac.inner)
	k.broadcast(&mac.lanes.outer, &mac.outer)
	return mac, nil
}
