package policy

import (
	"encoding/binary"
	"math"

	"github.com/arrowmask/arrowmask/mask"
)

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
