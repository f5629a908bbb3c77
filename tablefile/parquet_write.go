package tablefile

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

const (
	// A row group is held in memory until it is complete. It ends at whichever comes first.
	groupRows  = 1 << 20
	groupBytes = 64 << 20 // of values before encoding
)

type parquetEncoder struct {
	fw    *pqarrow.FileWriter
	gate  *gate
	sc    *arrow.Schema // as the file has it: views are plain
	rows  int64         // in the current row group
	bytes int64
	all   int64 // rows before this batch, for messages
}

func parquetProps(opts WriteOptions) (*parquet.WriterProperties, pqarrow.ArrowWriterProperties, error) {
	codec, err := parquetCompression(opts)
	if err != nil {
		return nil, pqarrow.ArrowWriterProperties{}, err
	}
	props := parquet.NewWriterProperties(parquet.WithAllocator(opts.Mem), parquet.WithCompression(codec), parquet.WithMaxRowGroupLength(groupRows))
	return props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithAllocator(opts.Mem)), nil
}

func parquetCompression(opts WriteOptions) (compress.Compression, error) {
	c := opts.Compression
	if c == "" && opts.Like.Format == Parquet {
		c = opts.Like.Compression
	}
	switch c {
	case "", Snappy:
		return compress.Codecs.Snappy, nil
	case NoCompression:
		return compress.Codecs.Uncompressed, nil
	case Gzip:
		return compress.Codecs.Gzip, nil
	case Brotli:
		return compress.Codecs.Brotli, nil
	case Zstd:
		return compress.Codecs.Zstd, nil
	case LZ4:
		return compress.Codecs.Lz4Raw, nil
	}
	return 0, fmt.Errorf("%w: compression %q in Parquet", ErrUnsupported, c)
}

// checkParquetSchema asks the library, column by column, whether it can write the schema.
func checkParquetSchema(s *arrow.Schema, opts WriteOptions) error {
	props, arrowProps, err := parquetProps(opts)
	if err != nil {
		return err
	}
	for _, f := range plainViews(s).Fields() {
		if err := checkParquetField(f, props, arrowProps); err != nil {
			return err
		}
	}
	return nil
}

func checkParquetField(f arrow.Field, props *parquet.WriterProperties, arrowProps pqarrow.ArrowWriterProperties) (err error) {
	what := fmt.Sprintf("column %q: type %s in Parquet", f.Name, f.Type)
	defer guard(ErrUnsupported, what, &err)
	if _, err := pqarrow.ToParquet(arrow.NewSchema([]arrow.Field{f}, nil), props, arrowProps); err != nil {
		return wrap(ErrUnsupported, what, err)
	}
	return nil
}

// newParquetEncoder never lets the library close the file by itself: after a failed write it would add a footer to what it has.
func newParquetEncoder(out io.Writer, schema *arrow.Schema, opts WriteOptions) (e *parquetEncoder, err error) {
	defer guard(ErrUnsupported, "starting the Parquet file", &err)
	props, arrowProps, err := parquetProps(opts)
	if err != nil {
		return nil, err
	}
	e = &parquetEncoder{gate: &gate{w: out}, sc: plainViews(schema)}
	e.fw, err = pqarrow.NewFileWriter(e.sc, e.gate, props, arrowProps)
	if err != nil {
		return nil, wrap(ErrUnsupported, "starting the Parquet file", err)
	}
	return e, nil
}

func (e *parquetEncoder) write(batch arrow.RecordBatch) error {
	batch, err := plainViewBatch(e.sc, batch)
	if err != nil {
		return err
	}
	defer batch.Release()
	for i, col := range batch.Columns() {
		if row, err := checkConverted(col); err != nil && row < 0 {
			return fmt.Errorf("column %q, in rows %d to %d: %w", e.sc.Field(i).Name, e.all+1, e.all+batch.NumRows(), err)
		} else if err != nil {
			return fmt.Errorf("column %q, row %d: %w", e.sc.Field(i).Name, e.all+int64(row)+1, err)
		}
	}
	e.all += batch.NumRows()
	for from := int64(0); from < batch.NumRows(); {
		if e.rows >= groupRows || e.bytes >= groupBytes {
			if err := e.startGroup(); err != nil {
				return err
			}
		}
		n := min(batch.NumRows()-from, groupRows-e.rows)
		part := batch.NewSlice(from, from+n)
		err := e.writeGroupPart(part)
		part.Release()
		if err != nil {
			return err
		}
		from += n
		e.rows += n
		e.bytes += valueBytes(batch) * n / batch.NumRows()
	}
	return nil
}

func (e *parquetEncoder) startGroup() (err error) {
	defer guard(ErrUnsupported, "writing a row group", &err)
	if err := e.fw.NewBufferedRowGroupChecked(); err != nil {
		return wrap(ErrUnsupported, "writing a row group", err)
	}
	e.rows, e.bytes = 0, 0
	return nil
}

// writeGroupPart adds rows to the current row group, in memory only, so the gate is shut.
func (e *parquetEncoder) writeGroupPart(part arrow.RecordBatch) (err error) {
	defer guard(ErrUnsupported, "encoding rows", &err)
	e.gate.shut = true
	if err := e.fw.WriteBuffered(part); err != nil {
		return wrap(ErrUnsupported, "encoding rows", err)
	}
	e.gate.shut = false
	return nil
}

func (e *parquetEncoder) finish() (err error) {
	defer guard(ErrUnsupported, "ending the Parquet file", &err)
	return e.fw.Close()
}

// free lets an unfinished file give back its buffers, which only ending it does. The end goes nowhere.
func (e *parquetEncoder) free() {
	var err error
	defer guard(ErrUnsupported, "", &err)
	e.gate.w, e.gate.shut = io.Discard, false
	err = e.fw.Close()
}

var errGate = errors.New("output is shut after a failure")

// gate is a writer that can be shut. It does not pass Close on.
type gate struct {
	w    io.Writer
	shut bool
}

func (g *gate) Write(p []byte) (int, error) {
	if g.shut {
		return 0, errGate
	}
	return g.w.Write(p)
}

// valueBytes estimates the bytes of values that a batch holds, slices counted by their own rows.
func valueBytes(batch arrow.RecordBatch) int64 {
	var n int64
	for _, c := range batch.Columns() {
		n += arrayBytes(c)
	}
	return n
}

func arrayBytes(a arrow.Array) int64 {
	rows := int64(a.Len())
	switch a := a.(type) {
	case array.BinaryLike:
		return int64(len(a.ValueBytes())) + 4*rows
	case *array.Dictionary:
		if a.Dictionary().Len() == 0 {
			return 0
		}
		return arrayBytes(a.Dictionary())/int64(a.Dictionary().Len())*rows + 4*rows
	case *array.Struct:
		var n int64
		for i := range a.NumField() {
			n += arrayBytes(a.Field(i))
		}
		return n
	case array.ListLike:
		values := a.ListValues()
		if values.Len() == 0 || rows == 0 {
			return 4 * rows
		}
		from, _ := a.ValueOffsets(0)
		_, to := a.ValueOffsets(int(rows) - 1)
		return arrayBytes(values)/int64(values.Len())*(to-from) + 4*rows
	case array.ExtensionArray:
		return arrayBytes(a.Storage())
	}
	if t, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return int64(t.BitWidth()) * rows / 8
	}
	return 8 * rows
}
