package policy

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
