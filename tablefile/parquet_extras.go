package tablefile

import (
	"fmt"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// extra is what a column chunk has elsewhere in the file: an index or a bloom filter.
type extra struct {
	span
	at, size int16 // the fields that tell where, of the chunk or, for the bloom filter, of its metadata
}

// maxIndex bounds an index of one column chunk, which is held in memory.
const maxIndex = 256 << 20

// extras lists what a column chunk has elsewhere in the file.
func (c *columnChunk) extras(file *parquetFile) []extra {
	var all []extra
	for _, e := range []extra{{at: chunkColumnIndexAt, size: chunkColumnIndexLen}, {at: chunkOffsetIndexAt, size: chunkOffsetIndexLen}} {
		at, ok := c.fields.Int(e.at)
		size, ok2 := c.fields.Int(e.size)
		if ok && ok2 && at > 0 && size > 0 && size <= file.end-at {
			e.span = span{at, at + size}
			all = append(all, e)
		}
	}
	if at, ok := c.meta.Int(metaBloomAt); ok && at > 0 {
		if s, err := bloomSpan(file.src, at, file.end); err == nil {
			all = append(all, extra{s, metaBloomAt, metaBloomLen})
		}
	}
	return all
}

// bloomSpan finds out how long a bloom filter is, which old files do not tell: its header says how many bytes follow.
func bloomSpan(src *source, at, limit int64) (span, error) {
	buf := make([]byte, min(256, max(limit-at, 0)))
	if n, err := src.ReadAt(buf, at); n < len(buf) {
		return span{}, err
	}
	head, n, err := thrift.ReadStruct(buf)
	if err != nil {
		return span{}, malformed("reading a bloom filter", err)
	}
	size, ok := head.Int(1)
	if !ok || size < 0 || size > limit-at-int64(n) {
		return span{}, fmt.Errorf("reading a bloom filter: %w", ErrMalformed)
	}
	return span{at, at + int64(n) + size}, nil
}

// readIndex reads a column index or an offset index.
func readIndex(src *source, s span, limit int64) (thrift.Struct, error) {
	if s.to > limit || s.from < 0 || s.to-s.from > maxIndex {
		return nil, fmt.Errorf("%w: a page index lies outside the file", ErrMalformed)
	}
	buf := make([]byte, s.to-s.from)
	if n, err := src.ReadAt(buf, s.from); n < len(buf) {
		return nil, err
	}
	index, _, err := thrift.ReadStruct(buf)
	return index, err
}

// moveOffsets is an offset index for pages that moved by delta bytes. It fails when a page does not lie in the chunk.
func moveOffsets(index thrift.Struct, chunk span, delta int64) (thrift.Struct, error) {
	const locations, lengths = 1, 2
	l, err := index.Structs(locations)
	if err != nil {
		return nil, err
	}
	for i, raw := range l.Items {
		loc, _, err := thrift.ReadStruct(raw)
		if err != nil {
			return nil, err
		}
		at, _ := loc.Int(locationAt)
		size, _ := loc.Int(locationSize)
		if at < chunk.from || size < 0 || size > chunk.to-at {
			return nil, fmt.Errorf("%w: an offset index leads outside its column", ErrMalformed)
		}
		l.Items[i] = loc.WithInt(locationAt, thrift.I64, at+delta).Append(nil)
	}
	return index.Keep(locations, lengths).WithList(locations, l), nil
}
