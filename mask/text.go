package mask

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/internal/asciimask"
)

// textMask replaces the characters of a window of each row by their class.
//
// A character is a code point. A byte that is not part of valid UTF-8 is a
// character of the class lower; where it is shown or kept it becomes U+FFFD,
// so that the output is always valid UTF-8.
type textMask struct {
	window  window
	n       int
	rep     [numClasses]glyph
	classes *classTable
	rows    textRules // for rows that are not ASCII; nil: code points, as above

	// ascii masks ASCII without decoding it: every ASCII character becomes one
	// ASCII character. nil where a replacement is not ASCII.
	ascii *asciimask.Mask
	// With ascii: the one character for a class and for each code point below
	// 0x800, those of two bytes in UTF-8, or keepShort.
	short   [numClasses]byte
	twoByte [0x800]byte
}

// glyph is a replacement in UTF-8, or keep.
type glyph struct {
	keep bool
	text []byte
}

// badByte stands for a byte that is not part of valid UTF-8.
var badByte = []byte("\uFFFD")

func newTextMask(s *settings, d *rules) *textMask {
	classes := classTables[d.classes]()
	m := &textMask{window: s.window, n: s.n, classes: classes}
	m.ascii, _ = asciimask.New(s.rep[classUpper], s.rep[classLower], s.rep[classDigit], s.rep[classOther])
	for c, r := range s.rep {
		if m.rep[c].keep = r == keep; r != keep {
			m.rep[c].text = utf8.AppendRune(nil, r)
		}
		m.short[c] = byte(r) // keep becomes keepShort
	}
	for r := range m.twoByte {
		m.twoByte[r] = m.short[classes.of(rune(r))]
	}
	switch {
	case d.unit == unitByte:
		m.rows = newByteRows(m, &s.rep)
	case d.bad == badReplaced:
		m.rows = newJavaRows(m, &s.rep, d.unit == unitUTF16)
	case d.bad == badRefused:
		m.rows = strictRows{m}
	}
	return m
}

// runeWindow is where the window lies in a row. Both directions of decoding
// agree on where characters begin, for valid and for invalid UTF-8.
func (m *textMask) runeWindow(row []byte) (lo, hi int) {
	switch m.window {
	case windowFirst:
		hi, _ = forward(row, m.n)
		return 0, hi
	case windowLast:
		lo, _ = backward(row, m.n)
		return lo, len(row)
	case windowShowFirst:
		lo, _ = forward(row, m.n)
		return lo, len(row)
	case windowShowLast:
		hi, _ = backward(row, m.n)
		return 0, hi
	}
	return 0, len(row)
}

// forward is the byte position after the first n characters, or the end, and
// whether they are valid UTF-8.
func forward(row []byte, n int) (at int, valid bool) {
	for valid = true; n > 0 && at < len(row); n-- {
		w := 1
		if row[at] >= utf8.RuneSelf {
			_, w = decode(row[at:])
			valid = valid && w > 1
		}
		at += w
	}
	return at, valid
}

// backward is the byte position before the last n characters, or the start,
// and whether they are valid UTF-8.
func backward(row []byte, n int) (at int, valid bool) {
	at = len(row)
	for valid = true; n > 0 && at > 0; n-- {
		w := 1
		if row[at-1] >= utf8.RuneSelf {
			w = lastWidth(row[:at])
			valid = valid && w > 1
		}
		at -= w
	}
	return at, valid
}

func (m *textMask) sizes(lens []int, in *Vector, lo, hi int) {
	col := in.column(lo, hi)
	for i := range lens {
		lens[i] = 0
		if !in.IsNull(lo + i) {
			lens[i] = m.rowSize(col.Row(i))
		}
	}
}

func (m *textMask) write(dst []byte, in *Vector, lo, hi int) error {
	col, at := in.column(lo, hi), 0
	for i := range hi - lo {
		if !in.IsNull(lo + i) {
			at += m.row(dst[at:], col.Row(i))
		}
	}
	return nil
}

// rowSize is the size of what row writes.
func (m *textMask) rowSize(row []byte) int {
	if m.ascii != nil && isASCII(row) {
		return len(row)
	}
	if m.rows != nil && !m.rows.runes(row) {
		return m.rows.size(row)
	}
	a, b := m.runeWindow(row)
	return shownSize(row[:a]) + m.maskedSize(row[a:b]) + shownSize(row[b:])
}

// row masks one row of any text and returns the size of the answer.
func (m *textMask) row(dst, row []byte) int {
	if m.rows != nil && !m.rows.runes(row) {
		return m.rows.write(dst, row)
	}
	a, b := m.runeWindow(row)
	n := show(dst, row[:a])
	n += m.mask(dst[n:], row[a:b])
	return n + show(dst[n:], row[b:])
}

// isASCII reports whether no byte has its top bit set.
func isASCII(b []byte) bool {
	const top = 0x8080808080808080
	var or uint64
	for ; len(b) >= 8; b = b[8:] {
		or |= binary.LittleEndian.Uint64(b)
	}
	for _, c := range b {
		or |= uint64(c)
	}
	return or&top == 0
}

// next is the output of the character at the start of src and its width there.
func (m *textMask) next(src []byte) (out []byte, width int) {
	r, w := utf8.DecodeRune(src)
	if r == utf8.RuneError && w == 1 {
		if g := &m.rep[classLower]; !g.keep {
			return g.text, w
		}
		return badByte, w
	}
	if g := &m.rep[m.classes.of(r)]; !g.keep {
		return g.text, w
	}
	return src[:w], w
}

func (m *textMask) maskedSize(src []byte) int {
	n := 0
	for i := 0; i < len(src); {
		if m.ascii != nil && src[i] < utf8.RuneSelf {
			n, i = n+1, i+1
			continue
		}
		out, w := m.next(src[i:])
		n, i = n+len(out), i+w
	}
	return n
}

func (m *textMask) mask(dst, src []byte) int {
	if m.ascii != nil {
		return m.maskMixed(dst, src)
	}
	n := 0
	for i := 0; i < len(src); {
		out, w := m.next(src[i:])
		n, i = n+copy(dst[n:], out), i+w
	}
	return n
}

// shownSize is the size of what show writes.
func shownSize(src []byte) int {
	if utf8.Valid(src) {
		return len(src)
	}
	n := 0
	for i := 0; i < len(src); {
		r, w := utf8.DecodeRune(src[i:])
		if n += w; r == utf8.RuneError && w == 1 {
			n += len(badByte) - 1
		}
		i += w
	}
	return n
}

// show copies text, each bad byte as U+FFFD.
func show(dst, src []byte) int {
	if utf8.Valid(src) {
		return copy(dst, src)
	}
	n := 0
	for i := 0; i < len(src); {
		r, w := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && w == 1 {
			n += copy(dst[n:], badByte)
		} else {
			n += copy(dst[n:], src[i:i+w])
		}
		i += w
	}
	return n
}
