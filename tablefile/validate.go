package tablefile

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// validate checks that no length, offset, index or count of a batch points outside its buffers, so that code after it may trust them. Values
// are not looked at.
func validate(sc *arrow.Schema, batch arrow.RecordBatch) error {
	for i, f := range sc.Fields() {
		if err := checkData(f.Type, batch.Column(i).Data()); err != nil {
			return fmt.Errorf("column %q: %w: %w", f.Name, ErrMalformed, err)
		}
	}
	return nil
}

var (
	errShort   = errors.New("a buffer is too short for the rows")
	errOffsets = errors.New("offsets fall or lead outside the values")
	errIndex   = errors.New("an index leads outside the dictionary")
	errView    = errors.New("a view leads outside its buffers")
	errChild   = errors.New("a nested column has too few rows")
	errRuns    = errors.New("run ends do not rise or end too early")
	errUnion   = errors.New("a union's type code or offset leads nowhere")
	errNulls   = errors.New("the count of NULLs is wrong")
	errLength  = errors.New("a length is out of range")
)

func checkData(t arrow.DataType, d arrow.ArrayData) error {
	if ext, ok := t.(arrow.ExtensionType); ok {
		return checkData(ext.StorageType(), d)
	}
	n, off := d.Len(), d.Offset()
	if n < 0 || off < 0 || n > math.MaxInt64/256-off {
		return errLength
	}
	if t.ID() == arrow.NULL {
		return nil
	}
	if err := checkNulls(t, d); err != nil {
		return err
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return checkDictionary(t, d)
	case *arrow.StringType, *arrow.BinaryType:
		return checkOffsets[int32](d, bufferLen(d, 2))
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return checkOffsets[int64](d, bufferLen(d, 2))
	case arrow.BinaryViewDataType:
		return checkViews(d)
	case *arrow.ListType, *arrow.MapType:
		return cmp.Or(checkOffsets[int32](d, childLen(d, 0)), checkChildren(t.(arrow.NestedType), d, 0))
	case *arrow.LargeListType:
		return cmp.Or(checkOffsets[int64](d, childLen(d, 0)), checkChildren(t, d, 0))
	case *arrow.ListViewType:
		return cmp.Or(checkSpans[int32](d), checkChildren(t, d, 0))
	case *arrow.LargeListViewType:
		return cmp.Or(checkSpans[int64](d), checkChildren(t, d, 0))
	case *arrow.FixedSizeListType:
		return checkChildren(t, d, (off+n)*int(t.Len()))
	case *arrow.StructType:
		return checkChildren(t, d, off+n)
	case *arrow.RunEndEncodedType:
		return checkRuns(t, d)
	case *arrow.SparseUnionType:
		return cmp.Or(checkTypeCodes(t, d), checkChildren(t, d, off+n))
	case *arrow.DenseUnionType:
		return cmp.Or(checkTypeCodes(t, d), checkChildren(t, d, 0))
	case arrow.FixedWidthDataType:
		if bufferLen(d, 1) < (int64(off+n)*int64(t.BitWidth())+7)/8 {
			return errShort
		}
		return nil
	}
	return fmt.Errorf("type %s: %w", t, ErrUnsupported)
}

func bufferOf(d arrow.ArrayData, i int) []byte {
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
		return nil
	}
	return d.Buffers()[i].Bytes()
}

func bufferLen(d arrow.ArrayData, i int) int64 { return int64(len(bufferOf(d, i))) }

func childLen(d arrow.ArrayData, i int) int64 {
	if i >= len(d.Children()) {
		return 0
	}
	return int64(d.Children()[i].Len())
}

func checkNulls(t arrow.DataType, d arrow.ArrayData) error {
	switch t.ID() {
	case arrow.SPARSE_UNION, arrow.DENSE_UNION, arrow.RUN_END_ENCODED:
		return nil // they have no bitmap of their own
	}
	bits := bufferOf(d, 0)
	if len(bits) == 0 {
		if d.NullN() > 0 {
			return errNulls
		}
		return nil
	}
	if int64(len(bits)) < bitutil.BytesForBits(int64(d.Offset()+d.Len())) {
		return errShort
	}
	if nulls := d.Len() - bitutil.CountSetBits(bits, d.Offset(), d.Len()); d.NullN() >= 0 && d.NullN() != nulls {
		return errNulls
	}
	return nil
}

// valid says whether row i, counted from the array's offset, is not NULL.
func valid(d arrow.ArrayData, i int) bool {
	bits := bufferOf(d, 0)
	return len(bits) == 0 || bitutil.BitIsSet(bits, d.Offset()+i)
}

