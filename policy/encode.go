package policy

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
)

// The encoding of a Set, all integers as unsigned varints:
//
//	magic "AMPL", format version
//	strings: count, then length and bytes of each; sorted, distinct
//	masks:   count, then expression and dialect of each, as string numbers
//	filters: count, then the canonical text of each, as a string number
//	reasons: count, then policy id (zigzag), name, item, kind, tag, zone
//	plans:   count, then each plan
//
// A plan is: table, version, columns, 8 bytes of fingerprint, filter + 1 or 0,
// filter's reason + 1 or 0, masked columns, exempt columns, unmatched policies.
// A masked column is: twice its distance from the column before, plus one with
// a path, then the path with its length, name, mask, reason; an exempt one lacks
// the mask; an unmatched policy is reason and detail. Every table is
// sorted and free of repetitions, so equal sets have equal bytes, and the size
// is that of the distinct text plus a few bytes for every table and column.
const (
	encodingMagic   = "AMPL"
	encodingVersion = 1
)

// encoder walks the plans twice: the first walk numbers what they name in the
// order in which it comes, and once all of it is known and sorted, the second
// writes.
type encoder struct {
	texts   texts
	masks   sharing[Mask]
	filters numbering[Hash]
	reasons sharing[Reason]

	// The numbers of the texts of each mask, filter and reason.
	maskTexts   [][2]uint32
	filterTexts []uint32
	reasonTexts [][4]uint32

	writing bool     // the second walk
	named   []uint32 // the numbers that the first walk gave,
	at      int      // of which the second has come to this one
	b       []byte   // what comes after the texts
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// encode writes the plans in the order given, into fresh memory without slack.
func encode(plans []*Plan) []byte {
	e := encoders.Get().(*encoder)
	defer e.put()
	for _, p := range plans {
		e.plan(p)
	}
	e.sort()
	e.writing = true
	e.tables()
	e.uint(len(plans))
	for _, p := range plans {
		e.plan(p)
	}
	return e.join()
}

// put hands the encoder back, empty of everything that came from the plans.
func (e *encoder) put() {
	e.texts.reset()
	e.masks.reset()
	e.filters.reset()
	e.reasons.reset()
	e.maskTexts, e.filterTexts, e.reasonTexts = e.maskTexts[:0], e.filterTexts[:0], e.reasonTexts[:0]
	e.writing, e.named, e.at, e.b = false, e.named[:0], 0, e.b[:0]
	encoders.Put(e)
}

// sort ranks the texts, and by their ranks what is made of them.
func (e *encoder) sort() {
	e.texts.sort()
	rank := e.texts.rank
	e.masks.sort(func(a, b uint32) int {
		x, y := e.maskTexts[a], e.maskTexts[b]
		return cmp.Or(cmp.Compare(rank[x[0]], rank[y[0]]), cmp.Compare(rank[x[1]], rank[y[1]]))
	})
	e.filters.sort(func(a, b uint32) int { return cmp.Compare(rank[e.filterTexts[a]], rank[e.filterTexts[b]]) })
	e.reasons.sort(func(a, b uint32) int { return compareReasons(&e.reasons.keys[a], &e.reasons.keys[b]) })
}

func compareReasons(a, b *Reason) int {
	if c := cmp.Or(cmp.Compare(a.PolicyID, b.PolicyID), cmp.Compare(a.Item, b.Item)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Policy, b.Policy), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Tag, b.Tag), strings.Compare(a.Zone, b.Zone))
}

// tables writes the masks, filters and reasons.
func (e *encoder) tables() {
	rank := e.texts.rank
	e.uint(len(e.masks.order))
	for _, n := range e.masks.order {
		for _, t := range e.maskTexts[n] {
			e.uint(int(rank[t]))
		}
	}
	e.uint(len(e.filters.order))
	for _, n := range e.filters.order {
		e.uint(int(rank[e.filterTexts[n]]))
	}
	e.uint(len(e.reasons.order))
	for _, n := range e.reasons.order {
		r, t := &e.reasons.keys[n], &e.reasonTexts[n]
		e.b = binary.AppendVarint(e.b, r.PolicyID)
		e.uint(int(rank[t[0]]))
		e.uint(r.Item)
		for _, t := range t[1:] {
			e.uint(int(rank[t]))
		}
	}
}

