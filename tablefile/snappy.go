package tablefile

import (
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/s2"
)

// fastSnappy compresses in Snappy's format with an encoder that gives up early on what does not repeat. The library's own looks five times as
// long for matches of a few bytes, and finds 8 % in hexadecimal digests.
type fastSnappy struct{ fullCodec }

// fullCodec is what the library's codec for Snappy can do.
type fullCodec interface {
	compress.ErrorCodec
	compress.StreamingCodec
}

func (fastSnappy) Encode(dst, src []byte) []byte { return s2.EncodeSnappy(dst, src) }

func (fastSnappy) EncodeLevel(dst, src []byte, _ int) []byte { return s2.EncodeSnappy(dst, src) }

// The library takes codecs at the start of a program only.
func init() {
	if own, err := compress.GetCodec(compress.Codecs.Snappy); err == nil {
		if full, ok := own.(fullCodec); ok {
			compress.RegisterCodec(compress.Codecs.Snappy, fastSnappy{full})
		}
	}
}
