package mask

import (
	"fmt"
	"unicode/utf8"
)

// strictRows masks code points as Impala does with UTF8_MODE on. What is not
// scanned is copied as it is, bad bytes included; strictText has seen to it
// that what is scanned is valid.
type strictRows struct{ text *textMask }

func (m strictRows) runes(row []byte) bool { return utf8.Valid(row) }

func (m strictRows) size(row []byte) int {
	lo, hi := m.text.runeWindow(row)
	return lo + m.text.maskedSize(row[lo:hi]) + len(row) - hi
}

func (m strictRows) write(dst, row []byte) int {
	lo, hi := m.text.runeWindow(row)
	n := copy(dst, row[:lo])
	n += m.text.mask(dst[n:], row[lo:hi])
	return n + copy(dst[n:], row[hi:])
}

// scanned is the part of a row that must be valid UTF-8. The masks of the last
// characters count from the front and so scan everything; with n at or above
// the length in bytes the show forms look at nothing.
func (m *textMask) scanned(row []byte) []byte {
	switch m.window {
	case windowFirst:
		end, _ := forward(row, m.n)
		return row[:end]
	case windowShowFirst, windowShowLast:
		if m.n >= len(row) {
			return nil
		}
	}
	return row
}

// strictText makes a row whose scanned part is not valid NULL, or the whole
// call an error where the mask counts from the end.
type strictText struct{ textStep }

func (s strictText) eval(r *run, in *Vector) (*Vector, error) {
	m := s.op.(*textMask)
	out, col := in, in.column(0, in.Len)
	for i := range in.Len {
		if in.IsNull(i) || utf8.Valid(m.scanned(col.Row(i))) {
			continue
		}
		if m.window == windowLast || m.window == windowShowLast {
			return nil, r.badValue(i, "not valid UTF-8")
		}
		out = in.without(i, out)
	}
	return s.textStep.eval(r, out)
}

// badValue is the error for a value without an answer.
func (r *run) badValue(row int, why string) error {
	return fmt.Errorf("%s: row %d: %w: %s", r.step, row, ErrValue, why)
}

// without makes one more row NULL: in a copy of the column with a bitmap of its
// own, so is the column itself at first and then what the last call gave.
func (v *Vector) without(row int, so *Vector) *Vector {
	if so == v {
		c := *v
		so = &c
		so.Valid, so.ValidOffset = make([]byte, bitmapSize(v.Len)), 0
		for i := range so.Valid {
			so.Valid[i] = 0xff
		}
		if v.Valid != nil {
			copyBits(so.Valid, v.Valid, v.ValidOffset, v.Len)
		}
	}
	so.Valid[row>>3] &^= 1 << (row & 7)
	so.Nulls++
	return so
}
