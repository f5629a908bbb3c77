package policy

import (
	"encoding/binary"
	"math"

	"github.com/arrowmask/arrowmask/mask"
)

// floatColumn reads a column; NaN is NULL.
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
