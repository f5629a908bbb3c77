package tablefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// Types, repetitions and encodings as parquet.thrift numbers them.
const (
	byteArray   = 6
	required    = 0
	rleEncoding = 3
)

const (
	maxStatistic  = 4 << 10 // longer minima and maxima are left out
	maxDictionary = 64 << 20
)

// Why the dictionary of a column chunk cannot be replaced alone.
const (
	whyNotPerValue = "its function looks at more than one value"
	whyType        = "the new values are not text or binary"
	whyNullable    = "it becomes nullable"
	whyMixed       = "not all of its pages are dictionary-encoded"
	whyLarge       = "its dictionary has more values than rows"
	whyUnused      = "its dictionary has values that no row has"
	whyShuffled    = "its dictionary has an order of its own, which may tell of the old values"
	whyMerged      = "different values become the same"
	whyOldLevels   = "its levels are in an old encoding"
	whyNullMade    = "a NULL does not stay NULL"
	whyMadeNull    = "a value becomes NULL"
	whyBig         = "its new dictionary would be too large for a page"
	whyCodec       = "its compression is not known"
)

// dictionaryChunk is a column chunk whose dictionary can be replaced.
type dictionaryChunk struct {
	old   *columnChunk
	pages []*page // the dictionary first
	// Known when the indices have been read.
	nulls int64
	uses  []pageUse // by page of indices; nil when the old chunk has no page index
}

// dictionaryOf looks whether a chunk of a column to replace can keep its indices; when not, it says why.
func (r *Rewriter) dictionaryOf(ctx context.Context, rep *replacement, g int) (d *dictionaryChunk, why string, err error) {
	switch t := storedField(rep.Field).Type; {
	case !rep.PerValue:
		return nil, whyNotPerValue, nil
	case t.ID() != arrow.STRING && t.ID() != arrow.BINARY && t.ID() != arrow.LARGE_STRING && t.ID() != arrow.LARGE_BINARY:
		return nil, whyType, nil
	case rep.Field.Nullable != rep.old.Nullable:
		return nil, whyNullable, nil
	}
	d = &dictionaryChunk{}
	if d.old, err = r.chunkOf(rep, g); err != nil {
		return nil, "", err
	}
	if c := compress.Compression(d.old.codec); !known(c) {
		return nil, whyCodec, nil
	}
	_, err = walkPages(r.file.src, d.old, r.file.end, func(p *page) error {
		dictionary := p.kind == dictionaryPage && len(d.pages) == 0
		indices := p.isData() && len(d.pages) > 0 && (p.encoding == plainDictionary || p.encoding == rleDictionary)
		if !dictionary && !indices {
			return errMixed
		}
		d.pages = append(d.pages, p)
		return nil
	})
	switch {
	case errors.Is(err, errMixed) || err == nil && len(d.pages) < 2:
		return nil, whyMixed, nil
	case err != nil:
		return nil, "", fmt.Errorf("column %q: %w", rep.name, err)
	}
	// A value takes a byte at least, so a dictionary of more values than bytes is damaged; the decoder will tell.
	if size, _ := d.pages[0].head.Int(pageUncompressed); d.pages[0].values > min(d.old.values, size, maxPageUncompressed) {
		return nil, whyLarge, nil
	}
	if rep.Field.Nullable {
		if keeps, err := rep.keepsNull(ctx); err != nil || !keeps {
			return nil, whyNullMade, err
		}
	}
	return d, "", nil
}

var errMixed = errors.New("mixed pages")

func known(c compress.Compression) bool {
	_, err := compress.GetCodec(c)
	return err == nil
}

// keepsNull says whether Apply makes NULL of NULL.
func (rep *replacement) keepsNull(ctx context.Context) (bool, error) {
	null := array.MakeArrayOfNull(memory.DefaultAllocator, rep.old.Type, 1)
	defer null.Release()
	made, err := rep.apply(ctx, null)
	if err != nil {
		return false, err
	}
	defer made.Release()
	plain, err := plainArray(ctx, made)
	if err != nil {
		return false, err
	}
	defer plain.Release()
	return plain.IsNull(0), nil
}

