package mask

import (
	"bytes"
	"encoding/binary"
)

// Steps that dialects put in front of a function. They have no name in the
// grammar; their rows keep their NULLs.

// decoded reads text as the Java platform does.
func decoded(arg *node) *node {
	return &node{name: arg.name, arg: arg, out: Type{Kind: Text}, mayNull: arg.mayNull, op: javaText{}, ref: refJavaText}
}

// trimmed drops the blanks that pad a CHAR.
func trimmed(arg *node) *node {
	return &node{name: arg.name, arg: arg, out: Type{Kind: Text}, mayNull: arg.mayNull,
		op: textStep{op: rowText{trimRight{}}, out: Type{Kind: Text}}, ref: refTrim}
}

type trimRight struct{}

func (trimRight) size(row []byte) int       { return len(bytes.TrimRight(row, " ")) }
func (trimRight) write(dst, row []byte) int { return copy(dst, bytes.TrimRight(row, " ")) }

// widened makes 64 bits of a narrower signed integer.
func widened(arg *node) *node {
	out := Type{Kind: Int64}
	return &node{name: arg.name, arg: arg, out: out, mayNull: arg.mayNull, op: castInt{from: arg.out, to: out}, ref: refWiden}
}

// castInt changes the width of integers. What does not fit wraps, or is an
// error when strict.
type castInt struct {
	from, to Type
	strict   bool
}

func (c castInt) eval(r *run, in *Vector) (*Vector, error) {
	w := c.to.size()
	size, err := r.fixed(in.Len, w)
	if err != nil {
		return nil, err
	}
	out := &Vector{Type: c.to, Len: in.Len}
	r.copyNulls(out, in)
	out.Data = r.bytes(size)
	err = r.each(in.Len, numberRows, func(_, lo, hi int) error {
		var wide [8]byte
		for i := lo; i < hi; i++ {
			v := intAt(in, i)
			if c.strict && !in.IsNull(i) && !fits(v, c.from, c.to) {
				return r.badValue(i, "does not fit "+c.to.String())
			}
			binary.LittleEndian.PutUint64(wide[:], v)
			copy(out.Data[i*w:(i+1)*w], wide[:])
		}
		clearNulls(out.Data, in, lo, hi, w)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// intAt is the integer of row i in 64 bits, with its sign extended.
func intAt(v *Vector, i int) uint64 {
	le, w := binary.LittleEndian, v.Type.size()
	b, signed := v.Data[i*w:], kinds[v.Type.Kind].signed
	switch {
	case w == 8:
		return le.Uint64(b)
	case w == 4 && signed:
		return uint64(int32(le.Uint32(b)))
	case w == 4:
		return uint64(le.Uint32(b))
	case w == 2 && signed:
		return uint64(int16(le.Uint16(b)))
	case w == 2:
		return uint64(le.Uint16(b))
	case signed:
		return uint64(int8(b[0]))
	}
	return uint64(b[0])
}

// fits reports whether a value keeps its meaning in another type.
func fits(v uint64, from, to Type) bool {
	negative := kinds[from.Kind].signed && int64(v) < 0
	bits := uint(8 * to.size())
	switch {
	case negative && !kinds[to.Kind].signed:
		return false
	case negative:
		return int64(v) >= -1<<(bits-1)
	case kinds[to.Kind].signed:
		return v < 1<<(bits-1)
	}
	return bits == 64 || v < 1<<bits
}
