// Package hexenc writes digests as hexadecimal text, straight into the output
// buffer of a column.
package hexenc

// Lower writes src as lower-case hex to dst, two characters a byte. dst must
// hold 2*len(src) bytes, or the call panics before it writes anything, and
// must not overlap src; bytes of dst past that are left alone. N digests of
// any width that lie one after the other are encoded in one call. Nothing is
// allocated.
func Lower(dst, src []byte) { chosen.Backend.Lower(dst, src) }

// Upper is Lower with the digits A to F in upper case.
func Upper(dst, src []byte) { chosen.Backend.Upper(dst, src) }
