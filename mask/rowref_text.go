package mask

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The text of the row-at-a-time reference: a row becomes a list of units, the
// window is cut from the list, and the list becomes text again.

// badUnit is a byte that is not part of valid UTF-8; byte b is badUnit - b.
const badUnit = -2

func refText(text string, n *node) (Value, error) {
	d, function := n.rules, n.fn.name
	if d.bad == badRefused {
		if bad, err := refScan(text, n); bad {
			return Value{Kind: Text, Null: true}, err
		}
	}
	units := refUnits(text, d)
	from, to := refWindow(function, n.set.n, len(units))
	for i, u := range units {
		if i >= from && i < to {
			if rep := n.set.rep[refClass(u, d)]; rep != keep {
				units[i] = rep
			}
		}
	}
	return Value{Kind: Text, Bytes: refJoin(units, d)}, nil
}

func refUnits(text string, d *rules) []rune {
	var units []rune
	switch {
	case d.unit == unitByte:
		for _, b := range []byte(text) {
			units = append(units, rune(b))
		}
	case d.bad == badReplaced:
		for _, r := range refJava([]byte(text)) {
			if d.unit == unitUTF16 {
				for _, u := range utf16.Encode([]rune{r}) {
					units = append(units, rune(u))
				}
			} else {
				units = append(units, r)
			}
		}
	default:
		for i, r := range text {
			if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
				r = badUnit - rune(text[i])
			}
			units = append(units, r)
		}
	}
	return units
}

func refJoin(units []rune, d *rules) []byte {
	var out []byte
	switch {
	case d.unit == unitByte:
		for _, u := range units {
			out = append(out, byte(u))
		}
	case d.unit == unitUTF16:
		var wide []uint16
		for _, u := range units {
			if u > 0xffff {
				wide = append(wide, utf16.Encode([]rune{u})...)
			} else {
				wide = append(wide, uint16(u))
			}
		}
		// Go decodes a half without the other as U+FFFD, as it does U+FFFD.
		for i := 0; i < len(wide); i++ {
			u := rune(wide[i])
			switch {
			case !utf16.IsSurrogate(u):
				out = utf8.AppendRune(out, u)
			case i+1 < len(wide) && utf16.DecodeRune(u, rune(wide[i+1])) != utf8.RuneError:
				out = utf8.AppendRune(out, utf16.DecodeRune(u, rune(wide[i+1])))
				i++
			default:
				out = append(out, '?')
			}
		}
	default:
		for _, u := range units {
			switch {
			case u <= badUnit && d.bad == badRefused:
				out = append(out, byte(badUnit-u))
			case u <= badUnit:
				out = append(out, "\uFFFD"...)
			default:
				out = utf8.AppendRune(out, u)
			}
		}
	}
	return out
}

// refClass is the class of a unit.
func refClass(u rune, d *rules) class {
	if u < 0 { // only where every such byte is of class lower
		return classLower
	}
	switch d.classes {
	case classesASCII:
		switch {
		case u >= 'A' && u <= 'Z':
			return classUpper
		case u >= 'a' && u <= 'z':
			return classLower
		case u >= '0' && u <= '9':
			return classDigit
		}
		return classOther
	case classesJava:
		switch {
		case unicode.Is(unicode.Lu, u):
			return classUpper
		case unicode.Is(unicode.Ll, u):
			return classLower
		case unicode.Is(unicode.Nd, u):
			return classDigit
		}
		return classOther
	case classesGlibc:
		switch {
		case unicode.ToLower(u) != u || unicode.In(u, unicode.Lu, unicode.Other_Uppercase):
			return classUpper
		case unicode.ToUpper(u) != u || unicode.In(u, unicode.Ll, unicode.Other_Lowercase):
			return classLower
		case strings.ContainsRune("0123456789", u):
			return classDigit
		}
		return classOther
	}
	return refSafeClass(u)
}

func refSafeClass(r rune) class {
	switch {
	case r < 0:
		return classLower
	case unicode.In(r, unicode.Nd, unicode.Nl, unicode.No):
		return classDigit
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return classUpper
	case unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.Mn, unicode.Mc, unicode.Me):
		return classLower
	case unicode.Is(unicode.Other_Uppercase, r):
		return classUpper
	case unicode.Is(unicode.Other_Lowercase, r):
		return classLower
	}
	return classOther
}

// refScan reports whether Impala finds bad UTF-8 in what it reads of a row,
// and the error where that ends the query.
func refScan(text string, n *node) (bad bool, err error) {
	function := n.fn.name
	shows := function == "mask_show_first_n" || function == "mask_show_last_n"
	if shows && n.set.n >= len(text) {
		return false, nil
	}
	read := text
	if function == "mask_first_n" {
		left := n.set.n
		for i := range text {
			if left == 0 {
				read = text[:i]
				break
			}
			left--
		}
	}
	if utf8.ValidString(read) {
		return false, nil
	}
	if function == "mask_last_n" || function == "mask_show_last_n" {
		err = fmt.Errorf("%s: %w: not valid UTF-8", n.name, ErrValue)
	}
	return true, err
}

