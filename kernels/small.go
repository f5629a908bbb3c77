package kernels

import (
	"math"
	"runtime"

	"github.com/arrowmask/arrowmask/internal/race"
)

// batch is what a way to hash a few rows is chosen by: how many there are, and
// the numbers of blocks of their padded messages.
type batch struct{ rows, blocks, least, most int }

// even reports whether the rows can go through the lanes in lockstep.
func (b batch) even() bool { return b.least == b.most && b.most <= maxClass }

// measure counts the blocks of the rows lo to hi of a column.
func (k *laneKernel) measure(col *Column, lo, hi int) batch {
	b := batch{rows: hi - lo, least: math.MaxInt}
	if col.kind == kindOff32 && !col.picked { // the commonest, and twice as fast
		offsets := col.off32[lo : hi+1]
		for i, end := range offsets[1:] {
			b.add(k.blocks(int(end - offsets[i])))
		}
		return b
	}
	for i := lo; i < hi; i++ {
		b.add(k.blocks(len(col.Row(i))))
	}
	return b
}

func (b *batch) add(blocks int) {
	b.blocks += blocks
	b.least, b.most = min(b.least, blocks), max(b.most, blocks)
}

// groups is the number of groups that rows make.
func (k *laneKernel) groups(rows int) int {
	if rows <= k.lanes {
		return 1
	}
	return (rows + k.lanes - 1) / k.lanes
}

// lanesTime is how long inStep takes for an even batch, or schedule for
// another, in nanoseconds.
func (k *laneKernel) lanesTime(b batch) int {
	time := k.groups(b.rows)*b.least*k.cost.step + stepTime
	if !b.even() {
		steps := b.most
		if b.rows > k.lanes {
			// What the longest-first rule may take at most.
			steps += k.groups(b.blocks) - b.most/k.lanes
		}
		left := min(b.rows, (b.most-b.least+1)*(k.lanes-1)) // when classes are full
		time = steps*k.cost.step + refillTime + left*refillRow
	}
	if !k.exact {
		time += b.rows * nearRow // they all lie at the end of the buffer
	}
	return time
}

// singleTime is how long the single-stream code takes.
func (k *laneKernel) singleTime(b batch) int { return b.blocks*k.cost.block + b.rows*k.cost.row }

// quickest is the kernel that is sooner done with the batch, k or fewer, and
// its time. One group of fewer lanes is always the sooner one.
func (k *laneKernel) quickest(b batch) (*laneKernel, int) {
	f := k.fewer
	if f != nil && b.rows <= f.lanes {
		return f, f.lanesTime(b)
	}
	time := k.lanesTime(b)
	if f != nil {
		if t := f.lanesTime(b); t < time {
			return f, t
		}
	}
	return k, time
}

// leastWorth is the least number of even rows that any lanes are sooner done
// with than the single-stream code.
func (k *laneKernel) leastWorth() int {
	for rows := 1; rows <= k.lanes; rows++ {
		for blocks := 1; blocks <= maxClass; blocks++ {
			b := batch{rows: rows, blocks: rows * blocks, least: blocks, most: blocks}
			if _, time := k.quickest(b); time < k.singleTime(b) {
				return rows
			}
		}
	}
	return k.lanes
}

// small hashes a batch that does no more than fill the lanes, in the way that
// is soonest done: row by row, by a kernel of fewer lanes, or with idle lanes.
func (k *laneKernel) small(dst []byte, col *Column, lo, hi int) {
	b := k.measure(col, lo, hi)
	lanes, time := k.quickest(b)
	switch {
	case k.singleTime(b) <= time:
		k.single(dst, col, lo, hi, nil)
	case !b.even() || !lanes.inStep(dst, col, lo, b):
		lanes.schedule(dst, nil, col, lo, hi, nil)
	}
}

// smallKeyed is small for HMAC, which has a second pass of one block. For that
// crypto/hmac restores states.
func (k *laneKernel) smallKeyed(dst []byte, col *Column, lo, hi int, mac *macKey) {
	b := k.measure(col, lo, hi)
	if k.singleTime(b)+b.rows*keyedRow*k.cost.block <= k.lanesTime(b)+k.cost.step {
		k.single(dst, col, lo, hi, mac)
	} else {
		k.schedule(dst, nil, col, lo, hi, mac)
	}
}

// inStep hashes an even batch without the scheduler's preparations: the lanes
// that are left over work on what lies in the staging area, and their digests
// are dropped. It reports false, and has done nothing, when a row lies where
// the packer may not read.
func (k *laneKernel) inStep(dst []byte, col *Column, lo int, b batch) bool {
	s := laneScratches.Get().(*laneScratch)
	j := job{laneKernel: k, laneScratch: s, col: col, lo: lo}
	ok := j.gather(b.rows).rest == 0
	if ok {
		j.lockstep(dst, b)
	}
	s.wipe()
	laneScratches.Put(s)
	runtime.KeepAlive(col)
	return ok
}

// lockstep hashes an even batch that was gathered.
func (j *job) lockstep(dst []byte, b batch) {
	lanes := j.groups(b.rows) * j.lanes
	for i := b.rows; i < lanes; i++ {
		j.refs[i] = newRowRef(uintptr(j.refs[0][0]), 0, i*j.full)
	}
	tail, pack := 1, j.pack1
	if b.most > 1 {
		tail, pack = 2, j.pack2
	}
	block, body := j.alg.BlockSize(), b.most-tail
	first := (*[2]uint64)(&j.refs[0])
	j.staged, j.cutUsed = b.rows*tail*block, lanes*j.full
	pack(&j.stage[0], first, b.rows, body*block, 0, tail*block)
	j.run(&j.cut[0], &j.laneKernel.start, first, &j.stage[0], body, tail, lanes/j.lanes, nil, nil, nil, 0)
	if size := j.alg.Size(); size == j.full {
		copy(dst, j.cut[:])
	} else {
		cutDigests(dst, j.cut[:b.rows*j.full], size)
	}
	if race.Enabled {
		for i := range b.rows {
			race.Read(j.col.Row(j.lo + i))
		}
	}
}
