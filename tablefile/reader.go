package tablefile

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// DefaultBatchRows is how many rows a batch has at most when ReadOptions.BatchRows is 0.
const DefaultBatchRows = 65536

// batchBytes is how many bytes of values a batch aims at when rows are wide: batches then have fewer rows than BatchRows.
const batchBytes = 32 << 20

// ReadOptions tells how to read a file. The zero value reads any file whose name tells its format.
type ReadOptions struct {
	Format    Format           // Auto: by the name's extension
	BatchRows int              // most rows a batch has; 0: DefaultBatchRows
	Mem       memory.Allocator // nil: memory.DefaultAllocator
	Threads   int              // most columns decoded at once (Parquet); 0: GOMAXPROCS
	// VerifyChecksums compares, before anything else, every page of a Parquet file with the checksum that it may have.
	VerifyChecksums bool

	// The rest concerns CSV only.

	Delimiter byte // 0: "," for CSV, a tab for TSV
	NoHeader  bool // the first record is data; columns are called f0, f1, ...
	// Schema gives types to columns, by name (each name once in the header; columns it does not name are text), or by position when NoHeader
	// is set (then it must have as many fields as the file has columns).
	Schema *arrow.Schema
	// Raw says which columns to carry as they stand in the file: cells with their quotes, as non-null text, in a field that the CSV writer
	// knows to write back unchanged. It is asked once a column, with the column's index and name.
	Raw func(column int, name string) bool

	byPlace bool // Schema names columns by their places, less those that are Raw
}

func (o ReadOptions) withDefaults() ReadOptions {
	if o.BatchRows <= 0 {
		o.BatchRows = DefaultBatchRows
	}
	if o.Mem == nil {
		o.Mem = memory.DefaultAllocator
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return o
}

// Reader is a table as a stream of record batches. It is not safe for concurrent use, save for BytesRead.
type Reader interface {
	// Schema is the schema of every batch. It stays valid after Close.
	Schema() *arrow.Schema
	// Next returns the next batch, which the caller releases, or io.EOF after the last one. Batches have at most BatchRows rows and may have
	// fewer; the first ones of a Parquet file do. After an error every further call returns it again.
	Next() (arrow.RecordBatch, error)
	// NumRows is the number of rows the file declares, or -1 when only reading it to the end will tell.
	NumRows() int64
	// Size is the input's size in bytes, or -1 when it is not a regular file.
	Size() int64
	// BytesRead counts the bytes read so far. It is safe to call from another goroutine.
	BytesRead() int64
	// Style is the input's look, to be handed to WriteOptions.Like.
	Style() *Style
	// Close frees the file and everything held for it. Batches already returned stay valid.
	Close() error
}

// Open opens the file at path for reading; "-" is standard input. Parquet and Arrow IPC files need random access: when path is not a regular
// file, Open first copies it to an unnamed temporary file. The context ends reading between batches.
func Open(ctx context.Context, path string, opts ReadOptions) (Reader, error) {
	if opts.Format == Auto {
		f, err := FormatOf(path)
		if err != nil {
			return nil, err
		}
		opts.Format = f
	}
	opts = opts.withDefaults()
	src, err := openSource(ctx, path, opts.Format == Parquet || opts.Format == ArrowFile)
	if err != nil {
		return nil, err
	}
	var dec decoder
	if opts.VerifyChecksums && opts.Format == Parquet {
		err = verifyChecksums(ctx, src)
	}
	if err == nil {
		dec, err = newDecoder(ctx, src, opts)
	}
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	return &reader{decoder: dec, ctx: ctx, src: src}, nil
}

// decoder is what a format has to provide. Its errors need not name the file.
type decoder interface {
	schema() *arrow.Schema
	next() (arrow.RecordBatch, error) // io.EOF at the end
	numRows() int64
	style() *Style
	close()
}

func newDecoder(ctx context.Context, src *source, opts ReadOptions) (decoder, error) {
	switch opts.Format {
	case Parquet:
		return newParquetDecoder(ctx, src, opts)
	case ArrowFile:
		return newFileDecoder(src, opts)
	case ArrowStream:
		return newStreamDecoder(src, opts)
	case CSV, TSV:
		return newCSVDecoder(src, opts)
	}
	return nil, fmt.Errorf("%w: %v", ErrFormat, opts.Format)
}

// reader adds to a decoder what all formats share: the file, cancellation, and errors that last.
type reader struct {
	decoder
	ctx    context.Context
	src    *source
	err    error
	closed bool
}

func (r *reader) Schema() *arrow.Schema { return r.schema() }
func (r *reader) NumRows() int64        { return r.numRows() }
func (r *reader) Size() int64           { return r.src.size }
func (r *reader) BytesRead() int64      { return r.src.read.Load() }
func (r *reader) Style() *Style         { return r.style() }

func (r *reader) Next() (arrow.RecordBatch, error) {
	if r.err != nil {
		return nil, r.err
	}
	if err := r.ctx.Err(); err != nil {
		r.err = fmt.Errorf("%s: %w", r.src.name, err)
		return nil, r.err
	}
	batch, err := r.next()
	switch {
	case err == io.EOF:
		r.err = io.EOF
	case err != nil:
		r.err = fmt.Errorf("%s: %w", r.src.name, err)
	}
	return batch, r.err
}

func (r *reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", r.src.name, ErrClosed)
	}
	r.close()
	return r.src.Close()
}