// replaceDictionary makes a new chunk with another dictionary and the old indices. When it cannot be, it says why and gives no chunk.
func (r *Rewriter) replaceDictionary(ctx context.Context, rep *replacement, d *dictionaryChunk, dir string) (c *newChunk, why string, err error) {
	if why, err := r.checkIndices(rep, d); err != nil || why != "" {
		return nil, why, err
	}
	values, why, err := r.newDictionary(ctx, rep, d)
	if err != nil || why != "" {
		return nil, why, err
	}
	made := &newChunk{spill: &spill{dir: dir}, way: DictionaryOnly, nullsIn: d.nulls, nullsOut: d.nulls}
	if err := r.writeDictionaryChunk(rep, d, values, made); err != nil {
		made.free()
		return nil, "", fmt.Errorf("column %q: %w", rep.name, err)
	}
	return made, "", nil
}

// dictionaryValues are the values of a dictionary as its page holds them.
type dictionaryValues struct {
	plain    []byte
	starts   []int // where each value begins in plain, after its length
	min, max []byte
	seen     map[string]struct{}
}

// value is the i-th value, not nil.
func (v *dictionaryValues) value(i uint32) []byte {
	from := v.starts[i]
	size := binary.LittleEndian.Uint32(v.plain[from-4:])
	return v.plain[from : from+int(size)]
}

// newDictionary decodes the values of a dictionary, replaces them and encodes them.
func (r *Rewriter) newDictionary(ctx context.Context, rep *replacement, d *dictionaryChunk) (v *dictionaryValues, why string, err error) {
	src, err := r.dictionarySource(rep, d)
	if err != nil {
		return nil, "", fmt.Errorf("column %q: its dictionary: %w", rep.name, err)
	}
	dec, err := newParquetDecoder(ctx, src, r.opts)
	if err != nil {
		return nil, "", err
	}
	defer dec.close()
	v = &dictionaryValues{seen: map[string]struct{}{}}
	for {
		batch, err := dec.next()
		if err == io.EOF {
			return v, "", nil
		}
		if err != nil {
			return nil, "", err
		}
		why, err := v.add(ctx, rep, batch.Column(0))
		batch.Release()
		if err != nil || why != "" {
			return nil, why, err
		}
	}
}

func (v *dictionaryValues) add(ctx context.Context, rep *replacement, old arrow.Array) (why string, err error) {
	made, err := rep.apply(ctx, old)
	if err != nil {
		return "", err
	}
	defer made.Release()
	plain, err := plainArray(ctx, made)
	if err != nil {
		return "", err
	}
	defer plain.Release()
	if plain.NullN() > 0 {
		return whyMadeNull, nil
	}
	before := len(v.seen)
	eachValue(plain, func(value []byte) {
		v.seen[string(value)] = struct{}{}
		if v.plain == nil || bytes.Compare(value, v.min) < 0 {
			v.min = append(v.min[:0:0], value...)
		}
		if bytes.Compare(value, v.max) > 0 {
			v.max = append(v.max[:0:0], value...)
		}
		v.plain = binary.LittleEndian.AppendUint32(v.plain, uint32(len(value)))
		v.starts = append(v.starts, len(v.plain))
		v.plain = append(v.plain, value...)
	})
	switch {
	case len(v.plain) > maxDictionary:
		return whyBig, nil
	case len(v.seen)-before < plain.Len():
		// The old indices would still tell which of the equal new values were different.
		return whyMerged, nil
	}
	return "", nil
}

