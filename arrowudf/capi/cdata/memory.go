package cdata

import (
	"fmt"
	"math"
	"unsafe"
)

// Flags of a Schema.
const (
	FlagDictionaryOrdered = 1
	FlagNullable          = 2
	FlagMapKeysSorted     = 4
)

// Schema has the layout of struct ArrowSchema. Pointers are integers here:
// they point at memory that is none of Go's business, and a stored pointer
// would make the collector look at what was in its place before.
type Schema struct {
	Format, Name, Metadata uintptr
	Flags, NChildren       int64
	Children, Dictionary   uintptr
	Release, Private       uintptr
}

// Array has the layout of struct ArrowArray.
type Array struct {
	Length, NullCount, Offset     int64
	NBuffers, NChildren           int64
	Buffers, Children, Dictionary uintptr
	Release, Private              uintptr
}

// Child is child i of an array whose NChildren says that it has one; nil when
// the producer left it out.
func (a *Array) Child(i int) *Array {
	if a.Children == 0 {
		return nil
	}
	return (*Array)(pointer(element(&a.Children, i)))
}

// Move makes to what from is and marks from as released, which is how the
// interface hands a structure over.
func Move(from, to *Array) {
	*to = *from
	from.Release = 0
}

const (
	maxDepth  = 64      // of nested types; a cycle would never end
	maxText   = 1 << 16 // bytes of a name or format
	maxCount  = 1 << 20 // children, buffers
	maxExtent = math.MaxInt / 64
)

// pointer is the address in *p. Converting the integer itself would be
// reported as misuse, though it never was a Go pointer.
func pointer(p *uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(p)) }

// element is the place of pointer i in the C array that *p points at.
func element(p *uintptr, i int) *uintptr {
	return (*uintptr)(unsafe.Add(pointer(p), i*int(unsafe.Sizeof(uintptr(0)))))
}

// view is n bytes at address p.
func view(p *uintptr, n int) []byte {
	if n == 0 || *p == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(p)), n)
}

// text copies the C string at address p.
func text(p *uintptr, what string) (string, error) {
	if *p == 0 {
		return "", nil
	}
	base := pointer(p)
	for n := range maxText {
		if *(*byte)(unsafe.Add(base, n)) == 0 {
			return string(unsafe.Slice((*byte)(base), n)), nil
		}
	}
	return "", fmt.Errorf("%w: %s of more than %d bytes", ErrInvalid, what, maxText)
}

// nested is the structure of children i of a parent; a missing or released one
// is an error.
func (s *Schema) nested(i int) (*Schema, error) {
	c := (*Schema)(pointer(element(&s.Children, i)))
	if c == nil || c.Release == 0 {
		return nil, fmt.Errorf("%w: child %d of a schema is missing or released", ErrInvalid, i)
	}
	return c, nil
}

func (a *Array) nested(i int) (*Array, error) {
	c := a.Child(i)
	if c == nil || c.Release == 0 {
		return nil, fmt.Errorf("%w: child %d of an array is missing or released", ErrInvalid, i)
	}
	return c, nil
}