// refJava decodes as the JDK does: of every sequence that begins well, the
// longest part that can still become a character is one U+FFFD. Only halves of
// pairs pass for such a part until their last byte.
func refJava(b []byte) []rune {
	continues := func(c byte) bool { return c >= 0x80 && c <= 0xbf }
	var out []rune
	for len(b) > 0 {
		if r, w := utf8.DecodeRune(b); r != utf8.RuneError || w == 3 {
			out, b = append(out, r), b[w:]
			continue
		}
		want := 1
		switch {
		case b[0] >= 0xc2 && b[0] <= 0xdf:
			want = 2
		case b[0] >= 0xe0 && b[0] <= 0xef:
			want = 3
		case b[0] >= 0xf0 && b[0] <= 0xf4:
			want = 4
		}
		have := 1
		for have < want && have < len(b) && continues(b[have]) {
			have++
		}
		if have > 1 {
			second := b[1]
			if b[0] == 0xe0 && second < 0xa0 || b[0] == 0xf0 && second < 0x90 || b[0] == 0xf4 && second > 0x8f {
				have = 1
			}
		}
		out, b = append(out, utf8.RuneError), b[have:]
	}
	return out
}

func refJavaText(v Value) (Value, error) {
	return Value{Kind: Text, Bytes: []byte(string(refJava(v.Bytes)))}, nil
}

func refTrim(v Value) (Value, error) {
	return Value{Kind: Text, Bytes: []byte(strings.TrimRight(string(v.Bytes), " "))}, nil
}

func refWiden(v Value) (Value, error) { return Value{Kind: Int64, Int: v.Int}, nil }

func (c castInt) ref(v Value) (Value, error) {
	var out int64
	switch c.to.Kind {
	case Int8:
		out = int64(int8(v.Int))
	case Int16:
		out = int64(int16(v.Int))
	case Int32:
		out = int64(int32(v.Int))
	case Uint8:
		out = int64(uint8(v.Int))
	case Uint16:
		out = int64(uint16(v.Int))
	case Uint32:
		out = int64(uint32(v.Int))
	default:
		out = v.Int
	}
	changed := out != v.Int || (v.Kind == Uint64) != (c.to.Kind == Uint64) && v.Int < 0
	if c.strict && changed {
		return Value{}, fmt.Errorf("%s: %w: does not fit %s", castName, ErrValue, c.to)
	}
	return Value{Kind: c.to.Kind, Int: out}, nil
}

func (c cutText) ref(v Value) (Value, error) {
	var parts []string // one a character, bad bytes by themselves
	for text := string(v.Bytes); text != ""; {
		_, w := utf8.DecodeRuneInString(text)
		if c.bytes {
			w = 1
		}
		parts, text = append(parts, text[:w]), text[w:]
	}
	if len(parts) > c.length {
		parts = parts[:c.length]
	}
	for c.pad && len(parts) < c.length {
		parts = append(parts, " ")
	}
	return Value{Kind: Text, Bytes: []byte(strings.Join(parts, ""))}, nil
}

func refEmail(text string, with rune) string {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		at = len(text)
	}
	hidden := strings.Repeat(string(with), len([]rune(text[:at])))
	return hidden + string([]rune(text[at:]))
}

func refCard(text string, with rune) string {
	units, digits := refUnits(text, &safe), 0
	for _, u := range units {
		if refSafeClass(u) == classDigit {
			digits++
		}
	}
	shown := 4
	if digits < 8 {
		shown = 0
	}
	for i, u := range units {
		switch refSafeClass(u) {
		case classOther:
			continue
		case classDigit:
			if digits--; digits < shown {
				continue
			}
		}
		units[i] = with
	}
	return string(refJoin(units, &safe))
}

func (r *replacement) refReplace(v Value) (Value, error) {
	// Go's templates have another spelling: $ is doubled, groups are ${n}.
	var with strings.Builder
	for _, p := range r.with {
		if p.group < 0 {
			with.WriteString(strings.ReplaceAll(p.text, "$", "$$"))
		} else {
			fmt.Fprintf(&with, "${%d}", p.group)
		}
	}
	return Value{Kind: Text, Bytes: r.re.ReplaceAll(v.Bytes, []byte(with.String()))}, nil
}

var blakeIV = [8]uint64{
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

// blakeSigma is the order of the message words in the rounds; the last two
// rounds begin again.
var blakeSigma = [10][16]uint8{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

// refBlake is BLAKE2b as RFC 7693 writes it down, section 3.3.
func refBlake(msg, salt []byte, legacy bool) []byte {
	params := make([]byte, 64)
	params[0], params[2], params[3] = 32, 1, 1
	if legacy {
		copy(params[48:], salt[:16])
	} else {
		copy(params[32:], salt[:16])
	}
	word := func(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	h := make([]uint64, 8)
	for i := range h {
		h[i] = blakeIV[i] ^ word(params, i)
	}
	blocks := max(1, (len(msg)+127)/128)
	padded := append(bytes.Clone(msg), make([]byte, blocks*128-len(msg))...)
	for k := range blocks {
		v := append(append([]uint64(nil), h...), blakeIV[:]...)
		if v[12] ^= uint64(128 * (k + 1)); k == blocks-1 {
			v[12] ^= uint64(128*(k+1)) ^ uint64(len(msg))
			v[14] = ^v[14]
		}
		for round := range 12 {
			for i, q := range [8][4]int{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}, {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}} {
				a, b, c, d := &v[q[0]], &v[q[1]], &v[q[2]], &v[q[3]]
				order := blakeSigma[round%10]
				*a += *b + word(padded[128*k:], int(order[2*i]))
				*d = bits.RotateLeft64(*d^*a, 32)
				*c += *d
				*b = bits.RotateLeft64(*b^*c, 40)
				*a += *b + word(padded[128*k:], int(order[2*i+1]))
				*d = bits.RotateLeft64(*d^*a, 48)
				*c += *d
				*b = bits.RotateLeft64(*b^*c, 1)
			}
		}
		for i := range h {
			h[i] ^= v[i] ^ v[i+8]
		}
	}
	var out []byte
	for _, x := range h[:4] {
		out = binary.LittleEndian.AppendUint64(out, x)
	}
	return out
}
