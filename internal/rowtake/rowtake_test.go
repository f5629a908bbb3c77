package rowtake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// counting is Go's heap, with a count of what is not freed. What it gives holds
// garbage.
type counting struct{ live int }

func (c *counting) Allocate(n int) []byte {
	c.live++
	return bytes.Repeat([]byte{0xa5}, n)
}

func (c *counting) Free([]byte) { c.live-- }

// list is the rows of runs.
func list(runs []Run) (rows []int) {
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; i++ {
			rows = append(rows, i)
		}
	}
	return rows
}

func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for n := range 200 {
		bits := make([]byte, (n+7)/8+1)
		for i := range bits {
			switch rng.IntN(3) {
			case 0:
				bits[i] = byte(rng.Uint32())
			case 1:
				bits[i] = 0xff
			}
		}
		var want []int
		for i := range n {
			if bit(bits, i) {
				want = append(want, i)
			}
		}
		runs := Runs(nil, bits, n)
		if got := list(runs); !slices.Equal(got, want) {
			t.Fatalf("%d rows of %x: %v", n, bits, runs)
		}
		for i := 1; i < len(runs); i++ {
			if runs[i].Lo <= runs[i-1].Hi {
				t.Fatalf("runs that touch: %v", runs)
			}
		}
	}
}

// TestTakeRepeatsAndReorders: runs need not ascend, which children of list
// views rely on.
func TestTakeRepeatsAndReorders(t *testing.T) {
	d := &Data{Len: 4, Offset: 1, Buffers: [][]byte{{0b10110}, {0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0}, []byte("--abc--de")}}
	// Rows: abc, "", NULL, "de" with the bits 1, 1, 0, 1 from bit 1 on.
	out, err := Take(&Shape{Layout: Offsets32}, d, []Run{{3, 4}, {0, 1}, {2, 4}}, &counting{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Len != 4 || out.Nulls != 1 || out.Buffers[0][0] != 0b1011 || string(out.Buffers[2]) != "deabc--de" {
		t.Errorf("%+v %q", out, out.Buffers[2])
	}
}

// TestDictionaryThatClaimsTooMuch: memory follows the rows.
func TestDictionaryThatClaimsTooMuch(t *testing.T) {
	index := binary.LittleEndian.AppendUint64(nil, 1<<50)
	index = binary.LittleEndian.AppendUint64(index, 3)
	d := &Data{Len: 2, Buffers: [][]byte{nil, index}, Children: []*Data{{Len: 1 << 60, Buffers: [][]byte{nil}}}}
	out, err := Take(&Shape{Layout: Dictionary, Width: 8, Children: []*Shape{{Layout: Null}}}, d, []Run{{0, 2}}, &counting{})
	if err != nil || out.Children[0].Len != 2 || out.Buffers[1][0] != 1 || out.Buffers[1][8] != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	d.Children[0].Len = 5
	if _, err := Take(&Shape{Layout: Dictionary, Width: 8, Children: []*Shape{{Layout: Null}}}, d, []Run{{0, 2}}, &counting{}); !errors.Is(err, ErrData) {
		t.Errorf("an index past the dictionary: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	// Every row is the same 4 million values, which are NULLs without bytes.
	o := binary.LittleEndian.AppendUint32(nil, 0)
	z := binary.LittleEndian.AppendUint32(nil, 4<<20)
	d := &Data{Len: 1, Buffers: [][]byte{nil, o, z}, Children: []*Data{{Len: 4 << 20, Buffers: [][]byte{nil}}}}
	s := &Shape{Layout: ListView32, Children: []*Shape{{Layout: Null}}}
	runs := slices.Repeat([]Run{{0, 1}}, 511)
	mem := &counting{}
	if _, err := Take(s, d, runs, mem); err != nil {
		t.Errorf("2^31-2^22 values: %v", err)
	}
	mem.live = 0
	if _, err := Take(s, d, append(runs, Run{0, 1}), mem); !errors.Is(err, ErrTooLarge) || mem.live != 0 {
		t.Errorf("2^31 values: %v, %d buffers left", err, mem.live)
	}
	if _, err := Nulls(&Shape{Layout: RunEnds, Width: 2, Children: []*Shape{{Layout: Fixed, Width: 2}, {Layout: Null}}}, math.MaxInt16+1, mem); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a run of 2^15 rows: %v", err)
	}
}

// FuzzTake reads a shape and its data out of the input: whatever they are,
// there is a result of the right length or one of the errors, never a panic and
// nothing left allocated.
func FuzzTake(f *testing.F) {
	for layout := range byte(RunEnds) + 1 {
		f.Add([]byte{layout, 4, 2, 1, 2, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, uint8(0), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, lo, hi uint8) {
		r := &reader{in: in}
		s, d := r.column(0)
		runs := []Run{{int(lo), int(hi)}, {0, min(1, d.Len)}}
		mem := &counting{}
		out, err := Take(s, d, runs, mem)
		if err != nil {
			if !errors.Is(err, ErrData) && !errors.Is(err, ErrTooLarge) || mem.live != 0 {
				t.Fatalf("%v, %d buffers left", err, mem.live)
			}
			return
		}
		if out.Len != count(runs) || out.Offset != 0 || out.Nulls < 0 || out.Nulls > out.Len {
			t.Fatalf("%+v of %v", out, runs)
		}
		// The result is sound: all of it can be taken again, and is the same.
		again, err := Take(s, out, []Run{{0, out.Len}}, &counting{})
		if err != nil {
			t.Fatalf("taking the result again: %v", err)
		}
		if a, b := fmt.Sprintf("%v", dump(out)), fmt.Sprintf("%v", dump(again)); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}

func dump(d *Data) []any {
	all := []any{d.Len, d.Nulls}
	for _, b := range d.Buffers {
		all = append(all, fmt.Sprintf("%x", b))
	}
	for _, c := range d.Children {
		all = append(all, dump(c))
	}
	return all
}

type reader struct{ in []byte }

func (r *reader) byte() byte {
	if len(r.in) == 0 {
		return 0
	}
	b := r.in[0]
	r.in = r.in[1:]
	return b
}

func (r *reader) bytes(n int) []byte {
	n = min(n, len(r.in))
	b := r.in[:n:n]
	r.in = r.in[n:]
	return b
}

func (r *reader) column(depth int) (*Shape, *Data) {
	s := &Shape{Layout: Layout(r.byte() % (byte(RunEnds) + 1)), Width: 1 << (r.byte() % 4)}
	d := &Data{Len: int(r.byte() % 40), Offset: int(r.byte() % 4)}
	for range r.byte() % 5 {
		d.Buffers = append(d.Buffers, r.bytes(int(r.byte())))
	}
	children := 0
	switch s.Layout {
	case List32, List64, ListView32, ListView64, FixedList, Dictionary:
		children = 1
	case Struct, SparseUnion, DenseUnion, RunEnds:
		children = 2
	}
	if depth > 3 {
		children = 0
	}
	for i := range children {
		cs, cd := r.column(depth + 1)
		if s.Layout == RunEnds && i == 0 {
			cs = &Shape{Layout: Fixed, Width: s.Width}
		}
		s.Children, d.Children, s.Codes = append(s.Children, cs), append(d.Children, cd), append(s.Codes, int8(i))
	}
	return s, d
}
