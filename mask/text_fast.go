package mask

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/kernels"
)

// errGrows ends an attempt in one pass: a row became longer than there is room.
var errGrows = errors.New("mask: the output is longer than the input")

// onePass masks text with offsets without computing sizes first. An answer is
// hardly ever longer than its row, so each chunk of rows is masked into as
// much room as its input has, and when the whole came out shorter it is moved
// together at the end. The answer is nil when the column is not for it.
func (m *textMask) onePass(r *run, t Type, in *Vector) (*Vector, error) {
	if m.ascii == nil || in.Len == 0 {
		return nil, nil
	}
	out := &Vector{Type: t, Len: in.Len}
	switch {
	case in.Layout == LayoutOffsets32 && !r.wide:
		if int64(in.Offsets32[in.Len]-in.Offsets32[0]) > r.limit {
			return nil, nil
		}
		out.Layout, out.Offsets32 = LayoutOffsets32, slices.Clone(in.Offsets32)
		return onePass(m, r, out, in, in.Offsets32, out.Offsets32)
	case in.Layout == LayoutOffsets32:
		out.Layout, out.Offsets64 = LayoutOffsets64, make([]int64, in.Len+1)
		for i, o := range in.Offsets32 {
			out.Offsets64[i] = int64(o)
		}
		return onePass(m, r, out, in, in.Offsets32, out.Offsets64)
	case in.Layout == LayoutOffsets64 && r.wide:
		out.Layout, out.Offsets64 = LayoutOffsets64, slices.Clone(in.Offsets64)
		return onePass(m, r, out, in, in.Offsets64, out.Offsets64)
	}
	return nil, nil
}

// onePass finds the offsets of in in those of out, to: they hold already when
// every row keeps its length.
func onePass[I, O kernels.Offset](m *textMask, r *run, out, in *Vector, from []I, to []O) (*Vector, error) {
	first := from[0]
	room := int(from[in.Len] - first)
	buf := r.bytes(room)
	sizes := make([]int, (in.Len+chunkRows-1)/chunkRows)
	to[0] = 0
	err := r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		t := textRows[I, O]{
			mask: m, in: in, lo: lo, data: in.Data, from: from[lo : hi+1],
			dst: buf[from[lo]-first : from[hi]-first], start: O(from[lo] - first), ends: to[lo+1 : hi+1],
		}
		if first != 0 {
			shift(t.ends, -O(first))
		}
		if !t.run() {
			return errGrows
		}
		sizes[c] = t.at
		return nil
	})
	if err != nil {
		if r.release(buf); err == errGrows {
			err = nil
		}
		return nil, err
	}
	total := 0
	for c, n := range sizes {
		sizes[c] = total
		total += n
	}
	r.copyNulls(out, in)
	if total == room {
		out.Data = buf
		return out, nil
	}
	out.Data = r.bytes(total)
	err = r.each(in.Len, chunkRows, func(c, lo, hi int) error {
		was, start := O(from[lo]-first), O(sizes[c])
		copy(out.Data[start:], buf[was:to[hi]])
		shift(to[lo+1:hi+1], start-was)
		return nil
	})
	r.release(buf)
	return out, err
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

	// Offsets in the output: of dst, and of the end of each row. The latter
	// come in as if every row kept its length.
	start O
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

// span masks the rows i to j. Those that are ASCII are masked in one go up to
// the first that is not; such rows seldom come alone, so as long as they last
// they are taken one by one.
func (t *textRows[I, O]) span(i, j int) bool {
	for i < j {
		begin, first := i, t.from[i]
		src := t.data[first:t.from[j]]
		if len(src) > len(t.dst)-t.at {
			return false
		}
		n := t.mask.ascii.Apply(t.dst[t.at:], src)
		if i = j; n < len(src) {
			for i = begin; int(t.from[i+1]-first) <= n; {
				i++
			}
		}
		ascii := int(t.from[i] - first)
		if moved := t.at - int(first-t.from[0]); moved != 0 {
			shift(t.ends[begin:i], O(moved))
		}
		showASCII(t.mask, t.dst[t.at:t.at+ascii], src[:ascii], t.from[begin:i+1])
		t.at += ascii
		for ; i < j; i++ {
			row := t.data[t.from[i]:t.from[i+1]]
			if isASCII(row) {
				break
			}
			size, ok := t.mask.mixedRow(t.dst[t.at:], row)
			if !ok {
				return false
			}
			t.at += size
			t.ends[i] = t.start + O(t.at)
		}
	}
	return true
}

// mixedRow masks a row that is not all ASCII. It reports false when dst is too
// short.
func (m *textMask) mixedRow(dst, row []byte) (size int, ok bool) {
	// Only a bad byte that is shown or kept makes a row longer.
	if len(row) <= len(dst) && !m.rep[classLower].keep {
		if m.window == windowAll {
			return m.mask(dst, row), true
		}
		a, b := m.runeWindow(row)
		if utf8.Valid(row[:a]) && utf8.Valid(row[b:]) {
			n := copy(dst, row[:a])
			n += m.mask(dst[n:], row[a:b])
			return n + copy(dst[n:], row[b:]), true
		}
	}
	if m.rowSize(row) > len(dst) {
		return 0, false
	}
	return m.row(dst, row), true
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
