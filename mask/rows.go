package mask

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// rowsOp is a step over several columns.
type rowsOp interface {
	op
	// evalRows computes all rows; the vectors were checked and have the same
	// length, save those of constants, which have one row.
	evalRows(r *run, ins []*Vector) (*Vector, error)
}

// rowCall compiles hash_row and row_bytes: values, then literals.
func (c *compiler) rowCall(f *function, e *Expr) (*node, error) {
	values := e.args
	alg := kernels.SHA256
	if last := len(values) - 1; len(f.params) > 0 && last >= 0 && values[last].kind == exprString {
		var err error
		if alg, err = parseAlg(values[last].text); err != nil {
			return nil, fmt.Errorf("%s: %w %d (%s): %w", f.name, ErrArgument, last+1, f.params[0].name, err)
		}
		values = values[:last]
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: %w: takes 1 value or more, got none", f.name, ErrArgument)
	}
	n := &node{name: f.name, fn: f, out: Type{Kind: Binary}, op: rowBytes{}, rules: c.rules, refRows: refRowBytes}
	for i, v := range values {
		if !v.HasColumn() {
			return nil, fmt.Errorf("%s: %w %d: must be a column or a function of one, not %s", f.name, ErrArgument, i+1, v.what())
		}
		a, err := c.node(v)
		if err != nil {
			return nil, err
		}
		if t := a.out; !t.bytes() && !t.integer() && t.Kind != Date32 && t.Kind != Date64 && t.Kind != Null {
			return nil, fmt.Errorf("%s: argument %d: %w: %s", f.name, i+1, ErrType, t)
		}
		if n.arg == nil {
			n.arg = a
		} else {
			n.also = append(n.also, a)
		}
	}
	if n.also == nil {
		n.also = []*node{}
	}
	if f.name == "row_bytes" {
		c.note("row_bytes only puts values together: nothing is masked.")
		return n, nil
	}
	top := &node{name: f.name, fn: f, arg: n, set: settings{alg: alg}, rules: c.rules}
	return top, buildHexDigest(c, top)
}

// rowBytes puts the values of a row together. Each is written as one byte for
// its sort, and unless it is NULL eight bytes for the length of what follows,
// most significant first, and the value:
//
//	0                NULL
//	't', length      the bytes of text
//	'b', length      the bytes of binary
//	'i', length      an integer of any width, in decimal
//	'd', length      a Date32, days since 1970-01-01 in decimal
//	'm', length      a Date64, milliseconds since 1970-01-01 in decimal
//
// So no two different rows have the same bytes, whatever lies in the values;
// an integer has the same in every width.
type rowBytes struct{}

const rowHeader = 9

func (b rowBytes) eval(r *run, in *Vector) (*Vector, error) { return b.evalRows(r, []*Vector{in}) }

func (rowBytes) evalRows(r *run, ins []*Vector) (*Vector, error) {
	e := rowEncoder{cols: ins, bytes: make([]kernels.Column, len(ins))}
	for k, v := range ins {
		if v.Type.bytes() {
			e.bytes[k] = v.column(0, v.Len)
		}
	}
	step := textStep{op: e, out: Type{Kind: Binary}, whole: true}
	return step.eval(r, &Vector{Type: Type{Kind: Null}, Len: ins[0].Len})
}

// rowEncoder is rowBytes as a textOp; it looks at its own columns, not at the
// one it is given.
type rowEncoder struct {
	cols  []*Vector
	bytes []kernels.Column // of the columns of text and binary
}

func (e rowEncoder) sizes(lens []int, _ *Vector, lo, hi int) {
	clear(lens)
	for k, v := range e.cols {
		switch {
		case v.Type.Kind == Null:
			for i := range lens {
				lens[i]++
			}
		case v.Type.bytes():
			for i := range lens {
				if lens[i]++; !v.IsNull(lo + i) {
					lens[i] += rowHeader - 1 + len(e.bytes[k].Row(lo+i))
				}
			}
		default:
			for i := range lens {
				if lens[i]++; !v.IsNull(lo + i) {
					lens[i] += rowHeader - 1 + decimalSize(intAt(v, lo+i), kinds[v.Type.Kind].signed)
				}
			}
		}
	}
}

func (e rowEncoder) write(dst []byte, _ *Vector, lo, hi int) error {
	out := dst[:0]
	for i := lo; i < hi; i++ {
		for k, v := range e.cols {
			if v.IsNull(i) {
				out = append(out, 0)
				continue
			}
			out = append(out, rowSort(v.Type), 0, 0, 0, 0, 0, 0, 0, 0)
			begin := len(out)
			switch {
			case v.Type.bytes():
				out = append(out, e.bytes[k].Row(i)...)
			case kinds[v.Type.Kind].signed:
				out = strconv.AppendInt(out, int64(intAt(v, i)), 10)
			default:
				out = strconv.AppendUint(out, intAt(v, i), 10)
			}
			binary.BigEndian.PutUint64(out[begin-rowHeader+1:], uint64(len(out)-begin))
		}
	}
	return nil
}

