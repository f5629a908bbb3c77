// Package rowtake copies chosen rows of Arrow data into fresh buffers. It works
// on the physical layout alone, so that every version of the Arrow library, and
// every type whether masks know it or not, goes one way.
//
// Nothing of a row that was not chosen is in the result: a dictionary keeps the
// values that are referred to, views get a buffer of their own, children of
// nested types shrink with their parents, and what lies under a NULL list is
// left out.
package rowtake

import "errors"

// Sentinels; every error wraps one of them. No error holds a value.
var (
	// ErrData: buffers, offsets, indices or run ends do not fit together.
	ErrData = errors.New("malformed data")
	// ErrTooLarge: the result does not fit the offsets of its type.
	ErrTooLarge = errors.New("rows do not fit the offsets")
)

// Layout is how values lie in buffers.
type Layout uint8

// The layouts of the Arrow columnar format.
const (
	Null        Layout = iota // no buffers
	Bits                      // validity, bits
	Fixed                     // validity, values of Shape.Width bytes
	Offsets32                 // validity, offsets, bytes
	Offsets64                 //
	Views                     // validity, views of 16 bytes, any number of byte buffers
	List32                    // validity, offsets; one child. Maps too
	List64                    //
	ListView32                // validity, offsets, sizes; one child
	ListView64                //
	FixedList                 // validity; one child with Shape.Width values a row
	Struct                    // validity; children
	SparseUnion               // nil, type codes; children as long as the union
	DenseUnion                // nil, type codes, offsets of 32 bits; children
	Dictionary                // validity, indices of Shape.Width bytes; the child is the dictionary
	RunEnds                   // nil; children: run ends of Shape.Width bytes, values
)

// Shape is the layout of a type.
type Shape struct {
	Layout   Layout
	Width    int
	Children []*Shape
	Codes    []int8 // of a union: the type code of each child
}

// Data is an array of a shape: Len rows from row Offset on. A buffer may be nil
// where the format allows it. Children are not cut to the rows.
type Data struct {
	Len, Offset, Nulls int
	Buffers            [][]byte
	Children           []*Data
}

// Run is the rows from Lo up to, not including, Hi.
type Run struct{ Lo, Hi int }

// Memory is where results are allocated.
type Memory interface {
	Allocate(size int) []byte
	Free([]byte)
}

// Runs turns a bitmap of n rows into the runs of its set bits, appended to dst.
func Runs(dst []Run, bits []byte, n int) []Run {
	for i := 0; i < n; {
		if i&7 == 0 && bits[i>>3] == 0 {
			i += 8
			continue
		}
		if !bit(bits, i) {
			i++
			continue
		}
		lo := i
		for i < n && bit(bits, i) {
			if i&7 == 0 && bits[i>>3] == 0xff {
				i += 8
			} else {
				i++
			}
		}
		dst = append(dst, Run{lo, min(i, n)})
	}
	return dst
}

func bit(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 != 0 }

func count(runs []Run) int {
	n := 0
	for _, r := range runs {
		n += r.Hi - r.Lo
	}
	return n
}
