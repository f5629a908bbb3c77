package policy

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

// Rows are worked on in chunks whose scratch stays in the L1 cache. A chunk's
// logic is two bit sets, rows that are true and rows that are false; a row in
// neither is NULL. AND, OR and NOT are then whole-word operations.
const (
	chunkRows  = 1024
	chunkWords = chunkRows / 64
)

type truth uint8

const (
	unknown truth = iota
	yes
	no
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

type bitset [chunkWords]uint64

// tf is the truth of a chunk's rows. Bits past the chunk's rows are garbage.
type tf struct{ t, f bitset }

type intBuf struct {
	valid bitset
	v     [chunkRows]int64
}

type floatBuf struct {
	valid bitset
	v     [chunkRows]float64
}

type boolNode interface{ eval(st *state) *tf }
type intNode interface{ eval(st *state) *intBuf }
type floatNode interface{ eval(st *state) *floatBuf }

// state is the scratch of one Eval, kept in a pool between calls.
type state struct {
	in     []*mask.Vector
	text   []kernels.Column // of the Text inputs
	lo, n  int
	bools  []tf
	ints   []intBuf
	floats []floatBuf
	// at says for which chunk a column's slot was read, by input.
	at  []int
	err error
}

type statePool struct{ pool sync.Pool }

func newStatePool(f *RowFilter) *statePool {
	p := &statePool{}
	p.pool.New = func() any {
		return &state{
			text:  make([]kernels.Column, len(f.columns)),
			bools: make([]tf, f.bools), ints: make([]intBuf, f.ints), floats: make([]floatBuf, f.floats),
			at: make([]int, len(f.columns)),
		}
	}
	return p
}

// Eval finds the rows to keep: those for which the filter is TRUE. in holds
// the columns that Columns lists, each of rows rows; they are only read. A
// Bool column's Data is a bitmap with the offset of its validity. keep is
// overwritten: bit i, least significant first, belongs to row i; it must hold
// rows bits, and the bits after them are zeroed. No scratch outlives the call
// and nothing is allocated per row or per call. The context is polled between
// chunks.
//
// An error wraps ErrFilter (columns that are not what the filter was compiled
// for) or ErrValue (a row whose value cannot be evaluated exactly: integer
// overflow, a Date64 that is no whole day); it names the row, and keep is then
// all zero.
func (f *RowFilter) Eval(ctx context.Context, rows int, in []*mask.Vector, keep []byte) (kept int, err error) {
	if rows < 0 || len(keep) < (rows+7)/8 {
		return 0, fmt.Errorf("%w: %d rows do not fit %d bytes of selection", ErrFilter, rows, len(keep))
	}
	clear(keep)
	if len(in) != len(f.columns) {
		return 0, fmt.Errorf("%w: %d columns given, %d wanted", ErrFilter, len(in), len(f.columns))
	}
	st := f.pool.pool.Get().(*state)
	defer func() {
		st.in, st.err = nil, nil
		clear(st.text)
		f.pool.pool.Put(st)
	}()
	for i, v := range in {
		if err := f.check(i, rows, v, &st.text[i]); err != nil {
			return 0, err
		}
	}
	st.in = in
	for i := range st.at {
		st.at[i] = -1
	}
	for st.lo = 0; st.lo < rows; st.lo += chunkRows {
		if err := ctx.Err(); err != nil {
			clear(keep)
			return 0, err
		}
		st.n = min(chunkRows, rows-st.lo)
		res := f.root.eval(st)
		if st.err != nil {
			clear(keep)
			return 0, st.err
		}
		kept += store(keep[st.lo/8:], &res.t, st.n)
	}
	return kept, nil
}

// store writes the first n bits and counts them.
func store(dst []byte, b *bitset, n int) (kept int) {
	for w := 0; w*64 < n; w++ {
		x := b[w]
		if left := n - w*64; left < 64 {
			x &= 1<<left - 1
		}
		kept += bits.OnesCount64(x)
		if len(dst) >= w*8+8 {
			binary.LittleEndian.PutUint64(dst[w*8:], x)
			continue
		}
		for i := w * 8; i < len(dst); i++ {
			dst[i] = byte(x >> (8 * (i - w*8)))
		}
	}
	return kept
}

func widthOf(k mask.Kind) int {
	switch k {
	case mask.Int8, mask.Uint8:
		return 1
	case mask.Int16, mask.Uint16:
		return 2
	case mask.Int32, mask.Uint32, mask.Date32, mask.Float32:
		return 4
	case mask.Int64, mask.Uint64, mask.Date64, mask.Float64:
		return 8
	}
	return 0
}

// check makes sure that nothing the nodes read lies outside of a buffer.
func (f *RowFilter) check(i, rows int, v *mask.Vector, text *kernels.Column) error {
	bad := func(what string) error {
		return fmt.Errorf("%w: column %d: %s", ErrFilter, f.columns[i], what)
	}
	if v == nil || v.Type.Kind != f.types[i].Kind {
		return bad("not of the type that the filter was compiled for")
	}
	if v.Len != rows {
		return bad(fmt.Sprintf("%d rows instead of %d", v.Len, rows))
	}
	if v.ValidOffset < 0 || v.Valid != nil && len(v.Valid)*8 < v.ValidOffset+rows {
		return bad("validity shorter than the rows")
	}
	switch v.Type.Kind {
	case mask.Bool:
		if len(v.Data)*8 < v.ValidOffset+rows {
			return bad("values shorter than the rows")
		}
	case mask.Text:
		switch v.Layout {
		case mask.LayoutOffsets32:
			*text = kernels.Offsets32(v.Data, v.Offsets32)
		case mask.LayoutOffsets64:
			*text = kernels.Offsets64(v.Data, v.Offsets64)
		case mask.LayoutViews:
			*text = kernels.Views(v.Views, v.Buffers)
		default:
			return bad("text without offsets or views")
		}
		if text.Len() < rows {
			return bad("offsets shorter than the rows")
		}
		if err := text.Validate(); err != nil {
			return bad(err.Error())
		}
	default:
		if w := widthOf(v.Type.Kind); w > 0 && len(v.Data)/w < rows {
			return bad("values shorter than the rows")
		}
	}
	return nil
}

// fail notes the first error; the chunk is still computed, its result unused.
func (st *state) fail(row int, what string) {
	if st.err == nil {
		st.err = fmt.Errorf("%w: row %d: %s", ErrValue, st.lo+row, what)
	}
}

// validBits reads the validity of the chunk's rows.
func (st *state) validBits(v *mask.Vector, out *bitset) {
	if v.Valid == nil {
		for w := range out {
			out[w] = ^uint64(0)
		}
		return
	}
	st.bitmap(v.Valid, v.ValidOffset, out)
}

// bitmap reads the chunk's bits from bit offset+lo on.
func (st *state) bitmap(b []byte, offset int, out *bitset) {
	at := offset + st.lo
	for w := 0; w*64 < st.n; w++ {
		bit := at + w*64
		i, shift := bit>>3, bit&7
		if i+9 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:]) >> shift
			if shift > 0 {
				x |= uint64(b[i+8]) << (64 - shift)
			}
			out[w] = x
			continue
		}
		var x uint64
		for k := 0; k < 64 && w*64+k < st.n; k++ {
			x |= uint64(b[(bit+k)>>3]>>((bit+k)&7)&1) << k
		}
		out[w] = x
	}
}

