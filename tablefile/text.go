package tablefile

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// invalidUTF8 gives the first row of a text column whose value is not UTF-8, or -1.
func invalidUTF8(col arrow.Array) int64 {
	s, ok := col.(interface {
		arrow.Array
		Value(int) string
	})
	if !ok {
		return -1
	}
	if all, ok := col.(array.BinaryLike); ok && col.NullN() == 0 && isASCII(all.ValueBytes()) {
		return -1
	}
	for i := range s.Len() {
		if s.IsValid(i) && !utf8.ValidString(s.Value(i)) {
			return int64(i)
		}
	}
	return -1
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
