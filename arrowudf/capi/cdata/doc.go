// Package cdata reads and writes the structures of the Arrow C Data Interface
// (https://arrow.apache.org/docs/format/CDataInterface.html) without cgo.
//
// Memory from another language is not believed: Import functions check every
// pointer, count, length, offset, view and dictionary index that they can
// reach before they hand out array data that looks at it. What they cannot
// check is where a buffer really ends, since the interface does not say; its
// length is taken from the array's.
//
// Imports copy no values and take no ownership: the caller keeps the structure
// alive while the data is used and releases it afterwards. Exports put a
// structure's whole content into one block from Exporter.Alloc; its release
// callback needs nothing of this process but that block.
package cdata

import "errors"

// Sentinels; every error of this package wraps one of them and says which
// structure and why, never a value.
var (
	// ErrInvalid: a structure breaks the rules of the interface, or was
	// released already.
	ErrInvalid = errors.New("invalid C data structure")
	// ErrType: the format string names no type that can be taken.
	ErrType = errors.New("unsupported C data format")
	// ErrMemory: Exporter.Alloc had no memory.
	ErrMemory = errors.New("out of memory")
)