// where sets, for every valid row, true or false by a test. The test also sees
// rows that are NULL, so that nothing branches on validity.
func (st *state) where(out *tf, valid *bitset, test func(i int) bool) *tf {
	for w := 0; w*64 < st.n; w++ {
		var t uint64
		for i, end := w*64, min(w*64+64, st.n); i < end; i++ {
			t |= bit(test(i)) << (i & 63)
		}
		out.t[w], out.f[w] = t&valid[w], valid[w]&^t
	}
	return out
}

// ---- logic

type logic struct {
	or   bool
	kids []boolNode
	slot int
}

func (x *logic) eval(st *state) *tf {
	out := &st.bools[x.slot]
	for i, k := range x.kids {
		r := k.eval(st)
		if i == 0 {
			*out = *r
			continue
		}
		for w := range out.t {
			if x.or {
				out.t[w], out.f[w] = out.t[w]|r.t[w], out.f[w]&r.f[w]
			} else {
				out.t[w], out.f[w] = out.t[w]&r.t[w], out.f[w]|r.f[w]
			}
		}
	}
	return out
}

type not struct {
	kid  boolNode
	slot int
}

func (x *not) eval(st *state) *tf {
	out, r := &st.bools[x.slot], x.kid.eval(st)
	out.t, out.f = r.f, r.t
	return out
}

