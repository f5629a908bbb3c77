package mask

import (
	"fmt"
	"slices"
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
	var bad []int
	col := in.column(0, in.Len)
	for i := range in.Len {
		if in.IsNull(i) || utf8.Valid(m.scanned(col.Row(i))) {
			continue
		}
		if m.window == windowLast || m.window == windowShowLast {
			return nil, r.badValue(i, "not valid UTF-8")
		}
		bad = append(bad, i)
	}
	if bad != nil {
		in = in.without(bad)
	}
	return s.textStep.eval(r, in)
}

// badValue is the error for a value without an answer.
func (r *run) badValue(row int, why string) error {
	return fmt.Errorf("%s: row %d: %w: %s", r.step, row, ErrValue, why)
}

// without is the column with more rows NULL; it shares everything else.
func (v *Vector) without(rows []int) *Vector {
	out := *v
	out.Valid, out.ValidOffset = slices.Repeat([]byte{0xff}, bitmapSize(v.Len)), 0
	if v.Valid != nil {
		copyBits(out.Valid, v.Valid, v.ValidOffset, v.Len)
	}
	for _, i := range rows {
		out.Valid[i>>3] &^= 1 << (i & 7)
	}
	out.Nulls = v.Nulls + len(rows)
	return &out
}
