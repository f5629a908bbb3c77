package tablefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

var (
	// ErrDiffers: two files do not have the same rows, columns or values where they must.
	ErrDiffers = errors.New("the files differ")
	// ErrSurvives: a value of a column that was replaced is in the new file.
	ErrSurvives = errors.New("an old value is in the new file")
)

// Verdict is what a comparison of two files found.
type Verdict struct {
	Rows    int64
	Columns []ColumnVerdict
	// Searched is how many different values of replaced columns were looked for in the bytes of the new file. Shown is how many of them the new
	// values hold themselves, whole: Apply left them as they were, or they are part of a new value by chance. They are not looked for elsewhere.
	Searched, Shown int
	// Survived is how many others were found; then Err wraps ErrSurvives.
	Survived int
	Err      error // of the search, or of what concerns the whole file
}

// ColumnVerdict is what was found of one column.
type ColumnVerdict struct {
	Name     string
	Replaced bool
	Bytes    bool  // every chunk is equal byte for byte
	Err      error // nil: equal, or equal to what Apply makes of the old values
}

// OK says whether nothing is wrong.
func (v *Verdict) OK() bool {
	return v.Err == nil && !slices.ContainsFunc(v.Columns, func(c ColumnVerdict) bool { return c.Err != nil })
}

// Verify proves that the Parquet file after is before with some columns replaced. It checks that both have the same columns and rows; that all other
// columns are equal, byte for byte or at least by value; that the new columns are what Apply makes of the old ones; and that no old value of text
// or binary with more than 4 bytes is anywhere in after: not in what is outside its pages (footer, indexes, filters, gaps), nor in the pages
// of the new columns, compressed or not. The pages of other columns may of course hold equal values of their own. An error is returned when
// the files cannot be compared; what a comparison finds is in the verdict.
func Verify(ctx context.Context, before, after string, reps func(*Rewriter) ([]Replacement, error), opts ReadOptions) (*Verdict, error) {
	a, err := OpenRewriter(ctx, before, opts)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := OpenRewriter(ctx, after, opts)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	all, err := reps(a)
	if err != nil {
		return nil, err
	}
	plan, err := a.plan(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", before, err)
	}
	v := &verifier{a: a, b: b, plan: plan, needles: newNeedles(), shown: map[uint64]bool{}, excused: map[uint64]bool{}}
	return v.verify(ctx)
}

type verifier struct {
	a, b    *Rewriter
	plan    *rewritePlan
	needles *needles
	shown   map[uint64]bool // needles that new values hold
	excused map[uint64]bool // needles that names and statistics of other columns hold
	out     Verdict
}

