package rowtake

import "slices"

// places numbers the values of a dictionary that are in use, in their order. It
// is a list over the dictionary, or a map where that claims to be much longer
// than the rows are: memory follows the rows, not the claim.
type places struct {
	dense  []int32 // place + 1, or 0
	sparse map[int]int32
}

func newPlaces(size, rows int) *places {
	if size <= 1<<16+8*rows {
		return &places{dense: make([]int32, size)}
	}
	return &places{sparse: make(map[int]int32)}
}

func (p *places) use(v int) {
	if p.dense != nil {
		p.dense[v] = 1
		return
	}
	p.sparse[v] = 1
}

// number gives each value in use its place and lists them as runs.
func (p *places) number() (runs []Run) {
	n := int32(0)
	for v, used := range p.dense {
		if used != 0 {
			n++
			p.dense[v] = n
			runs = push(runs, v, v+1)
		}
	}
	keys := make([]int, 0, len(p.sparse))
	for v := range p.sparse {
		keys = append(keys, v)
	}
	slices.Sort(keys)
	for _, v := range keys {
		n++
		p.sparse[v] = n
		runs = push(runs, v, v+1)
	}
	return runs
}

func (p *places) at(v int) int32 {
	if p.dense != nil {
		return p.dense[v] - 1
	}
	return p.sparse[v] - 1
}
