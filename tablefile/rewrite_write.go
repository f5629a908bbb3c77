package tablefile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// Rewritten is a new file that is complete but has no name yet.
type Rewritten struct {
	// Ways, NullsIn and NullsOut tell of every column of the file how its chunks were made and, for those that were replaced, how many rows were
	// NULL before and are now.
	Ways              []ColumnWays
	NullsIn, NullsOut []int64

	sink *sink
}

// Commit brings the file to disk and gives it its name. On any error nothing appears under the name.
func (w *Rewritten) Commit() error { return w.sink.commit() }

// Abort removes the file. After Commit it does nothing. It may be called from another goroutine.
func (w *Rewritten) Abort() error { return w.sink.abort() }

// RewriteOptions tells how to write the new file.
type RewriteOptions struct {
	Overwrite bool     // as in WriteOptions
	Inputs    []string // as in WriteOptions
	// Progress is told, after each row group, how many rows it had; nil: nobody is.
	Progress func(rows int64)
}

// Rewrite writes the new file; "-" is standard output. It appears under its name with Commit, as the output of a Writer does. Of a column that is
// replaced, nothing old gets into the file: no statistics, no page index, no bloom filter, no dictionary. Key-value metadata is not copied
// because it may quote values, save for the stored Arrow schema, which is rewritten; of sorting columns those before the first replaced one are
// kept.
func (r *Rewriter) Rewrite(ctx context.Context, path string, reps []Replacement, opts RewriteOptions) (*Rewritten, error) {
	for _, in := range opts.Inputs {
		if err := CheckNotSame(in, path); err != nil {
			return nil, err
		}
	}
	plan, err := r.plan(reps)
	if err == nil {
		err = r.probe(ctx, plan)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.file.src.name, err)
	}
	s, err := newSink(path, opts.Overwrite)
	if err != nil {
		return nil, err
	}
	w := &rewriteWriter{Rewriter: r, plan: plan, progress: opts.Progress, sink: s, out: bufio.NewWriterSize(onlyWriter{s}, 1<<20)}
	if path != "-" {
		w.dir = filepath.Dir(path)
	}
	n := len(r.file.tops)
	w.done = &Rewritten{Ways: make([]ColumnWays, n), NullsIn: make([]int64, n), NullsOut: make([]int64, n), sink: s}
	if err := w.write(ctx); err != nil {
		s.abort()
		return nil, s.blame(r.file.src.name, err)
	}
	return w.done, nil
}

