// Package thrift reads and writes Thrift's compact protocol one level at a time: a struct is its fields, each with its value as it stands in
// the bytes. Fields that the reader knows nothing of survive, and nothing is decoded that nobody asks for. It follows the "Thrift compact protocol" specification
// of Apache Thrift, as far as Parquet uses it.
//
// Results share the bytes they were read from. Lengths are checked against those bytes before anything is allocated for them.
package thrift

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

var (
	// ErrShort: the bytes end before the value does.
	ErrShort = errors.New("thrift: cut short")
	// ErrCorrupt: the bytes are not the compact protocol, or a value has not the type that was asked for.
	ErrCorrupt = errors.New("thrift: malformed")
)

// Type is the type of a value in the compact protocol.
type Type byte

const (
	True   Type = 1
	False  Type = 2
	I8     Type = 3
	I16    Type = 4
	I32    Type = 5
	I64    Type = 6
	Double Type = 7
	Binary Type = 8
	ListOf Type = 9
	SetOf  Type = 10
	MapOf  Type = 11
	Nested Type = 12
	UUID   Type = 13
)

// maxDepth bounds how deep values may nest.
const maxDepth = 64

// Field is one field of a struct. Raw is its encoded value, empty for True and False.
type Field struct {
	ID   int16
	Type Type
	Raw  []byte
}

// Struct is the fields of a struct in the order in which they stand.
type Struct []Field

// List is the encoded items of a list, all of one type. Items of type True and False are one byte each.
type List struct {
	Type  Type
	Items [][]byte
}

// ReadStruct reads the struct that b begins with and says how many bytes it takes.
func ReadStruct(b []byte) (s Struct, n int, err error) {
	id := int16(0)
	for {
		if n >= len(b) {
			return nil, 0, ErrShort
		}
		head := b[n]
		n++
		if head == 0 {
			return s, n, nil
		}
		if delta := int16(head >> 4); delta != 0 {
			id += delta
		} else {
			v, m, err := varint(b[n:])
			if err != nil {
				return nil, 0, err
			}
			id, n = int16(zigzag(v)), n+m
		}
		t := Type(head & 0xf)
		size, err := sizeOf(b[n:], t, 0)
		if err != nil {
			return nil, 0, err
		}
		if t == True || t == False {
			size = 0 // the type is the value
		}
		s = append(s, Field{id, t, b[n : n+size : n+size]})
		n += size
	}
}

// sizeOf is the length of the encoded value of type t that b begins with.
func sizeOf(b []byte, t Type, depth int) (int, error) {
	if depth > maxDepth {
		return 0, ErrCorrupt
	}
	fixed := func(n int) (int, error) {
		if len(b) < n {
			return 0, ErrShort
		}
		return n, nil
	}
	switch t {
	case True, False:
		if depth == 0 { // a field's value is in its head
			return 0, nil
		}
		return fixed(1)
	case I8:
		return fixed(1)
	case I16, I32, I64:
		_, n, err := varint(b)
		return n, err
	case Double:
		return fixed(8)
	case UUID:
		return fixed(16)
	case Binary:
		size, n, err := varint(b)
		if err != nil {
			return 0, err
		}
		if size > uint64(len(b)-n) {
			return 0, ErrShort
		}
		return n + int(size), nil
	case ListOf, SetOf:
		count, item, n, err := listHead(b)
		if err != nil {
			return 0, err
		}
		for range count {
			m, err := sizeOf(b[n:], item, depth+1)
			if err != nil {
				return 0, err
			}
			n += m
		}
		return n, nil
	case MapOf:
		return sizeOfMap(b, depth)
	case Nested:
		return sizeOfStruct(b, depth)
	}
	return 0, ErrCorrupt
}

// listHead reads how many items of which type follow. Every item takes a byte at least.
func listHead(b []byte) (count int, item Type, n int, err error) {
	if len(b) == 0 {
		return 0, 0, 0, ErrShort
	}
	size, n := uint64(b[0]>>4), 1
	if size == 15 {
		v, m, err := varint(b[1:])
		if err != nil {
			return 0, 0, 0, err
		}
		size, n = v, 1+m
	}
	if size > uint64(len(b)-n) {
		return 0, 0, 0, ErrShort
	}
	return int(size), Type(b[0] & 0xf), n, nil
}

func sizeOfMap(b []byte, depth int) (int, error) {
	count, n, err := varint(b)
	if err != nil || count == 0 {
		return n, err
	}
	if n >= len(b) || count > uint64(len(b)-n) {
		return 0, ErrShort
	}
	key, value := Type(b[n]>>4), Type(b[n]&0xf)
	n++
	for range count {
		for _, t := range [2]Type{key, value} {
			m, err := sizeOf(b[n:], t, depth+1)
			if err != nil {
				return 0, err
			}
			n += m
		}
	}
	return n, nil
}

func sizeOfStruct(b []byte, depth int) (int, error) {
	for n := 0; ; {
		if n >= len(b) {
			return 0, ErrShort
		}
		head := b[n]
		n++
		if head == 0 {
			return n, nil
		}
		if head>>4 == 0 {
			_, m, err := varint(b[n:])
			if err != nil {
				return 0, err
			}
			n += m
		}
		t := Type(head & 0xf)
		if t == True || t == False {
			continue
		}
		m, err := sizeOf(b[n:], t, depth+1)
		if err != nil {
			return 0, err
		}
		n += m
	}
}

