package tablefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// Numbers of the fields of parquet.thrift that are used here, by struct.
const (
	fileVersion, fileSchema, fileNumRows, fileRowGroups, fileKeyValues = 1, 2, 3, 4, 5
	fileCreatedBy, fileColumnOrders, fileEncryption, fileFooterSigning = 6, 7, 8, 9
	elemType, elemTypeLength, elemRepetition, elemName, elemChildren   = 1, 2, 3, 4, 5
	elemConverted, elemScale, elemPrecision, elemFieldID, elemLogical  = 6, 7, 8, 9, 10
	groupColumns, groupTotalSize, groupNumRows, groupSorting           = 1, 2, 3, 4
	groupFileOffset, groupCompressedSize, groupOrdinal                 = 5, 6, 7
	chunkFilePath, chunkFileOffset, chunkMeta, chunkOffsetIndexAt      = 1, 2, 3, 4
	chunkOffsetIndexLen, chunkColumnIndexAt, chunkColumnIndexLen       = 5, 6, 7
	chunkCrypto, chunkEncryptedMeta                                    = 8, 9
	metaType, metaEncodings, metaPath, metaCodec, metaNumValues        = 1, 2, 3, 4, 5
	metaUncompressed, metaCompressed, metaDataPageAt, metaIndexPageAt  = 6, 7, 9, 10
	metaDictionaryAt, metaStatistics, metaEncodingStats, metaBloomAt   = 11, 12, 13, 14
	metaBloomLen, metaSizeStatistics, metaGeospatial                   = 15, 16, 17
	statNullCount, statMax, statMin, statMaxExact, statMinExact        = 3, 5, 6, 7, 8
	pageType, pageUncompressed, pageCompressed, pageCRC                = 1, 2, 3, 4
	pageData, pageDictionary, pageDataV2                               = 5, 7, 8
	headValues, headEncoding, headSorted                               = 1, 2, 3
	headDefEncoding, headRepEncoding, headStatistics                   = 3, 4, 5
	headV2Nulls, headV2Rows                                            = 2, 3
	headV2Encoding, headV2DefLength, headV2RepLength                   = 4, 5, 6
	headV2Compressed, headV2Statistics                                 = 7, 8
	locationAt, locationSize                                           = 1, 2
	sortColumn                                                         = 1
	keyValueKey, keyValueValue                                         = 1, 2
	orderType                                                          = 1
)

// maxFooter bounds what is read as a footer, which is held in memory.
const maxFooter = 512 << 20

// span is a range of bytes of a file.
type span struct{ from, to int64 }

func (s span) overlaps(t span) bool { return s.from < t.to && t.from < s.to }

// parquetFile is the footer of a Parquet file, decoded no further than a rewrite needs.
type parquetFile struct {
	src     *source
	end     int64 // where the footer begins
	foot    thrift.Struct
	schema  [][]byte // encoded elements; the first is the root
	tops    []topColumn
	leaves  int
	groups  [][]byte // encoded row groups
	rows    int64
	created string
}

// topColumn is a column of the table with everything nested in it.
type topColumn struct {
	name             string
	elemFrom, elemTo int // its elements of the schema
	leafFrom, leafTo int // its column chunks in every row group
}

// openParquetFile reads and checks the footer. It refuses encrypted files and those whose data lies in others.
func openParquetFile(src *source) (*parquetFile, error) {
	if err := checkParquetMagic(src); err != nil {
		return nil, err
	}
	var tail [4]byte
	if _, err := src.ReadAt(tail[:], src.size-8); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint32(tail[:]))
	if size > src.size-12 || size > maxFooter {
		return nil, fmt.Errorf("reading the footer: %w: it claims %d bytes", ErrMalformed, size)
	}
	buf := make([]byte, size)
	p := &parquetFile{src: src, end: src.size - 8 - size}
	if _, err := src.ReadAt(buf, p.end); err != nil {
		return nil, err
	}
	if err := p.parse(buf); err != nil {
		return nil, malformed("reading the footer", err)
	}
	return p, nil
}

