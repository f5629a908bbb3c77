package kernels

import (
	"cmp"
	"slices"
)

// hash runs the rows lo to lo+n of the column.
func (j *job) hash(n int) {
	g := j.gather(n)
	if g.rest == 0 && g.least == g.most && g.most <= maxClass {
		j.line = !j.col.picked && j.col.kind != kindViews
		j.class(j.refs[:n], n, g.most, g.same)
		j.line = false
		return
	}
	rows, rest := j.refs[:g.rows], j.rest[:g.rest]
	if g.least <= maxClass {
		rest = j.classes(rows, rest)
	} else {
		rest = append(rest, rows...)
	}
	if len(rest) > 0 {
		j.mixed(rest)
	}
}

// worthGroup reports whether n rows, fewer than the lanes, had better make a
// group of their own: the idle lanes cost less than refill spends on the rows.
func (j *job) worthGroup(n, blocks int) bool {
	return n > 0 && blocks*j.cost.step*(j.lanes-n) <= n*refillRow*j.lanes
}

// classes puts rows in order of their number of blocks, runs the groups of
// each number and adds the rows that make no group to rest.
func (j *job) classes(rows, rest []rowRef) []rowRef {
	next := &j.starts
	clear(next[:])
	for _, r := range rows {
		if b := j.blocks(r.len()); b <= maxClass {
			next[b+1]++
		}
	}
	for b := range maxClass + 1 {
		next[b+1] += next[b]
	}
	for _, r := range rows {
		b := j.blocks(r.len())
		if b > maxClass {
			rest = append(rest, r)
			continue
		}
		j.sorted[next[b]] = r
		next[b]++
	}
	// Now next[b] is where class b ends and class b+1 starts.
	at := 0
	for b := 1; b <= maxClass; b++ {
		n := int(next[b]) - at
		whole := n - n%j.lanes
		if whole > 0 {
			j.class(j.sorted[at:at+whole], whole, b, same(j.sorted[at:at+whole]))
		}
		if odd := j.sorted[at+whole : at+n]; j.worthGroup(len(odd), b) {
			j.class(append(j.odd[:0], odd...), len(odd), b, same(odd))
		} else {
			rest = append(rest, odd...)
		}
		at += n
	}
	return rest
}

// class runs n rows of the given number of blocks in lockstep; length is that
// of every row, or mixedLengths. If n is not a
// multiple of the lanes, rows must be the end of its array: the last row is
// repeated behind it, and its digest written twice.
func (j *job) class(rows []rowRef, n, blocks, length int) {
	if odd := n % j.lanes; odd > 0 {
		if j.mac == nil && odd*(blocks*j.cost.block+j.cost.row) < blocks*j.cost.step {
			for _, r := range rows[n-odd:] {
				j.one(r)
			}
			n -= odd
		} else {
			last := rows[n-1]
			for ; n%j.lanes > 0; n++ {
				rows = append(rows[:n], last)
			}
		}
	}
	block := j.alg.BlockSize()
	p := j.parts(blocks, length, n)
	batch := maxCall / (blocks * block)
	if p.tail > 0 {
		batch = min(batch, stageSize/(p.tail*block))
	}
	batch = max(batch-batch%j.lanes, j.lanes)
	for at := 0; at < n; at += batch {
		m := min(batch, n-at)
		first := (*[2]uint64)(&rows[at])
		if p.tail > 0 {
			p.pack(&j.stage[0], first, m, p.body*block, j.extra, p.tail*block)
			j.staged = max(j.staged, m*p.tail*block+p.over)
		}
		j.run(&j.out[0], j.start, first, &j.stage[0], p.body, p.tail, m/j.lanes, j.text, p.fixed, p.open, j.ahead(p, rows[at:], m))
	}
}

// minAhead and maxAhead are how far ahead rows are asked into the L1 cache: so
// many rows at least, so many bytes at most.
const minAhead, maxAhead = 16, 16 << 10

// ahead is how many bytes behind a group's rows those lie that had better come
// to the cache now, or 0. Rows that are padded in the staging area are needed
// when the batch after these, of m rows, is packed.
func (j *job) ahead(p parts, rows []rowRef, m int) int {
	if !j.line {
		return 0
	}
	if p.tail <= 0 || p.body > 0 {
		m = min(m, max(j.lanes, minAhead))
	}
	bytes := rows[m-1][0] + uint64(rows[m-1].len()) - rows[0][0]
	if bytes > maxAhead { // or the last row is a copy and lies elsewhere
		return 0
	}
	return int(bytes)
}

// one hashes a row in the single-stream code. Not for HMAC, where out takes
// what the second pass starts from.
func (j *job) one(r rowRef) {
	i := j.lo + r.out()/j.full
	size := j.alg.Size()
	j.single(j.out[r.out():r.out()+size], j.col, i, i+1, nil)
}

// mixed runs rows of different lengths, the longest first.
func (j *job) mixed(rows []rowRef) {
	slices.SortFunc(rows, func(a, b rowRef) int { return cmp.Compare(b.len(), a.len()) })
	alone := 0
	if j.mac == nil {
		alone = j.alone(rows)
	}
	for _, r := range rows[:alone] {
		j.one(r)
	}
	j.refill(rows[alone:])
}

// alone is how many of the rows, which come longest first, had better be run
// one by one: the number for which single-stream time and lane time together
// are least.
func (j *job) alone(rows []rowRef) int {
	single := 0 // time of rows[:i]
	for _, r := range rows {
		single += j.blocks(r.len())*j.cost.block + j.cost.row
	}
	best, bestTime := len(rows), single
	left := 0                // blocks of rows[i:]
	var rounds [maxLanes]int // blocks of every lanes-th row, counted from the end
	for i := len(rows) - 1; i >= 0; i-- {
		longest := j.blocks(rows[i].len())
		left += longest
		single -= longest*j.cost.block + j.cost.row
		rounds[i%j.lanes] += longest
		// Lanes that are refilled take no more than they would in rounds, each as
		// long as its longest row, nor than an even share and one more row.
		steps := min(rounds[i%j.lanes], j.groups(left)+longest-longest/j.lanes)
		time := single + steps*j.cost.step + refillTime + (len(rows)-i)*refillRow
		if time <= bestTime {
			best, bestTime = i, time
		}
	}
	return best
}
