package arrowudf

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

// wrap makes array data of type dt out of a result. The buffers of v become
// the data's; v must not be used afterwards. The caller releases the data.
func wrap(v *mask.Vector, dt arrow.DataType, a *allocator) (arrow.ArrayData, error) {
	if dt.ID() == arrow.NULL {
		return data(dt, v.Len, v.Len, nil), nil
	}
	if v.ValidOffset != 0 || v.Nulls < 0 {
		return nil, fmt.Errorf("%w: result with validity offset %d, null count %d", mask.ErrInternal, v.ValidOffset, v.Nulls)
	}
	// Allocate before the first buffer leaves the allocator's books: after that
	// nothing may fail.
	out := &wrapped{}
	n := 2
	switch dt.ID() {
	case arrow.STRING, arrow.BINARY:
		out.set(1, a, bytesOf(v.Offsets32))
		out.set(2, a, v.Data)
		n = 3
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		out.set(1, a, bytesOf(v.Offsets64))
		out.set(2, a, v.Data)
		n = 3
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		bufs := append([]*memory.Buffer{nil}, wrapViews(v, math.MaxInt32, a)...)
		if v.Nulls > 0 {
			bufs[0] = a.buffer(v.Valid)
		}
		return data(dt, v.Len, v.Nulls, bufs), nil
	default:
		if v.Data == nil { // every row is NULL
			v.Data = a.zeroed(storageBytes(dt, v.Len))
		}
		out.set(1, a, v.Data)
	}
	if v.Nulls > 0 {
		out.set(0, a, v.Valid)
	}
	out.data.Retain() // the first reference; Reset counts none
	out.data.Reset(dt, v.Len, out.bufs[:n:n], nil, v.Nulls, 0)
	for _, b := range out.bufs[:n] {
		if b != nil {
			b.Release()
		}
	}
	return &out.data, nil
}

// wrapped is array data and its buffers in one piece of memory.
type wrapped struct {
	data   array.Data
	bufs   [3]*memory.Buffer
	memory [3]memory.Buffer
}

func (w *wrapped) set(i int, a *allocator, b []byte) {
	w.memory[i] = a.bufferValue(b)
	w.bufs[i] = &w.memory[i]
}

// data hands buffers over to array data.
func data(dt arrow.DataType, n, nulls int, bufs []*memory.Buffer) arrow.ArrayData {
	if bufs == nil {
		bufs = []*memory.Buffer{nil}
	}
	d := array.NewData(dt, n, bufs, nil, nulls, 0)
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	return d
}

// storageBytes is the size of n values of a type of fixed width.
func storageBytes(dt arrow.DataType, n int) int {
	if fw, ok := dt.(arrow.FixedWidthDataType); ok {
		return (fw.BitWidth()*n + 7) / 8
	}
	return 0
}

// wrapViews turns a result with offsets into views and their data buffers. No
// data buffer is longer than reach, so there are several for a large result,
// and none when every value fits its view. The value bytes are not copied
// again.
func wrapViews(v *mask.Vector, reach int64, a *allocator) []*memory.Buffer {
	raw := a.Allocate(v.Len * len(kernels.View{}))
	views := viewsOf(raw)
	var cuts [][2]int64 // byte range of each data buffer
	for i := range views {
		lo, hi := bounds(v, i)
		n := hi - lo
		if n <= kernels.ViewInline {
			views[i] = makeView(v.Data[lo:hi], 0, 0)
			continue
		}
		k := len(cuts) - 1
		if k < 0 || hi-cuts[k][0] > reach {
			cuts = append(cuts, [2]int64{lo, hi})
			k++
		}
		cuts[k][1] = hi
		views[i] = makeView(v.Data[lo:hi], k, int(lo-cuts[k][0]))
	}
	bufs := []*memory.Buffer{a.buffer(raw)}
	if len(cuts) == 0 {
		return bufs
	}
	whole := a.buffer(v.Data)
	defer whole.Release()
	for _, c := range cuts {
		if c[0] == 0 && c[1] == int64(len(v.Data)) {
			whole.Retain()
			return append(bufs, whole)
		}
		bufs = append(bufs, memory.SliceBuffer(whole, int(c[0]), int(c[1]-c[0])))
	}
	return bufs
}

// bounds are the byte range of row i of a vector with offsets.
func bounds(v *mask.Vector, i int) (lo, hi int64) {
	if v.Layout == mask.LayoutOffsets64 {
		return v.Offsets64[i], v.Offsets64[i+1]
	}
	return int64(v.Offsets32[i]), int64(v.Offsets32[i+1])
}
