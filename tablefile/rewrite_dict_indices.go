package tablefile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// indexPages reads the pages of indices of a column chunk that is wholly dictionary-encoded, to be sure of what is copied: that every index leads
// into the dictionary, which values no row has, and whether the values stand in the order in which rows first have them.
type indexPages struct {
	nullable bool
	used     []bool // by value of the dictionary
	seen     int    // how many are used
	shuffled bool   // a row had a value before one that stands ahead of it
	nulls    int64
	// What each page holds, for a page index; nil when there is to be none. seenOn is, by value of the dictionary, the last page that it was on, from 1.
	pages  []pageUse
	seenOn []int32
}

// keepUses has x note what each page holds.
func (x *indexPages) keepUses() { x.pages, x.seenOn = []pageUse{}, make([]int32, len(x.used)) }

// note adds a value to what the current page, the last one, holds.
func (x *indexPages) note(index uint32) {
	if n := len(x.pages); n > 0 && x.seenOn[index] != int32(n) {
		x.seenOn[index] = int32(n)
		x.pages[n-1].values = append(x.pages[n-1].values, index)
	}
}

var errIndices = errors.New("indices end early or lead outside the dictionary")

// errOldLevels: definition levels in the encoding that RLE replaced.
var errOldLevels = errors.New("bit-packed levels")

// read checks one page; body is decompressed.
func (x *indexPages) read(p *page, body []byte) error {
	valid := p.values
	if x.nullable {
		levels, rest, err := levelsOf(p, body)
		if err != nil {
			return err
		}
		valid = 0
		r := runs{b: levels, width: 1}
		if err := r.read(p.values, func(level uint32, n int64) error { valid += int64(level) * n; return nil }); err != nil {
			return err
		}
		body = rest
	}
	x.nulls += p.values - valid
	if x.pages != nil {
		x.pages = append(x.pages, pageUse{rows: p.values, nulls: p.values - valid})
	}
	if valid == 0 {
		return nil
	}
	if len(body) == 0 || body[0] > 32 {
		return errIndices
	}
	r := runs{b: body[1:], width: uint(body[0])}
	return r.read(valid, func(index uint32, _ int64) error {
		if int64(index) >= int64(len(x.used)) {
			return errIndices
		}
		if !x.used[index] {
			x.shuffled = x.shuffled || int(index) != x.seen
			x.used[index] = true
			x.seen++
		}
		x.note(index)
		return nil
	})
}

// levelsOf cuts the definition levels from the page of a column that is not nested.
func levelsOf(p *page, body []byte) (levels, rest []byte, err error) {
	size := int64(0)
	if p.kind == dataPageV2 {
		head, err := p.head.Struct(pageDataV2)
		if err != nil {
			return nil, nil, err
		}
		rep, _ := head.Int(headV2RepLength)
		if size, _ = head.Int(headV2DefLength); rep != 0 {
			return nil, nil, errIndices
		}
	} else {
		head, err := p.head.Struct(pageData)
		if err != nil {
			return nil, nil, err
		}
		if encoding, _ := head.Int(headDefEncoding); encoding != rleEncoding {
			return nil, nil, errOldLevels
		}
		if len(body) < 4 {
			return nil, nil, errIndices
		}
		size, body = int64(binary.LittleEndian.Uint32(body)), body[4:]
	}
	if size > int64(len(body)) {
		return nil, nil, errIndices
	}
	return body[:size], body[size:], nil
}

// runs is the RLE and bit-packing hybrid of the Parquet format ("Encodings", RLE = 3): runs of one value, and groups of eight packed ones.
type runs struct {
	b     []byte
	width uint
}

// read gives the first count values to each, runs of one value at once.
func (r *runs) read(count int64, each func(value uint32, n int64) error) error {
	for count > 0 {
		head, n := binary.Uvarint(r.b)
		if n <= 0 {
			return errIndices
		}
		r.b = r.b[n:]
		var err error
		if head&1 == 0 {
			count, err = r.one(count, head>>1, each)
		} else {
			count, err = r.packed(count, head>>1, each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *runs) one(count int64, n uint64, each func(uint32, int64) error) (left int64, err error) {
	size := int(r.width+7) / 8
	if n == 0 || len(r.b) < size {
		return 0, errIndices
	}
	value := uint32(0)
	for i := range size {
		value |= uint32(r.b[i]) << (8 * i)
	}
	r.b = r.b[size:]
	used := int64(min(n, uint64(count)))
	return count - used, each(value, used)
}

func (r *runs) packed(count int64, groups uint64, each func(uint32, int64) error) (left int64, err error) {
	if groups == 0 || groups > 1<<28 {
		return 0, errIndices
	}
	size := int(groups) * int(r.width)
	n := min(count, int64(groups)*8)
	if size > len(r.b) {
		// Some writers cut the last group short.
		if size = len(r.b); n*int64(r.width) > int64(size)*8 {
			return 0, errIndices
		}
	}
	b := r.b[:size]
	r.b = r.b[size:]
	var bits uint64
	have, mask := uint(0), uint64(1)<<r.width-1
	for range n {
		for have < r.width {
			bits |= uint64(b[0]) << have
			b, have = b[1:], have+8
		}
		if err := each(uint32(bits&mask), 1); err != nil {
			return 0, err
		}
		bits, have = bits>>r.width, have-r.width
	}
	return count - n, nil
}

// checkIndices reads all pages of indices; why says why they cannot be kept though nothing is wrong with them.
func (r *Rewriter) checkIndices(rep *replacement, d *dictionaryChunk) (why string, err error) {
	x := &indexPages{nullable: rep.old.Nullable, used: make([]bool, d.pages[0].values)}
	if d.old.fields.Has(chunkOffsetIndexAt) {
		x.keepUses()
	}
	for i, p := range d.pages[1:] {
		body, err := readBody(r.file.src, p, d.old.codec)
		if err == nil {
			err = x.read(p, body)
		}
		switch {
		case errors.Is(err, errOldLevels):
			return whyOldLevels, nil
		case errors.Is(err, errIndices):
			err = fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if err != nil {
			return "", fmt.Errorf("column %q: page %d: %w", rep.name, i+2, err)
		}
	}
	switch {
	case x.seen < len(x.used):
		return whyUnused, nil
	case x.shuffled:
		return whyShuffled, nil
	}
	d.nulls, d.uses = x.nulls, x.pages
	return "", nil
}
