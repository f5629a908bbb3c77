package policy

import (
	"bytes"

	"github.com/arrowmask/arrowmask/mask"
)

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
