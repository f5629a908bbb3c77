package tablefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// Kinds of pages and encodings of values, as parquet.thrift numbers them.
const (
	dataPage, dictionaryPage, dataPageV2          = 0, 2, 3
	plainEncoding, plainDictionary, rleDictionary = 0, 2, 8
)

// maxPageHeader bounds a page header. It may quote two values, as statistics.
const maxPageHeader = 64 << 20

// page is one page of a column chunk.
type page struct {
	head     thrift.Struct
	kind     int64
	values   int64 // of data pages and dictionary pages
	encoding int64
	body     span // its bytes in the file, after the header
	from     int64
}

func (p *page) isData() bool { return p.kind == dataPage || p.kind == dataPageV2 }

// walkPages calls visit for every page of a column chunk, in order, and gives where the last one ends. That is where the metadata says, except in
// files by old versions of parquet-mr, which forgot to count the header of the dictionary page: there pages go on until all values are
// there. A page must lie before limit.
func walkPages(src *source, c *columnChunk, limit int64, visit func(*page) error) (end int64, err error) {
	at, values := c.from, int64(0)
	for n := 0; at < c.to || values < c.values; n++ {
		p, err := readPageHeader(src, at, limit)
		if err == nil && p.isData() {
			if p.values < 0 || p.values > c.values-values {
				err = fmt.Errorf("%w: its pages hold more values than its metadata says", ErrMalformed)
			}
			values += p.values
		}
		if err == nil && visit != nil {
			err = visit(p)
		}
		if err != nil {
			return 0, fmt.Errorf("page %d: %w", n+1, err)
		}
		at = p.body.to
	}
	return at, nil
}

func readPageHeader(src *source, at, limit int64) (*page, error) {
	var buf []byte
	for size := int64(256); ; size *= 4 {
		size = min(size, limit-at)
		if int64(len(buf)) >= size || size > maxPageHeader {
			return nil, fmt.Errorf("%w: reading a page header", ErrMalformed)
		}
		buf = make([]byte, size)
		if n, err := src.ReadAt(buf, at); n < len(buf) {
			return nil, fmt.Errorf("reading a page header: %w", err)
		}
		head, n, err := thrift.ReadStruct(buf)
		if errors.Is(err, thrift.ErrShort) {
			continue
		}
		if err != nil {
			return nil, malformed("reading a page header", err)
		}
		return newPage(head, at, int64(n), limit)
	}
}

func newPage(head thrift.Struct, at, n, limit int64) (*page, error) {
	kind, _ := head.Int(pageType)
	size, _ := head.Int(pageCompressed)
	if !haveInts(head, pageType, pageUncompressed, pageCompressed) || size < 0 || size > limit-at-n {
		return nil, fmt.Errorf("%w: page header", ErrMalformed)
	}
	p := &page{head: head, kind: kind, from: at, body: span{at + n, at + n + size}}
	id, encoding, must := int16(pageData), int16(headEncoding), []int16{headValues, headEncoding, headDefEncoding, headRepEncoding}
	switch kind {
	case dataPage:
	case dictionaryPage:
		id, must = pageDictionary, must[:2]
	case dataPageV2:
		id, encoding, must = pageDataV2, headV2Encoding, []int16{headValues, headV2Nulls, headV2Rows, headV2Encoding, headV2DefLength, headV2RepLength}
	default:
		return p, nil
	}
	inner, err := head.Struct(id)
	if err != nil || !haveInts(inner, must...) {
		return nil, fmt.Errorf("%w: page header", ErrMalformed)
	}
	p.values, _ = inner.Int(headValues)
	if p.encoding, _ = inner.Int(encoding); p.values < 0 {
		return nil, fmt.Errorf("%w: page header", ErrMalformed)
	}
	return p, nil
}

// haveInts says whether a header has integers where they are required, of the width that decoders insist on: one that they refuse must not be copied
// for a column that is masked.
func haveInts(s thrift.Struct, ids ...int16) bool {
	for _, id := range ids {
		if !s.HasType(id, thrift.I32) {
			return false
		}
	}
	return true
}

// checkCRC compares a page with the checksum in its header, if there is one. It covers the bytes after the header as they stand.
func checkCRC(src *source, p *page) error {
	want, ok := p.head.Int(pageCRC)
	if !ok {
		return nil
	}
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, io.NewSectionReader(src, p.body.from, p.body.to-p.body.from)); err != nil {
		return err
	}
	if h.Sum32() != uint32(want) {
		return fmt.Errorf("%w: the checksum differs", ErrMalformed)
	}
	return nil
}

// The largest page that is held in memory, as the decoder has it too.
const (
	maxPageCompressed   = 64 << 20
	maxPageUncompressed = 256 << 20
)

// readBody reads and decompresses the body of a page. Of a data page of version 2 the levels, which are not compressed, come first.
func readBody(src *source, p *page, codec int64) (body []byte, err error) {
	defer guard(ErrMalformed, "decompressing a page", &err)
	size, ok := p.head.Int(pageUncompressed)
	packed := p.body.to - p.body.from
	if !ok || size < 0 || size > maxPageUncompressed || packed > maxPageCompressed {
		return nil, fmt.Errorf("%w: a page of %d bytes, %d decompressed", ErrUnsupported, packed, size)
	}
	raw := make([]byte, packed)
	if n, err := src.ReadAt(raw, p.body.from); n < len(raw) {
		return nil, err
	}
	levels, compressed := int64(0), compress.Compression(codec) != compress.Codecs.Uncompressed
	if p.kind == dataPageV2 {
		head, err := p.head.Struct(pageDataV2)
		if err != nil {
			return nil, malformed("reading a page", err)
		}
		def, _ := head.Int(headV2DefLength)
		rep, _ := head.Int(headV2RepLength)
		if def < 0 || rep < 0 || def > packed || rep > packed-def || def+rep > size {
			return nil, fmt.Errorf("reading a page: %w", ErrMalformed)
		}
		levels, compressed = def+rep, compressed && head.Bool(headV2Compressed, true)
	}
	if !compressed || packed == levels {
		return raw, nil
	}
	c, err := compress.GetCodec(compress.Compression(codec))
	if err != nil {
		return nil, fmt.Errorf("%w: compression %s", ErrUnsupported, compress.Compression(codec))
	}
	if claimed, n := binary.Uvarint(raw[levels:]); compress.Compression(codec) == compress.Codecs.Snappy && (n <= 0 || claimed != uint64(size-levels)) {
		return nil, fmt.Errorf("decompressing a page: %w: another size than its header says", ErrMalformed) // before memory is given to it
	}
	out := make([]byte, size)
	plain, err := compress.Decode(c, out[levels:], raw[levels:])
	if err != nil {
		return nil, wrap(ErrMalformed, "decompressing a page", err)
	}
	if int64(len(plain)) != size-levels {
		return nil, fmt.Errorf("decompressing a page: %w: another size than its header says", ErrMalformed)
	}
	return append(append(make([]byte, 0, size), raw[:levels]...), plain...), nil
}
