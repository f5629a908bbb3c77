package kernels

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// newLanes makes a backend of a lane kernel.
func newLanes(name string, needs cpu.Set, k laneKernel) *Backend {
	k.single, k.maxRow = singleStream(k.alg), maxLaneRow
	k.broadcast(&k.start, &initial[k.alg])
	return &Backend{
		Alg: k.alg, Name: name, Needs: needs, Lanes: k.lanes,
		sum: k.sum, prepare: k.prepare, kernel: &k,
	}
}

// singleStream is the fastest sum function for one row after the other: the
// one-shot functions, and crypto/hmac for keyed rows.
func singleStream(alg Alg) func([]byte, *Column, int, int, *macKey) {
	if alg == SHA256 {
		if b := newSimd(); b.Available() {
			return b.sum
		}
	}
	keyed := newStd(alg).sum
	return func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		if mac != nil {
			keyed(dst, col, lo, hi, mac)
		} else {
			oneShots(dst, alg, col, lo, hi)
		}
	}
}

// oneShots writes digests by the standard library. Every algorithm has its own
// loop: a choice or a call in each row would be a tenth of a short one's time.
func oneShots(dst []byte, alg Alg, col *Column, lo, hi int) {
	switch alg {
	case MD5:
		for i := lo; i < hi; i++ {
			*(*[16]byte)(dst) = md5.Sum(col.Row(i))
			dst = dst[16:]
		}
	case SHA1:
		for i := lo; i < hi; i++ {
			*(*[20]byte)(dst) = sha1.Sum(col.Row(i))
			dst = dst[20:]
		}
	case SHA224:
		for i := lo; i < hi; i++ {
			*(*[28]byte)(dst) = sha256.Sum224(col.Row(i))
			dst = dst[28:]
		}
	case SHA256:
		for i := lo; i < hi; i++ {
			*(*[32]byte)(dst) = sha256.Sum256(col.Row(i))
			dst = dst[32:]
		}
	case SHA384:
		for i := lo; i < hi; i++ {
			*(*[48]byte)(dst) = sha512.Sum384(col.Row(i))
			dst = dst[48:]
		}
	case SHA512:
		for i := lo; i < hi; i++ {
			*(*[64]byte)(dst) = sha512.Sum512(col.Row(i))
			dst = dst[64:]
		}
	default:
		for i := lo; i < hi; i++ {
			*(*[32]byte)(dst) = sha512.Sum512_256(col.Row(i))
			dst = dst[32:]
		}
	}
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