type unknownOf struct {
	kid  boolNode
	slot int
}

func (x *unknownOf) eval(st *state) *tf {
	out, r := &st.bools[x.slot], x.kid.eval(st)
	for w := range out.t {
		known := r.t[w] | r.f[w]
		out.t[w], out.f[w] = ^known, known
	}
	return out
}

type boolConst struct {
	t    truth
	slot int
}

func (x *boolConst) eval(st *state) *tf {
	out := &st.bools[x.slot]
	*out = tf{}
	for w := range out.t {
		switch x.t {
		case yes:
			out.t[w] = ^uint64(0)
		case no:
			out.f[w] = ^uint64(0)
		}
	}
	return out
}

type boolColumn struct{ input, slot int }

func (x *boolColumn) eval(st *state) *tf {
	out, v := &st.bools[x.slot], st.in[x.input]
	st.bitmap(v.Data, v.ValidOffset, &out.t)
	st.validBits(v, &out.f)
	for w := range out.t {
		out.t[w] &= out.f[w]
		out.f[w] &^= out.t[w]
	}
	return out
}

// nulls turns validity into IS NULL.
func nulls(out *tf, valid *bitset) *tf {
	for w := range out.t {
		out.t[w], out.f[w] = ^valid[w], valid[w]
	}
	return out
}

type nullOfColumn struct{ input, slot int }

func (x *nullOfColumn) eval(st *state) *tf {
	out := &st.bools[x.slot]
	var valid bitset
	st.validBits(st.in[x.input], &valid)
	return nulls(out, &valid)
}

type nullOfInt struct {
	a    intNode
	slot int
}

func (x *nullOfInt) eval(st *state) *tf { return nulls(&st.bools[x.slot], &x.a.eval(st).valid) }

type nullOfFloat struct {
	a    floatNode
	slot int
}

func (x *nullOfFloat) eval(st *state) *tf { return nulls(&st.bools[x.slot], &x.a.eval(st).valid) }

// ---- integers and dates

type intColumn struct {
	input int
	kind  mask.Kind
	slot  int
}

