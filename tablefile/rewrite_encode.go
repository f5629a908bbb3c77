package tablefile

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// newChunk is a column chunk that was made anew: a Parquet file of one column and one row group.
type newChunk struct {
	file              *parquetFile
	spill             *spill
	way               Way
	why               string // it is not DictionaryOnly
	nullsIn, nullsOut int64
}

func (c *newChunk) free() { c.spill.free() }

// encode decodes the chunk of a column, replaces its values and encodes them.
func (r *Rewriter) encode(ctx context.Context, rep *replacement, g int, dir string) (*newChunk, error) {
	c := &newChunk{spill: &spill{dir: dir}, way: Encoded}
	if err := r.encodeInto(ctx, c, rep, g); err != nil {
		c.free()
		return nil, err
	}
	return c, nil
}

func (r *Rewriter) encodeInto(ctx context.Context, c *newChunk, rep *replacement, g int) error {
	old, err := r.chunkOf(rep, g)
	if err != nil {
		return err
	}
	d, err := r.decoder(ctx, rep.columns, []int{g})
	if err != nil {
		return err
	}
	defer d.close()
	e, err := r.newChunkEncoder(ctx, rep, old, c.spill)
	if err != nil {
		return err
	}
	defer e.free()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := d.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		err = r.replaceBatch(ctx, rep, batch.Columns(), e)
		c.nullsIn += int64(batch.Column(0).NullN())
		batch.Release()
		if err != nil {
			return err
		}
	}
	if err := e.finish(); err != nil {
		return err
	}
	c.nullsOut = e.nulls
	c.file, err = openParquetFile(c.spill.source(rep.name))
	return err
}

func (r *Rewriter) replaceBatch(ctx context.Context, rep *replacement, old []arrow.Array, e *chunkEncoder) error {
	made, err := rep.apply(ctx, old...)
	if err != nil {
		return err
	}
	defer made.Release()
	return e.write(made)
}

// apply calls Apply with the arrays of rep.columns and checks what it gives.
func (rep *replacement) apply(ctx context.Context, old ...arrow.Array) (arrow.Array, error) {
	args := make([]arrow.Array, len(rep.args))
	for i, at := range rep.args {
		args[i] = old[at]
	}
	made, err := rep.Apply(ctx, args)
	if err != nil {
		return nil, err
	}
	if made.Len() != old[0].Len() || !arrow.TypeEqual(made.DataType(), rep.Field.Type) {
		made.Release()
		return nil, fmt.Errorf("column %q: %w: the new values are not as many, or not of the type, that they must be", rep.name, ErrMalformed)
	}
	return made, nil
}

func (r *Rewriter) chunkOf(rep *replacement, g int) (*columnChunk, error) {
	group, err := r.file.group(g)
	if err != nil {
		return nil, malformed("reading the footer", err)
	}
	return r.file.chunk(group, rep.leaf)
}

// chunkEncoder encodes one column of one row group, a batch at a time.
type chunkEncoder struct {
	ctx   context.Context
	name  string
	field arrow.Field // as the file has it: no views, no dictionary
	fw    *file.Writer
	gate  *gate
	cw    file.ColumnChunkWriter
	rows  int64
	nulls int64
}

// storedField is a field as Parquet holds its values: text and binary without views, values without a dictionary.
func storedField(f arrow.Field) arrow.Field {
	f = plainViews(arrow.NewSchema([]arrow.Field{f}, nil)).Field(0)
	if t, ok := f.Type.(*arrow.DictionaryType); ok {
		f.Type = t.ValueType
		return storedField(f)
	}
	return f
}

// chunkProps are the properties of the pages of a new chunk: compressed as the old one was, with a dictionary where the old one had nothing else, and
// indexed where the old one was.
func (r *Rewriter) chunkProps(old *columnChunk) (*parquet.WriterProperties, error) {
	codec := compress.Compression(old.codec)
	if _, err := compress.GetCodec(codec); err != nil {
		return nil, fmt.Errorf("%w: compression %s", ErrUnsupported, codec)
	}
	plain, err := r.hasPlainPages(old)
	if err != nil {
		return nil, err
	}
	return parquet.NewWriterProperties(parquet.WithAllocator(r.opts.Mem), parquet.WithCompression(codec), parquet.WithDictionaryDefault(!plain),
		parquet.WithPageIndexEnabled(old.fields.Has(chunkOffsetIndexAt))), nil
}

