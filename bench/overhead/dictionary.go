package overhead

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
)

// dictionary masks a dictionary-encoded column by a hash.
//
//	arrowmask  the values that occur, each once
//	decoded    decoded first, then every row
//	memo       row by row over the decoded column, which is given, with a map of what was hashed before
func dictionary(b *bench) error {
	rows, sizes := 1<<20, []int{10, 1000, 100000}
	if b.quick {
		rows, sizes = 1<<17, sizes[1:2]
	}
	var table [][]string
	for _, n := range sizes {
		lines, err := dictionaryCell(b, rows, n)
		if err != nil {
			return fmt.Errorf("%d values: %w", n, err)
		}
		table = append(table, lines...)
	}
	b.table(fmt.Sprintf("Hashing a dictionary-encoded column of %d rows", rows), []string{"values", "side", "ns a row", "x arrowmask", "output, MB"}, table)
	return nil
}

var dictionaryType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

func dictionaryCell(b *bench, rows, values int) ([][]string, error) {
	rng := random(uint64(values))
	words := textColumn(texts(rng, values, 16, 32))
	defer words.Release()
	at := array.NewInt32Builder(memory.DefaultAllocator)
	defer at.Release()
	for range rows {
		at.Append(rng.Int32N(int32(values)))
	}
	index := at.NewArray()
	defer index.Release()
	column := array.NewDictionaryArray(dictionaryType, index, words)
	defer column.Release()
	plain := decoded(column)
	defer plain.Release()

	const expr = "mask_hash({col})"
	onDictionary, err := arrowudf.Compile(expr, dictionaryType, arrowudf.Options{})
	if err != nil {
		return nil, err
	}
	onText, err := arrowudf.Compile(expr, arrow.BinaryTypes.String, arrowudf.Options{})
	if err != nil {
		return nil, err
	}
	sides := []struct {
		name string
		mask func() (arrow.Array, error)
	}{
		{result.Ours, func() (arrow.Array, error) { return onDictionary.Call(b.ctx, column) }},
		{"decoded", func() (arrow.Array, error) {
			text := decoded(column)
			defer text.Release()
			return onText.Call(b.ctx, text)
		}},
		{"memo", func() (arrow.Array, error) { return memo(plain), nil }},
	}
	want := memo(plain)
	defer want.Release()
	ways := make([]way, len(sides))
	for i, s := range sides {
		out, err := s.mask()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if err := sameText(want, out); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		ways[i] = way{name: s.name, ops: rows, extra: map[string]float64{"output_bytes": float64(arraySize(out.Data()))}, run: func() error {
			out, err := s.mask()
			if err == nil {
				out.Release()
			}
			return err
		}}
		out.Release()
	}
	records, err := b.measure(result.Keys("work", "dictionary", "values", values), "ns/row", ways...)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for _, r := range records {
		lines = append(lines, []string{strconv.Itoa(values), r.Side, result.Figure(r.Median), times(r), result.Figure(r.Extra["output_bytes"] / 1e6)})
	}
	return lines, nil
}

// decoded writes the value of every row, into buffers of the right size.
func decoded(d *array.Dictionary) *array.String {
	words := d.Dictionary().(*array.String)
	index := d.Indices().(*array.Int32).Int32Values()
	size := 0
	for _, i := range index {
		size += words.ValueLen(int(i))
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(index))
	b.ReserveData(size)
	for _, i := range index {
		b.Append(words.Value(int(i)))
	}
	return b.NewStringArray()
}

func memo(c *array.String) *array.String {
	known := map[string]string{}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(c.Len())
	b.ReserveData(2 * sha256.Size * c.Len())
	for i := range c.Len() {
		v := c.Value(i)
		h, ok := known[v]
		if !ok {
			d := sha256.Sum256([]byte(v))
			h = hex.EncodeToString(d[:])
			known[v] = h
		}
		b.Append(h)
	}
	return b.NewStringArray()
}

// sameText compares values row by row, in whatever encoding they are.
func sameText(want *array.String, got arrow.Array) error {
	value := func(i int) string { return got.(*array.String).Value(i) }
	if d, ok := got.(*array.Dictionary); ok {
		words := d.Dictionary().(*array.String)
		value = func(i int) string { return words.Value(d.GetValueIndex(i)) }
	}
	if want.Len() != got.Len() {
		return errors.New("another number of rows")
	}
	for i := range want.Len() {
		if want.Value(i) != value(i) {
			return fmt.Errorf("row %d differs", i)
		}
	}
	return nil
}

// arraySize is the bytes of an array's buffers and of its dictionary's.
func arraySize(d arrow.ArrayData) (n int) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += b.Len()
		}
	}
	if dict := d.Dictionary(); dict != nil && dict.(*array.Data) != nil {
		n += arraySize(dict)
	}
	return n
}
