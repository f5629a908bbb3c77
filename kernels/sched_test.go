package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// bytesAt is the memory that a row reference points at.
func bytesAt(at uint64, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n)
}

// portableKernel does in plain Go what the scheduler expects of assembly, with
// any number of lanes, so that the scheduler is tested on every machine and
// apart from the kernels. Its packers are strict: they read nothing but rows.
func portableKernel(alg Alg, lanes int, cost laneCost) *laneKernel {
	block, f := alg.BlockSize(), genericBlocks[alg]
	k := &laneKernel{alg: alg, lanes: lanes, full: 32, exact: true, cost: cost, maxRow: maxLaneRow}
	switch {
	case alg == MD5:
		k.full = 16
	case alg == SHA1:
		k.full = 20
	case alg.wide():
		k.full = 64
	}
	k.word = func(w, lane int) int { return w*lanes + lane }
	k.single = func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		single(alg, f)(dst, col, lo, hi, mac)
	}
	k.run = func(dst *byte, states *[512]byte, refs *[2]uint64, stage *byte, body, tail, groups int, _ *byte, fixed *fixedBlock, _ *openBlock, _ int) {
		all := unsafe.Slice(refs, groups*lanes)
		for i, ref := range all {
			lane := i % lanes
			st := k.read(states, lane)
			if body > 0 {
				f(&st, bytesAt(ref[0], body*block))
			}
			if tail > 0 {
				staged := unsafe.Slice(stage, len(all)*tail*block)
				f(&st, staged[i*tail*block:(i+1)*tail*block])
			}
			if fixed != nil {
				f(&st, fixed[:block])
			}
			if dst == nil {
				one := *k
				one.lanes = 1
				one.word = func(w, _ int) int { return k.word(w, lane) }
				one.broadcast(states, &st)
				continue
			}
			out := unsafe.Slice(dst, rowRef(ref).out()+k.full)
			st.store(out[rowRef(ref).out():], alg)
		}
	}
	k.expand = func(to *fixedBlock, block []byte) { copy(to[:], block) }
	pack := func(blocks int) packFunc {
		return func(dst *byte, refs *[2]uint64, n, skip, extra, step int) {
			out := unsafe.Slice(dst, (n-1)*step+blocks*block)
			for _, ref := range unsafe.Slice(refs, n) {
				length := rowRef(ref).len()
				row := bytesAt(ref[0], length)[skip:]
				// The piece may start with a whole block.
				whole := len(row) &^ (block - 1)
				var buf [2 * maxBlock]byte
				end := alg.pad(&buf, row[whole:], uint64(length+extra))
				if whole+len(end) != blocks*block {
					panic(fmt.Sprintf("%d bytes left of %d do not make %d blocks", len(row), length, blocks))
				}
				copy(out, row[:whole])
				copy(out[whole:], end)
				out = out[min(step, len(out)):]
			}
		}
	}
	k.pack1, k.pack2 = pack(1), pack(2)
	k.broadcast(&k.start, &initial[alg])
	return k
}

// read is the chaining value of a lane.
func (k *laneKernel) read(from *[512]byte, lane int) state {
	s := &laneScratch{live: *from}
	j := job{laneKernel: k, laneScratch: s, out: make([]byte, k.full)}
	return j.chaining(lane)
}

// costMixes make the scheduler take each of its ways.
var costMixes = map[string]laneCost{
	"even":   {step: 100, block: 40, row: 20},
	"lanes":  {step: 1, block: 1000, row: 1000},
	"single": {step: 1000, block: 1, row: 1},
}

// testColumn is a column of random rows; lengths come from length.
func testColumn(rng *rand.Rand, rows int, length func() int) Column {
	off := []int32{int32(rng.IntN(5))}
	for range rows {
		off = append(off, off[len(off)-1]+int32(length()))
	}
	data := make([]byte, off[rows])
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return Offsets32(data, off)
}

// lengthMixes are ways in which the lengths of a column's rows can be mixed.
var lengthMixes = map[string]func(rng *rand.Rand) func() int{
	"empty":      func(*rand.Rand) func() int { return func() int { return 0 } },
	"one-block":  func(rng *rand.Rand) func() int { return func() int { return rng.IntN(50) } },
	"two-blocks": func(*rand.Rand) func() int { return func() int { return 119 } },
	"near-edges": func(rng *rand.Rand) func() int {
		return func() int { return max(0, 64*rng.IntN(6)+rng.IntN(20)-12) }
	},
	"wide": func(rng *rand.Rand) func() int { return func() int { return rng.IntN(1200) } },
	"few-long": func(rng *rand.Rand) func() int {
		return func() int {
			if rng.IntN(100) == 0 {
				return 20000 + rng.IntN(5000)
			}
			return rng.IntN(40)
		}
	},
	"beyond-classes": func(rng *rand.Rand) func() int { return func() int { return 128*maxClass - 300 + rng.IntN(600) } },
}

// plainDigests are the digests, or HMACs, by the plain code of one row after
// the other.
func plainDigests(alg Alg, col *Column, mac *macKey) []byte {
	out := make([]byte, col.Len()*alg.Size())
	single(alg, genericBlocks[alg])(out, col, 0, col.Len(), mac)
	return out
}

