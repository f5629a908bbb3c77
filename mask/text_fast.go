package mask

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/internal/asciimask"
	"github.com/arrowmask/arrowmask/kernels"
)

// fastRows is the rows of text masked at a time: more than chunkRows, because
// only the windows of the masks come back to what was written.
const fastRows = 8 * chunkRows

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
	sizes := make([]int, (in.Len+fastRows-1)/fastRows)
	to[0] = 0
	err := r.each(in.Len, fastRows, func(c, lo, hi int) error {
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
	err = r.each(in.Len, fastRows, func(c, lo, hi int) error {
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
// the first that is not; such rows seldom come alone, so as long as rows become
// shorter they are taken one by one.
func (t *textRows[I, O]) span(i, j int) bool {
	for i < j {
		begin, first := i, t.from[i]
		src := t.data[first:t.from[j]:t.from[j]]
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
		windowASCII(t.mask, t.dst[t.at:t.at+ascii], src[:ascii], t.from[begin:i+1])
		t.at += ascii
		for again := true; i < j && again; i++ {
			row := src[t.from[i]-first : t.from[i+1]-first]
			size, ok := t.mask.mixedRow(t.dst[t.at:], row)
			if !ok {
				return false
			}
			t.at += size
			t.ends[i] = t.start + O(t.at)
			again = size != len(row)
		}
	}
	return true
}

// mixedRow masks a row of any text. It reports false when dst is too
// short.
func (m *textMask) mixedRow(dst, row []byte) (size int, ok bool) {
	// Only a bad byte that is shown or kept makes a row longer.
	if len(row) <= len(dst) && !m.rep[classLower].keep && (m.rows == nil || m.rows.runes(row)) {
		a, b, valid := 0, len(row), true
		switch m.window {
		case windowShowFirst:
			a, valid = forward(row, m.n)
		case windowShowLast:
			b, valid = backward(row, m.n)
		case windowFirst:
			b, _ = forward(row, m.n)
			valid = utf8.Valid(row[b:])
		case windowLast:
			a, _ = backward(row, m.n)
			valid = utf8.Valid(row[:a])
		}
		if valid {
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

// windowASCII leaves the mask to the window of each row: dst is ASCII rows all
// masked, src the same as they were.
func windowASCII[I kernels.Offset](m *textMask, dst, src []byte, offsets []I) {
	last := m.window == windowLast || m.window == windowShowLast
	switch m.window {
	case windowShowFirst, windowShowLast:
		patch(dst, src, offsets, m.n, last, nil)
	case windowFirst, windowLast:
		copy(dst, src)
		patch(dst, src, offsets, m.n, last, m.ascii)
	}
}

// patch writes the first or last n bytes of each row of src to dst, masked if
// there is a mask.
func patch[I kernels.Offset](dst, src []byte, offsets []I, n int, last bool, mask *asciimask.Mask) {
	if n <= 8 {
		patchWord(dst, src, offsets, n, last, mask)
		return
	}
	first, lo := offsets[0], 0
	for _, o := range offsets[1:] {
		hi := int(o - first)
		n := min(n, hi-lo) // the sum of a position and n may not fit an int
		a, b := lo, lo+n
		if lo = hi; last {
			a, b = hi-n, hi
		}
		if mask == nil {
			copy(dst[a:b], src[a:b])
		} else {
			mask.Apply(dst[a:b], src[a:b])
		}
	}
}

// patchWord is patch for up to eight bytes: they are merged into a word, which
// is faster than a copy of so few.
func patchWord[I kernels.Offset](dst, src []byte, offsets []I, n int, last bool, mask *asciimask.Mask) {
	dst = dst[:len(src)]
	var table *[256]byte
	if mask != nil {
		table = mask.Table()
	}
	picked := uint64(1)<<(8*n) - 1
	if last {
		picked <<= 64 - 8*n
	}
	first, lo := offsets[0], 0
	for _, o := range offsets[1:] {
		hi := int(o - first)
		if hi-lo >= 8 {
			at := lo
			if last {
				at = hi - 8
			}
			s, d := src[at:at+8], dst[at:at+8]
			w := binary.LittleEndian.Uint64(s)
			if table != nil {
				w = translate(table, w)
			}
			binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(d)&^picked|w&picked)
		} else {
			a, b := lo, min(lo+n, hi)
			if last {
				a, b = max(lo, hi-n), hi
			}
			for i := a; i < b; i++ {
				if dst[i] = src[i]; table != nil {
					dst[i] = table[src[i]]
				}
			}
		}
		lo = hi
	}
}

// translate looks eight bytes up.
func translate(table *[256]byte, w uint64) uint64 {
	return uint64(table[byte(w)]) | uint64(table[byte(w>>8)])<<8 | uint64(table[byte(w>>16)])<<16 | uint64(table[byte(w>>24)])<<24 |
		uint64(table[byte(w>>32)])<<32 | uint64(table[byte(w>>40)])<<40 | uint64(table[byte(w>>48)])<<48 | uint64(table[byte(w>>56)])<<56
}
