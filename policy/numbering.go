package policy

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
)

// numbering gives distinct keys the numbers from 0, in the order in which they
// come. A map would do; this keeps its memory from one use to the next, and a
// small use after a large one costs no more than any small one.
type numbering[K comparable] struct {
	keys   []K      // by number
	hashes []uint32 // by number
	slots  []uint32 // number + 1 of a key at its hash or in the next free slot; 0: free
	order  []uint32 // numbers in the order of the keys, once sorted
	rank   []uint32 // by number: its place in order
}

// minSlots is a power of two.
const minSlots = 128

// add gives the number of a key and whether it is new.
func (x *numbering[K]) add(k K) (n uint32, isNew bool) {
	return x.find(k, uint32(maphash.Comparable(seed, k)))
}

func (x *numbering[K]) find(k K, h uint32) (n uint32, isNew bool) {
	if 2*len(x.keys) >= len(x.slots) {
		x.grow()
	}
	at := h & uint32(len(x.slots)-1)
	for ; x.slots[at] != 0; at = (at + 1) & uint32(len(x.slots)-1) {
		if n = x.slots[at] - 1; x.keys[n] == k {
			return n, false
		}
	}
	n = uint32(len(x.keys))
	x.keys = append(x.keys, k)
	x.hashes = append(x.hashes, h)
	x.slots[at] = n + 1
	return n, true
}

func (x *numbering[K]) grow() {
	size := max(minSlots, 2*len(x.slots))
	if cap(x.slots) < size {
		x.slots = make([]uint32, size)
	} else {
		x.slots = x.slots[:size]
		clear(x.slots)
	}
	for n, h := range x.hashes {
		at := h & uint32(size-1)
		for x.slots[at] != 0 {
			at = (at + 1) & uint32(size-1)
		}
		x.slots[at] = uint32(n) + 1
	}
}

// sort ranks the keys; compare is given their numbers.
func (x *numbering[K]) sort(compare func(a, b uint32) int) {
	for n := range x.keys {
		x.order = append(x.order, uint32(n))
	}
	slices.SortFunc(x.order, compare)
	x.rankAll()
}

func (x *numbering[K]) rankAll() {
	x.rank = append(x.rank, x.order...) // for the length
	for at, n := range x.order {
		x.rank[n] = uint32(at)
	}
}

// reset forgets the keys.
func (x *numbering[K]) reset() {
	clear(x.keys)
	x.keys, x.hashes, x.slots, x.order, x.rank = x.keys[:0], x.hashes[:0], x.slots[:0], x.order[:0], x.rank[:0]
}

// sharing numbers values by content. What is shared by pointer is looked at
// once, however often it comes; what is equal and not shared, once an object.
type sharing[T comparable] struct {
	numbering[T]
	seen  numbering[*T]
	equal []uint32 // by number of the pointer: the number of the value
}

func (s *sharing[T]) add(p *T) (n uint32, isNew bool) {
	at, isNew := s.seen.add(p)
	if !isNew {
		return s.equal[at], false
	}
	n, isNew = s.numbering.add(*p)
	s.equal = append(s.equal, n)
	return n, isNew
}

func (s *sharing[T]) reset() {
	s.numbering.reset()
	s.seen.reset()
	s.equal = s.equal[:0]
}

// texts are numbered strings.
type texts struct {
	numbering[string]
	heads []textHead
}

func (t *texts) add(s string) uint32 {
	n, _ := t.find(s, uint32(maphash.String(seed, s)))
	return n
}

// textHead is a text's first eight bytes, which mostly tell two apart without
// reading them, and its number.
type textHead struct {
	head uint64
	n    uint32
}

func headOf(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// sort ranks the texts by their bytes.
func (t *texts) sort() {
	for n, s := range t.keys {
		t.heads = append(t.heads, textHead{headOf(s), uint32(n)})
	}
	slices.SortFunc(t.heads, func(a, b textHead) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return strings.Compare(t.keys[a.n], t.keys[b.n])
	})
	for _, h := range t.heads {
		t.order = append(t.order, h.n)
	}
	t.rankAll()
}

func (t *texts) reset() {
	t.numbering.reset()
	t.heads = t.heads[:0]
}
