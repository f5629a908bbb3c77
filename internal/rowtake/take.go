package rowtake

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
)

// taker is one call of Take: it remembers what it allocated, to give it back
// when something is wrong.
type taker struct {
	mem  Memory
	mine [][]byte
}

// Take copies the rows of runs, in their order; a row may come more than once.
// Buffers of the result are from mem and hold what Allocate was asked for,
// exactly. After an error nothing is left allocated. Data is only read, and
// everything in it is checked before it is followed.
func Take(s *Shape, d *Data, runs []Run, mem Memory) (*Data, error) {
	for _, r := range runs {
		if r.Lo < 0 || r.Hi < r.Lo || r.Hi > d.Len {
			return nil, fmt.Errorf("%w: rows %d to %d of %d", ErrData, r.Lo, r.Hi, d.Len)
		}
	}
	empty := func(r Run) bool { return r.Lo == r.Hi }
	if slices.ContainsFunc(runs, empty) {
		runs = slices.DeleteFunc(slices.Clone(runs), empty)
	}
	t := &taker{mem: mem}
	out, err := t.take(s, d, runs)
	if err != nil {
		t.free()
		return nil, err
	}
	return out, nil
}

func (t *taker) free() {
	for _, b := range t.mine {
		t.mem.Free(b)
	}
}

func (t *taker) alloc(n int) []byte {
	if n == 0 {
		return nil
	}
	b := t.mem.Allocate(n)
	t.mine = append(t.mine, b)
	return b
}

func (t *taker) zeroed(n int) []byte {
	b := t.alloc(n)
	clear(b)
	return b
}

func (d *Data) buffer(i int) []byte {
	if i < len(d.Buffers) {
		return d.Buffers[i]
	}
	return nil
}

func (d *Data) child(i int) *Data {
	if i < len(d.Children) {
		return d.Children[i]
	}
	return nil
}

// end is the row after the highest that runs touch.
func end(runs []Run) (hi int) {
	for _, r := range runs {
		hi = max(hi, r.Hi)
	}
	return hi
}

// need makes sure that a buffer has the values of all rows of runs, plus extra.
func (d *Data) need(b []byte, runs []Run, width, extra int, what string) error {
	hi := end(runs)
	if hi == 0 {
		return nil
	}
	if d.Offset < 0 || d.Offset > math.MaxInt/2-hi-extra || len(b)/width < d.Offset+hi+extra {
		return fmt.Errorf("%w: %d bytes of %s for rows up to %d", ErrData, len(b), what, d.Offset+hi)
	}
	return nil
}

// take copies runs, none of which is empty.
func (t *taker) take(s *Shape, d *Data, runs []Run) (*Data, error) {
	if d == nil || d.Offset < 0 || d.Len < 0 {
		return nil, fmt.Errorf("%w: child without data", ErrData)
	}
	if hi := end(runs); hi > d.Len {
		return nil, fmt.Errorf("%w: row %d of %d", ErrData, hi, d.Len)
	}
	out := &Data{Len: count(runs)}
	var valid []byte
	switch s.Layout {
	case Null:
		out.Nulls = out.Len
		out.Buffers = [][]byte{nil}
		return out, nil
	case SparseUnion, DenseUnion, RunEnds:
	default:
		var err error
		if valid, err = t.validity(d, runs, out); err != nil {
			return nil, err
		}
	}
	out.Buffers = [][]byte{valid}
	var err error
	switch s.Layout {
	case Bits:
		err = t.bits(d, runs, out)
	case Fixed:
		err = t.fixed(s.Width, d, runs, out)
	case Offsets32:
		err = offsets[int32](t, d, runs, out)
	case Offsets64:
		err = offsets[int64](t, d, runs, out)
	case Views:
		err = t.views(d, runs, out)
	case List32:
		err = lists[int32](t, s, d, runs, out)
	case List64:
		err = lists[int64](t, s, d, runs, out)
	case ListView32:
		err = listViews[int32](t, s, d, runs, out)
	case ListView64:
		err = listViews[int64](t, s, d, runs, out)
	case FixedList:
		if s.Width < 0 || s.Width > 0 && d.Offset+d.Len > math.MaxInt/s.Width {
			return nil, fmt.Errorf("%w: lists of %d values", ErrData, s.Width)
		}
		err = t.child(s, 0, d, shift(runs, d.Offset, s.Width), out)
	case Struct:
		err = t.aligned(s, d, runs, out)
	case SparseUnion:
		if err = t.codes(d, runs, out); err == nil {
			err = t.aligned(s, d, runs, out)
		}
	case DenseUnion:
		err = t.dense(s, d, runs, out)
	case Dictionary:
		err = t.dictionary(s, d, runs, out)
	case RunEnds:
		err = t.runEnds(s, d, runs, out)
	default:
		err = fmt.Errorf("%w: unknown layout %d", ErrData, s.Layout)
	}
	return out, err
}

