package tablefile

import (
	"bytes"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// Fields of the page index, in parquet.thrift.
const (
	columnIndexNullPages, columnIndexMin, columnIndexMax, columnIndexOrder, columnIndexNullCounts = 1, 2, 3, 4, 5
	offsetIndexLocations                                                                          = 1
	locationFirstRow                                                                              = 3
)

// pageUse is what a page of indices was found to hold.
type pageUse struct {
	rows, nulls int64
	values      []uint32 // of the dictionary, each once
}

// pageIndex makes the page index of a chunk whose dictionary was replaced: where its pages are now, and the least and greatest of the new values on
// each.
type pageIndex struct {
	dict      *dictionaryValues
	locations thrift.List
	row       int64
	nullPages thrift.List
	min, max  [][]byte // nil for a page of NULLs
	nulls     thrift.List
	long      bool // a value is too long for an index
}

func newPageIndex(dict *dictionaryValues) *pageIndex {
	return &pageIndex{dict: dict, locations: thrift.List{Type: thrift.Nested}, nullPages: thrift.List{Type: thrift.True}, nulls: thrift.List{Type: thrift.I64}}
}

// add adds a page that stands at a place, header included.
func (x *pageIndex) add(at, size int64, use *pageUse) {
	location := thrift.Struct{}.WithInt(locationAt, thrift.I64, at).WithInt(locationSize, thrift.I32, size).WithInt(locationFirstRow, thrift.I64, x.row)
	x.locations.Items = append(x.locations.Items, location.Append(nil))
	x.row += use.rows
	var low, high []byte
	for _, i := range use.values {
		v := x.dict.value(i)
		if low == nil || bytes.Compare(v, low) < 0 {
			low = v
		}
		if high == nil || bytes.Compare(v, high) > 0 {
			high = v
		}
	}
	x.long = x.long || len(low) > maxStatistic || len(high) > maxStatistic
	x.min, x.max = append(x.min, low), append(x.max, high)
	x.nullPages.Items = append(x.nullPages.Items, boolItem(low == nil))
	x.nulls.Items = append(x.nulls.Items, thrift.AppendInt(nil, use.nulls))
}

func boolItem(b bool) []byte {
	if b {
		return []byte{byte(thrift.True)}
	}
	return []byte{byte(thrift.False)}
}

// offsets is the offset index.
func (x *pageIndex) offsets() thrift.Struct {
	return thrift.Struct{}.WithList(offsetIndexLocations, x.locations)
}

// columns is the column index; nil when a value is too long for one.
func (x *pageIndex) columns() thrift.Struct {
	if x.long {
		return nil
	}
	list := func(values [][]byte) thrift.List {
		l := thrift.List{Type: thrift.Binary}
		for _, v := range values {
			l.Items = append(l.Items, thrift.AppendBytes(nil, v))
		}
		return l
	}
	return thrift.Struct{}.WithList(columnIndexNullPages, x.nullPages).WithList(columnIndexMin, list(x.min)).WithList(columnIndexMax, list(x.max)).
		WithInt(columnIndexOrder, thrift.I32, x.order()).WithList(columnIndexNullCounts, x.nulls)
}

// order is the boundary order of the pages that are not all NULL.
func (x *pageIndex) order() int64 {
	const unordered, ascending, descending = 0, 1, 2
	up, down, last := true, true, -1
	for i, low := range x.min {
		if low == nil {
			continue
		}
		if last >= 0 {
			lows, highs := bytes.Compare(x.min[last], low), bytes.Compare(x.max[last], x.max[i])
			up, down = up && lows <= 0 && highs <= 0, down && lows >= 0 && highs >= 0
		}
		last = i
	}
	switch {
	case up:
		return ascending
	case down:
		return descending
	}
	return unordered
}
