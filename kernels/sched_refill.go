package kernels

import "encoding/binary"

// lane is a row on its way through refill.
type lane struct {
	out    int // place of its digest
	left   int // blocks until the next change: end of the body or of the row
	tail   int // blocks of the tail, when it is still to come
	active bool
}

// refill runs rows of any lengths. Every lane has a row; all go on for as many
// blocks as the lane that ends first has left; that lane takes the next row.
// Idle lanes follow an active one and their result is dropped.
func (j *job) refill(rows []rowRef) {
	var (
		lanes [maxLanes]lane
		refs  = &j.lanesAt
		block = j.alg.BlockSize()
		limit = max(1, maxCall/(j.lanes*block))
	)
	// Kernels may have words of their own between those of the chaining value.
	j.live = *j.start
	active := 0
	for {
		steps := limit
		live := -1
		for i := range j.lanes {
			l := &lanes[i]
			if !l.active && len(rows) > 0 {
				j.enter(i, l, &refs[i], rows[0])
				rows = rows[1:]
				active++
			}
			if l.active {
				steps = min(steps, l.left)
				live = i
			}
		}
		if active == 0 {
			return
		}
		for i := range j.lanes {
			if !lanes[i].active {
				refs[i] = refs[live]
			}
		}
		j.run(nil, &j.live, (*[2]uint64)(&refs[0]), &j.stage[0], steps, 0, 1, nil, nil, nil, 0)
		for i := range j.lanes {
			l := &lanes[i]
			if !l.active {
				continue
			}
			l.left -= steps
			refs[i][0] += uint64(steps * block)
			if l.left > 0 {
				continue
			}
			if l.tail > 0 {
				refs[i][0] = uint64(addr(j.tails[i][:]))
				l.left, l.tail = l.tail, 0
				continue
			}
			j.leave(i, l)
			active--
		}
	}
}

// enter puts a row into a lane.
func (j *job) enter(i int, l *lane, ref *rowRef, r rowRef) {
	row := j.col.Row(j.lo + r.out()/j.full)
	block := j.alg.BlockSize()
	body := len(row) / block
	end := j.alg.pad(&j.tails[i], row[body*block:], uint64(len(row)+j.extra))
	*l = lane{out: r.out(), left: body, tail: len(end) / block, active: true}
	*ref = newRowRef(addr(row), len(row), r.out())
	if body == 0 {
		ref[0] = uint64(addr(j.tails[i][:]))
		l.left, l.tail = l.tail, 0
	}
	size := j.wordSize()
	for w := range j.words() {
		at := size * j.word(w, i)
		copy(j.live[at:at+size], j.start[at:])
	}
}

// leave writes the digest of a lane's row and frees the lane.
func (j *job) leave(i int, l *lane) {
	st := j.chaining(i)
	st.store(j.out[l.out:l.out+j.full], j.alg)
	l.active = false
	clear(j.tails[i][:])
}

// chaining is the chaining value of a lane.
func (j *job) chaining(i int) (st state) {
	for w := range j.words() {
		if j.alg.wide() {
			st.w64[w] = binary.NativeEndian.Uint64(j.live[8*j.word(w, i):])
		} else {
			st.w32[w] = binary.NativeEndian.Uint32(j.live[4*j.word(w, i):])
		}
	}
	return st
}