func varint(b []byte) (v uint64, n int, err error) {
	switch v, n := binary.Uvarint(b); {
	case n > 0:
		return v, n, nil
	case n == 0:
		return 0, 0, ErrShort
	}
	return 0, 0, ErrCorrupt
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (s Struct) find(id int16) *Field {
	for i := range s {
		if s[i].ID == id {
			return &s[i]
		}
	}
	return nil
}

// Has says whether the field is there.
func (s Struct) Has(id int16) bool { return s.find(id) != nil }

// HasType says whether the field is there with a value of type t.
func (s Struct) HasType(id int16, t Type) bool {
	f := s.find(id)
	return f != nil && f.Type == t
}

// Int is an integer field of any width; ok is false when there is none.
func (s Struct) Int(id int16) (v int64, ok bool) {
	f := s.find(id)
	if f == nil {
		return 0, false
	}
	switch f.Type {
	case I8:
		return int64(int8(f.Raw[0])), true
	case I16, I32, I64:
		u, _, err := varint(f.Raw)
		return zigzag(u), err == nil
	}
	return 0, false
}

// Bool is a boolean field, or def when there is none.
func (s Struct) Bool(id int16, def bool) bool {
	if f := s.find(id); f != nil && (f.Type == True || f.Type == False) {
		return f.Type == True
	}
	return def
}

// Bytes is a text or binary field; ok is false when there is none.
func (s Struct) Bytes(id int16) (v []byte, ok bool) {
	f := s.find(id)
	if f == nil || f.Type != Binary {
		return nil, false
	}
	return BytesOf(f.Raw), true
}

// BytesOf is the text or binary that raw, an item of a list, encodes.
func BytesOf(raw []byte) []byte {
	_, n, _ := varint(raw)
	return raw[n:]
}

// Struct is a field that is a struct; it is nil when there is none.
func (s Struct) Struct(id int16) (Struct, error) {
	f := s.find(id)
	if f == nil {
		return nil, nil
	}
	if f.Type != Nested {
		return nil, ErrCorrupt
	}
	v, _, err := ReadStruct(f.Raw)
	return v, err
}

// List is a field that is a list; it is empty when there is none.
func (s Struct) List(id int16) (List, error) {
	f := s.find(id)
	if f == nil {
		return List{}, nil
	}
	if f.Type != ListOf {
		return List{}, ErrCorrupt
	}
	count, item, n, err := listHead(f.Raw)
	if err != nil {
		return List{}, err
	}
	l := List{item, make([][]byte, count)}
	for i := range l.Items {
		m, err := sizeOf(f.Raw[n:], item, 1)
		if err != nil {
			return List{}, err
		}
		l.Items[i] = f.Raw[n : n+m : n+m]
		n += m
	}
	return l, nil
}

// Structs is List for a list of structs.
func (s Struct) Structs(id int16) (List, error) {
	l, err := s.List(id)
	if err == nil && len(l.Items) > 0 && l.Type != Nested {
		err = ErrCorrupt
	}
	return l, err
}

// Keep removes every field that is not named.
func (s Struct) Keep(ids ...int16) Struct {
	return slices.DeleteFunc(slices.Clone(s), func(f Field) bool { return !slices.Contains(ids, f.ID) })
}

// Without is a copy without the fields that are named.
func (s Struct) Without(ids ...int16) Struct {
	return slices.DeleteFunc(slices.Clone(s), func(f Field) bool { return slices.Contains(ids, f.ID) })
}

// With is a copy in which the field has the value, at its place by number.
func (s Struct) With(id int16, t Type, raw []byte) Struct {
	out := s.Without(id)
	at := 0
	for at < len(out) && out[at].ID < id {
		at++
	}
	return slices.Insert(out, at, Field{id, t, raw})
}

// WithInt is With for an integer of type I16, I32 or I64.
func (s Struct) WithInt(id int16, t Type, v int64) Struct { return s.With(id, t, AppendInt(nil, v)) }

// WithBytes is With for text or binary.
func (s Struct) WithBytes(id int16, v []byte) Struct { return s.With(id, Binary, AppendBytes(nil, v)) }

// WithStruct is With for a struct.
func (s Struct) WithStruct(id int16, v Struct) Struct { return s.With(id, Nested, v.Append(nil)) }

// WithList is With for a list.
func (s Struct) WithList(id int16, v List) Struct { return s.With(id, ListOf, v.Append(nil)) }

// Append appends the encoded struct to dst.
func (s Struct) Append(dst []byte) []byte {
	last := int16(0)
	for _, f := range s {
		if delta := int32(f.ID) - int32(last); 0 < delta && delta <= 15 {
			dst = append(dst, byte(delta)<<4|byte(f.Type))
		} else {
			dst = AppendInt(append(dst, byte(f.Type)), int64(f.ID))
		}
		dst = append(dst, f.Raw...)
		last = f.ID
	}
	return append(dst, 0)
}

// Append appends the encoded list to dst.
func (l List) Append(dst []byte) []byte {
	t := l.Type
	if t == 0 {
		t = Nested // an empty list
	}
	if len(l.Items) < 15 {
		dst = append(dst, byte(len(l.Items))<<4|byte(t))
	} else {
		dst = binary.AppendUvarint(append(dst, 0xf0|byte(t)), uint64(len(l.Items)))
	}
	for _, item := range l.Items {
		dst = append(dst, item...)
	}
	return dst
}

// AppendInt appends an encoded integer of more than 8 bits.
func AppendInt(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v)<<1^uint64(v>>63))
}

// AppendBytes appends encoded text or binary.
func AppendBytes(dst, v []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
}

// IntOf is the integer of more than 8 bits that raw, an item of a list, encodes.
func IntOf(raw []byte) int64 {
	v, _, err := varint(raw)
	if err != nil {
		return math.MinInt64
	}
	return zigzag(v)
}