// dictionarySource is a file of one required column whose rows are the values of a dictionary: a dictionary page holds them as a plain data page would.
func (r *Rewriter) dictionarySource(rep *replacement, d *dictionaryChunk) (*source, error) {
	dict := d.pages[0]
	if dict.encoding != plainEncoding && dict.encoding != plainDictionary {
		return nil, fmt.Errorf("%w: a dictionary of encoding %d", ErrUnsupported, dict.encoding)
	}
	body, err := readBody(r.file.src, dict, d.old.codec)
	if err != nil {
		return nil, err
	}
	head := thrift.Struct{}.WithInt(headValues, thrift.I32, dict.values).WithInt(headEncoding, thrift.I32, plainEncoding).
		WithInt(headDefEncoding, thrift.I32, rleEncoding).WithInt(headRepEncoding, thrift.I32, rleEncoding)
	file := append([]byte("PAR1"), pageHeader(dataPage, len(body), len(body)).WithStruct(pageData, head).Append(nil)...)
	file = append(file, body...)
	root, _, err := thrift.ReadStruct(r.file.schema[0])
	if err != nil {
		return nil, err
	}
	elem, _, err := thrift.ReadStruct(r.file.schema[r.file.tops[rep.Column].elemFrom])
	if err != nil {
		return nil, err
	}
	schema := thrift.List{Type: thrift.Nested, Items: [][]byte{
		root.WithInt(elemChildren, thrift.I32, 1).Append(nil), elem.WithInt(elemRepetition, thrift.I32, required).Append(nil)}}
	meta := d.old.meta.Keep(metaType, metaPath).WithList(metaEncodings, intList(plainEncoding, rleEncoding)).WithInt(metaCodec, thrift.I32, 0).
		WithInt(metaNumValues, thrift.I64, dict.values).WithInt(metaUncompressed, thrift.I64, int64(len(file)-4)).
		WithInt(metaCompressed, thrift.I64, int64(len(file)-4)).WithInt(metaDataPageAt, thrift.I64, 4)
	foot := r.miniFooter(schema, thrift.Struct{}, meta, dict.values)
	text, err := r.stored.project([]int{rep.Column})
	if err != nil {
		return nil, err
	}
	if text != nil {
		foot = foot.WithList(fileKeyValues, keyValues(storedKey, text))
	}
	return memorySource(r.file.src.name, endParquet(file, foot)), nil
}

func pageHeader(kind int64, size, packed int) thrift.Struct {
	return thrift.Struct{}.WithInt(pageType, thrift.I32, kind).WithInt(pageUncompressed, thrift.I32, int64(size)).WithInt(pageCompressed, thrift.I32, int64(packed))
}

func intList(values ...int64) thrift.List {
	l := thrift.List{Type: thrift.I32}
	for _, v := range values {
		l.Items = append(l.Items, thrift.AppendInt(nil, v))
	}
	return l
}

// miniFooter is the footer of a file of one column and one row group; fields are what the column chunk has beside its metadata.
func (r *Rewriter) miniFooter(schema thrift.List, fields, meta thrift.Struct, rows int64) thrift.Struct {
	size, _ := meta.Int(metaUncompressed)
	chunk := fields.WithInt(chunkFileOffset, thrift.I64, 0).WithStruct(chunkMeta, meta)
	group := thrift.Struct{}.WithList(groupColumns, thrift.List{Type: thrift.Nested, Items: [][]byte{chunk.Append(nil)}}).
		WithInt(groupTotalSize, thrift.I64, size).WithInt(groupNumRows, thrift.I64, rows)
	return r.file.foot.Keep(fileVersion, fileCreatedBy).WithList(fileSchema, schema).WithInt(fileNumRows, thrift.I64, rows).
		WithList(fileRowGroups, thrift.List{Type: thrift.Nested, Items: [][]byte{group.Append(nil)}})
}

// endParquet appends the footer and what follows it.
func endParquet(file []byte, foot thrift.Struct) []byte {
	at := len(file)
	file = foot.Append(file)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(file)-at)), "PAR1"...)
}

