package mask

import "unicode"

// class is what a character counts as; each has its own replacement.
type class uint8

const (
	classUpper class = iota
	classLower
	classDigit
	classOther
	numClasses
)

// classTable gives the class of every code point in two steps: 256 code points
// to a page, equal pages stored once.
type classTable struct {
	index [(unicode.MaxRune + 1) >> 8]uint16
	pages [][256]class
}

// newClassTable puts the code points of each list into that class, the rest
// into classOther.
func newClassTable(lists [numClasses][]*unicode.RangeTable) *classTable {
	flat := make([][256]class, (unicode.MaxRune+1)>>8)
	for p := range flat {
		for i := range flat[p] {
			flat[p][i] = classOther
		}
	}
	set := func(lo, hi, stride rune, c class) {
		for r := lo; r <= hi; r += stride {
			flat[r>>8][r&0xff] = c
		}
	}
	for c, tables := range lists {
		for _, t := range tables {
			for _, r := range t.R16 {
				set(rune(r.Lo), rune(r.Hi), rune(r.Stride), class(c))
			}
			for _, r := range t.R32 {
				set(rune(r.Lo), rune(r.Hi), rune(r.Stride), class(c))
			}
		}
	}
	return pack(flat)
}

// pack stores equal pages once.
func pack(flat [][256]class) *classTable {
	t := &classTable{}
	seen := make(map[[256]class]uint16)
	for p, page := range flat {
		at, ok := seen[page]
		if !ok {
			at = uint16(len(t.pages))
			seen[page] = at
			t.pages = append(t.pages, page)
		}
		t.index[p] = at
	}
	return t
}

// of is the class of a valid code point.
func (t *classTable) of(r rune) class { return t.pages[t.index[r>>8]][r&0xff] }

// or is the table with the classes of another wherever that has one.
func (t *classTable) or(over *classTable) *classTable {
	flat := make([][256]class, len(t.index))
	for p := range flat {
		flat[p] = t.pages[t.index[p]]
		for i, c := range over.pages[over.index[p]] {
			if c != classOther {
				flat[p][i] = c
			}
		}
	}
	return pack(flat)
}
