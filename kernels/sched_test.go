package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// stdDigests is the oracle: the standard library row by row.
func stdDigests(t testing.TB, alg Alg, col *Column) []byte {
	t.Helper()
	out := make([]byte, col.Len()*alg.Size())
	if err := New(newStd(alg)).Sum(out, col, 0, col.Len()); err != nil {
		t.Fatal(err)
	}
	return out
}

// laneBackends are the backends over the lane scheduler that this machine can run.
func laneBackends(t testing.TB) []*Backend {
	var lanes []*Backend
	for _, alg := range Algs() {
		for _, b := range assembly(alg) {
			if b.Available() {
				lanes = append(lanes, b)
			} else {
				t.Logf("%s of %s: %s", b.Name, alg, b.Reason())
			}
		}
	}
	return lanes
}

// same compares digests row by row.
func same(t *testing.T, b *Backend, col *Column, got, want []byte) {
	t.Helper()
	size := b.Alg.Size()
	for i := range col.Len() {
		if !bytes.Equal(got[i*size:(i+1)*size], want[i*size:(i+1)*size]) {
			t.Fatalf("%s of %s: wrong digest of row %d of %d, %d bytes", b.Name, b.Alg, i, col.Len(), len(col.Row(i)))
		}
	}
}

func TestLaneBackendsMixedLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, b := range laneBackends(t) {
		t.Run(fmt.Sprintf("alg=%s/backend=%s", b.Alg, b.Name), func(t *testing.T) {
			for _, most := range []int{1, 40, 56, 120, 300, 5000, 70000} {
				for _, rows := range []int{2, 3, 7, 31, 512, 1000} {
					if most*rows > 4<<20 {
						continue
					}
					off := []int32{0}
					for range rows {
						off = append(off, off[len(off)-1]+int32(rng.IntN(most)))
					}
					data := make([]byte, off[rows])
					for i := range data {
						data[i] = byte(rng.Uint32())
					}
					col := Offsets32(data, off)
					got := make([]byte, rows*b.Alg.Size())
					if err := New(b).Sum(got, &col, 0, rows); err != nil {
						t.Fatal(err)
					}
					same(t, b, &col, got, stdDigests(t, b.Alg, &col))
				}
			}
		})
	}
}
