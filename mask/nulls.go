package mask

import "encoding/binary"

// allNull answers NULL for every row.
type allNull struct{ out Type }

func (a allNull) eval(r *run, in *Vector) (*Vector, error) { return r.nulls(a.out, in.Len) }

// nulls is a vector of rows NULLs. Kinds without Data here get none.
func (r *run) nulls(t Type, rows int) (*Vector, error) {
	var v *Vector
	if t.bytes() && t.Width == 0 {
		v = r.textVector(t, rows)
	} else {
		v = &Vector{Type: t, Len: rows}
	}
	size, err := r.fixed(rows, t.size())
	if err != nil {
		return nil, err
	}
	v.Nulls = rows
	if t.Kind != Null {
		v.Valid = r.bytes(bitmapSize(rows))
		clear(v.Valid)
	}
	v.Data = r.bytes(size)
	clear(v.Data)
	return v, nil
}

// literalBit is TRUE or FALSE, a bit a row like the validity.
type literalBit struct{}

func (literalBit) eval(r *run, in *Vector) (*Vector, error) { return r.repeatBit(in, in.Len), nil }

func (r *run) repeatBit(one *Vector, rows int) *Vector {
	out := &Vector{Type: one.Type, Len: rows, Data: r.bytes(bitmapSize(rows))}
	for i := range out.Data {
		out.Data[i] = -(one.Data[0] & 1)
	}
	if rows&7 != 0 {
		out.Data[len(out.Data)-1] &= 1<<(rows&7) - 1
	}
	return out
}

// copyFixed is the identity for values of fixed width, in a fresh buffer.
type copyFixed struct{}

func (copyFixed) eval(r *run, in *Vector) (*Vector, error) {
	w := in.Type.size()
	out := &Vector{Type: in.Type, Len: in.Len}
	r.copyNulls(out, in)
	out.Data = r.bytes(in.Len * w)
	copy(out.Data, in.Data)
	for i := range in.Len {
		if in.IsNull(i) {
			clear(out.Data[i*w : (i+1)*w])
		}
	}
	return out, nil
}

// vector is the literal as a column of one row.
func (v *Value) vector() *Vector {
	out := &Vector{Type: Type{Kind: v.Kind}, Len: 1}
	switch v.Kind {
	case Null:
		out.Nulls = 1
	case Text:
		out.Layout, out.Data, out.Offsets32 = LayoutOffsets32, v.Bytes, []int32{0, int32(len(v.Bytes))}
	case Bool:
		out.Data = []byte{byte(v.Int)}
	case Int32, Int64:
		out.Data = binary.LittleEndian.AppendUint64(nil, uint64(v.Int))[:out.Type.size()]
	}
	return out
}

// repeat makes rows rows of a vector of one row.
func (r *run) repeat(one *Vector, rows int) (*Vector, error) {
	if one.IsNull(0) {
		return r.nulls(one.Type, rows)
	}
	if one.Type.Kind == Bool {
		return r.repeatBit(one, rows), nil
	}
	w, variable := len(one.Data), one.Type.bytes() && one.Type.Width == 0
	size, err := r.fixed(rows, w)
	if err != nil {
		return nil, err
	}
	out := &Vector{Type: one.Type, Len: rows}
	if variable {
		if out = r.textVector(one.Type, rows); !r.wide && int64(size) > r.limit {
			return nil, r.tooLarge(size)
		}
		for i := range out.Offsets32 {
			out.Offsets32[i] = int32(i * w)
		}
		for i := range out.Offsets64 {
			out.Offsets64[i] = int64(i * w)
		}
	}
	out.Data = r.bytes(size)
	for i := 0; i < size; i += w {
		copy(out.Data[i:], one.Data)
	}
	return out, nil
}
