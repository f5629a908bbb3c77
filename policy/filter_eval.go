package policy

import (
	"context"
	"encoding/binary"
	"fmt"
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