// validity copies the bitmap and counts; nil when every row taken is valid.
func (t *taker) validity(d *Data, runs []Run, out *Data) ([]byte, error) {
	in := d.buffer(0)
	if len(in) == 0 {
		return nil, nil
	}
	if hi := end(runs); hi > 0 && (d.Offset > math.MaxInt-hi || (d.Offset+hi-1)/8 >= len(in)) {
		return nil, fmt.Errorf("%w: validity of %d bytes for rows up to %d", ErrData, len(in), d.Offset+hi)
	}
	b := t.zeroed((out.Len + 7) / 8)
	copyBits(b, in, d.Offset, runs)
	set := 0
	for i := range out.Len {
		if bit(b, i) {
			set++
		}
	}
	if out.Nulls = out.Len - set; out.Nulls == 0 && b != nil {
		t.drop(b)
		return nil, nil
	}
	return b, nil
}

// drop gives back the latest allocation.
func (t *taker) drop(b []byte) {
	t.mine = t.mine[:len(t.mine)-1]
	t.mem.Free(b)
}

// copyBits sets in dst, which is zero, the bits of the runs.
func copyBits(dst, src []byte, offset int, runs []Run) {
	to := 0
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; {
			from := offset + i
			if to&7 == 0 && from&7 == 0 && r.Hi-i >= 8 {
				n := (r.Hi - i) / 8
				copy(dst[to>>3:], src[from>>3:from>>3+n])
				to, i = to+8*n, i+8*n
				continue
			}
			if bit(src, from) {
				dst[to>>3] |= 1 << (to & 7)
			}
			to, i = to+1, i+1
		}
	}
}

func (t *taker) bits(d *Data, runs []Run, out *Data) error {
	in := d.buffer(1)
	if hi := end(runs); hi > 0 && (d.Offset > math.MaxInt-hi || (d.Offset+hi-1)/8 >= len(in)) {
		return fmt.Errorf("%w: %d bytes of bits for rows up to %d", ErrData, len(in), d.Offset+hi)
	}
	b := t.zeroed((out.Len + 7) / 8)
	copyBits(b, in, d.Offset, runs)
	out.Buffers = append(out.Buffers, b)
	return nil
}

func (t *taker) fixed(width int, d *Data, runs []Run, out *Data) error {
	if width == 0 {
		out.Buffers = append(out.Buffers, nil)
		return nil
	}
	b, err := t.values(width, 1, d, runs, out.Len)
	out.Buffers = append(out.Buffers, b)
	return err
}

// values copies values of fixed width out of buffer i.
func (t *taker) values(width, i int, d *Data, runs []Run, n int) ([]byte, error) {
	in := d.buffer(i)
	if err := d.need(in, runs, width, 0, "values"); err != nil {
		return nil, err
	}
	b := t.alloc(n * width)
	to := 0
	for _, r := range runs {
		to += copy(b[to:], in[(d.Offset+r.Lo)*width:(d.Offset+r.Hi)*width])
	}
	return b, nil
}

// offset is the type of offsets.
type offset interface{ int32 | int64 }

// widthOf is the bytes of an offset. The compiler settles it for each type.
func widthOf[T offset]() int {
	if x := T(math.MaxInt32); x+1 < x {
		return 4
	}
	return 8
}

func limitOf[T offset]() int64 {
	if widthOf[T]() == 4 {
		return math.MaxInt32
	}
	return math.MaxInt64
}

// at reads offset i; Arrow buffers are little-endian here.
func at[T offset](b []byte, i int) int64 {
	if widthOf[T]() == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b[i*4:])))
	}
	return int64(binary.LittleEndian.Uint64(b[i*8:]))
}

func put[T offset](b []byte, i int, v int64) {
	if widthOf[T]() == 4 {
		binary.LittleEndian.PutUint32(b[i*4:], uint32(v))
	} else {
		binary.LittleEndian.PutUint64(b[i*8:], uint64(v))
	}
}

