package kernels

import (
	"math"
	"unsafe"
)

// gathered says what a chunk's rows are like.
type gathered struct {
	rows        int // references in refs
	rest        int // references in rest: rows that no packer may touch
	least, most int // number of blocks of the shortest and longest in refs
	same        int // length of every row in refs, or mixedLengths
}

// extent is what a gather loop finds out on its way.
type extent struct {
	shortest, longest int
	// near: some row may lie so close to the end of its buffer that padding it
	// to whole blocks where it lies would reach beyond.
	near bool
}

// gather fills refs with the rows lo to lo+n of the column, and rest with those
// that no packer may touch.
func (j *job) gather(n int) gathered {
	x := j.addresses(n)
	g := gathered{rows: n, least: j.blocks(x.shortest), most: j.blocks(x.longest), same: mixedLengths}
	if x.shortest == x.longest {
		g.same = x.longest
	}
	switch near := x.near && !j.exact; {
	case x.longest > j.maxRow, near && (j.col.picked || j.col.kind == kindViews):
		j.ends(&g)
	case near:
		j.lastRows(&g)
	}
	return g
}

// addresses fills refs with the rows lo to lo+n of the column.
func (j *job) addresses(n int) extent {
	c := j.col
	reach := j.alg.BlockSize() + j.alg.BlockSize()/8 // most that padding adds
	switch c.kind {
	case kindOff32:
		if !c.picked && j.gather32 != nil {
			return j.gather32Rows(n, reach)
		}
		return gatherOffsets(j.refs[:n], c, c.off32, j.lo, j.full, reach)
	case kindOff64:
		return gatherOffsets(j.refs[:n], c, c.off64, j.lo, j.full, reach)
	case kindViews:
		return gatherViews(j.refs[:n], c, j.lo, j.full, reach)
	default:
		return gatherFixed(j.refs[:n], c, j.lo, j.full, reach)
	}
}

// add takes a row of the given length into account, which has room bytes from
// its start to the end of its buffer.
func (x *extent) add(length, room, reach int) {
	x.shortest, x.longest = min(x.shortest, length), max(x.longest, length)
	x.near = x.near || room < length+reach
}

func gatherOffsets[O Offset](refs []rowRef, c *Column, offsets []O, lo, stride, reach int) extent {
	base := addr(c.data)
	shortest, longest, last := O(math.MaxInt32), O(0), O(0)
	if c.picked {
		for i, r := range c.sel[lo : lo+len(refs)] {
			a, e := offsets[r], offsets[r+1]
			refs[i] = newRowRef(base+uintptr(a), int(e-a), i*stride)
			shortest, longest, last = min(shortest, e-a), max(longest, e-a), max(last, e)
		}
	} else {
		last = offsets[lo]
		for i, e := range offsets[lo+1 : lo+1+len(refs)] {
			n := e - last
			refs[i] = newRowRef(base+uintptr(last), int(n), i*stride)
			shortest, longest = min(shortest, n), max(longest, n)
			last = e
		}
	}
	return extent{int(shortest), int(longest), int(last) > len(c.data)-reach}
}

// gather32Rows is gatherOffsets for the commonest column, in assembly.
func (j *job) gather32Rows(n, reach int) extent {
	offsets := j.col.off32[j.lo : j.lo+n+1]
	x := extent{shortest: math.MaxInt32, near: int(offsets[n]) > len(j.col.data)-reach}
	four := n &^ 3
	if four > 0 {
		s, l := j.gather32((*[2]uint64)(&j.refs[0]), &offsets[0], addr(j.col.data), four, j.full)
		x.shortest, x.longest = int(s), int(l)
	}
	for i := four; i < n; i++ {
		a, length := offsets[i], int(offsets[i+1]-offsets[i])
		j.refs[i] = newRowRef(addr(j.col.data)+uintptr(a), length, i*j.full)
		x.shortest, x.longest = min(x.shortest, length), max(x.longest, length)
	}
	return x
}

