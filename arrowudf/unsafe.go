package arrowudf

import (
	"unsafe"

	"github.com/arrowmask/arrowmask/kernels"
)

// This is the only file of the package that uses unsafe: it looks at the same
// bytes as another type. Arrow buffers are in the byte order of the machine, so
// no byte is moved.

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// integersOf views b as integers; bytes that make no whole integer are left
// out. Buffers from files or other languages need not be aligned: such a one
// is copied.
func integersOf[T integer](b []byte) []T {
	size := int(unsafe.Sizeof(T(0)))
	n := len(b) / size
	if n == 0 {
		return nil
	}
	if p := unsafe.Pointer(unsafe.SliceData(b)); uintptr(p)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	out := make([]T, n)
	copy(bytesOf(out), b)
	return out
}

// bytesOf views integers as bytes.
func bytesOf[T integer](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// viewsOf views b as views of 16 bytes; they need no alignment.
func viewsOf(b []byte) []kernels.View {
	n := len(b) / len(kernels.View{})
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*kernels.View)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// alignedBytes is n zeroed bytes that begin at a multiple of alignment.
func alignedBytes(n int) []byte {
	b := make([]byte, n+alignment)
	at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % alignment)
	return b[at : at+n : at+n]
}

// isAligned reports whether b begins at a multiple of alignment.
func isAligned(b []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%alignment == 0
}
