package tablefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// richOptions vary how rich writes.
type richOptions struct {
	rows, groups int
	codec        compress.Compression
	version      parquet.DataPageVersion
	plain        bool // no dictionaries
	required     bool
}

// rich writes a file with everything that can quote a value: statistics, page indexes, bloom filters, sorting columns, a stored Arrow schema with
// metadata, key-value metadata. Column "secret" holds texts that contain SECRET, column "keep" others.
func rich(t testing.TB, o richOptions) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rich.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fieldMeta := arrow.NewMetadata([]string{"comment", "PARQUET:field_id"}, []string{"such as SECRET-000001", "7"})
	meta := arrow.NewMetadata([]string{"pandas", "owner"}, []string{`{"min": "SECRET-000001"}`, "SECRET-000002"})
	sc := arrow.NewSchema([]arrow.Field{
		{Name: "first", Type: arrow.PrimitiveTypes.Int64, Nullable: !o.required},
		{Name: "secret", Type: arrow.BinaryTypes.String, Nullable: !o.required, Metadata: fieldMeta},
		{Name: "keep", Type: arrow.BinaryTypes.LargeString, Nullable: !o.required},
		{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, &meta)
	props := parquet.NewWriterProperties(parquet.WithCompression(o.codec), parquet.WithDataPageVersion(o.version), parquet.WithDictionaryDefault(!o.plain),
		parquet.WithDataPageSize(4096), parquet.WithBatchSize(64), parquet.WithPageIndexEnabled(true), parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterNDV(100),
		parquet.WithSortingColumns([]parquet.SortingColumn{{ColumnIdx: 0}, {ColumnIdx: 1}, {ColumnIdx: 2}}))
	w, err := pqarrow.NewFileWriter(sc, f, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	for g := range o.groups {
		b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
		for i := range o.rows {
			null := !o.required && i%5 == 4
			b.Field(0).(*array.Int64Builder).Append(int64(g*o.rows + i))
			secret, keep := b.Field(1).(*array.StringBuilder), b.Field(2).(*array.LargeStringBuilder)
			if null {
				secret.AppendNull()
				keep.AppendNull()
			} else {
				secret.Append(fmt.Sprintf("SECRET-%06d", i%50))
				keep.Append(fmt.Sprintf("plain-%06d", i%70))
			}
			l := b.Field(3).(*array.ListBuilder)
			l.Append(true)
			for range i % 3 {
				l.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprint("item ", i))
			}
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	allCodecs   = []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli, compress.Codecs.Lz4Raw}
	allVersions = []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}
)

// verifyHashed verifies that column "secret" of before is hashed in after.
func verifyHashed(t testing.TB, before, after string) *Verdict {
	t.Helper()
	v, err := Verify(context.Background(), before, after, func(r *Rewriter) ([]Replacement, error) {
		return []Replacement{hashColumn("secret")(r)}, nil
	}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRewriteNothingSurvives(t *testing.T) {
	for _, codec := range allCodecs {
		for _, version := range allVersions {
			for _, plain := range []bool{false, true} {
				for _, required := range []bool{false, true} {
					o := richOptions{600, 3, codec, version, plain, required}
					t.Run(fmt.Sprintf("%s/v%d/plain=%v/required=%v", codec, version+1, plain, required), func(t *testing.T) { rewriteRich(t, o) })
				}
			}
		}
	}
}

func rewriteRich(t *testing.T, o richOptions) {
	in := rich(t, o)
	if b := readText(t, in); o.codec == compress.Codecs.Uncompressed && strings.Count(b, "SECRET") < 50 {
		t.Fatal("the test's file does not hold the values in clear")
	}
	out, w := mustRewrite(t, in, hashColumn("secret"))
	sameChunks(t, in, out, 1)
	want := [3]int{DictionaryOnly: 3}
	if o.codec == compress.Codecs.Uncompressed {
		o.plain = true // the library makes no dictionary when it saves nothing
	}
	if o.plain {
		want = [3]int{Encoded: 3}
	}
	if got := w.Ways[1].Chunks; got != want {
		t.Errorf("column secret: chunks %v, want %v: %s", got, want, w.Ways[1].Why)
	}
	nulls, searched := int64(3*600/5), 40
	if o.required {
		nulls, searched = 0, 50
	}
	if w.NullsIn[1] != nulls || w.NullsOut[1] != nulls {
		t.Errorf("%d NULLs in, %d out, want %d", w.NullsIn[1], w.NullsOut[1], nulls)
	}
	if strings.Contains(readText(t, out), "SECRET") {
		t.Error("an old value is in the new file")
	}
	if v := verifyHashed(t, in, out); !v.OK() || v.Searched != searched || v.Shown != 0 {
		t.Errorf("verify: %+v", v)
	}
	compareHashed(t, "rich", read(t, in, ReadOptions{}), read(t, out, ReadOptions{}), 1)
	checkFooter18(t, in, out, nulls/3)
	checkLocations(t, in)
	checkLocations(t, out)
	pages := 2 // at least: as the old chunk has them
	if o.plain {
		pages = 1
	}
	checkPageIndex(t, out, pages)
}

// checkFooter18 reads the new footer with the library.
func checkFooter18(t *testing.T, in, out string, nulls int64) {
	t.Helper()
	pa, err := file.OpenParquetFile(in, false)
	if err != nil {
		t.Fatal(err)
	}
	defer pa.Close()
	p, err := file.OpenParquetFile(out, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if kv := p.MetaData().KeyValueMetadata(); len(kv) != 1 || kv[0].Key != storedKey {
		t.Errorf("key-value metadata %v", kv)
	}
	if id := p.MetaData().Schema.Column(1).SchemaNode().FieldID(); id != 7 {
		t.Errorf("field id %d", id)
	}
	for g := range p.NumRowGroups() {
		group := p.MetaData().RowGroup(g)
		if s := group.SortingColumns(); len(s) != 1 || s[0].ColumnIdx != 0 {
			t.Errorf("sorting columns %v", s)
		}
		old, err := pa.MetaData().RowGroup(g).ColumnChunk(2)
		if err != nil {
			t.Fatal(err)
		}
		keep, err := group.ColumnChunk(2)
		if err != nil {
			t.Fatal(err)
		}
		statsA, errA := old.Statistics()
		statsB, errB := keep.Statistics()
		if errA != nil || errB != nil || !bytes.Equal(statsA.EncodeMin(), statsB.EncodeMin()) || !bytes.Equal(statsA.EncodeMax(), statsB.EncodeMax()) || statsA.NullCount() != statsB.NullCount() {
			t.Errorf("statistics of a column that stays: %v, %v", errA, errB)
		}
		if old.BloomFilterOffset() == 0 || !bytes.Equal(bloom(t, in, old.BloomFilterOffset(), old.BloomFilterLength()), bloom(t, out, keep.BloomFilterOffset(), keep.BloomFilterLength())) {
			t.Error("the bloom filter of a column that stays differs")
		}
		secret, err := group.ColumnChunk(1)
		if err != nil {
			t.Fatal(err)
		}
		if secret.BloomFilterOffset() != 0 {
			t.Error("the new column has a bloom filter")
		}
		stats, err := secret.Statistics()
		if err != nil || stats == nil || stats.NullCount() != nulls || !stats.HasMinMax() || len(stats.EncodeMin()) != 64 {
			t.Errorf("statistics of the new column: %v, %v", stats, err)
		}
	}
}

func bloom(t *testing.T, path string, at int64, size int32) []byte {
	t.Helper()
	b := []byte(readText(t, path))
	return b[at : at+int64(size)]
}

// checkLocations checks that every offset index leads to the data pages, in order, and that all columns have their column indexes.
func checkLocations(t *testing.T, path string) {
	t.Helper()
	p := footOf(t, path)
	err := eachChunk(p, func(_ int, _ []byte, c *columnChunk) error {
		var found []int64
		for _, e := range c.extras(p) {
			if e.at != chunkOffsetIndexAt {
				continue
			}
			index, err := readIndex(p.src, e.span, p.end)
			if err != nil {
				return err
			}
			l, err := index.Structs(1)
			if err != nil {
				return err
			}
			for _, raw := range l.Items {
				loc, _, err := thrift.ReadStruct(raw)
				if err != nil {
					return err
				}
				at, _ := loc.Int(locationAt)
				found = append(found, at)
			}
		}
		var want []int64
		_, err := walkPages(p.src, c, p.end, func(q *page) error {
			if q.isData() {
				want = append(want, q.from)
			}
			return nil
		})
		if !slices.Equal(found, want) {
			t.Errorf("%s: the offset index has pages at %v, they are at %v", c.path(), found, want)
		}
		if !c.fields.Has(chunkColumnIndexAt) {
			t.Errorf("%s: no column index", c.path())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkPageIndex compares the page index of column "secret", as the library reads it, with the values of the rows that it says are on each page.
func checkPageIndex(t *testing.T, path string, least int) {
	t.Helper()
	p, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	values := cells(t, read(t, path, ReadOptions{}), "secret")
	for g := range p.NumRowGroups() {
		group, err := p.GetPageIndexReader().RowGroup(g)
		if err != nil {
			t.Fatal(err)
		}
		index, err := group.GetColumnIndex(1)
		if err != nil || index == nil {
			t.Fatalf("no column index: %v", err)
		}
		offsets, err := group.GetOffsetIndex(1)
		if err != nil {
			t.Fatal(err)
		}
		pages := offsets.GetPageLocations()
		rows := p.MetaData().RowGroup(g).NumRows()
		if len(pages) < least || len(index.GetNullPages()) != len(pages) {
			t.Fatalf("%d pages, %d in the column index", len(pages), len(index.GetNullPages()))
		}
		var lows, highs []string
		for i, page := range pages {
			to := rows
			if i+1 < len(pages) {
				to = pages[i+1].FirstRowIndex
			}
			own := slices.Clone(values[page.FirstRowIndex:to])
			all := len(own)
			own = slices.DeleteFunc(own, func(s string) bool { return s == array.NullValueStr })
			low, high := slices.Min(own), slices.Max(own)
			lows, highs = append(lows, low), append(highs, high)
			if index.IsSetNullCounts() && index.GetNullCounts()[i] != int64(all-len(own)) {
				t.Errorf("row group %d, page %d: %d NULLs, want %d", g, i, index.GetNullCounts()[i], all-len(own))
			}
			if got, got2 := string(index.GetMinValues()[i]), string(index.GetMaxValues()[i]); got != low || got2 != high || index.GetNullPages()[i] {
				t.Errorf("row group %d, page %d, rows %d to %d: from %q to %q, want %q to %q", g, i, page.FirstRowIndex, to, got, got2, low, high)
			}
		}
		sorted := slices.IsSorted(lows) && slices.IsSorted(highs)
		if order := index.GetBoundaryOrder(); sorted != (order == metadata.Ascending) {
			t.Errorf("row group %d: boundary order %v, sorted %v", g, order, sorted)
		}
		values = values[rows:]
	}
}

func TestRewriteNullableChange(t *testing.T) {
	in := rich(t, richOptions{rows: 600, groups: 2, codec: compress.Codecs.Snappy, required: true})
	out, w := mustRewrite(t, in, func(r *Rewriter) Replacement {
		field := r.Schema().Field(1)
		field.Nullable = true
		return Replacement{Column: 1, Field: field, PerValue: true, Apply: alone(func(_ context.Context, old arrow.Array) (arrow.Array, error) {
			return array.MakeArrayOfNull(memory.DefaultAllocator, old.DataType(), old.Len()), nil
		})}
	})
	if w.NullsIn[1] != 0 || w.NullsOut[1] != 1200 || w.Ways[1].Chunks != [3]int{Encoded: 2} {
		t.Errorf("%d NULLs became %d: %v", w.NullsIn[1], w.NullsOut[1], w.Ways[1])
	}
	tbl := read(t, out, ReadOptions{})
	if f := tbl.Schema().Field(1); !f.Nullable || tbl.Column(1).NullN() != 1200 {
		t.Errorf("%s with %d NULLs", f, tbl.Column(1).NullN())
	}
	stored := footOf(t, out).readStored()
	if stored == nil || !stored.fields[1].Nullable || stored.fields[0].Nullable {
		t.Errorf("stored Arrow schema: %v", stored)
	}
	if strings.Contains(readText(t, out), "SECRET") {
		t.Error("an old value is in the new file")
	}
}

// A footer may have one column point into the pages of another, or its indexes and filters. Bytes of a replaced column are never copied.
func TestRewriteSharedBytes(t *testing.T) {
	in := rich(t, richOptions{rows: 600, groups: 1, codec: compress.Codecs.Uncompressed})
	p := footOf(t, in)
	group, err := p.group(0)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := p.chunk(group, 1)
	if err != nil {
		t.Fatal(err)
	}
	keep, err := p.chunk(group, 2)
	if err != nil {
		t.Fatal(err)
	}
	pages := []int16{metaDataPageAt, metaDictionaryAt, metaCompressed, metaNumValues}
	for name, change := range map[string]func() thrift.Struct{
		"pages": func() thrift.Struct {
			meta := keep.meta
			for _, id := range pages {
				v, _ := secret.meta.Int(id)
				meta = meta.WithInt(id, thrift.I64, v)
			}
			return keep.fields.WithStruct(chunkMeta, meta)
		},
		"bloom filter": func() thrift.Struct {
			at, _ := secret.meta.Int(metaBloomAt)
			return keep.fields.WithStruct(chunkMeta, keep.meta.WithInt(metaBloomAt, thrift.I64, at))
		},
		"column index": func() thrift.Struct {
			at, _ := secret.fields.Int(chunkColumnIndexAt)
			size, _ := secret.fields.Int(chunkColumnIndexLen)
			return keep.fields.WithInt(chunkColumnIndexAt, thrift.I64, at).WithInt(chunkColumnIndexLen, thrift.I32, size)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := withChunk(t, in, p, group, 2, change())
			_, _, err := rewrite(t, path, ReadOptions{}, hashColumn("secret"))
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "shares bytes") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// withChunk writes a copy of a file of one row group with another column chunk in its footer.
func withChunk(t *testing.T, in string, p *parquetFile, group *rowGroup, leaf int, chunk thrift.Struct) string {
	t.Helper()
	columns := append([][]byte{}, group.columns...)
	columns[leaf] = chunk.Append(nil)
	g := group.fields.WithList(groupColumns, thrift.List{Type: thrift.Nested, Items: columns})
	foot := p.foot.WithList(fileRowGroups, thrift.List{Type: thrift.Nested, Items: [][]byte{g.Append(nil)}})
	path := filepath.Join(t.TempDir(), "changed.parquet")
	if err := os.WriteFile(path, endParquet([]byte(readText(t, in))[:p.end], foot), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Checksums are verified on request only; the new file keeps those of what is copied.
func TestRewriteChecksums(t *testing.T) {
	root := sharedDir(t, "data", "parquet-testing", "data")
	for name, good := range map[string]bool{
		"datapage_v1-corrupt-checksum.parquet":           false,
		"rle-dict-uncompressed-corrupt-checksum.parquet": false,
		"datapage_v1-snappy-compressed-checksum.parquet": true,
		"datapage_v1-uncompressed-checksum.parquet":      true,
		"plain-dict-uncompressed-checksum.parquet":       true,
		"rle-dict-snappy-checksum.parquet":               true,
	} {
		path := filepath.Join(root, name)
		out, _, err := rewrite(t, path, ReadOptions{VerifyChecksums: true})
		if good != (err == nil) || !good && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := tryRead(path, ReadOptions{VerifyChecksums: true}); good != (err == nil) || !good && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: reading: %v", name, err)
		}
		if out2, _, err := rewrite(t, path, ReadOptions{}); err != nil {
			t.Errorf("%s: without verifying: %v", name, err)
		} else if _, _, err := rewrite(t, out2, ReadOptions{VerifyChecksums: true}); good != (err == nil) {
			t.Errorf("%s: the new file: %v", name, err)
		}
		if good {
			checkCRCs(t, path, out)
		}
	}
}

// checkCRCs checks that the same pages have checksums in both files, and some do.
func checkCRCs(t *testing.T, a, b string) {
	t.Helper()
	var have [2][]bool
	for i, path := range []string{a, b} {
		p := footOf(t, path)
		err := eachChunk(p, func(_ int, _ []byte, c *columnChunk) error {
			_, err := walkPages(p.src, c, p.end, func(q *page) error {
				have[i] = append(have[i], q.head.Has(pageCRC))
				return nil
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(have[0], have[1]) || !slices.Contains(have[0], true) {
		t.Errorf("%s: pages with checksums %v, in the new file %v", a, have[0], have[1])
	}
}

// The dictionary of a column of bytes is replaced in a file with checksums: the new dictionary has a right one.
func TestRewriteDictionaryChecksum(t *testing.T) {
	root := sharedDir(t, "data", "parquet-testing", "data")
	for _, name := range []string{"plain-dict-uncompressed-checksum.parquet", "rle-dict-snappy-checksum.parquet"} {
		path := filepath.Join(root, name)
		out, w := mustRewrite(t, path, func(r *Rewriter) Replacement {
			i := 1 // binary
			return hashed(i, r.Schema().Field(i))
		})
		if w.Ways[1].Chunks[DictionaryOnly] == 0 {
			t.Errorf("%s: %+v", name, w.Ways[1])
		}
		checkCRCs(t, path, out)
		if _, _, err := rewrite(t, out, ReadOptions{VerifyChecksums: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Why a dictionary is not replaced alone.
func TestRewriteFallbacks(t *testing.T) {
	in := rich(t, richOptions{rows: 600, groups: 1, codec: compress.Codecs.Snappy})
	few := rich(t, richOptions{rows: 40, groups: 1, codec: compress.Codecs.Snappy, required: true})
	base := hashColumn("secret")
	for name, c := range map[string]struct {
		path   string
		change func(*Replacement)
		why    string
	}{
		"not per value": {in, func(r *Replacement) { r.PerValue = false }, whyNotPerValue},
		"another type": {in, func(r *Replacement) {
			r.Field.Type = arrow.PrimitiveTypes.Int64
			r.Apply = alone(func(_ context.Context, old arrow.Array) (arrow.Array, error) {
				return array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, old.Len()), nil
			})
		}, whyType},
		"nullable": {few, func(r *Replacement) { r.Field.Nullable = true }, whyNullable},
		"NULL to a value": {in, func(r *Replacement) {
			r.Apply = alone(func(_ context.Context, old arrow.Array) (arrow.Array, error) { return constant(old, false), nil })
		}, whyNullMade},
		"different values the same": {in, func(r *Replacement) {
			r.Apply = alone(func(_ context.Context, old arrow.Array) (arrow.Array, error) {
				return constant(old, old.NullN() == old.Len()), nil
			})
		}, whyMerged},
		"value to NULL": {in, func(r *Replacement) {
			r.Apply = alone(func(_ context.Context, old arrow.Array) (arrow.Array, error) { return constant(old, true), nil })
		}, whyMadeNull},
	} {
		rep := func(r *Rewriter) Replacement { x := base(r); c.change(&x); return x }
		_, w := mustRewrite(t, c.path, rep)
		if got := w.Ways[1]; got.Chunks != [3]int{Encoded: 1} || got.Why != c.why {
			t.Errorf("%s: %+v, want %q", name, got, c.why)
		}
		r, err := OpenRewriter(context.Background(), c.path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ways, err := r.Ways(context.Background(), []Replacement{rep(r)})
		if err != nil || ways[1] != w.Ways[1] || ways[0] != w.Ways[0] || ways[3] != w.Ways[3] {
			t.Errorf("%s: Ways says %+v, done was %+v, %v", name, ways, w.Ways, err)
		}
		r.Close()
	}
}

// constant is as many texts, or NULLs.
func constant(old arrow.Array, null bool) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for range old.Len() {
		if null {
			b.AppendNull()
		} else {
			b.Append("x")
		}
	}
	return b.NewArray()
}

// What fails leaves no file, under any name.
func TestRewriteFailuresLeaveNothing(t *testing.T) {
	for _, plain := range []bool{false, true} {
		in := rich(t, richOptions{rows: 600, groups: 4, codec: compress.Codecs.Snappy, plain: plain})
		ctx, cancel := context.WithCancel(context.Background())
		boom := errors.New("boom")
		for name, apply := range map[string]func(context.Context, arrow.Array) (arrow.Array, error){
			"error": func(context.Context, arrow.Array) (arrow.Array, error) { return nil, boom },
			"too few": func(_ context.Context, a arrow.Array) (arrow.Array, error) {
				return array.NewSlice(a, 0, int64(a.Len()-1)), nil
			},
			"wrong type": func(_ context.Context, a arrow.Array) (arrow.Array, error) {
				return array.MakeArrayOfNull(memory.DefaultAllocator, arrow.Null, a.Len()), nil
			},
			"a panic":   func(context.Context, arrow.Array) (arrow.Array, error) { panic("SECRET") },
			"cancelled": func(ctx context.Context, a arrow.Array) (arrow.Array, error) { cancel(); return nil, ctx.Err() },
		} {
			dir := t.TempDir()
			r, err := OpenRewriter(context.Background(), in, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			field := r.Schema().Field(1)
			use := context.Background()
			if name == "cancelled" {
				use = ctx
			}
			_, err = r.Rewrite(use, filepath.Join(dir, "out.parquet"), []Replacement{{Column: 1, Field: field, PerValue: true, Apply: alone(apply)}}, RewriteOptions{})
			if err == nil || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s: error %v", name, err)
			}
			if name == "error" && !errors.Is(err, boom) || name == "cancelled" && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v", name, err)
			}
			if names := namesIn(t, dir); len(names) != 0 {
				t.Errorf("%s left %v", name, names)
			}
			r.Close()
		}
	}
}

func TestRewriteRefusals(t *testing.T) {
	in := rich(t, richOptions{rows: 10, groups: 1, codec: compress.Codecs.Snappy})
	twice := func(r *Rewriter) Replacement { return hashColumn("secret")(r) }
	for name, reps := range map[string][]func(*Rewriter) Replacement{
		"replaced twice":            {twice, twice},
		"a nested column cannot be": {func(r *Rewriter) Replacement { return hashed(3, r.Schema().Field(3)) }},
	} {
		if _, _, err := rewrite(t, in, ReadOptions{}, reps...); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := OpenRewriter(context.Background(), in, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Rewrite(context.Background(), in, nil, RewriteOptions{Overwrite: true, Inputs: []string{in}}); !errors.Is(err, ErrSameFile) {
		t.Errorf("onto itself: %v", err)
	}
}

// A dictionary that tells more than its rows is not replaced alone: values that no row has tell, even masked, of what was there, an order other
// than that of the rows may be the order of the old values.
func TestRewriteDictionaryThatTellsMore(t *testing.T) {
	values := []string{"SECRET-A", "SECRET-B", "SECRET-C"}
	for name, c := range map[string]struct {
		indices string
		way     Way
		why     string
	}{
		"all used":         {"[0, 1, 2, null, 1]", DictionaryOnly, ""},
		"one is not":       {"[0, 2, 2, null, 0]", Encoded, whyUnused},
		"order of its own": {"[1, 0, 2, null, 1]", Encoded, whyShuffled},
	} {
		typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		dict, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(`["`+strings.Join(values, `","`)+`"]`))
		if err != nil {
			t.Fatal(err)
		}
		indices, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, strings.NewReader(c.indices))
		if err != nil {
			t.Fatal(err)
		}
		sc := arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ, Nullable: true}}, nil)
		batch := array.NewRecordBatch(sc, []arrow.Array{array.NewDictionaryArray(typ, indices, dict)}, 5)
		in := write(t, "dict.parquet", WriteOptions{}, batch)
		out, w := mustRewrite(t, in, func(r *Rewriter) Replacement {
			x := hashed(0, r.Schema().Field(0))
			return x
		})
		if w.Ways[0].Chunks[c.way] != 1 || c.way == Encoded && w.Ways[0].Why != c.why {
			t.Errorf("%s: %+v", name, w.Ways[0])
		}
		if s := readText(t, out); strings.Contains(s, hashText("SECRET-B")) != (c.why != whyUnused) {
			t.Errorf("%s: the hash of SECRET-B in the new file: %v", name, c.why == whyUnused)
		}
		if w.NullsIn[0] != 1 || w.NullsOut[0] != 1 {
			t.Errorf("%s: %d NULLs in, %d out", name, w.NullsIn[0], w.NullsOut[0])
		}
	}
}

// The runs are decoded as the format describes them.
func TestRuns(t *testing.T) {
	for name, c := range map[string]struct {
		b     []byte
		width uint
		count int64
		want  []uint32 // nil: an error
	}{
		"the format's example": {[]byte{0x03, 0x88, 0xc6, 0xfa}, 3, 8, []uint32{0, 1, 2, 3, 4, 5, 6, 7}},
		"a run":                {[]byte{0x08, 0x05}, 3, 4, []uint32{5, 5, 5, 5}},
		"a long run":           {[]byte{0x08, 0x05}, 3, 2, []uint32{5, 5}},
		"two bytes":            {[]byte{0x04, 0x34, 0x12}, 13, 2, []uint32{0x1234, 0x1234}},
		"no bits":              {[]byte{0x06}, 0, 3, []uint32{0, 0, 0}},
		"run and pack":         {[]byte{0x02, 0x01, 0x03, 0xaa}, 1, 9, []uint32{1, 0, 1, 0, 1, 0, 1, 0, 1}},
		"cut group":            {[]byte{0x03, 0x88}, 3, 2, []uint32{0, 1}},
		"cut too short":        {[]byte{0x03, 0x88}, 3, 3, nil},
		"no run":               {[]byte{0x00, 0x01}, 1, 1, nil},
		"nothing":              {nil, 1, 1, nil},
		"32 bits":              {[]byte{0x03, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0x80}, 32, 3, []uint32{1, 0xffffffff, 0x80000003}},
		"many groups":          {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 1, 3, nil},
	} {
		var got []uint32
		r := runs{b: c.b, width: c.width}
		err := r.read(c.count, func(v uint32, n int64) error {
			for range n {
				got = append(got, v)
			}
			return nil
		})
		if c.want == nil && !errors.Is(err, errIndices) || c.want != nil && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}
