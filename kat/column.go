package kat

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

// check runs a program with the row reference and over columns in every layout
// of the type, where the value stands thrice between NULLs and other values.
func (r *runner) check(c *call, prog *mask.Program, backend string) {
	want := c.want.String()
	c.out = prog.Out().Kind
	one, err := prog.EvalRow(c.value)
	if err != nil {
		r.report.fail(c.vector, backend, "row reference", want, err.Error())
		return
	}
	if got := show(one); !c.matches(one) {
		r.report.fail(c.vector, backend, "row reference", want, got)
		return
	}
	rows := c.neighbours()
	answers := make([]mask.Value, len(rows))
	for i, v := range rows {
		answers[i], err = prog.EvalRow(v)
		if errors.Is(err, mask.ErrValue) { // this neighbour fails in the dialect: it is left out
			rows[i] = mask.Value{Kind: c.in.Kind, Null: true}
			answers[i], err = prog.EvalRow(rows[i])
		}
		if err != nil {
			r.report.fail(c.vector, backend, fmt.Sprintf("row reference, neighbour %d", i), "a value", err.Error())
			return
		}
	}
	for n, l := range c.layouts() {
		in := l.build(c.in, rows)
		where := "column, " + l.name
		out, err := prog.Eval(r.ctx, in, mask.EvalOptions{Threads: 1 + n%2, Large: n == 1})
		if err != nil {
			r.report.fail(c.vector, backend, where, want, err.Error())
			return
		}
		if diff := compare(out, prog.Out(), answers); diff != "" {
			r.report.fail(c.vector, backend, where, want, diff)
			return
		}
	}
}

// matches reports whether a value is the expected answer, type included.
func (c *call) matches(v mask.Value) bool {
	switch c.want.Tag {
	case TagNull:
		return v.Null
	case TagText:
		got := v.Bytes
		if c.char && c.dialect == "hive" { // a CHAR(255) there, which the vectors give without its padding
			got = bytes.TrimRight(got, " ")
		}
		return !v.Null && v.Kind == mask.Text && bytes.Equal(got, c.want.Bytes)
	case TagBytes:
		return !v.Null && v.Kind == mask.Binary && bytes.Equal(v.Bytes, c.want.Bytes)
	case TagInt:
		return !v.Null && v.Kind == c.out && v.Int == c.want.Int
	}
	days := c.want.Int
	if v.Kind == mask.Date64 {
		days *= msPerDay
	}
	return !v.Null && v.Kind == c.in.Kind && v.Int == days
}

// show is a value as a token.
func show(v mask.Value) string {
	switch {
	case v.Null:
		return string(TagNull)
	case v.Kind == mask.Text:
		return "s:" + strconv.Quote(string(v.Bytes))
	case v.Kind == mask.Binary:
		return "b:" + hex.EncodeToString(v.Bytes)
	case v.Kind == mask.Date32:
		return "d:" + formatDate(v.Int)
	case v.Kind == mask.Date64:
		return "d:" + formatDate(v.Int/msPerDay)
	}
	return "i:" + strconv.FormatInt(v.Int, 10)
}

// neighbours is the column that the value is tried in.
func (c *call) neighbours() []mask.Value {
	null := mask.Value{Kind: c.in.Kind, Null: true}
	other := func(i int) mask.Value {
		v := mask.Value{Kind: c.in.Kind, Int: int64(3 * i)}
		switch c.in.Kind {
		case mask.Null:
			return null
		case mask.Text:
			v.Bytes = []byte([]string{"", "Ünïcode 42 neighbour", "b", "0123456789ABCDEFGHIJ-klmnopqrst\xff"}[i%4])
		case mask.Binary:
			v.Bytes = bytes.Repeat([]byte{byte(i), 0xfe}, 9*(i%4))
		case mask.Bool:
			v.Int = int64(i % 2)
		case mask.Date32:
			v.Int = int64(12345 * i)
		case mask.Date64:
			v.Int = int64(12345*i) * msPerDay
		}
		return v
	}
	return []mask.Value{null, other(1), c.value, null, c.value, other(0), other(2), null, null, other(3), c.value}
}

// columnLayout is one way to lay out a column of package mask.
type columnLayout struct {
	name  string
	build func(t mask.Type, rows []mask.Value) *mask.Vector
}

func (c *call) layouts() []columnLayout {
	if c.in.Kind != mask.Text && c.in.Kind != mask.Binary {
		return []columnLayout{{"values", fixedColumn}}
	}
	return []columnLayout{{"32-bit offsets", offsetColumn32}, {"64-bit offsets", offsetColumn64}, {"views", viewColumn}}
}

// validity makes the bitmap of the rows, which begins at a bit that is none of
// a byte's first.
func validity(t mask.Type, rows []mask.Value) *mask.Vector {
	const first = 5
	v := &mask.Vector{Type: t, Len: len(rows), ValidOffset: first, Nulls: -1, Valid: make([]byte, (first+len(rows)+7)/8)}
	for i, row := range rows {
		if !row.Null {
			v.Valid[(first+i)/8] |= 1 << ((first + i) % 8)
		}
	}
	return v
}

// underNull is what lies in the slot of a NULL: it must not show anywhere.
const underNull = "HIDDEN under null"

func stored(v mask.Value) []byte {
	if v.Null {
		return []byte(underNull)
	}
	return v.Bytes
}

func offsetColumn32(t mask.Type, rows []mask.Value) *mask.Vector {
	v := validity(t, rows)
	v.Layout, v.Data = mask.LayoutOffsets32, []byte("before")
	v.Offsets32 = []int32{int32(len(v.Data))}
	for _, row := range rows {
		v.Data = append(v.Data, stored(row)...)
		v.Offsets32 = append(v.Offsets32, int32(len(v.Data)))
	}
	v.Data = append(v.Data, "after"...)
	return v
}

func offsetColumn64(t mask.Type, rows []mask.Value) *mask.Vector {
	v := validity(t, rows)
	v.Layout, v.Data = mask.LayoutOffsets64, []byte("in front")
	v.Offsets64 = []int64{int64(len(v.Data))}
	for _, row := range rows {
		v.Data = append(v.Data, stored(row)...)
		v.Offsets64 = append(v.Offsets64, int64(len(v.Data)))
	}
	v.Data = append(v.Data, "behind"...)
	return v
}

func viewColumn(t mask.Type, rows []mask.Value) *mask.Vector {
	v := validity(t, rows)
	v.Layout, v.Buffers = mask.LayoutViews, [][]byte{[]byte("front"), []byte("other front")}
	for i, row := range rows {
		var view kernels.View
		b := stored(row)
		binary.LittleEndian.PutUint32(view[0:], uint32(len(b)))
		if len(b) <= kernels.ViewInline {
			copy(view[4:], b)
		} else {
			copy(view[4:8], b)
			binary.LittleEndian.PutUint32(view[8:], uint32(i%2))
			binary.LittleEndian.PutUint32(view[12:], uint32(len(v.Buffers[i%2])))
			v.Buffers[i%2] = append(v.Buffers[i%2], b...)
		}
		v.Views = append(v.Views, view)
	}
	return v
}

// width is the bytes of a value of an integer or a date, 0 for other kinds.
func width(k mask.Kind) int {
	switch k {
	case mask.Int8, mask.Uint8:
		return 1
	case mask.Int16, mask.Uint16:
		return 2
	case mask.Int32, mask.Uint32, mask.Date32:
		return 4
	case mask.Int64, mask.Uint64, mask.Date64:
		return 8
	}
	return 0
}

// fixedColumn gives no data for kinds whose masks never look at any.
func fixedColumn(t mask.Type, rows []mask.Value) *mask.Vector {
	v := validity(t, rows)
	w := width(t.Kind)
	for _, row := range rows {
		n := row.Int
		if row.Null {
			n = 0x4b4b4b4b4b4b4b4b
		}
		v.Data = append(v.Data, binary.LittleEndian.AppendUint64(nil, uint64(n))[:w]...)
	}
	return v
}

// compare says how a column differs from the answers of the row reference,
// or from the declared type; empty when it does not.
func compare(out *mask.Vector, declared mask.Type, answers []mask.Value) string {
	if out.Type != declared {
		return fmt.Sprintf("type %v although %v was declared", out.Type, declared)
	}
	if out.Len != len(answers) {
		return fmt.Sprintf("%d rows of %d", out.Len, len(answers))
	}
	for i, want := range answers {
		if out.IsNull(i) != want.Null {
			return fmt.Sprintf("row %d: NULL is %v, the reference has %s", i, out.IsNull(i), show(want))
		}
		raw := rawCell(out, i)
		if want.Null {
			if len(bytes.Trim(raw, "\x00")) > 0 {
				return fmt.Sprintf("row %d: bytes under NULL", i)
			}
			continue
		}
		got := mask.Value{Kind: out.Type.Kind, Bytes: raw}
		if w := width(got.Kind); w > 0 {
			got.Int, got.Bytes = signed(raw, got.Kind), nil
		}
		if got.Kind != want.Kind || got.Int != want.Int || !bytes.Equal(got.Bytes, want.Bytes) {
			return fmt.Sprintf("row %d: %s, the reference has %s", i, show(got), show(want))
		}
	}
	return ""
}

// rawCell is the bytes in the slot of row i, NULL or not; none where the kind
// has no data.
func rawCell(v *mask.Vector, i int) []byte {
	switch v.Layout {
	case mask.LayoutOffsets32:
		return v.Data[v.Offsets32[i]:v.Offsets32[i+1]]
	case mask.LayoutOffsets64:
		return v.Data[v.Offsets64[i]:v.Offsets64[i+1]]
	case mask.LayoutViews:
		col := kernels.Views(v.Views, v.Buffers)
		return col.Row(i)
	}
	w := max(v.Type.Width, width(v.Type.Kind))
	if len(v.Data) < (i+1)*w {
		return nil
	}
	return v.Data[i*w : (i+1)*w]
}

// signed reads a little-endian integer of the kind's width and sign.
func signed(b []byte, k mask.Kind) int64 {
	var wide [8]byte
	copy(wide[:], b)
	n := int64(binary.LittleEndian.Uint64(wide[:]))
	if k >= mask.Uint8 && k <= mask.Uint64 {
		return n
	}
	shift := 64 - 8*len(b)
	return n << shift >> shift
}
