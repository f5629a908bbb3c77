package thrift

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

// sample is a struct written out by hand from the protocol's description.
var sample = []byte{
	0x15, 0x04, // field 1, i32, 2
	0x18, 0x02, 'h', 'i', // field 2, binary
	0x11,             // field 3, true
	0x19, 0x25, 1, 2, // field 4, list of two i32: -1, 1
	0x1c, 0x16, 0x80, 0x01, 0x00, // field 5, struct with field 1, i64, 64
	0x05, 0xc8, 0x01, 0x03, // long form: field 100, i32, -2
	0x2b, 0x01, 0x8c, 0x01, 'k', 0x00, // field 102, map of one: binary to empty struct
	0x00,
}

func TestReadByHand(t *testing.T) {
	s, n, err := ReadStruct(append(bytes.Clone(sample), "rest"...))
	if err != nil || n != len(sample) {
		t.Fatalf("%d bytes, %v; want %d", n, err, len(sample))
	}
	if v, ok := s.Int(1); v != 2 || !ok {
		t.Error("field 1:", v, ok)
	}
	if v, ok := s.Bytes(2); string(v) != "hi" || !ok {
		t.Error("field 2:", v, ok)
	}
	if !s.Bool(3, false) || s.Bool(9, false) || !s.Bool(9, true) {
		t.Error("field 3")
	}
	l, err := s.List(4)
	if err != nil || len(l.Items) != 2 || IntOf(l.Items[0]) != -1 || IntOf(l.Items[1]) != 1 {
		t.Error("field 4:", l, err)
	}
	inner, err := s.Struct(5)
	if v, _ := inner.Int(1); v != 64 || err != nil {
		t.Error("field 5:", v, err)
	}
	if v, ok := s.Int(100); v != -2 || !ok {
		t.Error("field 100:", v, ok)
	}
	if !s.Has(102) || s.Has(101) {
		t.Error("field 102")
	}
	if got := s.Append(nil); !bytes.Equal(got, sample) {
		t.Errorf("written back: %x, want %x", got, sample)
	}
	for cut := range sample {
		if _, _, err := ReadStruct(sample[:cut]); !errors.Is(err, ErrShort) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestWrongTypes(t *testing.T) {
	s, _, err := ReadStruct(sample)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Int(2); ok {
		t.Error("binary read as an integer")
	}
	if _, ok := s.Bytes(1); ok {
		t.Error("an integer read as binary")
	}
	if _, err := s.Struct(1); !errors.Is(err, ErrCorrupt) {
		t.Error("an integer read as a struct:", err)
	}
	if _, err := s.List(1); !errors.Is(err, ErrCorrupt) {
		t.Error("an integer read as a list:", err)
	}
	if _, err := s.Structs(4); !errors.Is(err, ErrCorrupt) {
		t.Error("integers read as structs:", err)
	}
}

func TestChange(t *testing.T) {
	s := Struct{}.WithInt(7, I64, math.MinInt64).WithBytes(2, []byte("x")).WithInt(2, I32, 5).
		WithList(40, List{Type: Binary, Items: [][]byte{AppendBytes(nil, []byte(strings.Repeat("y", 300)))}}).
		WithStruct(20, Struct{}.WithInt(1, I32, 1))
	back, n, err := ReadStruct(s.Append(nil))
	if err != nil || n != len(s.Append(nil)) {
		t.Fatal(n, err)
	}
	var ids []int16
	for _, f := range back {
		ids = append(ids, f.ID)
	}
	if len(ids) != 4 || ids[0] != 2 || ids[1] != 7 || ids[2] != 20 || ids[3] != 40 {
		t.Error("fields", ids)
	}
	if v, _ := back.Int(7); v != math.MinInt64 {
		t.Error("field 7:", v)
	}
	if l, err := back.List(40); err != nil || len(BytesOf(l.Items[0])) != 300 {
		t.Error("field 40:", err)
	}
	if k := back.Keep(7); len(k) != 1 || len(back.Without(7)) != 3 || len(back) != 4 {
		t.Error("Keep or Without changed its receiver, or the wrong fields")
	}
	long := List{Type: Nested}
	for range 20 {
		long.Items = append(long.Items, []byte{0})
	}
	if l, err := (Struct{}).WithList(1, long).Structs(1); err != nil || len(l.Items) != 20 {
		t.Error("a long list:", len(l.Items), err)
	}
	if l, err := (Struct{}).WithList(1, List{}).Structs(1); err != nil || len(l.Items) != 0 {
		t.Error("an empty list:", l, err)
	}
}

// Lengths that the bytes do not bear out are refused before memory is given to them, and deep nesting before the stack.
func TestHostile(t *testing.T) {
	for name, b := range map[string][]byte{
		"list":   {0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"binary": {0x18, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"map":    {0x1b, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x88},
	} {
		if _, _, err := ReadStruct(b); !errors.Is(err, ErrShort) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := ReadStruct(bytes.Repeat([]byte{0x1c}, 1<<20)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("deep nesting: %v", err)
	}
	if _, _, err := ReadStruct([]byte{0x1e, 0}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("unknown type: %v", err)
	}
}

// What was read is written back to bytes that read the same.
func FuzzStruct(f *testing.F) {
	f.Add(sample)
	f.Add([]byte{0x1c, 0x1c, 0x00, 0x00, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, n, err := ReadStruct(b)
		if err != nil {
			return
		}
		if n > len(b) {
			t.Fatalf("%d bytes of %d", n, len(b))
		}
		raw := s.Append(nil)
		again, m, err := ReadStruct(raw)
		if err != nil || m != len(raw) || len(again) != len(s) {
			t.Fatalf("%x was written as %x: %v", b, raw, err)
		}
		for i, f := range s {
			if g := again[i]; g.ID != f.ID || g.Type != f.Type || !bytes.Equal(g.Raw, f.Raw) {
				t.Fatalf("field %d changed", f.ID)
			}
			s.Int(f.ID)
			s.Bytes(f.ID)
			if _, err := s.Struct(f.ID); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			if l, err := s.List(f.ID); err != nil && !errors.Is(err, ErrCorrupt) || len(l.Items) > len(b) {
				t.Fatal(err)
			}
		}
	})
}