func TestScheduler(t *testing.T) {
	for _, alg := range []Alg{MD5, SHA224, SHA384} {
		for _, lanes := range []int{1, 3, 8} {
			for mixName, mix := range lengthMixes {
				for _, rows := range []int{1, 2, 7, 31, chunkRows + 5} {
					if rows > chunkRows && mixName == "beyond-classes" {
						continue // four MiB, and no other way through the code
					}
					rng := rand.New(rand.NewPCG(uint64(lanes), uint64(alg)))
					col := testColumn(rng, rows, mix(rng))
					want := plainDigests(alg, &col, nil)
					for name, cost := range costMixes {
						got := make([]byte, len(want))
						portableKernel(alg, lanes, cost).sum(got, &col, 0, rows, nil)
						if !bytes.Equal(got, want) {
							t.Fatalf("%s, %d lanes, costs %s: wrong digests of %d rows %s", alg, lanes, name, rows, mixName)
						}
					}
				}
			}
		}
	}
}

// TestSchedulerHMAC: the second pass starts from the digests of the first.
func TestSchedulerHMAC(t *testing.T) {
	for _, alg := range []Alg{SHA224, SHA256, SHA384, SHA512_256} {
		for name, cost := range costMixes {
			k := portableKernel(alg, 4, cost)
			mac, err := k.prepare(alg, []byte("a key of no particular length"))
			if err != nil {
				t.Fatal(err)
			}
			for mixName, mix := range lengthMixes {
				rng := rand.New(rand.NewPCG(3, uint64(alg)))
				rows := 43
				col := testColumn(rng, rows, mix(rng))
				got := make([]byte, rows*alg.Size())
				j := &laneScratch{}
				k.chunk(j, got, nil, &col, 0, rows, mac)
				if !bytes.Equal(got, plainDigests(alg, &col, mac)) {
					t.Fatalf("%s, costs %s: wrong HMACs of rows %s", alg, name, mixName)
				}
			}
		}
	}
}

// TestB07RowsTooLongForLanes: rows beyond the longest that a lane takes are
// hashed all the same, plain and keyed, beside others that do fit.
func TestB07RowsTooLongForLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, exact := range []bool{true, false} {
		k := portableKernel(SHA256, 4, costMixes["lanes"])
		k.exact, k.maxRow = exact, 150
		mac, err := k.prepare(SHA256, []byte("key"))
		if err != nil {
			t.Fatal(err)
		}
		for _, mac := range []*macKey{nil, mac} {
			for _, rows := range []int{5, 60, chunkRows + 60} {
				col := testColumn(rng, rows, func() int { return rng.IntN(200) })
				got := make([]byte, rows*32)
				k.sum(got, &col, 0, rows, mac)
				if !bytes.Equal(got, plainDigests(SHA256, &col, mac)) {
					t.Errorf("exact %v, keyed %v: wrong digests of %d rows", exact, mac != nil, rows)
				}
			}
		}
	}
}

// TestSchedulerLeavesNothing: what a call copied of the rows is cleared.
func TestSchedulerLeavesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	k := portableKernel(SHA224, 4, costMixes["even"])
	k.exact = false // rows at the end are copied aside
	mac, err := k.prepare(SHA224, []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	for mixName, mix := range lengthMixes {
		for _, mac := range []*macKey{nil, mac} {
			col := testColumn(rng, 100, mix(rng))
			s := new(laneScratch)
			k.chunk(s, make([]byte, 100*28), nil, &col, 0, 100, mac)
			s.wipe()
			for area, b := range map[string][]byte{
				"stage": s.stage[:], "spill": s.spill[:], "inner": s.inner[:], "cut": s.cut[:],
				"tails": unsafe.Slice(&s.tails[0][0], len(s.tails)*len(s.tails[0])),
			} {
				if i := bytes.IndexFunc(b, func(r rune) bool { return r != 0 }); i >= 0 {
					t.Errorf("rows %s, keyed %v: byte %d of %s is left", mixName, mac != nil, i, area)
				}
			}
		}
	}
}

// TestAlone: rows are taken out of the lanes when they would keep them
// waiting, and only then.
func TestAlone(t *testing.T) {
	k := portableKernel(SHA256, 8, laneCost{step: 160, block: 40, row: 20})
	j := &job{laneKernel: k}
	row := func(blocks int) rowRef { return newRowRef(0, blocks*64-10, 0) }
	for _, c := range []struct {
		name   string
		blocks []int
		want   int
	}{
		{"all alike", []int{5, 5, 5, 5, 5, 5, 5, 5}, 0},
		{"one very long row", []int{10000, 20, 20, 20, 20, 20, 20, 20}, 1},
		{"two of them", []int{10000, 9000, 20, 20, 20, 20, 20, 20}, 2},
		{"nothing but one", []int{3}, 1},
		{"few short ones", []int{3, 2, 1}, 3},
		{"long rows fill the lanes", []int{10000, 10000, 10000, 10000, 10000, 9000, 2}, 0},
	} {
		var rows []rowRef
		for _, b := range c.blocks {
			rows = append(rows, row(b))
		}
		if got := j.alone(rows); got != c.want {
			t.Errorf("%s: %d rows taken out, want %d", c.name, got, c.want)
		}
	}
	// Three lanes would take three rounds for seven rows, the last for one.
	j.laneKernel = portableKernel(SHA1, 3, laneCost{step: 76, block: 29, row: 50})
	seven := make([]rowRef, 7)
	for i := range seven {
		seven[i] = row(79)
	}
	if got := j.alone(seven); got != 1 {
		t.Errorf("seven alike: %d rows taken out, want 1", got)
	}
}
