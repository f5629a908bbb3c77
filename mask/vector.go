// Package mask evaluates hash and mask functions over columns of plain
// buffers. It knows nothing of Arrow.
package mask

import "github.com/arrowmask/arrowmask/kernels"

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
)

// Type is the type of a column of plain buffers.
type Type struct {
	Kind  Kind
	Width int // bytes a value, for Binary of fixed width; 0 otherwise
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
	// in little-endian order. Input of Kind Bool, Float*, Decimal and the like
	// need not give it; output of an all-NULL column of such a kind has none:
	// whoever wraps it makes zeroed storage.
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
