package tablefile

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// eachChunk calls do for every column chunk, with the index of its top-level column.
func eachChunk(p *parquetFile, do func(i int, raw []byte, c *columnChunk) error) error {
	for g := range p.groups {
		group, err := p.group(g)
		if err != nil {
			return err
		}
		for i, top := range p.tops {
			for leaf := top.leafFrom; leaf < top.leafTo; leaf++ {
				c, err := p.chunk(group, leaf)
				if err == nil {
					err = do(i, group.columns[leaf], c)
				}
				if err != nil {
					return malformed(fmt.Sprintf("column %q", top.name), err)
				}
			}
		}
	}
	return nil
}

// searchParquet looks through all of a file but the pages and bloom filters of columns that stay, which were found equal.
func (v *verifier) searchParquet(ctx context.Context, file *parquetFile) error {
	var skip []span
	err := eachChunk(file, func(i int, raw []byte, c *columnChunk) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, err := walkPages(file.src, c, file.end, nil)
		if err != nil {
			return err
		}
		if v.masked[i] {
			return v.searchPages(file, c, &skip)
		}
		skip = append(skip, span{c.from, end})
		for _, e := range c.extras(file) {
			// The indexes of a column that was encoded anew quote values that were found equal.
			if e.at == metaBloomAt || !v.out.Columns[i].Bytes {
				skip = append(skip, e.span)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := v.searchAround(file.src, skip, file.end); err != nil {
		return err
	}
	return v.searchFooter(file)
}

// searchAround looks through the bytes of a file before end, less some.
func (v *verifier) searchAround(src *source, skip []span, end int64) error {
	at := int64(0)
	for _, s := range append(mergeSpans(skip), span{end, end}) {
		if at < s.from {
			if err := v.needles.findIn(src, span{at, s.from}, needleMin, v.hit); err != nil {
				return err
			}
		}
		at = max(at, s.to)
	}
	return nil
}

// searchFooter looks through the footer, less the statistics of columns that stay and whose bytes differ: they tell of values that were found
// equal. The stored Arrow schema is looked at in clear.
func (v *verifier) searchFooter(file *parquetFile) error {
	v.needles.find(file.foot.Without(fileRowGroups).Append(nil), needleMin, v.hit)
	for g := range file.groups {
		group, err := file.group(g)
		if err != nil {
			return err
		}
		v.needles.find(group.fields.Without(groupColumns).Append(nil), needleMin, v.hit)
	}
	kvs, err := file.foot.Structs(fileKeyValues)
	if err != nil {
		return err
	}
	for _, raw := range kvs.Items {
		kv, _, err := thrift.ReadStruct(raw)
		if err != nil {
			return err
		}
		if key, _ := kv.Bytes(keyValueKey); string(key) == storedKey {
			text, _ := kv.Bytes(keyValueValue)
			v.needles.find(fromBase64(string(text)), needleMin, v.hit)
		}
	}
	return eachChunk(file, func(i int, raw []byte, c *columnChunk) error {
		if !v.masked[i] && !v.out.Columns[i].Bytes {
			raw = c.fields.WithStruct(chunkMeta, c.meta.Without(metaStatistics)).Append(nil)
		}
		v.needles.find(raw, needleMin, v.hit)
		return nil
	})
}

// searchPages looks through the pages of a new column: headers and plain bodies are left to the search of the file, compressed bodies are
// decompressed.
func (v *verifier) searchPages(file *parquetFile, c *columnChunk, skip *[]span) error {
	if compress.Compression(c.codec) == compress.Codecs.Uncompressed {
		return nil
	}
	_, err := walkPages(file.src, c, file.end, func(p *page) error {
		*skip = append(*skip, p.body)
		if err := v.needles.findIn(file.src, p.body, needleMinPacked, v.hit); err != nil {
			return err
		}
		body, err := readBody(file.src, p, c.codec)
		if err != nil {
			return err
		}
		v.needles.find(body, needleMin, v.hit)
		return nil
	})
	return err
}
