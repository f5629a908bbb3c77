package arrowudf

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// runEnd evaluates a run-end encoded column once per run that the slice
// covers. The run ends of the result start over at the slice; neighbouring runs
// with equal masked values become one, or else the ends would tell where the
// clear value changed.
type runEnd struct {
	values *plain
	ends   indexKind
	result *arrow.RunEndEncodedType
}

func newRunEnd(t *arrow.RunEndEncodedType, values *plain) (*runEnd, error) {
	switch t.RunEnds().ID() {
	case arrow.INT16, arrow.INT32, arrow.INT64:
	default:
		return nil, fmt.Errorf("%w: run ends of %s", mask.ErrType, t.RunEnds())
	}
	return &runEnd{
		values: values,
		ends:   indexKinds[t.RunEnds().ID()],
		result: arrow.RunEndEncodedOf(t.RunEnds(), values.out()),
	}, nil
}

func (n *runEnd) out() arrow.DataType { return n.result }

func (n *runEnd) eval(r *run, d arrow.ArrayData) (arrow.ArrayData, error) {
	slice, ends, err := n.covered(d)
	if err != nil {
		return nil, err
	}
	defer slice.Release()
	in, err := n.values.view(slice)
	if err != nil {
		return nil, err
	}
	v, err := n.values.run(r, in)
	if err != nil {
		return nil, err
	}
	// Keep the first row of every run of equal values and the last end of it.
	var keep []int32
	var kept []uint64
	for i := range ends {
		if i > 0 && v.IsNull(i) == v.IsNull(i-1) && string(value(v, i)) == string(value(v, i-1)) {
			kept[len(kept)-1] = ends[i]
			continue
		}
		keep, kept = append(keep, int32(i)), append(kept, ends[i])
	}
	compact(v, keep)
	valueData, err := wrap(v, n.values.out(), &r.alloc)
	if err != nil {
		return nil, err
	}
	defer valueData.Release()
	raw := r.alloc.Allocate(len(kept) * n.ends.width)
	n.ends.fill(raw, func(i int) uint64 { return kept[i] })
	endData := data(n.result.RunEnds(), len(kept), 0, []*memory.Buffer{nil, r.alloc.buffer(raw)})
	defer endData.Release()
	return array.NewData(n.result, d.Len(), []*memory.Buffer{nil}, []arrow.ArrayData{endData, valueData}, 0, 0), nil
}

// covered is the values of the runs that the slice covers, for the caller to
// release, and the end of each run, counted from the start of the slice.
func (n *runEnd) covered(d arrow.ArrayData) (values arrow.ArrayData, ends []uint64, err error) {
	if len(d.Children()) != 2 {
		return nil, nil, fmt.Errorf("%w: run-end encoded column with %d children", ErrArray, len(d.Children()))
	}
	first, ends, err := n.runs(d)
	if err != nil {
		return nil, nil, err
	}
	all := d.Children()[1]
	if first+len(ends) > all.Len() {
		return nil, nil, fmt.Errorf("%w: %d runs, %d values", ErrArray, first+len(ends), all.Len())
	}
	return array.NewSliceData(all, int64(first), int64(first+len(ends))), ends, nil
}

// runs finds the runs that the slice covers: the place of the first one among
// the values and the end of each, counted from the start of the slice.
func (n *runEnd) runs(d arrow.ArrayData) (first int, ends []uint64, err error) {
	child := d.Children()[0]
	raw, err := fixedWindow(buffer(child, 1), child.Offset(), child.Len(), n.ends.width)
	if err != nil {
		return 0, nil, err
	}
	if err := checkExtent(d); err != nil {
		return 0, nil, err
	}
	lo, hi := uint64(d.Offset()), uint64(d.Offset()+d.Len())
	prev := uint64(0)
	err = n.ends.each(raw, func(i int, end uint64) error {
		if end <= prev || end > n.ends.max {
			return fmt.Errorf("%w: run end %d does not exceed the one before", ErrArray, i)
		}
		switch {
		case end <= lo:
			first = i + 1
		case prev < hi:
			ends = append(ends, min(end, hi)-lo)
		}
		prev = end
		return nil
	})
	if err == nil && d.Len() > 0 && prev < hi {
		err = fmt.Errorf("%w: runs end at row %d of %d", ErrArray, prev, hi)
	}
	if d.Len() == 0 {
		ends = nil
	}
	return first, ends, err
}
