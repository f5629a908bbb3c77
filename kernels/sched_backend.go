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
	row, single := singleStream(k.alg)
	k.single, k.maxRow, k.worth = single, maxLaneRow, k.leastWorth()
	k.broadcast(&k.start, &initial[k.alg])
	if k.expand == nil {
		k.expand = expandSums(k.alg)
	}
	return &Backend{
		Alg: k.alg, Name: name, Needs: needs, Lanes: k.lanes,
		sum: k.sum, row: row, prepare: k.prepare, kernel: &k,
	}
}

// singleStream is the fastest way to hash one row after the other: the
// one-shot functions, and crypto/hmac for keyed rows.
func singleStream(alg Alg) (row func(dst, row []byte), sum func([]byte, *Column, int, int, *macKey)) {
	keyed := newStd(alg).sum
	if b := newSimd(); alg == SHA256 && b.Available() {
		row = b.row
	} else {
		row = oneShot[alg]
	}
	size := alg.Size()
	return row, func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		if mac != nil {
			keyed(dst, col, lo, hi, mac)
			return
		}
		for i := lo; i < hi; i++ {
			row(dst[:size], col.Row(i))
			dst = dst[size:]
		}
	}
}

// oneShot is the standard library's function for one message.
var oneShot = [numAlgs]func(dst, row []byte){
	MD5:        func(dst, row []byte) { *(*[16]byte)(dst) = md5.Sum(row) },
	SHA1:       func(dst, row []byte) { *(*[20]byte)(dst) = sha1.Sum(row) },
	SHA224:     func(dst, row []byte) { *(*[28]byte)(dst) = sha256.Sum224(row) },
	SHA256:     func(dst, row []byte) { *(*[32]byte)(dst) = sha256.Sum256(row) },
	SHA384:     func(dst, row []byte) { *(*[48]byte)(dst) = sha512.Sum384(row) },
	SHA512:     func(dst, row []byte) { *(*[64]byte)(dst) = sha512.Sum512(row) },
	SHA512_256: func(dst, row []byte) { *(*[32]byte)(dst) = sha512.Sum512_256(row) },
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