func (x *intColumn) eval(st *state) *intBuf {
	out, v := &st.ints[x.slot], st.in[x.input]
	if st.at[x.input] == st.lo {
		return out
	}
	st.at[x.input] = st.lo
	st.validBits(v, &out.valid)
	d := v.Data[st.lo*widthOf(x.kind):]
	dst := out.v[:st.n]
	switch x.kind {
	case mask.Int8:
		for i := range dst {
			dst[i] = int64(int8(d[i]))
		}
	case mask.Uint8:
		for i := range dst {
			dst[i] = int64(d[i])
		}
	case mask.Int16:
		for i := range dst {
			dst[i] = int64(int16(binary.LittleEndian.Uint16(d[i*2:])))
		}
	case mask.Uint16:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint16(d[i*2:]))
		}
	case mask.Int32, mask.Date32:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(d[i*4:])))
		}
	case mask.Uint32:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint32(d[i*4:]))
		}
	case mask.Int64:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(d[i*8:]))
		}
	case mask.Uint64:
		for i := range dst {
			u := binary.LittleEndian.Uint64(d[i*8:])
			if u > math.MaxInt64 && out.valid[i>>6]>>(i&63)&1 != 0 {
				st.fail(i, "unsigned integer above 2^63-1")
			}
			dst[i] = int64(u)
		}
	case mask.Date64:
		const day = 86400 * 1000
		for i := range dst {
			ms := int64(binary.LittleEndian.Uint64(d[i*8:]))
			if ms%day != 0 && out.valid[i>>6]>>(i&63)&1 != 0 {
				st.fail(i, "date that is no whole day")
			}
			dst[i] = ms / day
		}
	}
	return out
}

type intConst struct {
	n    int64
	slot int
}

func (x *intConst) eval(st *state) *intBuf {
	out := &st.ints[x.slot]
	for w := range out.valid {
		out.valid[w] = ^uint64(0)
	}
	for i := range out.v[:st.n] {
		out.v[i] = x.n
	}
	return out
}

type intArith struct {
	op   op
	a, b intNode
	slot int
}

