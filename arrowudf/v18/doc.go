// Package v18 is package arrowudf for arrow-go v18: the same functions over its
// arrays and record batches.
//
// The types of arrow v17 and v18 are distinct, their buffers are the same.
// ToV17 and FromV17 let an array cross without copying a byte; no cgo is
// involved. Func is arrowudf.Func in v18 types, ColumnMasks masks some columns
// of record batches and hands the others through untouched.
//
// Options are those of arrowudf. An allocator of v18 fits Options.Mem as it is.
package v18
