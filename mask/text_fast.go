package mask

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/kernels"
)

// errGrows ends an attempt in one pass: a row became longer than there is room.
var errGrows = errors.New("mask: the output is longer than the input")

// onePass masks text with offsets without computing sizes first. An answer is
// hardly ever longer than its row, so each chunk of rows is masked into as
// much room as its input has, and when the whole came out shorter it is moved
// together at the end. done is false when the column is not for it; out is as
// good as new then.
func (m *textMask) onePass(r *run, out, in *Vector) (done bool, err error) {
	switch {
	case m.ascii == nil || in.Len == 0:
		return false, nil
	case in.Layout == LayoutOffsets32 && out.Layout == LayoutOffsets32:
		return onePass(m, r, out, in, in.Offsets32, out.Offsets32)
	case in.Layout == LayoutOffsets32:
		return onePass(m, r, out, in, in.Offsets32, out.Offsets64)
	case in.Layout == LayoutOffsets64:
		return onePass(m, r, out, in, in.Offsets64, out.Offsets64)
	}
	return false, nil
}

func onePass[I, O kernels.Offset](m *textMask, r *run, out, in *Vector, from []I, to []O) (done bool, err error) {
	first := from[0]
	room := int(from[in.Len] - first)
	if out.Layout == LayoutOffsets32 && int64(room) > r.limit {
		return false, nil
	}
	buf := r.bytes(room)
	sizes := make([]int, (in.Len+chunkRows-1)/chunkRows)
	err = r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		t := textRows[I, O]{
			mask: m, in: in, lo: lo, data: in.Data, from: from[lo : hi+1],
			dst: buf[from[lo]-first : from[hi]-first], start: O(from[lo] - first), ends: to[lo+1 : hi+1],
		}
		if !t.run() {
			return errGrows
		}
		sizes[c] = t.at
		return nil
	})
	if err != nil {
		r.release(buf)
		if errors.Is(err, errGrows) {
			err = nil
		}
		return false, err
	}
	total := 0
	for c, n := range sizes {
		sizes[c] = total
		total += n
	}
	r.copyNulls(out, in)
	if total == room {
		out.Data = buf
		return true, nil
	}
	out.Data = r.bytes(total)
	err = r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		was, start := from[lo]-first, sizes[c]
		copy(out.Data[start:], buf[was:was+I(to[hi])-I(was)])
		shift(to[lo+1:hi+1], O(start)-O(was))
		return nil
	})
	r.release(buf)
	return true, err
}

// textRows is a chunk of rows to mask.
type textRows[I, O kernels.Offset] struct {
	mask *textMask
	in   *Vector
	lo   int // number of the first row
	data []byte
	from []I // offsets of the rows in data, one more than there are rows
	dst  []byte
	at   int // bytes of dst that are written

	start O // offset of dst in the output
	ends  []O
}

// run masks the rows. It reports false when dst is too short.
func (t *textRows[I, O]) run() bool {
	rows, hidden := len(t.ends), !emptyNulls(t.in, t.lo, t.from)
	for i := 0; i < rows; i++ {
		// Rows i to j lie one after the other; row j is a NULL over bytes.
		j := rows
		if hidden {
			for j = i; j < rows && (t.from[j] == t.from[j+1] || !t.in.IsNull(t.lo+j)); {
				j++
			}
		}
		if !t.span(i, j) {
			return false
		}
		if i = j; i < rows {
			t.ends[i] = t.start + O(t.at)
		}
	}
	return true
}

// span masks the rows i to j: all that are ASCII up to the first that is not
// in one go, then that one by itself, and so on.
func (t *textRows[I, O]) span(i, j int) bool {
	for i < j {
		first, begin := t.from[i], i
		src := t.data[first:t.from[j]]
		n := t.mask.ascii.Apply(t.dst[t.at:], src)
		shift := t.start + O(t.at) - O(first)
		if n == len(src) {
			for k, o := range t.from[i+1 : j+1] {
				t.ends[i+k] = O(o) + shift
			}
			i = j
		} else {
			for ; int(t.from[i+1]-first) <= n; i++ {
				t.ends[i] = O(t.from[i+1]) + shift
			}
		}
		whole := int(t.from[i] - first)
		showASCII(t.mask, t.dst[t.at:t.at+whole], src[:whole], t.from[begin:i+1])
		t.at += whole
		if i == j {
			break
		}
		row := src[whole : t.from[i+1]-first]
		size, ok := t.mask.mixedRow(t.dst[t.at:], row, n-whole)
		if !ok {
			return false
		}
		t.at += size
		t.ends[i] = t.start + O(t.at)
		i++
	}
	return true
}

