package kernels_test

import (
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

// cut makes rows of fuzzed data: each byte of lengths is the length of one, and
// the last row takes the rest.
func cut(data, lengths []byte) (rows [][]byte) {
	data = data[:min(len(data), 1<<14)]
	lengths = lengths[:min(len(lengths), 100)]
	for _, n := range lengths {
		n := min(int(n), len(data))
		rows = append(rows, data[:n:n])
		data = data[n:]
	}
	return append(rows, data)
}

func fuzzSeeds(f *testing.F) {
	f.Add([]byte(""), []byte{}, []byte("k"))
	f.Add([]byte("abc"), []byte{0, 1, 0}, []byte(""))
	f.Add(message(2000, 1), []byte{55, 56, 64, 0, 119, 120, 128, 255}, message(65, 2))
	f.Add(message(5000, 3), []byte{32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32}, message(129, 4))
}

// FuzzDigest compares every backend with the standard library, in one layout
// that the input picks.
func FuzzDigest(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, data, lengths, _ []byte) {
		rows := cut(data, lengths)
		col := offsets32(rows, len(lengths))
		switch len(data) % 3 {
		case 1:
			col = views(rows)
		case 2:
			col = selected(rows)
		}
		for _, alg := range kernels.Algs() {
			expect := want(alg, nil, rows)
			for _, b := range kernels.All(alg) {
				if b.Available() {
					diff(t, b.Name, alg.Size(), sum(t, kernels.New(b), &col), expect, rows)
				}
			}
		}
	})
}

// FuzzHMAC is FuzzDigest with a key.
func FuzzHMAC(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, data, lengths, key []byte) {
		if key == nil {
			key = []byte{}
		}
		rows := cut(data, lengths)
		col := offsets32(rows, 0)
		for _, alg := range kernels.Algs() {
			if !alg.SHA2() {
				continue
			}
			expect := want(alg, key, rows)
			for _, b := range kernels.All(alg) {
				if b.Available() {
					diff(t, b.Name, alg.Size(), sum(t, hmacOf(t, b, key), &col), expect, rows)
				}
			}
		}
	})
}
