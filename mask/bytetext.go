package mask

import "unicode/utf8"

// byteRows masks text byte by byte, as Impala does with UTF8_MODE off: bytes
// outside ASCII are of class other, and the length stays.
type byteRows struct {
	text  *textMask
	table [256]byte
}

func newByteRows(m *textMask, rep *[numClasses]rune) *byteRows {
	b := &byteRows{text: m}
	for i := range b.table {
		c := classOther
		if i < utf8.RuneSelf {
			c = m.classes.of(rune(i))
		}
		b.table[i] = byte(i)
		if rep[c] != keep {
			b.table[i] = byte(rep[c])
		}
	}
	return b
}

func (m *byteRows) runes([]byte) bool { return false }

func (m *byteRows) size(row []byte) int { return len(row) }

func (m *byteRows) write(dst, row []byte) int {
	lo, hi := m.text.windowOf(len(row))
	copy(dst, row)
	for i, c := range row[lo:hi] {
		dst[lo+i] = m.table[c]
	}
	return len(row)
}