// hasPlainPages says whether a chunk has data pages that are not dictionary-encoded: its values repeat seldom, then, and so will the new ones.
func (r *Rewriter) hasPlainPages(c *columnChunk) (plain bool, err error) {
	_, err = walkPages(r.file.src, c, r.file.end, func(p *page) error {
		plain = plain || p.isData() && p.encoding != plainDictionary && p.encoding != rleDictionary
		return nil
	})
	return plain, err
}

func (r *Rewriter) newChunkEncoder(ctx context.Context, rep *replacement, old *columnChunk, out io.Writer) (e *chunkEncoder, err error) {
	defer guard(ErrUnsupported, fmt.Sprintf("column %q", rep.name), &err)
	props, err := r.chunkProps(old)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", rep.name, err)
	}
	e = &chunkEncoder{name: rep.name, field: storedField(rep.Field), gate: &gate{w: out}}
	arrowProps := pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(r.opts.Mem))
	e.ctx = pqarrow.NewArrowWriteContext(ctx, &arrowProps)
	e.field.Metadata = arrow.Metadata{}
	sc, err := pqarrow.ToParquet(arrow.NewSchema([]arrow.Field{e.field}, nil), props, arrowProps)
	if err != nil {
		return nil, wrap(ErrUnsupported, fmt.Sprintf("column %q: type %s in Parquet", rep.name, e.field.Type), err)
	}
	if e.fw, err = file.NewParquetWriterWithError(e.gate, sc.Root(), file.WithWriterProps(props)); err != nil {
		return nil, wrap(ErrUnsupported, fmt.Sprintf("column %q", rep.name), err)
	}
	group, err := e.fw.AppendRowGroupChecked()
	if err == nil {
		e.cw, err = group.NextColumn()
	}
	if err != nil {
		return nil, wrap(ErrUnsupported, fmt.Sprintf("column %q", rep.name), err)
	}
	return e, nil
}

// write encodes the values of some rows. Text and binary with views or a dictionary are made plain first: the library does not take views, and
// would give up its own dictionary as soon as a batch came with another.
func (e *chunkEncoder) write(values arrow.Array) (err error) {
	what := fmt.Sprintf("column %q", e.name)
	defer guard(ErrUnsupported, what, &err)
	if values, err = e.plain(values); err != nil {
		return err
	}
	defer values.Release()
	if row, err := checkConverted(values); err != nil {
		return fmt.Errorf("%s, row %d of its row group: %w", what, e.rows+int64(row)+1, err)
	}
	if !e.field.Nullable && values.NullN() > 0 {
		return fmt.Errorf("%s: %w: NULL in a column that is not nullable", what, ErrValue)
	}
	var levels []int16
	if e.field.Nullable {
		levels = definitionLevels(values)
	}
	e.rows += int64(values.Len())
	e.nulls += int64(values.NullN())
	if err := pqarrow.WriteArrowToColumn(e.ctx, e.cw, values, levels, nil, e.field.Nullable); err != nil {
		return wrap(ErrUnsupported, what, err)
	}
	return nil
}

func definitionLevels(values arrow.Array) []int16 {
	levels := make([]int16, values.Len())
	for i := range levels {
		if values.IsValid(i) {
			levels[i] = 1
		}
	}
	return levels
}

// plain gives values as the chunk's own type; the caller releases them.
func (e *chunkEncoder) plain(values arrow.Array) (arrow.Array, error) {
	switch v := values.(type) {
	case *array.Dictionary:
		dense, err := compute.TakeArray(e.ctx, v.Dictionary(), v.Indices())
		if err != nil {
			return nil, wrap(ErrUnsupported, fmt.Sprintf("column %q", e.name), err)
		}
		defer dense.Release()
		return e.plain(dense)
	case array.ViewLike:
		return copyViews(v, e.field.Type)
	case array.ExtensionArray:
		storage := v.Storage()
		storage.Retain()
		return storage, nil
	}
	values.Retain()
	return values, nil
}

func (e *chunkEncoder) finish() (err error) {
	what := fmt.Sprintf("column %q", e.name)
	defer guard(ErrUnsupported, what, &err)
	err = e.cw.Close()
	if err == nil {
		err = e.fw.Close()
	}
	if err != nil {
		return wrap(ErrUnsupported, what, err)
	}
	return nil
}

// free lets an unfinished chunk drop its buffers.
func (e *chunkEncoder) free() {
	var err error
	defer guard(ErrUnsupported, "", &err)
	e.gate.shut = true
	if e.fw != nil {
		err = e.fw.Close()
	}
}