func (x *intArith) eval(st *state) *intBuf {
	out, a, b := &st.ints[x.slot], x.a.eval(st), x.b.eval(st)
	for w := range out.valid {
		out.valid[w] = a.valid[w] & b.valid[w]
	}
	for i := range out.v[:st.n] {
		if out.valid[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		p, q := a.v[i], b.v[i]
		var r int64
		ok := true
		switch x.op {
		case opAdd:
			r = p + q
			ok = (r > p) == (q > 0)
		case opSub:
			r = p - q
			ok = (r < p) == (q > 0)
		case opMul:
			r = p * q
			ok = p == 0 || r/p == q && !(p == -1 && q == math.MinInt64)
		case opMod:
			// The remainder of a division by zero is NULL, as in Hive and Spark.
			if q == 0 {
				out.valid[i>>6] &^= 1 << (i & 63)
				continue
			}
			if q != -1 {
				r = p % q
			}
		}
		if !ok {
			st.fail(i, "integer overflow")
		}
		out.v[i] = r
	}
	return out
}

type intCmpConst struct {
	op   op
	a    intNode
	n    int64
	slot int
}

func (x *intCmpConst) eval(st *state) *tf {
	out, a := &st.bools[x.slot], x.a.eval(st)
	n := x.n
	for w := 0; w*64 < st.n; w++ {
		v := a.v[w*64 : w*64+64]
		var t uint64
		switch x.op {
		case opEq, opNe:
			for i := range v {
				t |= bit(v[i] == n) << i
			}
		case opLt, opGe:
			for i := range v {
				t |= bit(v[i] < n) << i
			}
		case opLe, opGt:
			for i := range v {
				t |= bit(v[i] <= n) << i
			}
		}
		if x.op == opNe || x.op == opGe || x.op == opGt {
			t = ^t
		}
		out.t[w], out.f[w] = t&a.valid[w], a.valid[w]&^t
	}
	return out
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

type intInt struct {
	op   op
	a, b intNode
	slot int
}

func (x *intInt) eval(st *state) *tf {
	out, a, b := &st.bools[x.slot], x.a.eval(st), x.b.eval(st)
	valid := bothValid(&a.valid, &b.valid)
	return st.where(out, &valid, func(i int) bool {
		return holds(x.op, order(a.v[i] < b.v[i], a.v[i] > b.v[i]))
	})
}

func bothValid(a, b *bitset) (out bitset) {
	for w := range out {
		out[w] = a[w] & b[w]
	}
	return out
}

func order(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// intRange is a comparison that is the same for every integer.
type intRange struct {
	a    intNode
	all  bool
	slot int
}

func (x *intRange) eval(st *state) *tf {
	out, a := &st.bools[x.slot], x.a.eval(st)
	for w := range out.t {
		out.t[w], out.f[w] = 0, 0
		if x.all {
			out.t[w] = a.valid[w]
		} else {
			out.f[w] = a.valid[w]
		}
	}
	return out
}

// inSet turns membership into IN: with a NULL in the list, what is not found
// is unknown.
func inSet(out *tf, null bool) *tf {
	if null {
		out.f = bitset{}
	}
	return out
}

type intSet struct {
	a    intNode
	set  map[int64]struct{}
	null bool
	slot int
}

func (x *intSet) eval(st *state) *tf {
	out, a := &st.bools[x.slot], x.a.eval(st)
	return inSet(st.where(out, &a.valid, func(i int) bool {
		_, ok := x.set[a.v[i]]
		return ok
	}), x.null)
}

// ---- floating point: NaN is NULL

type floatColumn struct {
	input int
	kind  mask.Kind
	slot  int
}

func (x *floatColumn) eval(st *state) *floatBuf {
	out, v := &st.floats[x.slot], st.in[x.input]
	if st.at[x.input] == st.lo {
		return out
	}
	st.at[x.input] = st.lo
	st.validBits(v, &out.valid)
	d := v.Data[st.lo*widthOf(x.kind):]
	for i := range out.v[:st.n] {
		if x.kind == mask.Float32 {
			out.v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(d[i*4:])))
		} else {
			out.v[i] = math.Float64frombits(binary.LittleEndian.Uint64(d[i*8:]))
		}
	}
	return out.noNaN(st.n)
}

func (b *floatBuf) noNaN(n int) *floatBuf {
	for i, f := range b.v[:n] {
		if f != f {
			b.valid[i>>6] &^= 1 << (i & 63)
		}
	}
	return b
}

type floatConst struct {
	f    float64
	slot int
}

func (x *floatConst) eval(st *state) *floatBuf {
	out := &st.floats[x.slot]
	for w := range out.valid {
		out.valid[w] = ^uint64(0)
	}
	for i := range out.v[:st.n] {
		out.v[i] = x.f
	}
	return out
}

type floatOfInt struct {
	a    intNode
	slot int
}

func (x *floatOfInt) eval(st *state) *floatBuf {
	out, a := &st.floats[x.slot], x.a.eval(st)
	out.valid = a.valid
	for i := range out.v[:st.n] {
		out.v[i] = float64(a.v[i])
	}
	return out
}

type floatArith struct {
	op   op
	a, b floatNode
	slot int
}

func (x *floatArith) eval(st *state) *floatBuf {
	out, a, b := &st.floats[x.slot], x.a.eval(st), x.b.eval(st)
	out.valid = bothValid(&a.valid, &b.valid)
	for i := range out.v[:st.n] {
		p, q := a.v[i], b.v[i]
		switch x.op {
		case opAdd:
			out.v[i] = p + q
		case opSub:
			out.v[i] = p - q
		case opMul:
			out.v[i] = p * q
		case opDiv:
			// A division by zero is NULL, as in Hive and Spark.
			if q == 0 {
				out.valid[i>>6] &^= 1 << (i & 63)
				q = 1
			}
			out.v[i] = p / q
		}
	}
	return out.noNaN(st.n)
}

type floatCmpConst struct {
	op   op
	a    floatNode
	f    float64
	slot int
}

func (x *floatCmpConst) eval(st *state) *tf {
	out, a := &st.bools[x.slot], x.a.eval(st)
	return st.where(out, &a.valid, func(i int) bool {
		return holds(x.op, order(a.v[i] < x.f, a.v[i] > x.f))
	})
}

type floatFloat struct {
	op   op
	a, b floatNode
	slot int
}

func (x *floatFloat) eval(st *state) *tf {
	out, a, b := &st.bools[x.slot], x.a.eval(st), x.b.eval(st)
	valid := bothValid(&a.valid, &b.valid)
	return st.where(out, &valid, func(i int) bool {
		return holds(x.op, order(a.v[i] < b.v[i], a.v[i] > b.v[i]))
	})
}

type intFloat struct {
	op   op
	a    intNode
	b    floatNode
	slot int
}

func (x *intFloat) eval(st *state) *tf {
	out, a, b := &st.bools[x.slot], x.a.eval(st), x.b.eval(st)
	valid := bothValid(&a.valid, &b.valid)
	return st.where(out, &valid, func(i int) bool { return holds(x.op, compareIntFloat(a.v[i], b.v[i])) })
}

// compareIntFloat orders the numbers themselves; f is not NaN.
func compareIntFloat(n int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Floor(f)
	m := int64(whole)
	if n != m {
		return order(n < m, true)
	}
	return order(f > whole, false)
}

// ---- text

type textConst struct {
	op    op
	input int
	want  []byte
	slot  int
}

func (x *textConst) eval(st *state) *tf {
	out, col := &st.bools[x.slot], &st.text[x.input]
	var valid bitset
	st.validBits(st.in[x.input], &valid)
	if x.op == opEq || x.op == opNe {
		if v := st.in[x.input]; v.Layout == mask.LayoutOffsets32 {
			equal32(st, out, &valid, v, x.want)
		} else {
			st.where(out, &valid, func(i int) bool { return bytes.Equal(col.Row(st.lo+i), x.want) })
		}
		if x.op == opNe {
			out.t, out.f = out.f, out.t
		}
		return out
	}
	return st.where(out, &valid, func(i int) bool { return holds(x.op, bytes.Compare(col.Row(st.lo+i), x.want)) })
}

// equal32 is the common case in one plain loop: lengths first, which settle
// most rows.
func equal32(st *state, out *tf, valid *bitset, v *mask.Vector, want []byte) {
	offsets := v.Offsets32[st.lo : st.lo+st.n+1]
	n := int32(len(want))
	for w := 0; w*64 < st.n; w++ {
		var t uint64
		for i, end := w*64, min(w*64+64, st.n); i < end; i++ {
			if lo := offsets[i]; offsets[i+1]-lo == n && bytes.Equal(v.Data[lo:lo+n], want) {
				t |= 1 << (i & 63)
			}
		}
		out.t[w], out.f[w] = t&valid[w], valid[w]&^t
	}
}

type textText struct {
	op   op
	a, b int
	slot int
}

func (x *textText) eval(st *state) *tf {
	out, a, b := &st.bools[x.slot], &st.text[x.a], &st.text[x.b]
	var va, vb bitset
	st.validBits(st.in[x.a], &va)
	st.validBits(st.in[x.b], &vb)
	valid := bothValid(&va, &vb)
	return st.where(out, &valid, func(i int) bool {
		return holds(x.op, bytes.Compare(a.Row(st.lo+i), b.Row(st.lo+i)))
	})
}

type textSet struct {
	input int
	set   map[string]struct{}
	null  bool
	slot  int
}

func (x *textSet) eval(st *state) *tf {
	out, col := &st.bools[x.slot], &st.text[x.input]
	var valid bitset
	st.validBits(st.in[x.input], &valid)
	return inSet(st.where(out, &valid, func(i int) bool {
		_, ok := x.set[string(col.Row(st.lo+i))]
		return ok
	}), x.null)
}

type likeNode struct {
	input int
	m     *like
	slot  int
}

func (x *likeNode) eval(st *state) *tf {
	out, col := &st.bools[x.slot], &st.text[x.input]
	var valid bitset
	st.validBits(st.in[x.input], &valid)
	return st.where(out, &valid, func(i int) bool { return x.m.match(col.Row(st.lo + i)) })
}
