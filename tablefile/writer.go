package tablefile

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// WriteOptions tells how to write a file. The zero value writes a new file in the format that its name tells.
type WriteOptions struct {
	Format      Format      // Auto: by the name's extension
	Overwrite   bool        // replace a file of that name; its permissions are kept
	Compression Compression // empty: as in Like, or the format's usual one
	// Like is the look to reproduce, as Reader.Style gives it; nil: none. It may still be growing until Commit.
	Like *Style
	// Inputs are paths that the output must not be, "-" for standard input.
	Inputs    []string
	Delimiter byte // CSV; 0: that of Like, else the format's own
	Mem       memory.Allocator
}

// Writer writes a table batch by batch. It is not safe for concurrent use, save for Abort and BytesWritten.
type Writer struct {
	mu     sync.Mutex // held while the encoder works
	enc    encoder
	out    *bufio.Writer
	sink   *sink
	schema *arrow.Schema
	utf8   bool // check that text is UTF-8
	rows   int64
	err    error
}

// encoder is what a format has to provide. The batches it gets fit the schema. finish writes what ends the file; free releases memory and is
// called once, after finish or instead of it.
type encoder interface {
	write(arrow.RecordBatch) error
	finish() error
	free()
}

// Create opens the file at path for writing; "-" is standard output, where output cannot be held back until it is complete.
//
// Any other output is written to a hidden temporary file beside path (.NAME.arrowmask-XXXXXXXX.tmp) and gets its name in Commit. Create fails with
// ErrSameFile when path is one of opts.Inputs, with ErrExists when it exists and opts.Overwrite is false, and with ErrUnsupported, naming the
// column, when the format cannot hold a column's type. A symbolic link at path is replaced, not followed. Temporary files that killed
// processes left for the same path are removed.
//
// Of the schema's metadata only Parquet field ids and Arrow extension types are written: any other may quote values.
func Create(path string, schema *arrow.Schema, opts WriteOptions) (*Writer, error) {
	if opts.Format == Auto {
		f, err := FormatOf(path)
		if err != nil {
			return nil, err
		}
		opts.Format = f
	}
	if opts.Mem == nil {
		opts.Mem = memory.DefaultAllocator
	}
	if opts.Like == nil {
		opts.Like = &Style{}
	}
	for _, in := range opts.Inputs {
		if err := CheckNotSame(in, path); err != nil {
			return nil, err
		}
	}
	schema = cleanSchema(schema)
	if err := checkSchema(schema, opts); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := newSink(path, opts.Overwrite)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(s, s, schema, opts)
	if err != nil {
		s.abort()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// newWriter writes through out, which stands for the sink's file.
func newWriter(s *sink, out io.Writer, schema *arrow.Schema, opts WriteOptions) (*Writer, error) {
	w := &Writer{sink: s, schema: schema, out: bufio.NewWriterSize(onlyWriter{out}, 1<<20)}
	w.utf8 = opts.Like.Format.IsText() && !opts.Format.IsText()
	var err error
	w.enc, err = newEncoder(onlyWriter{w.out}, s, schema, opts)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func newEncoder(out io.Writer, s *sink, schema *arrow.Schema, opts WriteOptions) (encoder, error) {
	switch opts.Format {
	case Parquet:
		return newParquetEncoder(out, schema, opts)
	case ArrowFile:
		return newFileEncoder(out, s, schema, opts)
	case ArrowStream:
		return newStreamEncoder(out, schema, opts)
	case CSV, TSV:
		return newCSVEncoder(out, schema, opts)
	}
	return nil, fmt.Errorf("%w: %v", ErrFormat, opts.Format)
}

// Schema is the schema that is written: the one given to Create without the metadata that is left out.
func (w *Writer) Schema() *arrow.Schema { return w.schema }

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return w.rows }

// BytesWritten counts the bytes that have reached the file. It is safe to call from another goroutine.
func (w *Writer) BytesWritten() int64 { return w.sink.written.Load() }

// Write appends batch, which must have the columns of the schema; metadata does not matter. The caller keeps its reference. A NULL in a column that
// is not nullable is ErrValue. After an error the writer can only be aborted: every further call returns the error.
func (w *Writer) Write(batch arrow.RecordBatch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := w.write(batch); err != nil {
		w.err = w.sink.blame(w.sink.name, err)
		return w.err
	}
	return nil
}

func (w *Writer) write(batch arrow.RecordBatch) error {
	if int(batch.NumCols()) != w.schema.NumFields() {
		return fmt.Errorf("%w: a batch has %d columns where the schema has %d", ErrMalformed, batch.NumCols(), w.schema.NumFields())
	}
	for i, f := range w.schema.Fields() {
		col := batch.Column(i)
		if !arrow.TypeEqual(col.DataType(), f.Type) {
			return fmt.Errorf("column %q: %w: a batch has type %s where the schema has %s", f.Name, ErrMalformed, col.DataType(), f.Type)
		}
		if !f.Nullable && col.NullN() > 0 {
			return fmt.Errorf("column %q: %w: NULL in row %d of a column that is not nullable", f.Name, ErrValue, w.rows+firstNull(col)+1)
		}
		if w.utf8 {
			if row := invalidUTF8(col); row >= 0 {
				return fmt.Errorf("column %q: %w: text in row %d is not UTF-8", f.Name, ErrValue, w.rows+row+1)
			}
		}
	}
	// The writer's own schema, so that no metadata of the batch's gets through.
	clean := array.NewRecordBatch(w.schema, batch.Columns(), batch.NumRows())
	defer clean.Release()
	if err := w.enc.write(clean); err != nil {
		return err
	}
	w.rows += batch.NumRows()
	return nil
}

func firstNull(col arrow.Array) int64 {
	for i := range col.Len() {
		if col.IsNull(i) {
			return int64(i)
		}
	}
	return 0
}

// Commit ends the file, brings it to disk and gives it its name. On any error nothing appears under the name and the temporary file is gone.
func (w *Writer) Commit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		w.release()
		w.sink.abort()
		return w.err
	}
	err := w.enc.finish()
	if err == nil {
		err = w.out.Flush()
	}
	w.release()
	if err != nil {
		w.sink.abort()
		w.err = w.sink.blame(w.sink.name, err)
		return w.err
	}
	w.err = fmt.Errorf("%s: %w", w.sink.name, ErrClosed)
	return w.sink.commit()
}

// Abort gives up the file: the temporary file is removed and nothing appears under the name. After Commit it does nothing, so it can be
// deferred. It is safe to call from another goroutine, for example when a signal arrives; a Write that is running then fails.
func (w *Writer) Abort() error {
	err := w.sink.abort()
	if w.mu.TryLock() {
		w.release()
		if w.err == nil {
			w.err = fmt.Errorf("%s: %w", w.sink.name, ErrClosed)
		}
		w.mu.Unlock()
	}
	return err
}

func (w *Writer) release() {
	if w.enc != nil {
		w.enc.free()
		w.enc = nil
	}
}
