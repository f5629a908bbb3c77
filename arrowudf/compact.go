package arrowudf

import (
	"hash/maphash"

	"github.com/arrowmask/arrowmask/mask"
)

// compact narrows a result, in place, to the given rows, which must ascend.
func compact(v *mask.Vector, rows []int32) {
	if len(rows) == v.Len {
		return
	}
	width := outWidth(v)
	end := int64(0)
	nulls := 0
	for to, from := range rows {
		i := int(from)
		null := v.IsNull(i)
		if null {
			nulls++
		}
		if v.Valid != nil {
			setBit(v.Valid, to, !null)
		}
		switch {
		case v.Layout != mask.LayoutFixed:
			lo, hi := bounds(v, i)
			copy(v.Data[end:], v.Data[lo:hi])
			setOffset(v, to, end)
			end += hi - lo
		case width > 0:
			copy(v.Data[to*width:][:width], v.Data[i*width:][:width])
		}
	}
	n := len(rows)
	switch {
	case v.Layout == mask.LayoutOffsets32:
		setOffset(v, n, end)
		v.Offsets32, v.Data = v.Offsets32[:n+1], v.Data[:end]
	case v.Layout == mask.LayoutOffsets64:
		setOffset(v, n, end)
		v.Offsets64, v.Data = v.Offsets64[:n+1], v.Data[:end]
	case width > 0:
		v.Data = v.Data[:n*width]
	}
	if v.Valid != nil {
		v.Valid = v.Valid[:(n+7)/8]
		for i := n; i < len(v.Valid)*8; i++ {
			setBit(v.Valid, i, false)
		}
	}
	v.Len, v.Nulls = n, nulls
}

// outWidth is the bytes of a value of a result of fixed width; 0 when it has no
// values.
func outWidth(v *mask.Vector) int {
	if v.Layout != mask.LayoutFixed || v.Data == nil || v.Len == 0 {
		return 0
	}
	return len(v.Data) / v.Len
}

func setBit(bits []byte, i int, on bool) {
	if on {
		bits[i>>3] |= 1 << (i & 7)
	} else {
		bits[i>>3] &^= 1 << (i & 7)
	}
}

func setOffset(v *mask.Vector, i int, to int64) {
	if v.Layout == mask.LayoutOffsets64 {
		v.Offsets64[i] = to
	} else {
		v.Offsets32[i] = int32(to)
	}
}

// value is the bytes of row i of a result; nil for a NULL of any kind.
func value(v *mask.Vector, i int) []byte {
	switch {
	case v.IsNull(i):
		return nil
	case v.Layout != mask.LayoutFixed:
		lo, hi := bounds(v, i)
		return v.Data[lo:hi]
	}
	w := outWidth(v)
	return v.Data[i*w:][:w]
}

// distinct finds the distinct values of a result. keep are the rows where a
// value shows up first, ascending, without NULLs; to[i] is the place in keep of
// row i's value, -1 for NULL.
func distinct(v *mask.Vector) (keep, to []int32) {
	to = make([]int32, v.Len)
	size := 8
	for size < 2*v.Len {
		size *= 2
	}
	table := make([]int32, size) // place in keep + 1, open addressing
	seed := maphash.MakeSeed()
	for i := range to {
		if v.IsNull(i) {
			to[i] = -1
			continue
		}
		b := value(v, i)
		slot := int(maphash.Bytes(seed, b) & uint64(size-1))
		for table[slot] != 0 && string(value(v, int(keep[table[slot]-1]))) != string(b) {
			slot = (slot + 1) & (size - 1)
		}
		if table[slot] == 0 {
			keep = append(keep, int32(i))
			table[slot] = int32(len(keep))
		}
		to[i] = table[slot] - 1
	}
	return keep, to
}
