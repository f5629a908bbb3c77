// Package guardbuf makes test buffers whose neighbours cannot be touched, so
// that a read or write one byte outside kills the test at once.
package guardbuf

// Fill is what the bytes beside a buffer hold where they share its pages.
const Fill = 0xA5
