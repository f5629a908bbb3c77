// Package hexenc writes digests as hexadecimal text, straight into the output
// buffer of a column.
package hexenc

const lower, upper = "0123456789abcdef", "0123456789ABCDEF"

// Lower writes src as lower-case hex to dst, two characters a byte. dst must
// hold 2*len(src) bytes and must not overlap src. N digests of any width that
// lie one after the other are encoded in one call. Nothing is allocated.
func Lower(dst, src []byte) { encode(dst, src, lower) }

// Upper is Lower with the digits A to F in upper case.
func Upper(dst, src []byte) { encode(dst, src, upper) }

func encode(dst, src []byte, digits string) {
	for i, b := range src {
		dst[2*i], dst[2*i+1] = digits[b>>4], digits[b&15]
	}
}