func offsets[T offset](t *taker, d *Data, runs []Run, out *Data) error {
	in, data := d.buffer(1), d.buffer(2)
	if err := d.need(in, runs, widthOf[T](), 1, "offsets"); err != nil {
		return err
	}
	o := t.alloc((out.Len + 1) * widthOf[T]())
	put[T](o, 0, 0)
	size, row := int64(0), 0
	for _, r := range runs {
		base := at[T](in, d.Offset+r.Lo)
		prev := base
		if base < 0 {
			return fmt.Errorf("%w: negative offset at row %d", ErrData, r.Lo)
		}
		for i := r.Lo; i < r.Hi; i++ {
			next := at[T](in, d.Offset+i+1)
			if next < prev {
				return fmt.Errorf("%w: offsets fall at row %d", ErrData, i)
			}
			row++
			put[T](o, row, size+next-base)
			prev = next
		}
		if prev > int64(len(data)) {
			return fmt.Errorf("%w: offset past the end at row %d", ErrData, r.Hi)
		}
		if size += prev - base; size > limitOf[T]() {
			return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
		}
	}
	b := t.alloc(int(size))
	to := 0
	for _, r := range runs {
		to += copy(b[to:], data[at[T](in, d.Offset+r.Lo):at[T](in, d.Offset+r.Hi)])
	}
	out.Buffers = append(out.Buffers, o, b)
	return nil
}

const (
	viewBytes  = 16
	viewInline = 12
)

var noView [viewBytes]byte // of a NULL

