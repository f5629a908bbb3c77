package kat

import (
	"encoding/binary"
	"reflect"

	"github.com/arrowmask/arrowmask/kernels"
)

// layouts are the ways in which a batch of messages is laid out. Each places
// the messages at other addresses, relative to a cache line of 64 bytes, and
// between neighbours of other lengths (save in a fixed width, where they
// cannot have another).
var layouts = []struct {
	name  string
	chunk int // rows a call; 0: all at once
	build func([]*digest) []placed
}{
	{"32-bit offsets", 0, offsets32},
	{"64-bit offsets, selection", 5, offsets64},
	{"fixed width", 0, fixedWidth},
	{"views", 7, views},
}

// placed is a column and the vector behind each of its rows, nil for a
// neighbour.
type placed struct {
	col  kernels.Column
	rows []*digest
}

const line = 64

// aligned is a buffer of n bytes whose first lies at the start of a line.
func aligned(n int) []byte {
	b := make([]byte, n+line)
	skip := -int(reflect.ValueOf(&b[0]).Pointer()%line) & (line - 1)
	return b[skip : skip+n : skip+n]
}

// noise fills bytes with something that is no message.
func noise(b []byte) {
	for i := range b {
		b[i] = byte(i*i + 37*i + 11)
	}
}

// spread puts the messages into one buffer, message i at an address of
// first+i modulo 64, with neighbours of 0 to 191 bytes between them. ends has
// the end of each row, neighbours at even rows.
func spread(batch []*digest, first int) (data []byte, ends []int, rows []*digest) {
	size := 0
	for i, d := range batch {
		gap := (first+i-size)&(line-1) + line*(i%3)
		ends = append(ends, size+gap, size+gap+len(d.message))
		rows = append(rows, nil, d)
		size += gap + len(d.message)
	}
	const tail = 77 // the last message has a neighbour too
	ends, rows = append(ends, size+tail), append(rows, nil)
	data = aligned(size + tail)
	noise(data)
	for i, d := range batch {
		copy(data[ends[2*i]:], d.message)
	}
	return data, ends, rows
}

func offsets32(batch []*digest) []placed {
	data, ends, rows := spread(batch, 0)
	offsets := []int32{0}
	for _, e := range ends {
		offsets = append(offsets, int32(e))
	}
	return []placed{{kernels.Offsets32(data, offsets), rows}}
}

// offsets64 works on a selection: every row but each third neighbour, from the
// last to the first.
func offsets64(batch []*digest) []placed {
	data, ends, rows := spread(batch, 17)
	offsets := []int64{0}
	for _, e := range ends {
		offsets = append(offsets, int64(e))
	}
	var sel []int32
	var chosen []*digest
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i] != nil || i%6 != 0 {
			sel, chosen = append(sel, int32(i)), append(chosen, rows[i])
		}
	}
	return []placed{{kernels.Offsets64(data, offsets).Select(sel), chosen}}
}

// fixedWidth makes a column a vector: two rows of it among noise.
func fixedWidth(batch []*digest) []placed {
	var all []placed
	for i, d := range batch {
		n := len(d.message)
		at := (34 + i - n) & (line - 1) // the first message begins at 34+i
		data := aligned(at + 4*n)
		noise(data)
		copy(data[at+n:], d.message)
		copy(data[at+3*n:], d.message)
		all = append(all, placed{kernels.FixedWidth(data[at:], n, 4), []*digest{nil, d, nil, d}})
	}
	return all
}

// views puts every second long message into a second buffer.
func views(batch []*digest) []placed {
	data, ends, rows := spread(batch, 51)
	const shift = 2
	second := aligned(shift + len(data))
	copy(second[shift:], data)
	buffers := [][]byte{data, second}
	vs := make([]kernels.View, len(rows))
	start := 0
	for i, end := range ends {
		value := data[start:end]
		binary.LittleEndian.PutUint32(vs[i][0:], uint32(len(value)))
		if len(value) <= kernels.ViewInline {
			copy(vs[i][4:], value)
		} else {
			buffer := i / 2 % 2
			copy(vs[i][4:8], value)
			binary.LittleEndian.PutUint32(vs[i][8:], uint32(buffer))
			binary.LittleEndian.PutUint32(vs[i][12:], uint32(start+shift*buffer))
		}
		start = end
	}
	return []placed{{kernels.Views(vs, buffers), rows}}
}
