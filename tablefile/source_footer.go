package tablefile

import (
	"encoding/binary"
	"io"
	"os"
)

// withFooter is s as a Parquet file with another footer: the bytes before end, then the footer. It needs no closing.
func (s *source) withFooter(end int64, footer []byte) *source {
	tail := binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	tail = append(tail, "PAR1"...)
	return &source{f: s.f, name: s.name, size: end + int64(len(tail)), foot: &otherFooter{of: s, end: end, tail: tail}}
}

// memorySource is a source whose bytes lie in memory.
func memorySource(name string, data []byte) *source {
	return &source{name: name, size: int64(len(data)), foot: &otherFooter{tail: data}}
}

// otherFooter replaces everything from end on, and has a file position of its own.
type otherFooter struct {
	of   *source // nil when end is 0
	end  int64
	tail []byte
	pos  int64
}

func (o *otherFooter) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, os.ErrInvalid
	}
	if off < o.end {
		part := p[:min(int64(len(p)), o.end-off)]
		if n, err = o.of.ReadAt(part, off); n < len(part) {
			return n, err
		}
		p, off = p[n:], o.end
	}
	if len(p) == 0 {
		return n, nil
	}
	if off-o.end >= int64(len(o.tail)) {
		return n, io.EOF
	}
	m := copy(p, o.tail[off-o.end:])
	if m < len(p) {
		return n + m, io.EOF
	}
	return n + m, nil
}

func (o *otherFooter) Read(p []byte) (int, error) {
	n, err := o.ReadAt(p, o.pos)
	o.pos += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, err
}

func (o *otherFooter) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.pos
	case io.SeekEnd:
		offset += o.end + int64(len(o.tail))
	}
	if offset < 0 {
		return 0, os.ErrInvalid
	}
	o.pos = offset
	return offset, nil
}
