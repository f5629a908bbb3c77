// Package mask evaluates hash and mask functions over columns of plain
// buffers. It knows nothing of Arrow.
package mask

import (
	"fmt"

	"github.com/arrowmask/arrowmask/kernels"
)

// Kind is what the values of a column are.
type Kind uint8

// The kinds. Those from Bool to Interval other than the integers and dates
// have no mask of their own: a mask answers NULL of the same type for them.
const (
	Invalid Kind = iota
	Null         // every value is NULL
	Text         // UTF-8, any of the layouts
	Binary       // bytes, any of the layouts; a digest of raw bytes is Binary with LayoutFixed
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Date32 // days since 1970-01-01, 4 bytes
	Date64 // milliseconds since 1970-01-01, 8 bytes
	Bool
	Float16
	Float32
	Float64
	Decimal // any width
	Timestamp
	Time
	Duration
	Interval
	Nested // list, struct, map, union: no mask applies, always an error
	numKinds
)

// kinds hold what is fixed by the kind alone: its name, the bytes of a value
// (0: none of this package's business, or not fixed) and the family.
var kinds = [numKinds]struct {
	name   string
	size   int
	signed bool
	number bool // an integer
}{
	Invalid: {name: "no type"}, Null: {name: "null"}, Text: {name: "text"}, Binary: {name: "binary"},
	Int8: {"int8", 1, true, true}, Int16: {"int16", 2, true, true}, Int32: {"int32", 4, true, true}, Int64: {"int64", 8, true, true},
	Uint8: {"uint8", 1, false, true}, Uint16: {"uint16", 2, false, true}, Uint32: {"uint32", 4, false, true}, Uint64: {"uint64", 8, false, true},
	Date32: {name: "date32", size: 4, signed: true}, Date64: {name: "date64", size: 8, signed: true},
	Bool: {name: "bool"}, Float16: {name: "float16"}, Float32: {name: "float32"}, Float64: {name: "float64"}, Decimal: {name: "decimal"},
	Timestamp: {name: "timestamp"}, Time: {name: "time"}, Duration: {name: "duration"}, Interval: {name: "interval"}, Nested: {name: "nested"},
}

// String is the kind's name in lower case: "text", "int32".
func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k].name
}

// Type is the type of a column of plain buffers.
type Type struct {
	Kind  Kind
	Width int // bytes a value, for Binary of fixed width; 0 otherwise
}

// String is the kind, and the width where there is one: "binary(16)".
func (t Type) String() string {
	if t.Width != 0 {
		return fmt.Sprintf("%s(%d)", t.Kind, t.Width)
	}
	return t.Kind.String()
}

// bytes reports whether values are strings of bytes.
func (t Type) bytes() bool { return t.Kind == Text || t.Kind == Binary }

// integer reports whether values are integers, signed or not.
func (t Type) integer() bool { return kinds[t.Kind].number }

// size is the bytes of a value in Data, 0 when that is not fixed or the kind
// has no Data here.
func (t Type) size() int {
	if t.Kind == Binary {
		return t.Width
	}
	return kinds[t.Kind].size
}

// Layout is how a Text or Binary column lies in memory.
type Layout uint8

// The layouts of Text and Binary. Every other kind is fixed width.
const (
	LayoutFixed Layout = iota
	LayoutOffsets32
	LayoutOffsets64
	LayoutViews
)

// Vector is a column of plain buffers. As input it aliases the caller's memory
// and is only read; as output every buffer is fresh.
type Vector struct {
	Type Type
	Len  int

	// Valid is the validity bitmap, least significant bit first; bit
	// ValidOffset+i belongs to row i. nil: no row is NULL.
	Valid       []byte
	ValidOffset int
	Nulls       int // number of NULL rows; -1 when unknown (input only)

	// Text and Binary.
	Layout    Layout
	Offsets32 []int32 // Len+1, the first need not be 0; outputs start at 0
	Offsets64 []int64
	Views     []kernels.View
	Buffers   [][]byte // of views
	// Data is the bytes that offsets point into, or Len values of fixed width
	// in little-endian order. Bytes under a NULL of an output are zero or absent.
	// Of kind Bool an output that is not all NULL has a bit a row, from bit 0 on.
	// Input of Kind Bool, Float*, Decimal and the like need not give it; output of
	// an all-NULL column of such a kind has none: whoever wraps it makes zeroed
	// storage.
	Data []byte
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool {
	if v.Type.Kind == Null {
		return true
	}
	if v.Valid == nil {
		return false
	}
	i += v.ValidOffset
	return v.Valid[i>>3]>>(i&7)&1 == 0
}