func (v *verifier) verify(ctx context.Context) (*Verdict, error) {
	out := &v.out
	out.Rows = v.b.NumRows()
	if v.a.NumRows() != v.b.NumRows() || len(v.a.file.tops) != len(v.b.file.tops) {
		out.Err = fmt.Errorf("%w: %d rows and %d columns became %d and %d", ErrDiffers, v.a.NumRows(), len(v.a.file.tops), v.b.NumRows(), len(v.b.file.tops))
		return out, nil
	}
	out.Columns = make([]ColumnVerdict, len(v.a.file.tops))
	for i, top := range v.a.file.tops {
		c := &out.Columns[i]
		c.Name, c.Replaced = top.name, v.plan.reps[i] != nil
		switch {
		case v.b.file.tops[i].name != top.name:
			c.Err = fmt.Errorf("%w: it is column %q in the new file", ErrDiffers, v.b.file.tops[i].name)
		case c.Replaced:
			c.Err = v.compare(ctx, i, v.plan.reps[i])
		default:
			if c.Bytes, c.Err = v.sameBytes(i); c.Err == nil && !c.Bytes {
				c.Err = v.compare(ctx, i, nil)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if out.Searched = len(v.needles.set); out.Searched == 0 {
		return out, nil
	}
	if err := v.search(ctx); err != nil {
		return nil, err
	}
	out.Shown = len(v.shown)
	if out.Survived > 0 {
		out.Err = fmt.Errorf("%w: %d of the %d values of columns that were replaced", ErrSurvives, out.Survived, out.Searched)
	}
	return out, nil
}

// sameBytes says whether a column has the same type and its pages the same bytes in both files.
func (v *verifier) sameBytes(i int) (bool, error) {
	s, t := v.a.file.tops[i], v.b.file.tops[i]
	if !slices.EqualFunc(v.a.file.schema[s.elemFrom:s.elemTo], v.b.file.schema[t.elemFrom:t.elemTo], bytes.Equal) || len(v.a.file.groups) != len(v.b.file.groups) {
		return false, nil
	}
	for g := range v.a.file.groups {
		ga, err := v.a.file.group(g)
		if err != nil {
			return false, err
		}
		gb, err := v.b.file.group(g)
		if err != nil || ga.rows != gb.rows {
			return false, err
		}
		for k := range s.leafTo - s.leafFrom {
			ca, err := v.a.file.chunk(ga, s.leafFrom+k)
			if err != nil {
				return false, err
			}
			cb, err := v.b.file.chunk(gb, t.leafFrom+k)
			if err != nil {
				return false, err
			}
			if same, err := v.samePages(ca, cb); !same || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func (v *verifier) samePages(a, b *columnChunk) (bool, error) {
	toA, err := walkPages(v.a.file.src, a, v.a.file.end, nil)
	if err != nil {
		return false, err
	}
	toB, err := walkPages(v.b.file.src, b, v.b.file.end, nil)
	if err != nil {
		return false, err
	}
	if a.values != b.values || a.codec != b.codec || toA-a.from != toB-b.from {
		return false, nil
	}
	var bufs [2][64 << 10]byte
	for at := int64(0); at < toA-a.from; {
		n := min(int64(len(bufs[0])), toA-a.from-at)
		x, y := bufs[0][:n], bufs[1][:n]
		if _, err := v.a.file.src.ReadAt(x, a.from+at); err != nil {
			return false, err
		}
		if _, err := v.b.file.src.ReadAt(y, b.from+at); err != nil {
			return false, err
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
		at += n
	}
	return true, nil
}

// compare compares the values of a column, those of the old file replaced when rep is not nil. The old ones are then remembered, to be looked for.
func (v *verifier) compare(ctx context.Context, i int, rep *replacement) error {
	ra, err := v.a.Columns(ctx, i)
	if err != nil {
		return err
	}
	defer ra.Close()
	rb, err := v.b.Columns(ctx, i)
	if err != nil {
		return err
	}
	defer rb.Close()
	want := &cursor{r: ra, change: func(old arrow.Array) (arrow.Array, error) {
		if rep == nil {
			old.Retain()
			return old, nil
		}
		v.needles.addColumn(old)
		return rep.apply(ctx, old)
	}}
	got := &cursor{r: rb, change: func(a arrow.Array) (arrow.Array, error) { a.Retain(); return a, nil }}
	defer want.free()
	defer got.free()
	defer want.drain() // the values after a difference are looked for too
	for row := int64(0); ; {
		more, err := want.fill(ctx)
		if err != nil {
			return err
		}
		more2, err := got.fill(ctx)
		if err != nil {
			return err
		}
		if !more && !more2 {
			return nil
		}
		if more != more2 {
			return fmt.Errorf("%w: one of them ends after row %d", ErrDiffers, row)
		}
		n := min(want.left(), got.left())
		if !sameValues(want.take(n), got.take(n)) {
			for want.back(n, got); sameValues(want.take(1), got.take(1)); {
				row++
			}
			return fmt.Errorf("%w: in row %d", ErrDiffers, row+1)
		}
		row += n
	}
}

// sameValues compares and releases two arrays. NaNs are equal.
func sameValues(a, b arrow.Array) bool {
	defer a.Release()
	defer b.Release()
	if !arrow.TypeEqual(a.DataType(), b.DataType()) || a.Len() != b.Len() {
		return false
	}
	return array.ApproxEqual(a, b, array.WithNaNsEqual(true), array.WithAbsTolerance(0))
}

// cursor reads a column of one file in parts of any length, without dictionaries and views, which the other file need not have.
type cursor struct {
	r      Reader
	change func(arrow.Array) (arrow.Array, error)
	now    arrow.Array
	from   int64
}

func (c *cursor) left() int64 { return int64(c.now.Len()) - c.from }

// fill makes sure that there are rows; it says false at the end.
func (c *cursor) fill(ctx context.Context) (bool, error) {
	for c.now == nil || c.left() == 0 {
		c.free()
		batch, err := c.r.Next()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		changed, err := c.change(batch.Column(0))
		batch.Release()
		if err != nil {
			return false, err
		}
		c.now, err = plainArray(ctx, changed)
		changed.Release()
		if err != nil {
			return false, err
		}
		c.from = 0
	}
	return true, nil
}

func (c *cursor) take(n int64) arrow.Array {
	c.from += n
	return array.NewSlice(c.now, c.from-n, c.from)
}

// back takes the last n rows of both back.
func (c *cursor) back(n int64, other *cursor) {
	c.from -= n
	other.from -= n
}

// drain reads to the end.
func (c *cursor) drain() {
	for {
		batch, err := c.r.Next()
		if err != nil {
			return
		}
		changed, err := c.change(batch.Column(0))
		batch.Release()
		if err != nil {
			return
		}
		changed.Release()
	}
}

func (c *cursor) free() {
	if c.now != nil {
		c.now.Release()
		c.now = nil
	}
}

// plainArray is an array without dictionary, views, extension type and 64-bit offsets.
func plainArray(ctx context.Context, a arrow.Array) (arrow.Array, error) {
	switch t := a.(type) {
	case *array.Dictionary:
		dense, err := compute.TakeArray(ctx, t.Dictionary(), t.Indices())
		if err != nil {
			return nil, wrap(ErrUnsupported, "comparing", err)
		}
		defer dense.Release()
		return plainArray(ctx, dense)
	case *array.StringView:
		return copyViews(t, arrow.BinaryTypes.String)
	case *array.BinaryView:
		return copyViews(t, arrow.BinaryTypes.Binary)
	case array.ExtensionArray:
		return plainArray(ctx, t.Storage())
	case *array.LargeString, *array.LargeBinary:
		to := arrow.BinaryTypes.Binary
		if a.DataType().ID() == arrow.LARGE_STRING {
			to = arrow.BinaryTypes.String
		}
		return compute.CastArray(ctx, a, compute.SafeCastOptions(to))
	}
	a.Retain()
	return a, nil
}

// search looks for old values in the new file.
func (v *verifier) search(ctx context.Context) error {
	for i, rep := range v.plan.reps {
		if rep == nil || v.out.Columns[i].Err != nil {
			continue
		}
		if err := v.searchValues(ctx, i); err != nil {
			return err
		}
	}
	if err := v.excuse(); err != nil {
		return err
	}
	survived := map[uint64]bool{}
	hit := func(h uint64) {
		if !v.shown[h] && !v.excused[h] {
			survived[h] = true
		}
	}
	if err := v.searchFile(ctx, hit); err != nil {
		return err
	}
	v.out.Survived = len(survived)
	return nil
}

// searchValues finds the old values that the new ones hold.
func (v *verifier) searchValues(ctx context.Context, i int) error {
	r, err := v.b.Columns(ctx, i)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values, err := plainArray(ctx, batch.Column(0))
		batch.Release()
		if err != nil {
			return err
		}
		eachValue(values, func(value []byte) {
			v.needles.find(value, needleMin, func(h uint64) { v.shown[h] = true })
		})
		values.Release()
	}
}

// excuse finds the old values that the old file holds in the names of columns and in the metadata of columns that stay: what is copied of those is
// their own.
func (v *verifier) excuse() error {
	hit := func(h uint64) { v.excused[h] = true }
	for _, e := range v.a.file.schema {
		v.needles.find(e, needleMin, hit)
	}
	v.needles.find([]byte(v.a.file.created), needleMin, hit)
	return v.eachStaying(v.a, func(raw []byte, c *columnChunk) error {
		v.needles.find(raw, needleMin, hit)
		for _, e := range c.extras(v.a.file) {
			if e.at == metaBloomAt {
				continue
			}
			if err := v.needles.findIn(v.a.file.src, e.span, needleMin, hit); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachStaying calls do for every column chunk of columns that are not replaced.
func (v *verifier) eachStaying(r *Rewriter, do func(raw []byte, c *columnChunk) error) error {
	return eachChunk(r.file, func(i int, raw []byte, c *columnChunk) error {
		if v.plan.reps[i] != nil {
			return nil
		}
		return do(raw, c)
	})
}

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

// searchFile looks through all of the new file but the pages and bloom filters of columns that stay, which were found equal.
func (v *verifier) searchFile(ctx context.Context, hit func(uint64)) error {
	file := v.b.file
	var skip []span // sorted and merged below
	err := eachChunk(file, func(i int, raw []byte, c *columnChunk) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, err := walkPages(file.src, c, file.end, nil)
		if err != nil {
			return err
		}
		if v.plan.reps[i] == nil {
			skip = append(skip, span{c.from, end})
			for _, e := range c.extras(file) {
				if e.at == metaBloomAt {
					skip = append(skip, e.span)
				}
			}
			return nil
		}
		return v.searchPages(c, hit, &skip)
	})
	if err != nil {
		return err
	}
	at := int64(0)
	for _, s := range append(mergeSpans(skip), span{file.end, file.end}) {
		if at < s.from {
			if err := v.needles.findIn(file.src, span{at, s.from}, needleMin, hit); err != nil {
				return err
			}
		}
		at = max(at, s.to)
	}
	return v.searchFooter(hit)
}

// searchFooter looks through the footer, less the statistics of columns that stay and whose bytes differ: they tell of values that were found
// equal. The stored Arrow schema is looked at in clear.
func (v *verifier) searchFooter(hit func(uint64)) error {
	file := v.b.file
	v.needles.find(file.foot.Without(fileRowGroups).Append(nil), needleMin, hit)
	for g := range file.groups {
		group, err := file.group(g)
		if err != nil {
			return err
		}
		v.needles.find(group.fields.Without(groupColumns).Append(nil), needleMin, hit)
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
			v.needles.find(fromBase64(string(text)), needleMin, hit)
		}
	}
	return eachChunk(file, func(i int, raw []byte, c *columnChunk) error {
		if v.plan.reps[i] == nil && !v.out.Columns[i].Bytes {
			raw = c.fields.WithStruct(chunkMeta, c.meta.Without(metaStatistics)).Append(nil)
		}
		v.needles.find(raw, needleMin, hit)
		return nil
	})
}

// searchPages looks through the pages of a new column: headers and plain bodies are left to the search of the file, compressed bodies are
// decompressed.
func (v *verifier) searchPages(c *columnChunk, hit func(uint64), skip *[]span) error {
	if compress.Compression(c.codec) == compress.Codecs.Uncompressed {
		return nil
	}
	file := v.b.file
	_, err := walkPages(file.src, c, file.end, func(p *page) error {
		*skip = append(*skip, p.body)
		if err := v.needles.findIn(file.src, p.body, needleMinPacked, hit); err != nil {
			return err
		}
		body, err := readBody(file.src, p, c.codec)
		if err != nil {
			return err
		}
		v.needles.find(body, needleMin, hit)
		return nil
	})
	return err
}