// rowSort is the byte for the sort of a value.
func rowSort(t Type) byte {
	switch t.Kind {
	case Text:
		return 't'
	case Binary:
		return 'b'
	case Date32:
		return 'd'
	case Date64:
		return 'm'
	}
	return 'i'
}

// decimalSize is the characters of a number in decimal.
func decimalSize(n uint64, signed bool) int {
	if signed && int64(n) < 0 {
		return 1 + digitCount(-n)
	}
	return digitCount(n)
}

// sha2Column compiles sha2 whose length is a column.
func (c *compiler) sha2Column(n *node, value, arg *Expr) (*node, error) {
	bits, err := c.columnNode(arg)
	switch {
	case err != nil:
		return nil, err
	case !bits.out.integer():
		return nil, fmt.Errorf("%s: argument 2 (bits): %w: %s", n.name, ErrType, bits.out)
	case !value.HasColumn():
		return nil, fmt.Errorf("%s: %w 1: must be a column or a function of one where the length is a column", n.name, ErrArgument)
	case c.rules.digest.of(n.arg.out) != answer:
		return nil, n.wrongType()
	}
	s := sha2Rows{hashes: make(map[int64]summer), strict: c.rules.badLength == refuse}
	for length, alg := range c.rules.sha2 {
		if fips.Enabled() && c.rules.sha2FIPS != nil && !slices.Contains(c.rules.sha2FIPS, length) {
			continue
		}
		one := &node{name: n.name, set: settings{alg: alg}}
		if s.hashes[length], err = c.hash(one); err != nil {
			return nil, err
		}
	}
	c.notePlain(n)
	n.also, n.out, n.op, n.mayNull, n.refRows = []*node{bits}, Type{Kind: Text}, s, true, s.ref
	return n, nil
}

// sha2Rows is sha2 with a length for each row. A row whose length has no digest
// is NULL, or fails the call when strict.
type sha2Rows struct {
	hashes map[int64]summer
	strict bool
}

func (s sha2Rows) eval(r *run, in *Vector) (*Vector, error) { return s.evalRows(r, []*Vector{in, in}) }

func (s sha2Rows) evalRows(r *run, ins []*Vector) (*Vector, error) {
	in, bits := ins[0], ins[1]
	out := in
	for i := range in.Len {
		if in.IsNull(i) {
			continue
		}
		known := false
		if !bits.IsNull(i) {
			if _, known = s.hashes[int64(intAt(bits, i))]; !known && s.strict {
				return nil, r.badValue(i, "no digest has that length")
			}
		}
		if !known {
			out = in.without(i, out)
		}
	}
	return textStep{op: lengthDigest{s, bits}, out: Type{Kind: Text}}.eval(r, out)
}

// lengthDigest is sha2Rows as a textOp. NULLs of the column it is given are those
// of the answer.
type lengthDigest struct {
	sha2Rows
	bits *Vector
}

func (d lengthDigest) sizes(lens []int, in *Vector, lo, hi int) {
	for i := range lens {
		lens[i] = 0
		if !in.IsNull(lo + i) {
			lens[i] = 2 * d.hashes[int64(intAt(d.bits, lo+i))].Size()
		}
	}
}

func (d lengthDigest) write(dst []byte, in *Vector, lo, hi int) error {
	s := getScratch()
	defer s.put()
	lens := s.lens[:hi-lo]
	d.sizes(lens, in, lo, hi)
	for bits, hash := range d.hashes {
		n := 0
		for i := range lens {
			if !in.IsNull(lo+i) && int64(intAt(d.bits, lo+i)) == bits {
				s.rows[n] = int32(i)
				n++
			}
		}
		if n == 0 {
			continue
		}
		size := hash.Size()
		s.col = in.column(lo, hi)
		s.col = s.col.Select(s.rows[:n])
		s.used = max(s.used, n*size)
		if err := hash.Sum(s.sums[:n*size], &s.col, 0, n); err != nil {
			return err
		}
		at, done := 0, 0
		for i, width := range lens {
			if done < n && int(s.rows[done]) == i {
				hexenc.Lower(dst[at:at+width], s.sums[done*size:(done+1)*size])
				done++
			}
			at += width
		}
	}
	return nil
}