// mixedRow masks a row that is not all ASCII; the first done bytes of it were
// masked as if they were in the window. It reports false when dst is too short.
func (m *textMask) mixedRow(dst, row []byte, done int) (size int, ok bool) {
	a, b := 0, len(row)
	if m.window != windowAll {
		done = 0
		a, b = m.runeWindow(row)
	}
	// Only a bad byte that is shown or kept makes a row longer.
	if len(row) > len(dst) || !utf8.Valid(row[:a]) || !utf8.Valid(row[b:]) || m.rep[classLower].keep && !utf8.Valid(row) {
		if m.rowSize(row) > len(dst) {
			return 0, false
		}
		return m.row(dst, row), true
	}
	n := done + copy(dst[done:], row[:a])
	n += m.mask(dst[n:], row[a+done:b])
	return n + copy(dst[n:], row[b:]), true
}

// maskMixed is mask where every replacement is one ASCII character.
func (m *textMask) maskMixed(dst, src []byte) int {
	n := 0
	for i := 0; i < len(src); {
		if c := src[i]; c < utf8.RuneSelf {
			if len(src)-i >= 16 && isASCII(src[i:i+16]) {
				k := m.ascii.Apply(dst[n:], src[i:])
				n, i = n+k, i+k
				continue
			}
			dst[n] = m.ascii.Byte(c)
			n, i = n+1, i+1
			continue
		}
		r, w := decode(src[i:])
		switch rep := m.short[m.classOf(r)]; {
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
	return n
}

// keepShort, as a replacement of one byte, stands for keep.
const keepShort = 0xff

// classOf is the class of what decode returns.
func (m *textMask) classOf(r rune) class {
	if r < 0 {
		return classLower
	}
	return m.classes.of(r)
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

// emptyNulls reports whether no NULL has bytes.
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

// showASCII puts what lies outside the window back: dst is ASCII rows all
// masked, src the same as they were.
func showASCII[I kernels.Offset](m *textMask, dst, src []byte, offsets []I) {
	first := offsets[0]
	switch m.window {
	case windowShowFirst, windowShowLast:
		last := m.window == windowShowLast
		if m.n <= 8 {
			showShort(dst, src, offsets, m.n, last)
			return
		}
		for i := range len(offsets) - 1 {
			lo, hi := int(offsets[i]-first), int(offsets[i+1]-first)
			if n := min(m.n, hi-lo); last {
				lo = hi - n
			} else {
				hi = lo + n
			}
			copy(dst[lo:hi], src[lo:hi])
		}
	case windowFirst, windowLast:
		for i := range len(offsets) - 1 {
			lo, hi := int(offsets[i]-first), int(offsets[i+1]-first)
			if n := min(m.n, hi-lo); m.window == windowFirst {
				lo += n
			} else {
				hi -= n
			}
			copy(dst[lo:hi], src[lo:hi])
		}
	}
}

// showShort shows the first or last n characters of each row, up to eight:
// eight bytes are merged by a mask, which is faster than a copy of so few.
func showShort[I kernels.Offset](dst, src []byte, offsets []I, n int, last bool) {
	dst = dst[:len(src)]
	first := offsets[0]
	shown := uint64(1)<<(8*n) - 1
	if last {
		shown <<= 64 - 8*n
	}
	lo := 0
	for _, o := range offsets[1:] {
		hi := int(o - first)
		switch at := lo; {
		case hi-lo >= 8:
			if last {
				at = hi - 8
			}
			d, s := dst[at:at+8], src[at:at+8]
			binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(d)&^shown|binary.LittleEndian.Uint64(s)&shown)
		case last:
			at = max(lo, hi-n)
			copy(dst[at:hi], src[at:hi])
		default:
			hi := min(lo+n, hi)
			copy(dst[lo:hi], src[lo:hi])
		}
		lo = hi
	}
}
