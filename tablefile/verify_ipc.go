package tablefile

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// searchIPC looks through all of an Arrow IPC file or stream but the buffers of columns that stay, which were found equal. Compressed buffers are
// searched decompressed.
func (v *verifier) searchIPC(ctx context.Context, src *source, opts ReadOptions) error {
	d, err := newDecoder(ctx, src, opts.withDefaults())
	if err != nil {
		return err
	}
	defer d.close()
	ipc := &ipcBuffers{verifier: v, src: src, types: d.schema().Fields(), seen: map[*memory.Buffer]bool{}}
	if err := ipc.walk(ctx, opts.Format); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := v.searchAround(src, ipc.skip, src.size); err != nil {
		return err
	}
	if ipc.compressed {
		return ipc.searchDecoded(ctx, &reader{decoder: d, ctx: ctx, src: src})
	}
	return nil
}

// ipcBuffers finds out which bytes of an Arrow file belong to which column.
type ipcBuffers struct {
	*verifier
	src        *source
	types      []arrow.Field
	owners     map[int64][]int
	skip       []span
	compressed bool
	seen       map[*memory.Buffer]bool // in decoded batches
}

// walk visits the messages: one after the other, or where a file's footer says.
func (x *ipcBuffers) walk(ctx context.Context, format Format) error {
	if format == ArrowFile {
		schema, dicts, batches, err := readFooter(x.src)
		if err != nil {
			return err
		}
		if err := x.message(schema, 0); err != nil {
			return err
		}
		for _, b := range append(dicts, batches...) {
			if _, err := x.messageAt(ctx, b.at); err != nil {
				return err
			}
		}
		return nil
	}
	for at := int64(0); ; {
		next, err := x.messageAt(ctx, at)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at = next
	}
}

// messageAt visits the message at a place and says where it ends.
func (x *ipcBuffers) messageAt(ctx context.Context, at int64) (end int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	part := io.NewSectionReader(x.src, at, x.src.size-at)
	meta, err := readMetadata(part)
	if err != nil {
		return 0, err
	}
	body, err := part.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	info, err := checkMessage(meta)
	if err != nil {
		return 0, err
	}
	return at + body + info.body, x.message(meta, at+body)
}

// message visits a message whose body begins at a place.
func (x *ipcBuffers) message(meta []byte, body int64) error {
	info, err := checkMessage(meta)
	if err != nil {
		return err
	}
	b := bodyOf(meta)
	switch info.kind {
	case schemaMessage:
		x.owners = info.owners
	case dictionaryMessage:
		masked := false
		for _, column := range x.owners[info.dict] {
			masked = masked || x.masked[column]
		}
		return x.buffers(b, body, len(b.buffers), masked)
	case batchMessage:
		counts, total := make([]int, len(x.types)), 0
		views := b.views
		for i, f := range x.types {
			counts[i] = buffersOf(f.Type, &views)
			total += counts[i]
		}
		if total != len(b.buffers) {
			return nil // laid out in a way that is not known here: all of it is searched
		}
		for i, n := range counts {
			if err := x.buffers(b, body, n, x.masked[i]); err != nil {
				return err
			}
			b.buffers = b.buffers[n:]
		}
	}
	return nil
}

// buffers visits the first n buffers of a body: the search passes over them when they belong to a column that stays, and when they are compressed.
func (x *ipcBuffers) buffers(b bodyLayout, body int64, n int, masked bool) error {
	for _, s := range b.buffers[:n] {
		s := span{s.from + body, s.to + body}
		if masked && b.compressed {
			x.compressed = true
			if err := x.needles.findIn(x.src, s, needleMinPacked, x.hit); err != nil {
				return err
			}
		}
		if !masked || b.compressed {
			x.skip = append(x.skip, s)
		}
	}
	return nil
}

// searchDecoded looks through the buffers of masked columns as the library decompresses them.
func (x *ipcBuffers) searchDecoded(ctx context.Context, r Reader) error {
	return eachBatch(ctx, r, func(batch arrow.RecordBatch) error {
		for i, col := range batch.Columns() {
			if x.masked[i] {
				x.searchData(col.Data())
			}
		}
		return nil
	})
}

// searchData searches whole buffers, each once: batches are slices of one another and share dictionaries.
func (x *ipcBuffers) searchData(d arrow.ArrayData) {
	for _, b := range d.Buffers() {
		if b != nil && !x.seen[b] {
			x.seen[b] = true
			x.needles.find(b.Bytes(), needleMin, x.hit)
		}
	}
	for _, c := range d.Children() {
		x.searchData(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY {
		x.searchData(d.Dictionary())
	}
}

// bodyLayout is where the buffers of a message lie in its body.
type bodyLayout struct {
	buffers    []span
	views      []int64 // how many buffers of values each column of views has
	compressed bool
}

// bodyOf reads the layout of a message that was checked; other messages than batches and dictionaries have no buffers.
func bodyOf(meta []byte) bodyLayout {
	f := newFlat(meta)
	root := f.follow(0)
	kind := messageKind(0)
	if at := f.field(root, 1); at != 0 {
		kind = messageKind(f.u8(at))
	}
	batch := f.table(root, 2)
	switch kind {
	case batchMessage:
	case dictionaryMessage:
		batch = f.table(batch, 1)
	default:
		return bodyLayout{}
	}
	var b bodyLayout
	first, n := f.vector(batch, 2, 16)
	for i := range n {
		at := f.i64(first + 16*i)
		b.buffers = append(b.buffers, span{at, at + f.i64(first+16*i+8)})
	}
	first, n = f.vector(batch, 4, 8)
	for i := range n {
		b.views = append(b.views, f.i64(first+8*i))
	}
	b.compressed = f.table(batch, 3) != 0
	return b
}

// buffersOf is how many buffers a column has in a batch; views is the counts of its columns of views, of which it takes its own.
func buffersOf(t arrow.DataType, views *[]int64) (n int) {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return buffersOf(t.StorageType(), views)
	case *arrow.DictionaryType:
		return buffersOf(t.IndexType, views)
	case arrow.BinaryViewDataType:
		n = 2
		if len(*views) > 0 {
			n += int((*views)[0])
			*views = (*views)[1:]
		}
		return n
	}
	for _, b := range t.Layout().Buffers {
		if b.Kind != arrow.KindAlwaysNull {
			n++
		}
	}
	if nested, ok := t.(arrow.NestedType); ok {
		for _, f := range nested.Fields() {
			n += buffersOf(f.Type, views)
		}
	}
	return n
}
