package mask

import (
	"unicode/utf16"
	"unicode/utf8"
)

// rowMasker masks the characters of one row at a time, where they are not code
// points of valid UTF-8.
type rowMasker interface {
	size(row []byte) int
	// write fills dst, which has size bytes or more, and is the bytes written.
	write(dst, row []byte) int
}

// textRules are how a dialect masks rows that are not ASCII.
type textRules interface {
	rowMasker
	// runes reports whether the row is masked as code points of valid UTF-8
	// are in every dialect; then size and write are not for it.
	runes(row []byte) bool
}

// javaRows masks text as a program of the Java platform sees it: bad bytes are
// decoded to U+FFFD, the unit is the UTF-16 unit or the code point, halves of a
// pair are of class other, and a half left alone is stored as "?".
type javaRows struct {
	text  *textMask
	rep   [numClasses]rune
	utf16 bool
	half  bool // a replacement is half a pair
}

func newJavaRows(m *textMask, rep *[numClasses]rune, units16 bool) *javaRows {
	j := &javaRows{text: m, rep: *rep, utf16: units16}
	for _, r := range rep {
		j.half = j.half || utf16.IsSurrogate(r)
	}
	return j
}

// runes: the row is valid UTF-8 in which every character is one unit, and no
// replacement is half a pair.
func (m *javaRows) runes(row []byte) bool {
	if m.half {
		return false
	}
	if m.utf16 {
		for _, c := range row {
			if c >= 0xf0 {
				return false
			}
		}
	}
	return utf8.Valid(row)
}

func (m *javaRows) size(row []byte) int {
	var w unitWriter
	m.mask(&w, row)
	return w.n
}

func (m *javaRows) write(dst, row []byte) int {
	w := unitWriter{dst: dst}
	m.mask(&w, row)
	return w.n
}

func (m *javaRows) mask(w *unitWriter, row []byte) {
	units := 0
	for i := 0; i < len(row); {
		r, n := javaRune(row[i:])
		units, i = units+m.units(r), i+n
	}
	lo, hi := m.text.windowOf(units)
	at := 0
	for i := 0; i < len(row); {
		r, n := javaRune(row[i:])
		i += n
		if m.units(r) == 1 {
			if at >= lo && at < hi {
				r = m.replace(r, m.text.classes.of(r))
			}
			w.put(r)
			at++
			continue
		}
		high, low := utf16.EncodeRune(r)
		for _, half := range [2]rune{high, low} {
			if at >= lo && at < hi {
				half = m.replace(half, classOther)
			}
			w.put(half)
			at++
		}
	}
	w.end()
}

func (m *javaRows) units(r rune) int {
	if m.utf16 && r > maxUnit {
		return 2
	}
	return 1
}

func (m *javaRows) replace(r rune, c class) rune {
	if rep := m.rep[c]; rep != keep {
		return rep
	}
	return r
}

// unitWriter encodes UTF-16 units and code points as UTF-8. A high half waits
// for its low half; a half without the other becomes "?". With no dst it only
// counts.
type unitWriter struct {
	dst  []byte
	n    int
	high rune
}

func (w *unitWriter) put(r rune) {
	if high := w.high; high != 0 {
		w.high = 0
		if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
			w.rune(pair)
			return
		}
		w.rune('?')
	}
	switch {
	case !utf16.IsSurrogate(r):
		w.rune(r)
	case r < 0xdc00:
		w.high = r
	default:
		w.rune('?')
	}
}

func (w *unitWriter) end() {
	if w.high != 0 {
		w.high = 0
		w.rune('?')
	}
}

func (w *unitWriter) rune(r rune) {
	if w.dst == nil {
		w.n += utf8.RuneLen(r)
		return
	}
	w.n += utf8.EncodeRune(w.dst[w.n:], r)
}

// javaRune decodes the character at the start of b, which is not empty. Bad
// bytes are U+FFFD, one for as many bytes as the decoder of the JDK takes
// together: a sequence cut short, or all three bytes of an encoded half of a
// pair.
func javaRune(b []byte) (r rune, width int) {
	if r, width = utf8.DecodeRune(b); r != utf8.RuneError || width != 1 {
		return r, width
	}
	more := func(i int) bool { return i < len(b) && b[i]&0xc0 == 0x80 }
	switch c := b[0]; {
	case c>>4 == 0xe:
		switch {
		case !more(1), c == 0xe0 && b[1] < 0xa0:
			return r, 1
		case !more(2):
			return r, 2
		}
		return r, 3
	case c >= 0xf0 && c <= 0xf4:
		switch {
		case !more(1), c == 0xf0 && b[1] < 0x90, c == 0xf4 && b[1] >= 0x90:
			return r, 1
		case !more(2):
			return r, 2
		}
		return r, 3
	}
	return r, 1
}

// javaText decodes and encodes text as the Java platform does.
type javaText struct{}

func (javaText) eval(r *run, in *Vector) (*Vector, error) {
	if validText(in) {
		return in, nil
	}
	return textStep{op: rowText{javaText{}}, out: in.Type}.eval(r, in)
}

func (javaText) size(row []byte) int {
	n := 0
	for i := 0; i < len(row); {
		c, w := javaRune(row[i:])
		n, i = n+utf8.RuneLen(c), i+w
	}
	return n
}

func (javaText) write(dst, row []byte) int {
	n := 0
	for i := 0; i < len(row); {
		c, w := javaRune(row[i:])
		n, i = n+utf8.EncodeRune(dst[n:], c), i+w
	}
	return n
}

// validText reports whether every row that is not NULL is valid UTF-8.
func validText(in *Vector) bool {
	col := in.column(0, in.Len)
	for i := range in.Len {
		if !in.IsNull(i) && !utf8.Valid(col.Row(i)) {
			return false
		}
	}
	return true
}

// rowText is a rowMasker as a textOp.
type rowText struct{ rows rowMasker }

func (t rowText) sizes(lens []int, in *Vector, lo, hi int) {
	col := in.column(lo, hi)
	for i := range lens {
		lens[i] = 0
		if !in.IsNull(lo + i) {
			lens[i] = t.rows.size(col.Row(i))
		}
	}
}

func (t rowText) write(dst []byte, in *Vector, lo, hi int) error {
	col, at := in.column(lo, hi), 0
	for i := range hi - lo {
		if !in.IsNull(lo + i) {
			at += t.rows.write(dst[at:], col.Row(i))
		}
	}
	return nil
}

// windowOf is where the window lies in a row of length units.
func (m *textMask) windowOf(length int) (lo, hi int) {
	n := min(m.n, length)
	switch m.window {
	case windowFirst:
		return 0, n
	case windowLast:
		return length - n, length
	case windowShowFirst:
		return n, length
	case windowShowLast:
		return 0, length - n
	}
	return 0, length
}