// probe opens every column chunk that will be decoded, so that most failures come before a file is made.
func (r *Rewriter) probe(ctx context.Context, plan *rewritePlan) error {
	var masked, columns []int
	for i, rep := range plan.reps {
		if rep != nil {
			masked = append(masked, i)
			columns = append(columns, rep.columns...)
		}
	}
	if masked == nil {
		return nil
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	groups := make([]int, len(r.file.groups))
	for g := range groups {
		groups[g] = g
	}
	d, err := r.decoder(ctx, columns, groups)
	if err != nil {
		return err
	}
	d.close()
	for _, c := range masked {
		field := cleanSchema(arrow.NewSchema([]arrow.Field{storedField(plan.reps[c].Field)}, nil))
		if err := checkParquetSchema(field, WriteOptions{Mem: r.opts.Mem, Like: &Style{}}); err != nil {
			return err
		}
		if plan.reps[c].elem, err = r.newElement(ctx, plan.reps[c]); err != nil {
			return err
		}
	}
	return nil
}

// rewriteWriter writes one new file.
type rewriteWriter struct {
	*Rewriter
	plan     *rewritePlan
	progress func(int64)
	sink     *sink
	out      *bufio.Writer
	dir      string // for temporary files
	at       int64  // bytes written so far
	groups   []newGroup
	done     *Rewritten
}

// newGroup is a row group of the new file.
type newGroup struct {
	old    *rowGroup
	from   int64
	chunks []placedChunk
}

// placedChunk is a column chunk that stands in the new file.
type placedChunk struct {
	meta thrift.Struct
	// What follows the row groups. Of a copied chunk it is read when it is written, of a new one it is here.
	from    *columnChunk // nil: nothing follows
	delta   int64
	indexes [2]thrift.Struct // column index, offset index
	fields  thrift.Struct    // of the column chunk: where the indexes are
}

func (w *rewriteWriter) write(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made := w.makeChunks(ctx)
	defer made.stop(cancel)
	if err := w.put([]byte("PAR1")); err != nil {
		return err
	}
	for g := range w.file.groups {
		if err := w.writeGroup(ctx, g, made); err != nil {
			return err
		}
	}
	for _, step := range []func() error{w.writeBlooms, w.writeIndexes, w.writeFooter, w.out.Flush} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *rewriteWriter) put(p []byte) error {
	n, err := w.out.Write(p)
	w.at += int64(n)
	return err
}

func (w *rewriteWriter) writeGroup(ctx context.Context, g int, made *chunkMaker) error {
	old, err := w.file.group(g)
	if err != nil {
		return malformed("reading the footer", err)
	}
	group := newGroup{old: old, from: w.at, chunks: make([]placedChunk, 0, w.file.leaves)}
	for i, top := range w.file.tops {
		if rep := w.plan.reps[i]; rep != nil {
			chunk, err := made.next(ctx)
			if err != nil {
				return fmt.Errorf("row group %d: %w", g, err)
			}
			placed, err := w.placeNew(ctx, rep, chunk)
			chunk.free()
			made.placed()
			if err != nil {
				return fmt.Errorf("row group %d, column %q: %w", g, rep.name, err)
			}
			group.chunks = append(group.chunks, placed)
			continue
		}
		for leaf := top.leafFrom; leaf < top.leafTo; leaf++ {
			chunk, err := w.file.chunk(old, leaf)
			if err != nil {
				return malformed("reading the footer", err)
			}
			placed, err := w.placeOld(ctx, chunk)
			if err != nil {
				return fmt.Errorf("row group %d, column %q: %w", g, chunk.path(), err)
			}
			group.chunks = append(group.chunks, placed)
		}
		w.done.Ways[i].Chunks[Copied] += top.leafTo - top.leafFrom
	}
	w.groups = append(w.groups, group)
	if w.progress != nil {
		w.progress(old.rows)
	}
	return nil
}

// keptMeta lists the fields of a column chunk's metadata that go into the new file. Key-value metadata is not among them.
var keptMeta = []int16{metaType, metaEncodings, metaPath, metaCodec, metaNumValues, metaUncompressed, metaCompressed, metaDataPageAt, metaIndexPageAt,
	metaDictionaryAt, metaStatistics, metaEncodingStats, metaSizeStatistics, metaGeospatial}

// placeOld copies a column chunk of the old file.
func (w *rewriteWriter) placeOld(ctx context.Context, c *columnChunk) (placedChunk, error) {
	firstData := int64(0)
	end, err := walkPages(w.file.src, c, w.file.end, func(p *page) error {
		if p.isData() && firstData == 0 {
			firstData = p.from
		}
		return nil
	})
	if err != nil {
		return placedChunk{}, err
	}
	c.to = end
	if at, _ := c.meta.Int(metaDataPageAt); at != 0 && (at < c.span.from || at > c.to) {
		c.meta = c.meta.WithInt(metaDataPageAt, thrift.I64, firstData) // a damaged one; its pages are whole
	}
	if err := w.plan.mayCopy(c.span); err != nil {
		return placedChunk{}, err
	}
	placed := placedChunk{meta: w.moved(c), from: c, delta: w.at - c.span.from}
	return placed, w.copy(ctx, w.file.src, c.span)
}

// moved is the metadata of a chunk that is about to be written.
func (w *rewriteWriter) moved(c *columnChunk) thrift.Struct {
	meta := c.meta.Keep(keptMeta...).WithInt(metaCompressed, thrift.I64, c.to-c.span.from)
	delta := w.at - c.span.from
	for _, id := range []int16{metaDataPageAt, metaIndexPageAt, metaDictionaryAt} {
		at, ok := meta.Int(id)
		switch {
		case !ok || at == 0 && id == metaDataPageAt: // no data page
		case c.span.from <= at && at <= c.to:
			meta = meta.WithInt(id, thrift.I64, at+delta)
		default: // some writers put 0 for none
			meta = meta.Without(id)
		}
	}
	return meta
}

// placeNew copies a chunk that was made anew.
func (w *rewriteWriter) placeNew(ctx context.Context, rep *replacement, chunk *newChunk) (placedChunk, error) {
	group, err := chunk.file.group(0)
	if err != nil {
		return placedChunk{}, err
	}
	c, err := chunk.file.chunk(group, 0)
	if err != nil {
		return placedChunk{}, err
	}
	path := thrift.List{Type: thrift.Binary, Items: [][]byte{thrift.AppendBytes(nil, []byte(rep.name))}}
	placed := placedChunk{meta: w.moved(c).WithList(metaPath, path), delta: w.at - c.span.from}
	for _, e := range c.extras(chunk.file) {
		index, err := readIndex(chunk.file.src, e.span, chunk.file.end)
		if err != nil {
			return placedChunk{}, err
		}
		switch e.at {
		case chunkColumnIndexAt:
			placed.indexes[0] = index
		case chunkOffsetIndexAt:
			if placed.indexes[1], err = moveOffsets(index, c.span, placed.delta); err != nil {
				return placedChunk{}, err
			}
		}
	}
	w.done.Ways[rep.Column].add(chunk.way, chunk.why)
	w.done.NullsIn[rep.Column] += chunk.nullsIn
	w.done.NullsOut[rep.Column] += chunk.nullsOut
	return placed, w.copy(ctx, chunk.file.src, c.span)
}

// copyStep is how much is copied between looks at the context.
const copyStep = 32 << 20

// copy copies bytes of a file. The system copies them where it can, without a detour through this process.
func (w *rewriteWriter) copy(ctx context.Context, src *source, s span) error {
	if src.f == nil || src.foot != nil {
		n, err := io.Copy(w.out, io.NewSectionReader(src, s.from, s.to-s.from))
		w.at += n
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	for at := s.from; at < s.to; at += copyStep {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(copyStep, s.to-at)
		if _, err := src.f.Seek(at, io.SeekStart); err != nil {
			return err
		}
		copied, err := io.CopyN(w.sink.f, src.f, n)
		src.read.Add(copied)
		w.sink.written.Add(copied)
		w.at += copied
		if err != nil {
			return err
		}
		if w.sink.temp != "" {
			startWriteback(w.sink.f, w.at-copied, copied)
		}
	}
	return nil
}

// writeBlooms copies the bloom filters of copied chunks.
func (w *rewriteWriter) writeBlooms() error {
	return w.eachPlaced(func(c *placedChunk) error {
		if c.from == nil {
			return nil
		}
		for _, e := range c.from.extras(w.file) {
			if e.at != metaBloomAt {
				continue
			}
			if err := w.plan.mayCopy(e.span); err != nil {
				return fmt.Errorf("column %q: its bloom filter: %w", c.from.path(), err)
			}
			c.meta = c.meta.WithInt(metaBloomAt, thrift.I64, w.at).WithInt(metaBloomLen, thrift.I32, e.to-e.span.from)
			if err := w.copy(context.Background(), w.file.src, e.span); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *rewriteWriter) eachPlaced(do func(*placedChunk) error) error {
	for g := range w.groups {
		for i := range w.groups[g].chunks {
			if err := do(&w.groups[g].chunks[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeIndexes writes all column indexes, then all offset indexes. A copied chunk with an index that makes no sense goes without: readers
// can do without it.
func (w *rewriteWriter) writeIndexes() error {
	places := [2][2]int16{{chunkColumnIndexAt, chunkColumnIndexLen}, {chunkOffsetIndexAt, chunkOffsetIndexLen}}
	for kind, place := range places {
		err := w.eachPlaced(func(c *placedChunk) error {
			index := c.indexes[kind]
			if c.from != nil {
				var err error
				if index, err = w.oldIndex(c, kind); err != nil {
					return fmt.Errorf("column %q: its page index: %w", c.from.path(), err)
				}
			}
			if index == nil {
				return nil
			}
			raw := index.Append(nil)
			c.fields = c.fields.WithInt(place[0], thrift.I64, w.at).WithInt(place[1], thrift.I32, int64(len(raw)))
			return w.put(raw)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oldIndex is the column index (kind 0) or offset index (1) of a copied chunk; nil when it has none, or when either of the two is damaged.
func (w *rewriteWriter) oldIndex(c *placedChunk, kind int) (thrift.Struct, error) {
	var both [2]thrift.Struct
	for _, e := range c.from.extras(w.file) {
		if e.at == metaBloomAt {
			continue
		}
		if err := w.plan.mayCopy(e.span); err != nil {
			return nil, err
		}
		index, err := readIndex(w.file.src, e.span, w.file.end)
		if err == nil && e.at == chunkOffsetIndexAt {
			both[1], err = moveOffsets(index, c.from.span, c.delta)
		} else {
			both[0] = index.Keep(1, 2, 3, 4, 5, 6, 7, 8)
		}
		if isDamage(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	return both[kind], nil
}

func isDamage(err error) bool {
	for _, class := range []error{thrift.ErrShort, thrift.ErrCorrupt, ErrMalformed} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

func (w *rewriteWriter) writeFooter() error {
	foot, err := w.footer()
	if err != nil {
		return malformed("writing the footer", err)
	}
	raw := foot.Append(nil)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(raw)))
	return w.put(append(raw, "PAR1"...))
}

// footer is the new footer. What is not known of the old one is not copied: it may quote values, or say where something is.
func (w *rewriteWriter) footer() (thrift.Struct, error) {
	elems := thrift.List{Type: thrift.Nested, Items: append([][]byte{}, w.file.schema...)}
	for i, rep := range w.plan.reps {
		if rep != nil {
			elems.Items[w.file.tops[i].elemFrom] = rep.elem
		}
	}
	groups := thrift.List{Type: thrift.Nested}
	for g := range w.groups {
		raw, err := w.groupMeta(&w.groups[g])
		if err != nil {
			return nil, err
		}
		groups.Items = append(groups.Items, raw)
	}
	foot := w.file.foot.Keep(fileVersion, fileNumRows, fileCreatedBy).WithList(fileSchema, elems).WithList(fileRowGroups, groups)
	if w.stored != nil {
		fields := append([]arrow.Field{}, w.stored.fields...)
		for i, rep := range w.plan.reps {
			if rep != nil {
				fields[i] = cleanField(rep.Field)
			}
		}
		text, err := encodeStored(fields)
		if err != nil {
			return nil, err
		}
		foot = foot.WithList(fileKeyValues, keyValues(storedKey, text))
	}
	orders, err := w.file.foot.Structs(fileColumnOrders)
	if err != nil {
		return nil, err
	}
	if len(orders.Items) == w.file.leaves {
		for _, rep := range w.plan.reps {
			if rep != nil {
				orders.Items[rep.leaf] = thrift.Struct{}.WithStruct(orderType, nil).Append(nil)
			}
		}
		foot = foot.WithList(fileColumnOrders, orders)
	}
	return foot, nil
}

// newElement is the element of the schema for a new column, under its old name and number.
func (r *Rewriter) newElement(ctx context.Context, rep *replacement) ([]byte, error) {
	s := &spill{}
	defer s.free()
	e, err := r.newChunkEncoder(ctx, rep, &columnChunk{}, s)
	if err != nil {
		return nil, err
	}
	defer e.free()
	if err := e.finish(); err != nil {
		return nil, err
	}
	made, err := openParquetFile(s.source(rep.name))
	if err != nil {
		return nil, err
	}
	elem, _, err := thrift.ReadStruct(made.schema[1])
	if err != nil {
		return nil, err
	}
	old, _, err := thrift.ReadStruct(r.file.schema[r.file.tops[rep.Column].elemFrom])
	if err != nil {
		return nil, err
	}
	elem = elem.WithBytes(elemName, []byte(rep.name)).Without(elemFieldID)
	if id, ok := old.Int(elemFieldID); ok {
		elem = elem.WithInt(elemFieldID, thrift.I32, id)
	}
	return elem.Append(nil), nil
}

func (w *rewriteWriter) groupMeta(g *newGroup) ([]byte, error) {
	columns := thrift.List{Type: thrift.Nested}
	var size, compressed int64
	for _, c := range g.chunks {
		fields := c.fields.WithInt(chunkFileOffset, thrift.I64, 0).WithStruct(chunkMeta, c.meta)
		columns.Items = append(columns.Items, fields.Append(nil))
		n, _ := c.meta.Int(metaUncompressed)
		m, _ := c.meta.Int(metaCompressed)
		size, compressed = size+n, compressed+m
	}
	s := g.old.fields.Keep(groupNumRows, groupOrdinal).WithList(groupColumns, columns).WithInt(groupTotalSize, thrift.I64, size).
		WithInt(groupFileOffset, thrift.I64, g.from).WithInt(groupCompressedSize, thrift.I64, compressed)
	sorting, err := g.old.fields.Structs(groupSorting)
	if err != nil {
		return nil, err
	}
	if sorting.Items, err = w.keptSorting(sorting.Items); err != nil {
		return nil, err
	}
	if len(sorting.Items) > 0 {
		s = s.WithList(groupSorting, sorting)
	}
	return s.Append(nil), nil
}

// keptSorting is the sorting columns before the first that is replaced: what comes after it orders only within its values.
func (w *rewriteWriter) keptSorting(all [][]byte) ([][]byte, error) {
	for i, raw := range all {
		s, _, err := thrift.ReadStruct(raw)
		if err != nil {
			return nil, err
		}
		leaf, _ := s.Int(sortColumn)
		for _, rep := range w.plan.reps {
			if rep != nil && int64(rep.leaf) == leaf {
				return all[:i], nil
			}
		}
	}
	return all, nil
}
