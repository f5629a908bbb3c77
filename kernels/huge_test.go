package kernels_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/kernels"
)

// hugeLengths are values around 2^28, 2^29 and past 2^32 bytes, where counters
// of 32 bits, of bytes or of bits, wrap.
var hugeLengths = []uint64{1<<28 - 1, 1 << 28, 1<<29 - 1, 1 << 29, 1<<29 + 1, 1<<32 + 1}

// huge is a value of 2^32+1 bytes, of which the others are beginnings. It takes
// 4 GiB and the tests that use it minutes, so they run only when asked for.
func huge(t *testing.T) []byte {
	const ask = "ARROWMASK_TEST_HUGE"
	if os.Getenv(ask) == "" {
		t.Skip("hashes values of up to 4 GiB: set " + ask + "=1 to run it")
	}
	if ^uint(0)>>32 == 0 {
		t.Skip("such values do not fit a 32-bit address space")
	}
	data := make([]byte, hugeLengths[len(hugeLengths)-1])
	for i := 0; i < len(data); i += 4096 {
		data[i] = byte(i >> 12)
	}
	return data
}

// once remembers the oracle's digests, which take their time.
func once(f func(alg kernels.Alg, row []byte) []byte) func(alg kernels.Alg, row []byte) []byte {
	type question struct {
		alg kernels.Alg
		n   int
	}
	known := map[question][]byte{}
	return func(alg kernels.Alg, row []byte) []byte {
		q := question{alg, len(row)}
		if known[q] == nil {
			known[q] = f(alg, row)
		}
		return known[q]
	}
}

// TestB07HugeValues: one value at a time, and for the backends that take rows
// side by side as many as there are lanes, up to 2^30+1 bytes: beyond 2^30 a
// value leaves the lanes.
func TestB07HugeValues(t *testing.T) {
	data := huge(t)
	expect := once(func(alg kernels.Alg, row []byte) []byte { return want(alg, nil, [][]byte{row}) })
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h, size := kernels.New(b), b.Alg.Size()
		for _, n := range hugeLengths {
			col := kernels.Offsets64(data, []int64{0, int64(n)})
			diff(t, fmt.Sprint(n), size, sum(t, h, &col), expect(b.Alg, data[:n]), [][]byte{data[:n]})
		}
		if b.Lanes == 1 {
			return
		}
		for _, n := range []int{1 << 29, 1<<29 + 1} {
			col := kernels.FixedWidth(data, n, 1).Select(make([]int32, 2*b.Lanes))
			got := sum(t, h, &col)
			if !bytes.Equal(got, bytes.Repeat(expect(b.Alg, data[:n]), 2*b.Lanes)) {
				t.Errorf("%d rows of %d bytes: wrong digests", 2*b.Lanes, n)
			}
		}
		var rows [][]byte
		var all []byte
		for i := range 2*b.Lanes + 3 {
			n := []int{1<<29 - 1, 40, 1 << 30, 100, 1 << 29, 3000, 1<<30 + 1}[i%7]
			rows = append(rows, data[:n])
			all = append(all, expect(b.Alg, data[:n])...)
		}
		col := prefixes(data, rows)
		diff(t, "mixed", size, sum(t, h, &col), all, rows)
	})
}

// TestB07HugeHMAC: the same keyed, where values of any length stay in the
// lanes, and the key's block counts too.
func TestB07HugeHMAC(t *testing.T) {
	data := huge(t)
	key := message(32, 5)
	expect := once(func(alg kernels.Alg, row []byte) []byte { return want(alg, key, [][]byte{row}) })
	backendtest.RunKeyed(t, func(t *testing.T, b *kernels.Backend) {
		if b.Alg != kernels.SHA256 && b.Alg != kernels.SHA512 {
			t.Skip("one member of each family is enough here")
		}
		rows := max(5, b.Lanes)
		if b.Lanes == 1 {
			rows = 1
		}
		for _, n := range []uint64{1<<29 - 64, 1 << 29, 1<<32 + 1} {
			col := kernels.FixedWidth(data, int(n), 1).Select(make([]int32, rows))
			got := sum(t, hmacOf(t, b, key), &col)
			if !bytes.Equal(got, bytes.Repeat(expect(b.Alg, data[:n]), rows)) {
				t.Errorf("%d rows of %d bytes: wrong HMACs", rows, n)
			}
		}
	})
}

// prefixes is a column of views of rows that all begin where data does.
func prefixes(data []byte, rows [][]byte) kernels.Column {
	all := make([]kernels.View, len(rows))
	for i, r := range rows {
		binary.LittleEndian.PutUint32(all[i][:], uint32(len(r)))
		copy(all[i][4:8], r)
	}
	return kernels.Views(all, [][]byte{data})
}
