package arrowudf

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// dictionary evaluates a dictionary-encoded column on the values that its rows
// refer to, each once. The new dictionary holds every masked value once, in the
// order in which rows first show it: the order of the old one, and which rows
// shared a value that the mask made equal, would tell of the clear values. A
// row whose value is NULL, in the index or in the dictionary, is NULL in the
// index of the result. The ordered flag is dropped.
type dictionary struct {
	values *plain
	index  indexKind
	result *arrow.DictionaryType
}

func newDictionary(t *arrow.DictionaryType, values *plain) (*dictionary, error) {
	k, ok := indexKinds[t.IndexType.ID()]
	if !ok {
		return nil, fmt.Errorf("%w: dictionary with an index of %s", mask.ErrType, t.IndexType)
	}
	return &dictionary{
		values: values,
		index:  k,
		result: &arrow.DictionaryType{IndexType: t.IndexType, ValueType: values.out()},
	}, nil
}

func (n *dictionary) out() arrow.DataType { return n.result }

func (n *dictionary) eval(r *run, d arrow.ArrayData) (arrow.ArrayData, error) {
	dict, ok := d.Dictionary().(*array.Data)
	if !ok || dict == nil {
		return nil, fmt.Errorf("%w: dictionary column without a dictionary", ErrArray)
	}
	values, err := n.values.view(dict)
	if err != nil {
		return nil, err
	}
	// refs[i] is the place of row i's value among the used ones.
	refs, used, err := n.refer(d, values.Len)
	if err != nil {
		return nil, err
	}
	in, err := gather(values, used)
	if err != nil {
		return nil, err
	}
	v, err := n.values.run(r, in)
	if err != nil {
		return nil, err
	}
	keep, to := distinct(v)
	if uint64(len(keep)) > n.index.max+1 {
		return nil, fmt.Errorf("%w: %d masked values do not fit an index of %s", mask.ErrTooLarge, len(keep), n.result.IndexType)
	}
	compact(v, keep)
	dictData, err := wrap(v, n.values.out(), &r.alloc)
	if err != nil {
		return nil, err
	}
	defer dictData.Release()
	bufs, nulls := n.encode(&r.alloc, refs, to)
	out := array.NewDataWithDictionary(n.result, d.Len(), bufs, nulls, 0, dictData.(*array.Data))
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	return out, nil
}

// refer lists the dictionary values that rows refer to, in order of first
// sight, and the place in that list for every row. NULL rows refer to row -1
// of the dictionary: the mask decides what becomes of NULL.
func (n *dictionary) refer(d arrow.ArrayData, size int) (refs, used []int32, err error) {
	if size > math.MaxInt32-1 {
		return nil, nil, fmt.Errorf("%w: dictionary of %d values", ErrArray, size)
	}
	if err := checkExtent(d); err != nil {
		return nil, nil, err
	}
	valid, err := validity(d)
	if err != nil {
		return nil, nil, err
	}
	raw, err := fixedWindow(buffer(d, 1), d.Offset(), d.Len(), n.index.width)
	if err != nil {
		return nil, nil, err
	}
	refs = make([]int32, d.Len())
	place := make([]int32, size+1) // place in used + 1; the last is for NULL
	err = n.index.each(raw, func(i int, index uint64) error {
		at := size
		if valid == nil || valid[(i+d.Offset())>>3]>>((i+d.Offset())&7)&1 == 1 {
			if index >= uint64(size) {
				return fmt.Errorf("%w: row %d refers to no value of the dictionary of %d", ErrArray, i, size)
			}
			at = int(index)
		}
		if place[at] == 0 {
			if at == size {
				used = append(used, -1)
			} else {
				used = append(used, int32(at))
			}
			place[at] = int32(len(used))
		}
		refs[i] = place[at] - 1
		return nil
	})
	return refs, used, err
}

// encode writes the validity and the indices of the result.
func (n *dictionary) encode(a *allocator, refs, to []int32) (bufs []*memory.Buffer, nulls int) {
	index := a.Allocate(len(refs) * n.index.width)
	valid := a.zeroed((len(refs) + 7) / 8)
	n.index.fill(index, func(i int) uint64 {
		at := to[refs[i]]
		if at < 0 {
			nulls++
			return 0
		}
		setBit(valid, i, true)
		return uint64(at)
	})
	bufs = []*memory.Buffer{nil, a.buffer(index)}
	if nulls > 0 {
		bufs[0] = a.buffer(valid)
	}
	return bufs, nulls
}
