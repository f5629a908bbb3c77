//go:build race

// Package race tells the race detector what assembly reads and writes; the
// detector sees only compiled Go. Without -race every call is empty.
package race

import (
	"runtime"
	"unsafe"
)

// Enabled reports whether the race detector is on.
const Enabled = true

// Read says that all of b is read here.
func Read[T any](b []T) {
	if len(b) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(b)), len(b)*int(unsafe.Sizeof(b[0])))
	}
}

// Write says that all of b is written here.
func Write[T any](b []T) {
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(b)), len(b)*int(unsafe.Sizeof(b[0])))
	}
}
