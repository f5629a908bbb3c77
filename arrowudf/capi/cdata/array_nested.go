package cdata

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// importChildren imports every child with the type that its parent gives it.
func (s *source) importChildren(depth int) ([]arrow.ArrayData, error) {
	types := childTypes(s.dt)
	if int(s.NChildren) != len(types) || s.NChildren > 0 && s.Children == 0 {
		return nil, s.fail("%d children", s.NChildren)
	}
	var out []arrow.ArrayData
	for i, dt := range types {
		c, err := s.nested(i)
		if err != nil {
			return nil, err
		}
		d, err := importArray(c, dt, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func childTypes(dt arrow.DataType) []arrow.DataType {
	var out []arrow.DataType
	for _, f := range childFields(dt) {
		out = append(out, f.Type)
	}
	return out
}

// childFields are the children of a type as the interface has them.
func childFields(dt arrow.DataType) []arrow.Field {
	switch t := dt.(type) {
	case *arrow.MapType:
		return []arrow.Field{{Name: "entries", Type: t.Elem()}}
	case *arrow.RunEndEncodedType:
		return []arrow.Field{{Name: "run_ends", Type: t.RunEnds()}, {Name: "values", Type: t.Encoded(), Nullable: true}}
	case arrow.ListLikeType:
		return []arrow.Field{t.ElemField()}
	case arrow.NestedType:
		return t.Fields()
	}
	return nil
}

// checkExtents makes sure that children without offsets of the parent's are
// long enough.
func (s *source) checkExtents(children []arrow.ArrayData) error {
	need := s.end
	if t, ok := s.dt.(*arrow.FixedSizeListType); ok {
		var err error
		if need, err = s.bytes(s.end, int(t.Len())); err != nil {
			return err
		}
	}
	for i, c := range children {
		if c.Len() < need {
			return s.fail("child %d has %d rows of %d", i, c.Len(), need)
		}
	}
	return nil
}

// checkRuns makes sure that run ends increase and cover the array.
func (s *source) checkRuns(children []arrow.ArrayData) error {
	ends, values := children[0], children[1]
	if ends.Len() != values.Len() {
		return s.fail("%d run ends, %d values", ends.Len(), values.Len())
	}
	if nulls := ends.Buffers()[0]; nulls != nil && ends.Len() > 0 {
		for i := ends.Offset(); i < ends.Offset()+ends.Len(); i++ {
			if nulls.Bytes()[i>>3]>>(i&7)&1 == 0 {
				return s.fail("run end %d is NULL", i-ends.Offset())
			}
		}
	}
	width := ends.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	last := int64(0)
	for i := range ends.Len() {
		b := ends.Buffers()[1].Bytes()[(ends.Offset()+i)*width:]
		end := signed(b, width)
		if width == 2 {
			end = int64(int16(end))
		}
		if end <= last {
			return s.fail("run end %d does not exceed the one before", i)
		}
		last = end
	}
	if s.Length > 0 && last < int64(s.end) {
		return s.fail("runs end at row %d of %d", last, s.end)
	}
	return nil
}

// importUnion takes the type codes and, of a dense one, the offsets.
func (s *source) importUnion(children []arrow.ArrayData) error {
	union := s.dt.(arrow.UnionType)
	dense := union.Mode() == arrow.DenseMode
	want := int64(1)
	if dense {
		want = 2
	}
	// Old producers put an empty place for a bitmap first.
	if err := s.count(s.NBuffers == want || s.NBuffers == want+1); err != nil {
		return err
	}
	first := int(s.NBuffers - want)
	s.bufs = append(s.bufs, nil)
	rows := s.end
	if s.Length == 0 {
		rows = 0
	}
	codes, err := s.buffer(first, rows)
	if err != nil {
		return err
	}
	if !dense {
		if err := s.checkExtents(children); err != nil {
			return err
		}
	}
	var at []byte
	if dense {
		if at, err = s.buffer(first+1, 4*rows); err != nil {
			return err
		}
	}
	for i := int(s.Offset); i < rows; i++ {
		child := slices.Index(union.TypeCodes(), arrow.UnionTypeCode(codes[i]))
		if child < 0 {
			return s.fail("row %d has the type code of no child", i-int(s.Offset))
		}
		if dense {
			if o := signed(at[4*i:], 4); o < 0 || o >= int64(children[child].Len()) {
				return s.fail("row %d reaches outside of its child", i-int(s.Offset))
			}
		}
	}
	return nil
}