func checkOffsets[T int32 | int64](d arrow.ArrayData, limit int64) error {
	if d.Len() == 0 {
		return nil
	}
	offsets := arrow.GetData[T](bufferOf(d, 1))
	if len(offsets) < d.Offset()+d.Len()+1 {
		return errShort
	}
	offsets = offsets[d.Offset() : d.Offset()+d.Len()+1]
	last := T(0)
	for _, o := range offsets {
		if o < last {
			return errOffsets
		}
		last = o
	}
	if int64(last) > limit {
		return errOffsets
	}
	return nil
}

func checkSpans[T int32 | int64](d arrow.ArrayData) error {
	offsets, sizes := arrow.GetData[T](bufferOf(d, 1)), arrow.GetData[T](bufferOf(d, 2))
	end := d.Offset() + d.Len()
	if len(offsets) < end || len(sizes) < end {
		return errShort
	}
	limit := childLen(d, 0)
	for i := d.Offset(); i < end; i++ {
		if offsets[i] < 0 || sizes[i] < 0 || int64(offsets[i]) > limit-int64(sizes[i]) {
			return errOffsets
		}
	}
	return nil
}

func checkViews(d arrow.ArrayData) error {
	headers := arrow.ViewHeaderTraits.CastFromBytes(bufferOf(d, 1))
	if len(headers) < d.Offset()+d.Len() {
		return errShort
	}
	data := d.Buffers()[2:]
	for i := range d.Len() {
		h := &headers[d.Offset()+i]
		if !valid(d, i) || h.Len() >= 0 && h.IsInline() {
			continue
		}
		buf, at := int(h.BufferIndex()), int(h.BufferOffset())
		if h.Len() < 0 || buf < 0 || buf >= len(data) || data[buf] == nil || at < 0 || at > data[buf].Len()-h.Len() {
			return errView
		}
	}
	return nil
}

func checkChildren(t arrow.NestedType, d arrow.ArrayData, rows int) error {
	if len(d.Children()) != len(t.Fields()) {
		return errChild
	}
	for i, f := range t.Fields() {
		child := d.Children()[i]
		if child.Len() < rows {
			return errChild
		}
		if err := checkData(f.Type, child); err != nil {
			return err
		}
	}
	return nil
}

func checkDictionary(t *arrow.DictionaryType, d arrow.ArrayData) error {
	width := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	if bufferLen(d, 1) < int64(d.Offset()+d.Len())*int64(width) {
		return errShort
	}
	dict, _ := d.Dictionary().(*array.Data)
	if dict == nil {
		return errIndex
	}
	if err := checkData(t.ValueType, dict); err != nil {
		return err
	}
	// Without its dictionary the array is one of plain indices.
	plain := array.NewData(t.IndexType, d.Len(), []*memory.Buffer{nil, d.Buffers()[1]}, nil, 0, d.Offset())
	defer plain.Release()
	indices := array.MakeFromData(plain)
	defer indices.Release()
	at := indexReader(indices)
	for i := range d.Len() {
		if valid(d, i) && at(i) >= uint64(dict.Len()) {
			return errIndex
		}
	}
	return nil
}

// indexReader reads indices of any integer type; negative ones come out huge.
func indexReader(a arrow.Array) func(int) uint64 {
	switch a := a.(type) {
	case *array.Int8:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Int16:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Int32:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Int64:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint8:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint16:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint32:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint64:
		return a.Value
	}
	return func(int) uint64 { return math.MaxUint64 }
}

func checkRuns(t *arrow.RunEndEncodedType, d arrow.ArrayData) error {
	if err := checkChildren(t, d, 0); err != nil {
		return err
	}
	ends := array.MakeFromData(d.Children()[0])
	defer ends.Release()
	if ends.NullN() > 0 || childLen(d, 1) < int64(ends.Len()) {
		return errRuns
	}
	at := indexReader(ends)
	last := uint64(0)
	for i := range ends.Len() {
		if at(i) <= last || at(i) > math.MaxInt64 {
			return errRuns
		}
		last = at(i)
	}
	if last < uint64(d.Offset()+d.Len()) {
		return errRuns
	}
	return nil
}

func checkTypeCodes(t arrow.UnionType, d arrow.ArrayData) error {
	codes := arrow.GetData[int8](bufferOf(d, 1))
	end := d.Offset() + d.Len()
	if len(codes) < end {
		return errShort
	}
	var offsets []int32
	if t.Mode() == arrow.DenseMode {
		if offsets = arrow.GetData[int32](bufferOf(d, 2)); len(offsets) < end {
			return errShort
		}
	}
	children := t.ChildIDs()
	for i := d.Offset(); i < end; i++ {
		c := codes[i]
		if c < 0 || int(c) >= len(children) || children[c] == arrow.InvalidUnionChildID {
			return errUnion
		}
		if offsets != nil && (offsets[i] < 0 || int64(offsets[i]) >= childLen(d, children[c])) {
			return errUnion
		}
	}
	return nil
}