// writeDictionaryChunk writes the new dictionary and the old index pages, their headers without statistics, as a file of one column.
func (r *Rewriter) writeDictionaryChunk(rep *replacement, d *dictionaryChunk, v *dictionaryValues, made *newChunk) error {
	out := made.spill
	if _, err := out.Write([]byte("PAR1")); err != nil {
		return err
	}
	size, err := writeDictionaryPage(out, d, v)
	if err != nil {
		return err
	}
	firstData := out.size
	index := newPageIndex(v)
	for i, p := range d.pages[1:] {
		from := out.size
		n, err := r.writeIndexPage(out, p)
		if err != nil {
			return err
		}
		if size += n; d.uses != nil {
			index.add(from, out.size-from, &d.uses[i])
		}
	}
	meta := d.old.meta.Keep(metaEncodings, metaPath, metaCodec, metaNumValues, metaEncodingStats).WithInt(metaType, thrift.I32, byteArray).
		WithInt(metaUncompressed, thrift.I64, size).WithInt(metaCompressed, thrift.I64, out.size-4).
		WithInt(metaDictionaryAt, thrift.I64, 4).WithInt(metaDataPageAt, thrift.I64, firstData)
	stats := thrift.Struct{}.WithInt(statNullCount, thrift.I64, d.nulls)
	if v.plain != nil && len(v.max) <= maxStatistic && len(v.min) <= maxStatistic {
		stats = stats.WithBytes(statMax, v.max).WithBytes(statMin, v.min)
	}
	meta = meta.WithStruct(metaStatistics, stats)
	var fields thrift.Struct
	if d.uses != nil {
		if fields, err = writePageIndex(out, index, d.old.fields.Has(chunkColumnIndexAt)); err != nil {
			return err
		}
	}
	root := thrift.Struct{}.WithBytes(elemName, []byte("schema")).WithInt(elemChildren, thrift.I32, 1)
	foot := r.miniFooter(thrift.List{Type: thrift.Nested, Items: [][]byte{root.Append(nil), rep.elem}}, fields, meta, d.old.values)
	if _, err := out.Write(endParquet(nil, foot)); err != nil {
		return err
	}
	made.file, err = openParquetFile(out.source(rep.name))
	return err
}

// writePageIndex gives the fields of a column chunk that say where the indexes are.
func writePageIndex(out *spill, x *pageIndex, columns bool) (fields thrift.Struct, err error) {
	put := func(index thrift.Struct, at, size int16) {
		if err != nil || index == nil {
			return
		}
		raw := index.Append(nil)
		fields = fields.WithInt(at, thrift.I64, out.size).WithInt(size, thrift.I32, int64(len(raw)))
		_, err = out.Write(raw)
	}
	if columns {
		put(x.columns(), chunkColumnIndexAt, chunkColumnIndexLen)
	}
	put(x.offsets(), chunkOffsetIndexAt, chunkOffsetIndexLen)
	return fields, err
}

// writeDictionaryPage gives the page's size with its header, not compressed.
func writeDictionaryPage(out io.Writer, d *dictionaryChunk, v *dictionaryValues) (size int64, err error) {
	defer guard(ErrUnsupported, "compressing a dictionary", &err)
	dict := d.pages[0]
	packed := v.plain
	if c := compress.Compression(d.old.codec); c != compress.Codecs.Uncompressed {
		codec, err := compress.GetCodec(c)
		if err != nil {
			return 0, fmt.Errorf("%w: compression %s", ErrUnsupported, c)
		}
		packed = codec.Encode(make([]byte, codec.CompressBound(int64(len(v.plain)))), v.plain)
	}
	inner := thrift.Struct{}.WithInt(headValues, thrift.I32, dict.values).WithInt(headEncoding, thrift.I32, dict.encoding)
	head := pageHeader(dictionaryPage, len(v.plain), len(packed)).WithStruct(pageDictionary, inner)
	if dict.head.Has(pageCRC) {
		head = head.WithInt(pageCRC, thrift.I32, int64(int32(crc32.ChecksumIEEE(packed))))
	}
	raw := head.Append(nil)
	if _, err := out.Write(raw); err != nil {
		return 0, err
	}
	_, err = out.Write(packed)
	return int64(len(raw) + len(v.plain)), err
}

// writeIndexPage copies a page of indices. Its header quotes no value any more; its checksum, which is of the body, stays.
func (r *Rewriter) writeIndexPage(out io.Writer, p *page) (size int64, err error) {
	id, statistics := int16(pageData), int16(headStatistics)
	if p.kind == dataPageV2 {
		id, statistics = pageDataV2, headV2Statistics
	}
	inner, err := p.head.Struct(id)
	if err != nil {
		return 0, err
	}
	head := p.head.Keep(pageType, pageUncompressed, pageCompressed, pageCRC).WithStruct(id, inner.Without(statistics))
	raw := head.Append(nil)
	if _, err := out.Write(raw); err != nil {
		return 0, err
	}
	if _, err := io.Copy(out, io.NewSectionReader(r.file.src, p.body.from, p.body.to-p.body.from)); err != nil {
		return 0, err
	}
	plain, _ := p.head.Int(pageUncompressed)
	return int64(len(raw)) + plain, nil
}
