//go:build !purego

package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/internal/guardbuf"
)

// onLanes calls f for every lane kernel that this machine can run.
func onLanes(t *testing.T, f func(t *testing.T, k *laneKernel)) {
	for _, alg := range Algs() {
		for _, b := range assembly(alg) {
			t.Run(fmt.Sprintf("alg=%s/backend=%s", alg, b.Name), func(t *testing.T) {
				if !b.Available() {
					t.Skip(b.Reason())
				}
				f(t, b.kernel)
			})
		}
	}
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// setLane puts a chaining value into one lane.
func (k *laneKernel) setLane(states *[512]byte, lane int, st *state) {
	one := *k
	one.lanes, one.word = 1, func(w, _ int) int { return k.word(w, lane) }
	one.broadcast(states, st)
}

// TestLanesBringStatesForward: a chaining value of its own and blocks of its
// own in every lane, at any address, for several numbers of blocks.
func TestLanesBringStatesForward(t *testing.T) {
	onLanes(t, func(t *testing.T, k *laneKernel) {
		rng := rand.New(rand.NewPCG(1, uint64(k.alg)))
		block := k.alg.BlockSize()
		for _, blocks := range []int{1, 2, 3, 7} {
			for shift := range 64 {
				s := new(laneScratch)
				s.live = k.start // for what lies between the words
				want := make([]state, k.lanes)
				data := make([][]byte, k.lanes)
				for i := range want {
					for w := range k.words() {
						want[i].w32[w], want[i].w64[w] = rng.Uint32(), rng.Uint64()
					}
					if k.alg.wide() {
						want[i].w32 = [8]uint32{}
					} else {
						want[i].w64 = [8]uint64{}
					}
					k.setLane(&s.live, i, &want[i])
					data[i] = randomBytes(rng, shift+blocks*block)[shift:]
					s.lanesAt[i] = newRowRef(addr(data[i]), len(data[i]), 0)
					genericBlocks[k.alg](&want[i], data[i])
				}
				k.run(nil, &s.live, (*[2]uint64)(&s.lanesAt[0]), &s.stage[0], blocks, 0, 1, nil, nil, nil, 0)
				for i := range want {
					if got := k.read(&s.live, i); got != want[i] {
						t.Fatalf("%d blocks, shift %d: lane %d of %d is wrong", blocks, shift, i, k.lanes)
					}
				}
			}
		}
	})
}

// TestLanesSameData: rows that are alike give digests that are alike, in every
// lane, and one row that differs changes its own lane alone.
func TestLanesSameData(t *testing.T) {
	onLanes(t, func(t *testing.T, k *laneKernel) {
		row := bytes.Repeat([]byte("same data "), 30)[:k.alg.BlockSize()*2-20]
		for odd := -1; odd < k.lanes; odd++ {
			var data []byte
			for i := range k.lanes {
				if i == odd {
					data = append(data, bytes.ToUpper(row)...)
				} else {
					data = append(data, row...)
				}
			}
			col := FixedWidth(data, len(row), k.lanes)
			got := make([]byte, k.lanes*k.alg.Size())
			k.chunk(new(laneScratch), got, nil, &col, 0, k.lanes, nil)
			if want := plainDigests(k.alg, &col, nil); !bytes.Equal(got, want) {
				t.Fatalf("with row %d different: wrong digests", odd)
			}
		}
	})
}

// TestLanesRaggedSets: any set of lanes can be idle, and any can end first.
func TestLanesRaggedSets(t *testing.T) {
	onLanes(t, func(t *testing.T, k *laneKernel) {
		rng := rand.New(rand.NewPCG(2, uint64(k.alg)))
		lengths := []int{0, 1, 55, 56, 63, 64, 111, 112, 119, 120, 127, 128, 239, 240, 1000}
		for range 200 {
			col := testColumn(rng, 1+rng.IntN(2*k.lanes), func() int { return lengths[rng.IntN(len(lengths))] })
			n := col.Len()
			s := new(laneScratch)
			out := make([]byte, n*k.full)
			j := &job{laneKernel: k, laneScratch: s, col: &col, out: out, start: &k.start}
			var rows []rowRef
			for i := range n {
				rows = append(rows, newRowRef(0, len(col.Row(i)), i*k.full))
			}
			j.refill(rows)
			want := plainDigests(k.alg, &col, nil)
			size := k.alg.Size()
			for i := range n {
				if !bytes.Equal(out[i*k.full:i*k.full+size], want[i*size:(i+1)*size]) {
					t.Fatalf("row %d of %d, %d bytes: wrong digest", i, n, len(col.Row(i)))
				}
			}
		}
	})
}

// packerCase is a packing function with what it is expected to write.
type packerCase struct {
	name   string
	needs  cpu.Set
	f      packFunc
	alg    Alg
	blocks int
	exact  bool
}

func packerCases() []packerCase {
	var all []packerCase
	for _, p := range []struct {
		name  string
		needs cpu.Set
		packer
	}{{"avx2", needsAVX2, packAVX2}, {"avx512", needsAVX512, packAVX512}} {
		all = append(all,
			packerCase{p.name + "/64LE", p.needs, p.le64, MD5, 1, p.exact},
			packerCase{p.name + "/128LE", p.needs, p.le128, MD5, 2, p.exact},
			packerCase{p.name + "/64BE", p.needs, p.be64, SHA256, 1, p.exact},
			packerCase{p.name + "/128BE", p.needs, p.be128, SHA256, 2, p.exact},
			packerCase{p.name + "/128BE-wide", p.needs, p.be128, SHA512, 1, p.exact},
			packerCase{p.name + "/256BE", p.needs, p.be256, SHA512, 2, p.exact},
		)
	}
	return all
}

// TestB04Packers: every length that a packer takes, with and without bytes
// skipped and counted before, with the row against either guard page. Packers
// that are not exact get the room they ask for, and no byte more.
func TestB04Packers(t *testing.T) {
	for _, c := range packerCases() {
		t.Run(c.name, func(t *testing.T) {
			if missing := cpu.Features().Missing(c.needs); missing != 0 {
				t.Skip("this machine lacks " + missing.String())
			}
			block := c.alg.BlockSize()
			size := c.blocks * block
			rng := rand.New(rand.NewPCG(7, 7))
			in, out := guardbuf.New(t, 4*size), guardbuf.New(t, size)
			first, last := 0, block-block/8-1
			if c.blocks == 2 {
				first, last = last+1, last+block
			}
			for length := first; length <= last; length++ {
				for _, skip := range []int{0, block} {
					for _, extra := range []int{0, block, 1<<33 + 64} {
						need := skip + length
						if !c.exact {
							need = skip + size
						}
						for _, place := range []func(*guardbuf.Pair, int) []byte{(*guardbuf.Pair).Head, (*guardbuf.Pair).Tail} {
							row := place(in, need)
							for i := range row {
								row[i] = byte(rng.Uint32())
							}
							ref := newRowRef(addr(row), skip+length, 0)
							var buf [2 * maxBlock]byte
							whole := length &^ (block - 1)
							end := c.alg.pad(&buf, row[skip+whole:skip+length], uint64(skip+length+extra))
							want := append(bytes.Clone(row[skip:skip+whole]), end...)
							got := place(out, size)
							c.f(&got[0], (*[2]uint64)(&ref), 1, skip, extra, size)
							if !bytes.Equal(got, want) {
								t.Fatalf("%d bytes, %d skipped, %d before:\n% x, want\n% x", length, skip, extra, got, want)
							}
							out.Check(t, got)
						}
					}
				}
			}
		})
	}
}

// TestGather32 compares the assembly with the loop for any offsets.
func TestGather32(t *testing.T) {
	if missing := cpu.Features().Missing(needsAVX2); missing != 0 {
		t.Skip("this machine lacks " + missing.String())
	}
	rng := rand.New(rand.NewPCG(8, 8))
	for _, rows := range []int{1, 3, 4, 5, 8, 31, 511, chunkRows} {
		for _, spread := range []int{1, 2, 50, 70000} {
			col := testColumn(rng, rows+10, func() int { return rng.IntN(spread) })
			for _, lo := range []int{0, 3} {
				k := laneKernel{alg: SHA1, full: 20, gather32: gather32AVX2}
				j := job{laneKernel: &k, laneScratch: new(laneScratch), col: &col, lo: lo}
				got := j.gather32Rows(rows, 72)
				want := make([]rowRef, rows)
				wantExtent := gatherOffsets(want, &col, col.off32, lo, 20, 72)
				if got != wantExtent {
					t.Errorf("%d rows of up to %d bytes: %+v, want %+v", rows, spread, got, wantExtent)
				}
				for i := range want {
					if j.refs[i] != want[i] {
						t.Fatalf("%d rows: reference %d is %v, want %v", rows, i, j.refs[i], want[i])
					}
				}
			}
		}
	}
}

// TestRandomRows compares random columns with the standard library: some
// hundred thousand rows, or as many as ARROWMASK_RANDOM_ROWS says for every
// backend.
func TestRandomRows(t *testing.T) {
	target := 10_000
	if s := os.Getenv("ARROWMASK_RANDOM_ROWS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal("ARROWMASK_RANDOM_ROWS:", err)
		}
		target = n
	}
	onLanes(t, func(t *testing.T, k *laneKernel) {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		for done := 0; done < target; {
			most := 1 << (3 + rng.IntN(9))
			rows := 1 + rng.IntN(1<<14/most+chunkRows)
			col := testColumn(rng, rows, func() int { return rng.IntN(most) })
			got, want := make([]byte, rows*k.alg.Size()), make([]byte, rows*k.alg.Size())
			k.sum(got, &col, 0, rows, nil)
			oneShots(want, k.alg, &col, 0, rows)
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d: wrong digests among %d rows of up to %d bytes", seed, rows, most)
			}
			done += rows
		}
	})
}

// oneShots writes digests by the standard library.
func oneShots(dst []byte, alg Alg, col *Column, lo, hi int) {
	for i := lo; i < hi; i++ {
		oneShot[alg](dst, col.Row(i))
		dst = dst[alg.Size():]
	}
}