// malformed gives an error of the thrift package its class; others have one.
func malformed(what string, err error) error {
	if errors.Is(err, thrift.ErrShort) || errors.Is(err, thrift.ErrCorrupt) {
		return fmt.Errorf("%s: %w: %w", what, ErrMalformed, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (p *parquetFile) parse(buf []byte) error {
	var err error
	if p.foot, _, err = thrift.ReadStruct(buf); err != nil {
		return err
	}
	if p.foot.Has(fileEncryption) || p.foot.Has(fileFooterSigning) {
		return fmt.Errorf("%w: an encrypted Parquet file (with a plain footer)", ErrUnsupported)
	}
	created, _ := p.foot.Bytes(fileCreatedBy)
	p.created = string(created)
	if err := p.parseSchema(); err != nil {
		return err
	}
	groups, err := p.foot.Structs(fileRowGroups)
	if err != nil {
		return err
	}
	p.groups = groups.Items
	p.rows, _ = p.foot.Int(fileNumRows)
	var rows int64
	for g := range p.groups {
		group, err := p.group(g)
		if err != nil {
			return err
		}
		if group.rows > math.MaxInt64-rows {
			return fmt.Errorf("%w: too many rows", ErrMalformed)
		}
		rows += group.rows
	}
	if rows != p.rows {
		return fmt.Errorf("%w: the footer declares %d rows and its row groups %d", ErrMalformed, p.rows, rows)
	}
	return nil
}

// parseSchema finds which elements and which column chunks belong to each top-level column.
func (p *parquetFile) parseSchema() error {
	l, err := p.foot.Structs(fileSchema)
	if err != nil {
		return err
	}
	if p.schema = l.Items; len(p.schema) == 0 {
		return fmt.Errorf("%w: no schema", ErrMalformed)
	}
	root, _, err := thrift.ReadStruct(p.schema[0])
	if err != nil {
		return err
	}
	children, _ := root.Int(elemChildren)
	at := 1
	for range children {
		top := topColumn{elemFrom: at, leafFrom: p.leaves}
		if top.name, at, err = p.element(at, 0); err != nil {
			return err
		}
		top.elemTo, top.leafTo = at, p.leaves
		p.tops = append(p.tops, top)
	}
	switch {
	case at != len(p.schema):
		return fmt.Errorf("%w: %d elements of the schema belong to no column", ErrMalformed, len(p.schema)-at)
	case len(p.tops) == 0:
		return fmt.Errorf("%w: a table without columns", ErrUnsupported)
	}
	return nil
}

// element walks over the element at and all that is nested in it.
func (p *parquetFile) element(at, depth int) (name string, next int, err error) {
	if at >= len(p.schema) || depth > 100 {
		return "", 0, fmt.Errorf("%w: the schema's elements do not add up", ErrMalformed)
	}
	e, _, err := thrift.ReadStruct(p.schema[at])
	if err != nil {
		return "", 0, err
	}
	text, _ := e.Bytes(elemName)
	children, group := e.Int(elemChildren)
	next = at + 1
	if !group || e.Has(elemType) {
		p.leaves++
		return string(text), next, nil
	}
	for range children {
		if _, next, err = p.element(next, depth+1); err != nil {
			return "", 0, err
		}
	}
	return string(text), next, nil
}

// rowGroup is one row group.
type rowGroup struct {
	fields  thrift.Struct
	rows    int64
	columns [][]byte // encoded column chunks
}

func (p *parquetFile) group(g int) (*rowGroup, error) {
	s, _, err := thrift.ReadStruct(p.groups[g])
	if err != nil {
		return nil, err
	}
	columns, err := s.Structs(groupColumns)
	if err != nil {
		return nil, err
	}
	if len(columns.Items) != p.leaves {
		return nil, fmt.Errorf("%w: row group %d has %d columns where the schema has %d", ErrMalformed, g, len(columns.Items), p.leaves)
	}
	rows, _ := s.Int(groupNumRows)
	if rows < 0 {
		return nil, fmt.Errorf("%w: row group %d declares %d rows", ErrMalformed, g, rows)
	}
	return &rowGroup{s, rows, columns.Items}, nil
}

// columnChunk is one column of one row group.
type columnChunk struct {
	fields thrift.Struct
	meta   thrift.Struct
	span         // its pages, as declared
	values int64 // with NULLs, and with empty lists
	codec  int64
}

// chunk decodes the metadata of a column chunk and checks where its pages lie.
func (p *parquetFile) chunk(group *rowGroup, leaf int) (c *columnChunk, err error) {
	c = &columnChunk{}
	if c.fields, _, err = thrift.ReadStruct(group.columns[leaf]); err != nil {
		return nil, err
	}
	if c.fields.Has(chunkCrypto) || c.fields.Has(chunkEncryptedMeta) {
		return nil, fmt.Errorf("%w: it is encrypted", ErrUnsupported)
	}
	if path, _ := c.fields.Bytes(chunkFilePath); len(path) > 0 {
		return nil, fmt.Errorf("%w: its data lies in another file", ErrUnsupported)
	}
	if c.meta, err = c.fields.Struct(chunkMeta); err != nil {
		return nil, err
	}
	if c.meta == nil {
		return nil, fmt.Errorf("%w: it has no metadata", ErrMalformed)
	}
	c.values, _ = c.meta.Int(metaNumValues)
	c.codec, _ = c.meta.Int(metaCodec)
	size, ok := c.meta.Int(metaCompressed)
	at, ok2 := c.meta.Int(metaDataPageAt)
	if dict, ok := c.meta.Int(metaDictionaryAt); ok && 0 < dict && (dict < at || at == 0) {
		at = dict // a chunk without rows may have no data page
	}
	if !ok || !ok2 || c.values < 0 || size < 0 || at < 4 && size > 0 || at < 0 || size > p.end-at {
		return nil, fmt.Errorf("%w: its column chunk lies outside the file", ErrMalformed)
	}
	c.span = span{at, at + size}
	return c, nil
}

// checkChunks checks the metadata of every column chunk and, when asked to, the checksums of its pages.
func (p *parquetFile) checkChunks(ctx context.Context, checksums bool) error {
	for g := range p.groups {
		group, err := p.group(g)
		if err != nil {
			return malformed("reading the footer", err)
		}
		for leaf := range group.columns {
			if err := ctx.Err(); err != nil {
				return err
			}
			c, err := p.chunk(group, leaf)
			if err == nil && checksums {
				_, err = walkPages(p.src, c, p.end, func(q *page) error { return checkCRC(p.src, q) })
			}
			if err != nil {
				return malformed(fmt.Sprintf("row group %d, column %d", g, leaf), err)
			}
		}
	}
	return nil
}

// verifyChecksums checks all pages of a file.
func verifyChecksums(ctx context.Context, src *source) error {
	p, err := openParquetFile(src)
	if err != nil {
		return err
	}
	return p.checkChunks(ctx, true)
}

// path is the column's path in the schema, for messages.
func (c *columnChunk) path() string {
	l, err := c.meta.List(metaPath)
	if err != nil || l.Type != thrift.Binary {
		return ""
	}
	var text []byte
	for i, item := range l.Items {
		if i > 0 {
			text = append(text, '.')
		}
		text = append(text, thrift.BytesOf(item)...)
	}
	return string(text)
}

// project is a source whose footer has only the named top-level columns and row groups; the pages stay where they are.
func (p *parquetFile) project(tops, groups []int, stored *storedSchema) (*source, error) {
	root, _, err := thrift.ReadStruct(p.schema[0])
	if err != nil {
		return nil, err
	}
	elems := [][]byte{root.WithInt(elemChildren, thrift.I32, int64(len(tops))).Append(nil)}
	for _, t := range tops {
		elems = append(elems, p.schema[p.tops[t].elemFrom:p.tops[t].elemTo]...)
	}
	foot := p.foot.Keep(fileVersion, fileCreatedBy).WithList(fileSchema, thrift.List{Type: thrift.Nested, Items: elems})
	var rows int64
	kept := thrift.List{Type: thrift.Nested}
	for _, g := range groups {
		group, err := p.group(g)
		if err != nil {
			return nil, err
		}
		columns := thrift.List{Type: thrift.Nested}
		for _, t := range tops {
			for _, raw := range group.columns[p.tops[t].leafFrom:p.tops[t].leafTo] {
				raw, err = plainChunk(raw)
				if err != nil {
					return nil, err
				}
				columns.Items = append(columns.Items, raw)
			}
		}
		rows += group.rows
		kept.Items = append(kept.Items, group.fields.Keep(groupTotalSize, groupNumRows, groupCompressedSize).WithList(groupColumns, columns).Append(nil))
	}
	foot = foot.WithInt(fileNumRows, thrift.I64, rows).WithList(fileRowGroups, kept)
	if text, err := stored.project(tops); err != nil {
		return nil, err
	} else if text != nil {
		foot = foot.WithList(fileKeyValues, keyValues(storedKey, text))
	}
	return p.src.withFooter(p.end, foot.Append(nil)), nil
}

// plainChunk is an encoded column chunk with nothing but what reading its pages needs.
func plainChunk(raw []byte) ([]byte, error) {
	c, _, err := thrift.ReadStruct(raw)
	if err != nil {
		return nil, err
	}
	meta, err := c.Struct(chunkMeta)
	if err != nil {
		return nil, err
	}
	c = c.Keep(chunkFilePath, chunkFileOffset, chunkCrypto)
	if meta != nil {
		c = c.WithStruct(chunkMeta, meta.Keep(metaType, metaEncodings, metaPath, metaCodec, metaNumValues, metaUncompressed, metaCompressed,
			metaDataPageAt, metaIndexPageAt, metaDictionaryAt))
	}
	return c.Append(nil), nil
}

func keyValues(key string, value []byte) thrift.List {
	kv := thrift.Struct{}.WithBytes(keyValueKey, []byte(key)).WithBytes(keyValueValue, value)
	return thrift.List{Type: thrift.Nested, Items: [][]byte{kv.Append(nil)}}
}