func gatherFixed(refs []rowRef, c *Column, lo, stride, reach int) extent {
	base, last := addr(c.data), lo+len(refs)-1
	for i := range refs {
		r := lo + i
		if c.picked {
			r = int(c.sel[r])
			last = max(last, r)
		}
		refs[i] = newRowRef(base+uintptr(r)*uintptr(c.width), c.width, i*stride)
	}
	return extent{c.width, c.width, last*c.width+c.width > len(c.data)-reach}
}

func gatherViews(refs []rowRef, c *Column, lo, stride, reach int) extent {
	x := extent{shortest: math.MaxInt32}
	for i := range refs {
		r := lo + i
		if c.picked {
			r = int(c.sel[r])
		}
		v := &c.views[r]
		n := v.Len()
		at, room := uintptr(unsafe.Pointer(v))+4, viewRoom(c, r)
		if n > ViewInline {
			b, o := v.Ref()
			at, room = addr(c.buffers[b])+uintptr(o), len(c.buffers[b])-o
		}
		refs[i] = newRowRef(at, n, i*stride)
		x.add(n, room, reach)
	}
	return x
}

// viewRoom is the number of bytes from the inline bytes of view r to the end
// of the views.
func viewRoom(c *Column, r int) int { return (len(c.views)-r)*len(View{}) - 4 }

// lastRows goes over the rows of a chunk that lie near the end of the data, in
// a column whose rows lie there in their order. A packer reads whole blocks, so
// what could reach beyond the data is copied, if it is short, or else left to
// code that reads nothing but the row.
func (j *job) lastRows(g *gathered) {
	block := j.alg.BlockSize()
	end := uint64(addr(j.col.data)) + uint64(len(j.col.data))
	// A row reaches no further beyond its own end than that, and the rows before
	// end no later than it starts.
	reach := uint64(block + block/8)
	for i := g.rows - 1; i >= 0; i-- {
		ref := j.refs[i]
		if ref[0]+uint64(ref.len())+reach <= end {
			return
		}
		padded := j.blocks(ref.len()) * block
		if ref[0]+uint64(padded) <= end {
			continue
		}
		spill := j.spill[j.spilled:]
		if padded > len(spill) {
			j.rest[g.rest] = ref
			g.rest++
			copy(j.refs[i:], j.refs[i+1:g.rows])
			g.rows--
			continue
		}
		if ref.len() > 0 {
			copy(spill, j.col.Row(j.lo+ref.out()/j.full))
			j.spilled += padded
		}
		j.refs[i][0] = uint64(addr(spill))
	}
}

// ends is lastRows for columns whose rows may lie anywhere, and takes out rows
// too long for a lane.
func (j *job) ends(g *gathered) {
	block := j.alg.BlockSize()
	n := g.rows
	g.rows = 0
	for i := range n {
		row, out := j.col.Row(j.lo+i), i*j.full
		if len(row) > j.maxRow {
			if j.mac == nil {
				j.one(newRowRef(0, 0, out))
				continue
			}
			j.rest[g.rest] = newRowRef(0, j.maxRow, out)
			g.rest++
			continue
		}
		ref := newRowRef(addr(row), len(row), out)
		if padded := j.blocks(len(row)) * block; padded > j.col.room(j.lo+i) {
			spill := j.spill[j.spilled:]
			if padded > len(spill) {
				j.rest[g.rest] = ref
				g.rest++
				continue
			}
			copy(spill, row)
			if len(row) > 0 {
				j.spilled += padded
			}
			ref = newRowRef(addr(spill), len(row), out)
		}
		j.refs[g.rows] = ref
		g.rows++
	}
}

// room is the number of bytes from the start of the i-th row to the end of
// the buffer it lies in.
func (c *Column) room(i int) int {
	if c.picked {
		i = int(c.sel[i])
	}
	switch c.kind {
	case kindOff32:
		return len(c.data) - int(c.off32[i])
	case kindOff64:
		return len(c.data) - int(c.off64[i])
	case kindViews:
		v := &c.views[i]
		if v.Len() <= ViewInline {
			return viewRoom(c, i)
		}
		b, o := v.Ref()
		return len(c.buffers[b]) - o
	default:
		return len(c.data) - i*c.width
	}
}
