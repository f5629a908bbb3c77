package mask

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/kernels"
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

	// plain: every ASCII character becomes one ASCII character, by table. Then
	// ASCII rows keep their length and are never decoded.
	plain bool
	table [utf8.RuneSelf]byte
}

// glyph is a replacement in UTF-8, or keep.
type glyph struct {
	keep bool
	text []byte
}

// badByte stands for a byte that is not part of valid UTF-8.
var badByte = []byte("\uFFFD")

func newTextMask(s *settings, classes *classTable) *textMask {
	m := &textMask{window: s.window, n: s.n, classes: classes, plain: true}
	for c, r := range s.rep {
		if r == keep {
			m.rep[c].keep = true
			continue
		}
		m.rep[c].text = utf8.AppendRune(nil, r)
		m.plain = m.plain && r < utf8.RuneSelf
	}
	if !m.plain {
		return m
	}
	for b := range m.table {
		m.table[b] = byte(b)
		if g := &m.rep[classes.of(rune(b))]; !g.keep {
			m.table[b] = g.text[0]
		}
	}
	return m
}

// asciiWindow is where the window lies in a row of that many bytes, each one
// character.
func (m *textMask) asciiWindow(length int) (lo, hi int) {
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

// runeWindow is asciiWindow for any text. Both directions of decoding agree on
// where characters begin, for valid and for invalid UTF-8.
func (m *textMask) runeWindow(row []byte) (lo, hi int) {
	switch m.window {
	case windowFirst:
		return 0, forward(row, m.n)
	case windowLast:
		return backward(row, m.n), len(row)
	case windowShowFirst:
		return forward(row, m.n), len(row)
	case windowShowLast:
		return 0, backward(row, m.n)
	}
	return 0, len(row)
}

// forward is the byte position after the first n characters, or the end.
func forward(row []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(row); n-- {
		if row[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, w := utf8.DecodeRune(row[i:])
		i += w
	}
	return i
}

// backward is the byte position before the last n characters, or the start.
func backward(row []byte, n int) int {
	i := len(row)
	for ; n > 0 && i > 0; n-- {
		if row[i-1] < utf8.RuneSelf {
			i--
			continue
		}
		_, w := utf8.DecodeLastRune(row[:i])
		i -= w
	}
	return i
}

func (m *textMask) sizes(lens []int, in *Vector, lo, hi int) (plain bool) {
	if m.plainChunk(in, lo, hi) {
		if in.Layout == LayoutOffsets64 {
			differences(lens, in.Offsets64[lo:])
		} else {
			differences(lens, in.Offsets32[lo:])
		}
		return true
	}
	col := in.column(lo, hi)
	for i := range lens {
		lens[i] = 0
		if in.IsNull(lo + i) {
			continue
		}
		row := col.Row(i)
		if m.plain && isASCII(row) {
			lens[i] = len(row)
			continue
		}
		a, b := m.runeWindow(row)
		lens[i] = shownSize(row[:a]) + m.maskedSize(row[a:b]) + shownSize(row[b:])
	}
	return false
}

func (m *textMask) write(dst []byte, in *Vector, lo, hi int, plain bool) error {
	switch {
	case plain && in.Layout == LayoutOffsets32:
		writePlain(m, dst, in.Data, in.Offsets32[lo:hi+1])
		return nil
	case plain:
		writePlain(m, dst, in.Data, in.Offsets64[lo:hi+1])
		return nil
	}
	col, at := in.column(lo, hi), 0
	for i := range hi - lo {
		if in.IsNull(lo + i) {
			continue
		}
		row := col.Row(i)
		a, b := m.runeWindow(row)
		at += show(dst[at:], row[:a])
		at += m.mask(dst[at:], row[a:b])
		at += show(dst[at:], row[b:])
	}
	return nil
}

// differences stores the length of each row; no NULL has bytes.
func differences[O kernels.Offset](lens []int, offsets []O) {
	for i := range lens {
		lens[i] = int(offsets[i+1] - offsets[i])
	}
}

// plainChunk reports whether the rows can be masked as one run of ASCII bytes:
// they lie one after the other and no NULL among them has bytes.
func (m *textMask) plainChunk(in *Vector, lo, hi int) bool {
	if !m.plain {
		return false
	}
	switch in.Layout {
	case LayoutOffsets32:
		return isASCII(in.Data[in.Offsets32[lo]:in.Offsets32[hi]]) && emptyNulls(in, lo, in.Offsets32[lo:hi+1])
	case LayoutOffsets64:
		return isASCII(in.Data[in.Offsets64[lo]:in.Offsets64[hi]]) && emptyNulls(in, lo, in.Offsets64[lo:hi+1])
	}
	return false
}

func emptyNulls[O kernels.Offset](in *Vector, lo int, offsets []O) bool {
	if in.Nulls == 0 {
		return true
	}
	for i := range len(offsets) - 1 {
		if offsets[i] != offsets[i+1] && in.IsNull(lo+i) {
			return false
		}
	}
	return true
}

// writePlain masks a plain chunk: one pass over the whole when everything is
// masked, else a copy and a pass over the window of each row.
func writePlain[O kernels.Offset](m *textMask, dst, data []byte, offsets []O) {
	first := offsets[0]
	src := data[first : int(first)+len(dst)]
	if m.window == windowAll {
		translate(dst, src, &m.table)
		return
	}
	copy(dst, src)
	for i := range len(offsets) - 1 {
		row := dst[offsets[i]-first : offsets[i+1]-first]
		lo, hi := m.asciiWindow(len(row))
		translate(row[lo:hi], row[lo:hi], &m.table)
	}
}

// translate maps ASCII bytes by a table; dst may be src.
func translate(dst, src []byte, table *[utf8.RuneSelf]byte) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = table[b%utf8.RuneSelf]
	}
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
		if m.plain && src[i] < utf8.RuneSelf {
			n, i = n+1, i+1
			continue
		}
		out, w := m.next(src[i:])
		n, i = n+len(out), i+w
	}
	return n
}

func (m *textMask) mask(dst, src []byte) int {
	n := 0
	for i := 0; i < len(src); {
		if c := src[i]; m.plain && c < utf8.RuneSelf {
			dst[n] = m.table[c]
			n, i = n+1, i+1
			continue
		}
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
