package mask

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// keepShort, as a replacement of one byte, stands for keep.
const keepShort = 0xff

// asciiTops are the bits that eight bytes of ASCII do not have.
const asciiTops = 0x8080808080808080

// maskMixed is mask where every replacement is one ASCII character. It may
// write up to eight bytes behind its answer, inside dst, and read as many
// behind src, inside its capacity: those mean nothing.
func (m *textMask) maskMixed(dst, src []byte) int {
	table := m.ascii.Table()
	n := 0
	for i := 0; i < len(src); {
		if cap(src)-i >= 8 && len(dst)-n >= 8 {
			// Eight bytes are translated whatever they are, and as many count
			// as are ASCII: no branch has to guess how many.
			w := binary.LittleEndian.Uint64(src[i : i+8])
			binary.LittleEndian.PutUint64(dst[n:n+8], translate(table, w))
			k := min(bits.TrailingZeros64(w&asciiTops)/8, len(src)-i)
			n, i = n+k, i+k
			if k == 8 {
				if len(src)-i >= 32 {
					k = m.ascii.Apply(dst[n:], src[i:])
					n, i = n+k, i+k
				}
				continue
			}
		} else if c := src[i]; c < utf8.RuneSelf {
			dst[n] = table[c]
			n, i = n+1, i+1
			continue
		}
		// Two bytes, and three but for the leads E0 and ED, whose second byte
		// is bounded, are decoded here.
		for i < len(src) && src[i] >= utf8.RuneSelf {
			size, width := 0, 0
			switch c, left := src[i], len(src)-i; {
			case left >= 2 && c >= 0xc2 && c < 0xe0 && src[i+1]&0xc0 == 0x80:
				r := uint(c&0x1f)<<6 | uint(src[i+1]&0x3f)
				if dst[n] = m.twoByte[r]; dst[n] != keepShort {
					size, width = 1, 2
				}
			case left >= 3 && c > 0xe0 && c < 0xf0 && c != 0xed && src[i+1]&0xc0 == 0x80 && src[i+2]&0xc0 == 0x80:
				r := rune(c&0x0f)<<12 | rune(src[i+1]&0x3f)<<6 | rune(src[i+2]&0x3f)
				if dst[n] = m.short[m.classes.of(r)]; dst[n] != keepShort {
					size, width = 1, 3
				}
			}
			if size == 0 {
				size, width = m.wide(dst[n:], src[i:])
			}
			n, i = n+size, i+width
		}
	}
	return n
}

// wide masks the character at the start of src, which is not ASCII, and
// returns its size in dst and in src.
func (m *textMask) wide(dst, src []byte) (size, width int) {
	r, w := decode(src)
	rep := m.short[classLower]
	if r >= 0 {
		rep = m.short[m.classes.of(r)]
	}
	switch {
	case rep != keepShort:
		dst[0] = rep
		return 1, w
	case r < 0:
		return copy(dst, badByte), w
	}
	return copy(dst, src[:w]), w
}

// decode is utf8.DecodeRune for a character that is not ASCII, but -1 for a
// byte that is not part of valid UTF-8. Two and three bytes, nearly all of
// text, are decoded here.
func decode(b []byte) (r rune, width int) {
	switch c := b[0]; {
	case c >= 0xc2 && c < 0xe0 && len(b) >= 2 && b[1]&0xc0 == 0x80:
		return rune(c&0x1f)<<6 | rune(b[1]&0x3f), 2
	case c >= 0xe0 && c < 0xf0 && len(b) >= 3 && b[1]&0xc0 == 0x80 && b[2]&0xc0 == 0x80:
		r = rune(c&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
		if r >= 0x800 && (r < 0xd800 || r > 0xdfff) {
			return r, 3
		}
	}
	if r, width = utf8.DecodeRune(b); width == 1 {
		r = -1
	}
	return r, width
}

// lastWidth is the width of the last character of b, which is not ASCII.
func lastWidth(b []byte) int {
	n := len(b)
	if n >= 3 && b[n-1]&0xc0 == 0x80 {
		if c := b[n-2]; c >= 0xc2 && c < 0xe0 {
			return 2
		}
		// Of three bytes, those that begin with E0 or ED are not all valid.
		if c := b[n-3]; b[n-2]&0xc0 == 0x80 && c > 0xe0 && c < 0xf0 && c != 0xed {
			return 3
		}
	}
	_, w := utf8.DecodeLastRune(b)
	return w
}
