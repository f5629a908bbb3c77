package cdata

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
)

// unsigned is the integer of width bytes at the start of b. Foreign buffers
// need not be aligned.
func unsigned(b []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

// signed is unsigned with a sign.
func signed(b []byte, width int) int64 {
	if width == 4 {
		return int64(int32(binary.NativeEndian.Uint32(b)))
	}
	return int64(unsigned(b, width))
}

// importText takes validity, offsets and the bytes that the offsets reach.
func (s *source) importText() error {
	if err := s.count(s.NBuffers == 3); err != nil {
		return err
	}
	s.validity()
	reach, err := s.offsets(offsetWidth(s.dt))
	if err != nil {
		return err
	}
	if reach > maxExtent {
		return s.fail("offset of %d", reach)
	}
	_, err = s.buffer(2, int(reach))
	return err
}

func offsetWidth(dt arrow.DataType) int {
	switch dt.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST, arrow.LARGE_LIST_VIEW:
		return 8
	}
	return 4
}

// offsets takes buffer 1 and returns the last offset. Rows before the array's
// own are not looked at.
func (s *source) offsets(width int) (reach int64, err error) {
	if s.Length == 0 {
		_, err = s.buffer(1, 0)
		return 0, err
	}
	n, err := s.bytes(s.end+1, width)
	if err != nil {
		return 0, err
	}
	b, err := s.buffer(1, n)
	if err != nil {
		return 0, err
	}
	b = b[int(s.Offset)*width:]
	prev := signed(b, width)
	if prev < 0 {
		return 0, s.fail("first offset is %d", prev)
	}
	if width == 4 {
		last := uint32(prev)
		for i := 4; i < len(b); i += 4 {
			next := binary.NativeEndian.Uint32(b[i:])
			// As unsigned numbers, negative offsets exceed all others; the last
			// one is held against that below.
			if next < last {
				return 0, s.fail("offset after row %d is below the one before", i/4-1)
			}
			last = next
		}
		prev = int64(int32(last))
	} else {
		for i := 8; i < len(b); i += 8 {
			next := signed(b[i:], 8)
			if next < prev {
				return 0, s.fail("offset after row %d is below the one before", i/8-1)
			}
			prev = next
		}
	}
	if prev < 0 {
		return 0, s.fail("last offset is %d", prev)
	}
	return prev, nil
}

const (
	viewBytes  = 16
	viewInline = 12
)

// importViews takes validity, views and any number of data buffers, whose
// lengths stand in one more buffer at the end.
func (s *source) importViews() error {
	if err := s.count(s.NBuffers >= 3); err != nil {
		return err
	}
	s.validity()
	rows := s.end
	if s.Length == 0 {
		rows = 0
	}
	n, err := s.bytes(rows, viewBytes)
	if err != nil {
		return err
	}
	views, err := s.buffer(1, n)
	if err != nil {
		return err
	}
	count := int(s.NBuffers) - 3
	place := element(&s.Buffers, int(s.NBuffers)-1)
	if *place == 0 && count > 0 {
		return s.fail("no lengths of %d data buffers", count)
	}
	lengths := view(place, 8*count)
	sizes := make([]int64, count)
	for i := range sizes {
		if sizes[i] = signed(lengths[8*i:], 8); sizes[i] < 0 || sizes[i] > maxExtent {
			return s.fail("data buffer %d of %d bytes", i, sizes[i])
		}
		if _, err := s.buffer(2+i, int(sizes[i])); err != nil {
			return err
		}
	}
	if s.Length == 0 {
		return nil
	}
	for i := int(s.Offset); i < s.end; i++ {
		v := views[i*viewBytes : (i+1)*viewBytes]
		size := int32(binary.NativeEndian.Uint32(v))
		if uint32(size) <= viewInline || !s.valid(i) {
			continue
		}
		at, from := binary.NativeEndian.Uint32(v[8:]), int64(int32(binary.NativeEndian.Uint32(v[12:])))
		if size < 0 || uint64(at) >= uint64(count) || from < 0 || from > sizes[at]-int64(size) {
			return s.fail("row %d reaches outside of its data buffer", i-int(s.Offset))
		}
	}
	return nil
}

// importList takes validity and the offsets of lists, and the sizes of list
// views, into a child of so many values.
func (s *source) importList(values int) error {
	width := offsetWidth(s.dt)
	isView := s.dt.ID() == arrow.LIST_VIEW || s.dt.ID() == arrow.LARGE_LIST_VIEW
	if err := s.count(s.NBuffers == 2 && !isView || s.NBuffers == 3 && isView); err != nil {
		return err
	}
	s.validity()
	if !isView {
		reach, err := s.offsets(width)
		if err == nil && reach > int64(values) {
			err = s.fail("offset %d into %d values", reach, values)
		}
		return err
	}
	rows := s.end
	if s.Length == 0 {
		rows = 0
	}
	n, err := s.bytes(rows, width)
	if err != nil {
		return err
	}
	from, err := s.buffer(1, n)
	if err != nil {
		return err
	}
	size, err := s.buffer(2, n)
	if err != nil {
		return err
	}
	for i := int(s.Offset); i < rows; i++ {
		at, many := signed(from[i*width:], width), signed(size[i*width:], width)
		if at < 0 || many < 0 || many > int64(values)-at {
			return s.fail("row %d reaches outside of its %d values", i-int(s.Offset), values)
		}
	}
	return nil
}
