package tablefile

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

const (
	// needleMin is the shortest value that is looked for: shorter ones are found by chance everywhere.
	needleMin = 5
	// needleMax is how much of a long value is looked for.
	needleMax = 256
	// needleMinPacked is the shortest value that is looked for in compressed bytes, which look random: of a million values with 7 bytes some
	// would be found in any 100 MB.
	needleMinPacked = 8
)

// needles are old values to be looked for in bytes, by hash.
type needles struct {
	seed    maphash.Seed
	filter  []uint64 // bits, by the first needleMin bytes
	lengths []int    // sorted
	set     map[uint64]bool
}

func newNeedles() *needles {
	return &needles{seed: maphash.MakeSeed(), filter: make([]uint64, 1<<20), set: map[uint64]bool{}}
}

// slot is the bit of the filter for bytes that begin as v does; v has at least needleMin bytes.
func (n *needles) slot(v []byte) uint64 {
	first := uint64(binary.LittleEndian.Uint32(v)) | uint64(v[4])<<32
	return first * 0x9e3779b97f4a7c15 >> (64 - 26)
}

func (n *needles) add(v []byte) {
	if len(v) < needleMin {
		return
	}
	v = v[:min(len(v), needleMax)]
	h := maphash.Bytes(n.seed, v)
	if n.set[h] {
		return
	}
	n.set[h] = true
	s := n.slot(v)
	n.filter[s/64] |= 1 << (s % 64)
	if i, found := slices.BinarySearch(n.lengths, len(v)); !found {
		n.lengths = slices.Insert(n.lengths, i, len(v))
	}
}

// addCells adds the values of a column as CSV cells spell them.
func (n *needles) addCells(a arrow.Array) error {
	cell := formatter(a)
	var text []byte
	for row := range a.Len() {
		var err error
		if text, _, err = cell(text[:0], row); err != nil {
			return err
		}
		n.add(text)
		if bytes.IndexByte(text, '"') >= 0 {
			n.add(bytes.ReplaceAll(text, []byte(`"`), []byte(`""`)))
		}
	}
	return nil
}

// eachLeaf calls do for every value of text or binary of a column, nested ones and those of its whole dictionary included. Values of other types have
// no bytes of their own that could be told from others.
func eachLeaf(a arrow.Array, do func([]byte)) {
	switch a := a.(type) {
	case *array.Dictionary:
		eachLeaf(a.Dictionary(), do)
	case *array.RunEndEncoded:
		eachLeaf(a.Values(), do)
	case array.ExtensionArray:
		eachLeaf(a.Storage(), do)
	case *array.Struct:
		for i := range a.NumField() {
			eachLeaf(a.Field(i), do)
		}
	case array.ListLike:
		eachLeaf(a.ListValues(), do)
	case array.Union:
		for i := range a.NumFields() {
			eachLeaf(a.Field(i), do)
		}
	default:
		eachValue(a, do)
	}
}

// eachRowValue is eachLeaf for the values that rows have: none that only a dictionary holds, or a list that is NULL.
func eachRowValue(a arrow.Array, do func([]byte)) {
	switch t := a.(type) {
	case *array.Dictionary:
		eachRowValueAt(a, t.Dictionary(), t.GetValueIndex, do)
	case *array.RunEndEncoded:
		eachRowValueAt(a, t.Values(), t.GetPhysicalIndex, do)
	case array.ExtensionArray:
		eachRowValue(t.Storage(), do)
	case *array.Struct:
		for i := range t.NumField() {
			eachRowValueAt(a, t.Field(i), func(row int) int { return row }, do)
		}
	case array.ListLike:
		for row := range a.Len() {
			if from, to := t.ValueOffsets(row); a.IsValid(row) {
				part := array.NewSlice(t.ListValues(), from, to)
				eachRowValue(part, do)
				part.Release()
			}
		}
	default:
		eachLeaf(a, do)
	}
}

// eachRowValueAt visits, for each row of a that is not NULL, the value at its place in values.
func eachRowValueAt(a, values arrow.Array, at func(int) int, do func([]byte)) {
	value := valueReader(values)
	for row := range a.Len() {
		switch {
		case a.IsNull(row):
		case value == nil:
			part := array.NewSlice(values, int64(at(row)), int64(at(row)+1))
			eachRowValue(part, do)
			part.Release()
		case values.IsValid(at(row)):
			do(value(at(row)))
		}
	}
}

// eachValue calls do for every value of a column of text or binary that is not NULL, and says whether it is one.
func eachValue(a arrow.Array, do func([]byte)) bool {
	value := valueReader(a)
	if value == nil {
		return false
	}
	for i := range a.Len() {
		if a.IsValid(i) {
			do(value(i))
		}
	}
	return true
}

// valueReader reads values of text or binary; nil for other types.
func valueReader(a arrow.Array) func(int) []byte {
	switch a := a.(type) {
	case *array.String:
		return func(i int) []byte { return []byte(a.Value(i)) }
	case *array.LargeString:
		return func(i int) []byte { return []byte(a.Value(i)) }
	case *array.StringView:
		return func(i int) []byte { return []byte(a.Value(i)) }
	case interface{ Value(int) []byte }: // the binary layouts
		return a.Value
	}
	return nil
}

// find calls hit with the hash of every needle of at least least bytes in text, as often as it is there.
func (n *needles) find(text []byte, least int, hit func(uint64)) {
	for i := 0; i+needleMin <= len(text); i++ {
		s := n.slot(text[i:])
		if n.filter[s/64]>>(s%64)&1 == 0 {
			continue
		}
		for _, l := range n.lengths {
			if l > len(text)-i {
				break
			}
			if l < least {
				continue
			}
			if h := maphash.Bytes(n.seed, text[i:i+l]); n.set[h] {
				hit(h)
			}
		}
	}
}

// findIn is find over a range of a file, a part at a time.
func (n *needles) findIn(src io.ReaderAt, s span, least int, hit func(uint64)) error {
	buf := make([]byte, min(1<<20, s.to-s.from))
	for at := s.from; at < s.to; {
		part := buf[:min(int64(len(buf)), s.to-at)]
		if k, err := src.ReadAt(part, at); k < len(part) {
			return err
		}
		n.find(part, least, hit)
		if at += int64(len(part)); at < s.to {
			at -= needleMax - 1 // a needle may lie across
		}
	}
	return nil
}