// join puts the head and the texts before the rest.
func (e *encoder) join() []byte {
	size := len(encodingMagic) + uintSize(encodingVersion) + uintSize(len(e.texts.keys)) + len(e.b)
	for _, s := range e.texts.keys {
		size += uintSize(len(s)) + len(s)
	}
	out := append(make([]byte, 0, size), encodingMagic...)
	out = binary.AppendUvarint(out, encodingVersion)
	out = binary.AppendUvarint(out, uint64(len(e.texts.keys)))
	for _, n := range e.texts.order {
		s := e.texts.keys[n]
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	return append(out, e.b...)
}

// plan is the walk of one plan.
func (e *encoder) plan(p *Plan) {
	e.text(p.Table)
	e.text(p.Version)
	e.uint(p.Columns)
	if e.writing {
		e.b = append(e.b, p.Fingerprint[:]...)
	}
	if p.Filter == nil {
		e.uint(0)
	} else {
		e.filter(p.Filter, 1)
	}
	if p.FilterWhy == nil {
		e.uint(0)
	} else {
		e.reason(p.FilterWhy, 1)
	}
	e.columns(p.Masks, true)
	e.columns(p.Exempt, false)
	e.uint(len(p.Unmatched))
	for i := range p.Unmatched {
		e.reason(&p.Unmatched[i].Why, 0)
		e.text(p.Unmatched[i].Detail)
	}
}

func (e *encoder) columns(list []ColumnMask, masked bool) {
	e.uint(len(list))
	last := 0
	for i := range list {
		c := &list[i]
		if step := 2 * (c.Index - last); len(c.Path) == 0 {
			e.uint(step)
		} else {
			e.uint(step + 1)
			e.uint(len(c.Path))
			for _, k := range c.Path {
				e.uint(k)
			}
		}
		last = c.Index
		e.text(c.Name)
		if masked {
			e.mask(c.Mask)
		}
		e.reason(c.Why, 0)
	}
}

// The parts of the walk: in the first they number, in the second they write.

func (e *encoder) uint(n int) {
	switch {
	case !e.writing:
	case uint(n) < 0x80:
		e.b = append(e.b, byte(n))
	default:
		e.b = binary.AppendUvarint(e.b, uint64(n))
	}
}

func (e *encoder) text(s string) {
	if e.writing {
		e.again(e.texts.rank, 0)
		return
	}
	e.named = append(e.named, e.texts.add(s))
}

func (e *encoder) mask(m *Mask) {
	if e.writing {
		e.again(e.masks.rank, 0)
		return
	}
	n, isNew := e.masks.add(m)
	if isNew {
		e.maskTexts = append(e.maskTexts, [2]uint32{e.texts.add(m.Expr), e.texts.add(m.Dialect)})
	}
	e.named = append(e.named, n)
}

func (e *encoder) filter(f *Filter, plus int) {
	if e.writing {
		e.again(e.filters.rank, plus)
		return
	}
	n, isNew := e.filters.add(f.hash)
	if isNew {
		e.filterTexts = append(e.filterTexts, e.texts.add(f.text))
	}
	e.named = append(e.named, n)
}

func (e *encoder) reason(r *Reason, plus int) {
	if e.writing {
		e.again(e.reasons.rank, plus)
		return
	}
	n, isNew := e.reasons.add(r)
	if isNew {
		e.reasonTexts = append(e.reasonTexts, [4]uint32{e.texts.add(r.Policy), e.texts.add(r.Kind), e.texts.add(r.Tag), e.texts.add(r.Zone)})
	}
	e.named = append(e.named, n)
}

// again writes what the first walk numbered at this place.
func (e *encoder) again(rank []uint32, plus int) {
	e.uint(int(rank[e.named[e.at]]) + plus)
	e.at++
}

// uintSize is the number of bytes of an unsigned varint.
func uintSize(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }
