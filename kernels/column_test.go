package kernels

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

func view(length, buffer, offset int32) (v View) {
	binary.LittleEndian.PutUint32(v[0:], uint32(length))
	binary.LittleEndian.PutUint32(v[8:], uint32(buffer))
	binary.LittleEndian.PutUint32(v[12:], uint32(offset))
	return v
}

// TestValidate: what is refused, and that the error says where.
func TestValidate(t *testing.T) {
	data := make([]byte, 100)
	buffers := [][]byte{make([]byte, 50), nil, make([]byte, 20)}
	for _, c := range []struct {
		name string
		col  Column
		want string // part of the error; empty when the column is good
	}{
		{"no offsets", Offsets32(nil, nil), ""},
		{"one offset", Offsets32(data, []int32{100}), ""},
		{"one offset outside", Offsets32(data, []int32{101}), "last offset 101"},
		{"first offset not 0", Offsets32(data, []int32{5, 9, 15}), ""},
		{"to the end", Offsets32(data, []int32{0, 0, 100, 100}), ""},
		{"negative first", Offsets32(data, []int32{-1, 4}), "first offset -1"},
		{"negative later", Offsets32(data, []int32{0, 4, -4}), "row 1 "},
		{"decreasing", Offsets32(data, []int32{0, 10, 9, 20}), "row 1 ends at offset 9, before its start 10"},
		{"last outside", Offsets32(data, []int32{0, 101}), "last offset 101"},
		{"middle outside", Offsets32(data, []int32{0, 200, 100}), "row 1 "},
		{"largest", Offsets32(data, []int32{0, math.MaxInt32}), "last offset 2147483647"},
		{"smallest", Offsets32(data, []int32{math.MinInt32, 0}), "first offset -2147483648"},
		{"largest step down", Offsets32(data, []int32{0, math.MaxInt32, math.MinInt32, 0}), "row 1 ends at offset -2147483648"},
		{"step down that wraps", Offsets32(data, []int32{0, math.MaxInt32, -2, 50}), "row 1 "},
		{"no data", Offsets32(nil, []int32{0, 0, 0}), ""},

		{"wide, first offset not 0", Offsets64(data, []int64{5, 9, 15}), ""},
		{"wide, decreasing", Offsets64(data, []int64{0, 10, 9}), "row 1 "},
		{"wide, outside", Offsets64(data, []int64{0, 1 << 32}), "last offset 4294967296"},
		{"wide, largest", Offsets64(data, []int64{0, math.MaxInt64}), "last offset"},
		{"wide, wraps 32 bits", Offsets64(data, []int64{1 << 32, 1<<32 + 10}), "last offset"},
		{"wide, negative", Offsets64(data, []int64{math.MinInt64, 10}), "first offset"},

		{"fixed", FixedWidth(data, 10, 10), ""},
		{"fixed, room left", FixedWidth(data, 33, 3), ""},
		{"fixed, too many", FixedWidth(data, 10, 11), "11 rows of width 10"},
		{"fixed, width 0", FixedWidth(nil, 0, 1000), ""},
		{"fixed, no rows", FixedWidth(nil, 16, 0), ""},
		{"fixed, negative width", FixedWidth(data, -1, 3), "width -1"},
		{"fixed, negative rows", FixedWidth(data, 1, -3), "-3 rows"},
		{"fixed, product wraps", FixedWidth(data, math.MaxInt/2+1, 4), "4 rows"},

		{"views", Views([]View{view(12, 9, 9), view(13, 0, 0), view(50, 0, 0), view(20, 2, 0), view(0, 0, 0)}, buffers), ""},
		{"view, negative length", Views([]View{view(1, 0, 0), view(-1, 0, 0)}, buffers), "row 1 has length -1"},
		{"view, no such buffer", Views([]View{view(13, 3, 0)}, buffers), "buffer 3 of 3"},
		{"view, negative buffer", Views([]View{view(13, -1, 0)}, buffers), "buffer -1"},
		{"view, past its buffer", Views([]View{view(0, 0, 0), view(50, 0, 1)}, buffers), "row 1 lies outside"},
		{"view, longer than its buffer", Views([]View{view(21, 2, 0)}, buffers), "row 0 lies outside"},
		{"view, empty buffer", Views([]View{view(13, 1, 0)}, buffers), "row 0 lies outside"},
		{"view, negative offset", Views([]View{view(13, 0, -1)}, buffers), "row 0 lies outside"},
		{"view, sum wraps 32 bits", Views([]View{view(math.MaxInt32, 0, math.MaxInt32)}, buffers), "row 0 lies outside"},

		{"selection", FixedWidth(data, 1, 5).Select([]int32{4, 0, 0, 3}), ""},
		{"selection of nothing", FixedWidth(data, 1, 5).Select(nil), ""},
		{"selection past the rows", FixedWidth(data, 1, 5).Select([]int32{0, 5}), "entry 1 names row 5 of 5"},
		{"negative selection", FixedWidth(data, 1, 5).Select([]int32{-1}), "entry 0 names row -1"},
		{"selection of no rows", Offsets32(nil, nil).Select([]int32{0}), "entry 0 names row 0 of 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.col.Validate()
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want != "" && (!errors.Is(err, ErrColumn) || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("%v, want %q", err, c.want)
			case err == nil:
				for i := range c.col.Len() {
					if r := c.col.Row(i); len(r) != cap(r) {
						t.Errorf("row %d reaches past its end", i)
					}
				}
			}
		})
	}
}

// TestB27RowsOfSlices: rows are cut by the offsets, which need not begin at 0.
func TestB27RowsOfSlices(t *testing.T) {
	data := []byte("0123456789abcdefghijklmnopqrstuv")
	views := []View{{}, {}}
	binary.LittleEndian.PutUint32(views[0][:], 3)
	copy(views[0][4:], "xyz")
	views[1] = view(14, 1, 9)
	for _, c := range []struct {
		name string
		col  Column
		want string
	}{
		{"offsets32", Offsets32(data, []int32{5, 9, 9, 15}), "5678||9abcde"},
		{"offsets64", Offsets64(data, []int64{5, 9, 9, 15}), "5678||9abcde"},
		{"offsets of a slice", Offsets32(data, []int32{0, 5, 9, 15}[1:]), "5678|9abcde"},
		{"fixed", FixedWidth(data[3:], 2, 3), "34|56|78"},
		{"views", Views(views, [][]byte{nil, data}), "xyz|9abcdefghijklm"},
		{"selected", Offsets32(data, []int32{5, 9, 9, 15}).Select([]int32{2, 0, 2}), "9abcde|5678|9abcde"},
		{"selected again", Offsets32(data, []int32{5, 9, 9, 15}).Select([]int32{2}).Select([]int32{0}), "5678"},
		{"selected none", Offsets32(data, []int32{5, 9}).Select(nil), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.col.Validate(); err != nil {
				t.Fatal(err)
			}
			var rows []string
			for i := range c.col.Len() {
				rows = append(rows, string(c.col.Row(i)))
			}
			if got := strings.Join(rows, "|"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// FuzzValidate: a column that passes can be read to its end.
func FuzzValidate(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0}, []byte("ab"), uint8(0))
	f.Add([]byte{13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []byte("0123456789abcdef"), uint8(2))
	f.Fuzz(func(t *testing.T, raw, data []byte, kind uint8) {
		var col Column
		switch kind % 3 {
		case 0:
			offsets := make([]int32, len(raw)/4)
			for i := range offsets {
				offsets[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
			}
			col = Offsets32(data, offsets)
		case 1:
			offsets := make([]int64, len(raw)/8)
			for i := range offsets {
				offsets[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
			}
			col = Offsets64(data, offsets)
		default:
			views := make([]View, len(raw)/16)
			for i := range views {
				copy(views[i][:], raw[16*i:])
			}
			col = Views(views, [][]byte{data, data[len(data)/2:]})
		}
		if col.Validate() != nil {
			return
		}
		total := 0
		for i := range col.Len() {
			for _, b := range col.Row(i) {
				total += int(b)
			}
		}
		_ = total
	})
}