// views copies the bytes that views refer to. A buffer of the result is at most
// as long as a view's offset reaches.
func (t *taker) views(d *Data, runs []Run, out *Data) error {
	in := d.buffer(1)
	if err := d.need(in, runs, viewBytes, 0, "views"); err != nil {
		return err
	}
	var ends []int64 // bytes of each result buffer
	null := func(i int) bool { return len(d.buffer(0)) > 0 && !bit(d.buffer(0), d.Offset+i) }
	view := func(i int) []byte { return in[(d.Offset+i)*viewBytes:][:viewBytes] }
	each := func(f func(i int, v []byte, long bool) error) error {
		for _, r := range runs {
			for i := r.Lo; i < r.Hi; i++ {
				v := view(i)
				if null(i) {
					v = noView[:]
				}
				if err := f(i, v, int32(binary.LittleEndian.Uint32(v)) > viewInline); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := each(func(i int, v []byte, long bool) error {
		n := int64(int32(binary.LittleEndian.Uint32(v)))
		if n < 0 {
			return fmt.Errorf("%w: view of negative length at row %d", ErrData, i)
		}
		if !long {
			return nil
		}
		k, off := int(int32(binary.LittleEndian.Uint32(v[8:]))), int64(int32(binary.LittleEndian.Uint32(v[12:])))
		if k < 0 || off < 0 || off+n > int64(len(d.buffer(2+k))) {
			return fmt.Errorf("%w: view outside of its buffer at row %d", ErrData, i)
		}
		if last := len(ends) - 1; last < 0 || ends[last]+n > math.MaxInt32 {
			ends = append(ends, 0)
		}
		ends[len(ends)-1] += n
		return nil
	})
	if err != nil {
		return err
	}
	o := t.alloc(out.Len * viewBytes)
	out.Buffers = append(out.Buffers, o)
	for _, n := range ends {
		out.Buffers = append(out.Buffers, t.alloc(int(n)))
	}
	row, buf, to := 0, 0, 0
	_ = each(func(_ int, v []byte, long bool) error {
		w := o[row*viewBytes:][:viewBytes]
		row++
		copy(w, v)
		if !long {
			// Bytes after a short value need not be zero; they may be anybody's.
			clear(w[4+int(binary.LittleEndian.Uint32(v)):])
			return nil
		}
		n := int(binary.LittleEndian.Uint32(v))
		if to+n > len(out.Buffers[2+buf]) {
			buf, to = buf+1, 0
		}
		from := int(binary.LittleEndian.Uint32(v[12:]))
		copy(out.Buffers[2+buf][to:], d.buffer(2 + int(binary.LittleEndian.Uint32(v[8:])))[from:from+n])
		binary.LittleEndian.PutUint32(w[8:], uint32(buf))
		binary.LittleEndian.PutUint32(w[12:], uint32(to))
		to += n
		return nil
	})
	return nil
}

// child takes runs of a child, which must lie within it.
func (t *taker) child(s *Shape, i int, d *Data, runs []Run, out *Data) error {
	if i >= len(s.Children) {
		return fmt.Errorf("%w: type without child %d", ErrData, i)
	}
	c, err := t.take(s.Children[i], d.child(i), runs)
	out.Children = append(out.Children, c)
	return err
}

// shift is runs of a parent as runs of a child with k values a row.
func shift(runs []Run, offset, k int) []Run {
	switch {
	case k == 0:
		return nil
	case offset == 0 && k == 1:
		return runs
	}
	out := make([]Run, len(runs))
	for i, r := range runs {
		out[i] = Run{(offset + r.Lo) * k, (offset + r.Hi) * k}
	}
	return out
}

// aligned takes children whose rows are those of the parent.
func (t *taker) aligned(s *Shape, d *Data, runs []Run, out *Data) error {
	inner := shift(runs, d.Offset, 1)
	for i := range s.Children {
		if err := t.child(s, i, d, inner, out); err != nil {
			return err
		}
	}
	return nil
}

// push adds the run lo to hi, to the last one where it continues it.
func push(runs []Run, lo, hi int) []Run {
	if lo == hi {
		return runs
	}
	if n := len(runs); n > 0 && runs[n-1].Hi == lo {
		runs[n-1].Hi = hi
		return runs
	}
	return append(runs, Run{lo, hi})
}

func lists[T offset](t *taker, s *Shape, d *Data, runs []Run, out *Data) error {
	in := d.buffer(1)
	if err := d.need(in, runs, widthOf[T](), 1, "offsets"); err != nil {
		return err
	}
	return rowsOf[T](t, s, d, runs, out, false, func(i int) (int64, int64) {
		lo := at[T](in, d.Offset+i)
		return lo, at[T](in, d.Offset+i+1) - lo
	})
}

func listViews[T offset](t *taker, s *Shape, d *Data, runs []Run, out *Data) error {
	in, sizes := d.buffer(1), d.buffer(2)
	if err := d.need(in, runs, widthOf[T](), 0, "offsets"); err != nil {
		return err
	}
	if err := d.need(sizes, runs, widthOf[T](), 0, "sizes"); err != nil {
		return err
	}
	return rowsOf[T](t, s, d, runs, out, true, func(i int) (int64, int64) {
		return at[T](in, d.Offset+i), at[T](sizes, d.Offset+i)
	})
}

// rowsOf takes lists: row gives the place and length of a row's values in the
// child. Results with sizes are written as list views.
func rowsOf[T offset](t *taker, s *Shape, d *Data, runs []Run, out *Data, sizes bool, row func(i int) (lo, n int64)) error {
	extra := 1
	if sizes {
		extra = 0
	}
	o := t.alloc((out.Len + extra) * widthOf[T]())
	var z []byte
	if sizes {
		z = t.alloc(out.Len * widthOf[T]())
	} else {
		put[T](o, 0, 0)
	}
	limit := int64(0)
	if c := d.child(0); c != nil {
		limit = int64(c.Len)
	}
	valid := d.buffer(0)
	var inner []Run
	size, k := int64(0), 0
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; i++ {
			lo, n := row(i)
			if len(valid) > 0 && !bit(valid, d.Offset+i) {
				lo, n = 0, 0
			}
			if lo < 0 || n < 0 || lo > limit-n {
				return fmt.Errorf("%w: list outside of its values at row %d", ErrData, i)
			}
			inner = push(inner, int(lo), int(lo+n))
			if sizes {
				put[T](o, k, size)
				put[T](z, k, n)
			}
			if size += n; size > limitOf[T]() {
				return fmt.Errorf("%w: %d values of lists", ErrTooLarge, size)
			}
			k++
			if !sizes {
				put[T](o, k, size)
			}
		}
	}
	out.Buffers = append(out.Buffers, o)
	if sizes {
		out.Buffers = append(out.Buffers, z)
	}
	return t.child(s, 0, d, inner, out)
}

// codes copies the type codes of a union.
func (t *taker) codes(d *Data, runs []Run, out *Data) error {
	b, err := t.values(1, 1, d, runs, out.Len)
	out.Buffers = append(out.Buffers, b)
	return err
}

func (t *taker) dense(s *Shape, d *Data, runs []Run, out *Data) error {
	if err := t.codes(d, runs, out); err != nil {
		return err
	}
	in, off := d.buffer(1), d.buffer(2)
	if err := d.need(off, runs, 4, 0, "offsets"); err != nil {
		return err
	}
	o := t.alloc(out.Len * 4)
	inner := make([][]Run, len(s.Children))
	size := make([]int64, len(s.Children))
	k := 0
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; i++ {
			c := slices.Index(s.Codes, int8(in[d.Offset+i]))
			from := at[int32](off, d.Offset+i)
			if c < 0 || from < 0 || d.child(c) == nil || from >= int64(d.child(c).Len) {
				return fmt.Errorf("%w: union refers to no value at row %d", ErrData, i)
			}
			put[int32](o, k, size[c])
			inner[c] = push(inner[c], int(from), int(from)+1)
			size[c]++
			k++
		}
	}
	out.Buffers = append(out.Buffers, o)
	for c := range s.Children {
		if err := t.child(s, c, d, inner[c], out); err != nil {
			return err
		}
	}
	return nil
}

// index reads an integer of a width; one that is negative shows as huge.
func index(b []byte, width, i int) uint64 {
	switch width {
	case 1:
		return uint64(int64(int8(b[i])))
	case 2:
		return uint64(int64(int16(binary.LittleEndian.Uint16(b[i*2:]))))
	case 4:
		return uint64(int64(int32(binary.LittleEndian.Uint32(b[i*4:]))))
	}
	return binary.LittleEndian.Uint64(b[i*8:])
}

func putIndex(b []byte, width, i int, v uint64) {
	switch width {
	case 1:
		b[i] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b[i*2:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b[i*4:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(b[i*8:], v)
	}
}

// dictionary keeps the values that the rows refer to, in the order that they
// have.
func (t *taker) dictionary(s *Shape, d *Data, runs []Run, out *Data) error {
	in, dict := d.buffer(1), d.child(0)
	if err := d.need(in, runs, s.Width, 0, "indices"); err != nil {
		return err
	}
	if dict == nil || len(s.Children) != 1 {
		return fmt.Errorf("%w: dictionary column without a dictionary", ErrData)
	}
	valid := d.buffer(0)
	null := func(i int) bool { return len(valid) > 0 && !bit(valid, d.Offset+i) }
	mask := uint64(math.MaxUint64) >> (64 - 8*s.Width)
	read := func(i int) uint64 {
		v := index(in, s.Width, d.Offset+i)
		// Unsigned indices of the upper half read as negative; a signed index
		// that is negative is past every dictionary either way.
		return v & mask
	}
	p := newPlaces(dict.Len, out.Len)
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; i++ {
			if null(i) {
				continue
			}
			v := read(i)
			if v >= uint64(dict.Len) {
				return fmt.Errorf("%w: row %d refers to no value of the dictionary of %d", ErrData, i, dict.Len)
			}
			p.use(int(v))
		}
	}
	inner := p.number()
	o := t.alloc(out.Len * s.Width)
	k := 0
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; i++ {
			v := uint64(0)
			if !null(i) {
				v = uint64(p.at(int(read(i))))
			}
			putIndex(o, s.Width, k, v)
			k++
		}
	}
	out.Buffers = append(out.Buffers, o)
	return t.child(s, 0, d, inner, out)
}

func (t *taker) runEnds(s *Shape, d *Data, runs []Run, out *Data) error {
	ends := d.child(0)
	if ends == nil || len(s.Children) != 2 || s.Children[0].Layout != Fixed || s.Children[0].Width != s.Width {
		return fmt.Errorf("%w: run-end encoded column without run ends", ErrData)
	}
	in := ends.buffer(1)
	if err := ends.need(in, []Run{{0, ends.Len}}, s.Width, 0, "run ends"); err != nil {
		return err
	}
	endOf := func(k int) int64 { return int64(index(in, s.Width, ends.Offset+k)) }
	for k := range ends.Len {
		if endOf(k) <= 0 || k > 0 && endOf(k) <= endOf(k-1) {
			return fmt.Errorf("%w: run end %d does not exceed the one before", ErrData, k)
		}
	}
	if hi := end(runs); hi > 0 && (ends.Len == 0 || endOf(ends.Len-1) < int64(d.Offset+hi)) {
		return fmt.Errorf("%w: runs end before row %d", ErrData, d.Offset+hi)
	}
	var inner []Run
	var newEnds []int64
	last, rows := -1, int64(0)
	for _, r := range runs {
		lo, hi := int64(d.Offset+r.Lo), int64(d.Offset+r.Hi)
		k := sort.Search(ends.Len, func(k int) bool { return endOf(k) > lo })
		for ; lo < hi; k++ {
			stop := min(endOf(k), hi)
			rows += stop - lo
			if k == last {
				newEnds[len(newEnds)-1] = rows
			} else {
				newEnds = append(newEnds, rows)
				inner = append(inner, Run{k, k + 1})
			}
			last, lo = k, stop
		}
	}
	b := t.alloc(len(newEnds) * s.Width)
	for i, e := range newEnds {
		putIndex(b, s.Width, i, uint64(e))
	}
	out.Buffers = [][]byte{nil}
	out.Children = []*Data{{Len: len(newEnds), Buffers: [][]byte{nil, b}}}
	return t.child(s, 1, d, inner, out)
}
