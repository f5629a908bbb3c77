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
// write up to eight bytes behind its answer, inside dst.
func (m *textMask) maskMixed(dst, src []byte) int {
	table := m.ascii.Table()
	n := 0
	for i := 0; i < len(src); {
		if len(src)-i < 8 || len(dst)-n < 8 {
			if c := src[i]; c < utf8.RuneSelf {
				dst[n] = table[c]
				n, i = n+1, i+1
				continue
			}
		} else {
			// Eight bytes are translated whatever they are, and as many count
			// as are ASCII: no branch has to guess how many.
			w := binary.LittleEndian.Uint64(src[i:])
			binary.LittleEndian.PutUint64(dst[n:], translate(table, w))
			k := bits.TrailingZeros64(w&asciiTops) / 8
			n, i = n+k, i+k
			if k == 8 {
				if len(src)-i >= 32 {
					k = m.ascii.Apply(dst[n:], src[i:])
					n, i = n+k, i+k
				}
				continue
			}
		}
		for i < len(src) && src[i] >= utf8.RuneSelf {
			if len(src)-i >= 2 && src[i] >= 0xc2 && src[i] < 0xe0 && src[i+1]&0xc0 == 0x80 {
				if rep := m.twoByte[(uint(src[i])<<6|uint(src[i+1]&0x3f))%uint(len(m.twoByte))]; rep != keepShort {
					dst[n] = rep
					n, i = n+1, i+2
					continue
				}
				dst[n], dst[n+1] = src[i], src[i+1]
				n, i = n+2, i+2
				continue
			}
			r, w := decode(src[i:])
			rep := m.short[classLower]
			if r >= 0 {
				rep = m.short[m.classes.of(r)]
			}
			switch {
			case rep != keepShort:
				dst[n] = rep
				n++
			case r < 0:
				n += copy(dst[n:], badByte)
			default:
				n += copy(dst[n:], src[i:i+w])
			}
			i += w
		}
	}
	return n
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
