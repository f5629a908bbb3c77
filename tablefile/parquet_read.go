package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// parquetDecoder drives the library's column readers itself, one goroutine a column: the library's own record reader takes the first column
// that ends for the end of the file, and a panic in one of its goroutines ends the process.
type parquetDecoder struct {
	sc      *arrow.Schema
	fields  []*pqarrow.ColumnReader
	mem     memory.Allocator
	threads int
	look    Style
	rows    int64 // as the footer says
	read    int64
	limit   int64 // most rows of a batch
	want    int64 // rows to ask for next
	ready   []arrow.RecordBatch
}

// firstRows is how many rows the first batch asks for. Only decoded rows tell how wide they are (a dictionary may hold huge values once), so
// batches begin small and grow.
const firstRows = 256

func newParquetDecoder(ctx context.Context, src *source, opts ReadOptions) (d *parquetDecoder, err error) {
	defer guard(ErrMalformed, "reading the footer", &err)
	if err := checkParquetMagic(src); err != nil {
		return nil, err
	}
	props := parquet.NewReaderProperties(opts.Mem)
	props.BufferedStreamEnabled = true // else whole column chunks are read into memory
	pf, err := openFooter(src, props)
	if err != nil {
		return nil, err
	}
	if err := checkParquetFooter(pf); err != nil {
		return nil, err
	}
	if text := pf.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); text != nil {
		if err := checkStoredSchema(*text); err != nil {
			return nil, wrap(ErrMalformed, "reading the stored Arrow schema", err)
		}
	}
	// Every column keeps a buffer of the file; wide tables get smaller ones.
	props.BufferSize = min(max(int64(16<<20)/int64(max(pf.MetaData().Schema.NumColumns(), 1)), 8<<10), 256<<10)

	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, opts.Mem)
	if err != nil {
		return nil, wrap(ErrUnsupported, "reading the schema", err)
	}
	d = &parquetDecoder{mem: opts.Mem, threads: opts.Threads, rows: pf.NumRows(), limit: int64(opts.BatchRows)}
	d.want = min(firstRows, d.limit)
	d.look = Style{Format: Parquet, Compression: parquetCodec(pf)}
	if err := d.open(ctx, pf, fr); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// openFooter parses the footer. The library panics on logical types it does not know; footer panics quote no cells, so their text is kept.
func openFooter(src *source, props *parquet.ReaderProperties) (pf *file.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading the footer: %w: %s", ErrUnsupported, firstLine(fmt.Sprint(p)))
		}
	}()
	pf, err = file.NewParquetReader(src, file.WithReadProps(props))
	if err != nil {
		return nil, wrap(ErrMalformed, "reading the footer", err)
	}
	return pf, nil
}

// checkParquetMagic tells what a file is that is not Parquet, and encrypted files.
func checkParquetMagic(src *source) error {
	if src.size < 12 {
		return fmt.Errorf("%w: %d bytes are too few for a Parquet file", ErrMalformed, src.size)
	}
	var tail [4]byte
	if _, err := src.ReadAt(tail[:], src.size-4); err != nil {
		return err
	}
	switch string(tail[:]) {
	case "PAR1":
		return nil
	case "PARE":
		return fmt.Errorf("%w: an encrypted Parquet file", ErrUnsupported)
	}
	return fmt.Errorf("%w: not a Parquet file, or cut short: it does not end in PAR1", ErrMalformed)
}

func checkParquetFooter(pf *file.Reader) error {
	meta := pf.MetaData()
	if meta.IsSetEncryptionAlgorithm() {
		return fmt.Errorf("%w: an encrypted Parquet file (with a plain footer)", ErrUnsupported)
	}
	if meta.Schema.NumColumns() == 0 {
		return fmt.Errorf("%w: a table without columns", ErrUnsupported)
	}
	var rows int64
	for g := range pf.NumRowGroups() {
		group := meta.RowGroup(g)
		if group.NumRows() < 0 {
			return fmt.Errorf("%w: row group %d declares %d rows", ErrMalformed, g, group.NumRows())
		}
		rows += group.NumRows()
		if group.NumColumns() != meta.Schema.NumColumns() {
			return fmt.Errorf("%w: row group %d has %d columns where the schema has %d", ErrMalformed, g, group.NumColumns(), meta.Schema.NumColumns())
		}
		for c := range group.NumColumns() {
			if err := checkColumnChunk(pf, g, c); err != nil {
				return err
			}
		}
	}
	if rows != pf.NumRows() {
		return fmt.Errorf("%w: the footer declares %d rows and its row groups %d", ErrMalformed, pf.NumRows(), rows)
	}
	return nil
}

func checkColumnChunk(pf *file.Reader, group, column int) (err error) {
	what := fmt.Sprintf("column %q", pf.MetaData().Schema.Column(column).Path())
	defer guard(ErrMalformed, what, &err)
	chunk, err := pf.MetaData().RowGroup(group).ColumnChunk(column)
	if err != nil {
		return wrap(ErrMalformed, what, err)
	}
	if chunk.CryptoMetadata() != nil {
		return fmt.Errorf("%s: %w: it is encrypted", what, ErrUnsupported)
	}
	if chunk.FilePath() != "" {
		return fmt.Errorf("%s: %w: its data lies in another file", what, ErrUnsupported)
	}
	if _, err := compress.GetCodec(chunk.Compression()); err != nil {
		return fmt.Errorf("%s: %w: compression %s", what, ErrUnsupported, chunk.Compression())
	}
	return nil
}

// open makes a reader for every field of the schema. Nested fields open their columns on goroutines of the library, where a panic could not
// be recovered, so each of their columns is opened here first.
func (d *parquetDecoder) open(ctx context.Context, pf *file.Reader, fr *pqarrow.FileReader) error {
	leaves := map[int]bool{}
	for c := range pf.MetaData().Schema.NumColumns() {
		leaves[c] = true
		for g := range pf.NumRowGroups() {
			if err := probeColumn(pf, g, c); err != nil {
				return err
			}
		}
	}
	groups := make([]int, pf.NumRowGroups())
	for g := range groups {
		groups[g] = g
	}
	fields := make([]arrow.Field, len(fr.Manifest.Fields))
	for i := range fr.Manifest.Fields {
		name := fr.Manifest.Fields[i].Field.Name
		rdr, err := openField(ctx, fr, i, name, leaves, groups)
		if err != nil {
			return err
		}
		d.fields = append(d.fields, rdr)
		fields[i] = *rdr.Field()
	}
	d.sc = arrow.NewSchema(fields, fr.Manifest.SchemaMeta)
	return checkTypes(d.sc)
}

func probeColumn(pf *file.Reader, group, column int) (err error) {
	what := fmt.Sprintf("column %q", pf.MetaData().Schema.Column(column).Path())
	defer guard(ErrMalformed, what, &err)
	pages, err := pf.RowGroup(group).GetColumnPageReader(column)
	if err != nil {
		return wrap(ErrMalformed, what, err)
	}
	return pages.Close()
}

func openField(ctx context.Context, fr *pqarrow.FileReader, i int, name string, leaves map[int]bool, groups []int) (rdr *pqarrow.ColumnReader, err error) {
	what := fmt.Sprintf("column %q", name)
	defer guard(ErrUnsupported, what, &err)
	rdr, err = fr.GetFieldReader(ctx, i, leaves, groups)
	if err != nil {
		return nil, wrap(ErrUnsupported, what, err)
	}
	if rdr == nil {
		return nil, fmt.Errorf("%s: %w: type %s", what, ErrUnsupported, fr.Manifest.Fields[i].Field.Type)
	}
	return rdr, nil
}

func parquetCodec(pf *file.Reader) Compression {
	if pf.NumRowGroups() == 0 {
		return ""
	}
	chunk, err := pf.MetaData().RowGroup(0).ColumnChunk(0)
	if err != nil {
		return ""
	}
	switch chunk.Compression() {
	case compress.Codecs.Uncompressed:
		return NoCompression
	case compress.Codecs.Snappy:
		return Snappy
	case compress.Codecs.Gzip:
		return Gzip
	case compress.Codecs.Brotli:
		return Brotli
	case compress.Codecs.Zstd:
		return Zstd
	case compress.Codecs.Lz4Raw:
		return LZ4
	}
	return ""
}

func (d *parquetDecoder) schema() *arrow.Schema { return d.sc }
func (d *parquetDecoder) numRows() int64        { return d.rows }
func (d *parquetDecoder) style() *Style         { return &d.look }

func (d *parquetDecoder) next() (arrow.RecordBatch, error) {
	if len(d.ready) == 0 {
		if err := d.load(); err != nil {
			return nil, err
		}
	}
	batch := d.ready[0]
	d.ready = d.ready[1:]
	return batch, nil
}

// load decodes the next rows of every column into one or more batches. It asks for one row more than the footer leaves, to notice when there
// are more.
func (d *parquetDecoder) load() error {
	want := min(d.want, d.rows-d.read+1)
	cols := make([]*arrow.Chunked, len(d.fields))
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	if err := d.decode(cols, want); err != nil {
		return err
	}
	rows := int64(cols[0].Len())
	for i, c := range cols {
		if int64(c.Len()) != rows {
			return fmt.Errorf("column %q: %w: it ends at row %d, column %q at row %d",
				d.sc.Field(i).Name, ErrMalformed, d.read+int64(c.Len()), d.sc.Field(0).Name, d.read+rows)
		}
	}
	d.read += rows
	switch {
	case d.read > d.rows:
		return fmt.Errorf("%w: more rows than the %d that the footer declares", ErrMalformed, d.rows)
	case rows < want && d.read < d.rows:
		return fmt.Errorf("%w: %d rows where the footer declares %d", ErrMalformed, d.read, d.rows)
	case rows == 0:
		return io.EOF
	}
	d.adapt(cols, rows)
	d.ready = alignChunks(d.sc, cols)
	for _, batch := range d.ready {
		// Damaged levels can make the library build lists that are longer than their values.
		if err := validate(d.sc, batch); err != nil {
			return fmt.Errorf("after row %d: %w", d.read-rows, err)
		}
	}
	return nil
}

func (d *parquetDecoder) decode(cols []*arrow.Chunked, want int64) error {
	errs := make([]error, len(cols))
	if d.threads == 1 || len(cols) == 1 {
		for i := range cols {
			if cols[i], errs[i] = d.decodeField(i, want); errs[i] != nil {
				return errs[i]
			}
		}
		return nil
	}
	work := make(chan int, len(cols))
	for i := range cols {
		work <- i
	}
	close(work)
	var wg sync.WaitGroup
	for range min(d.threads, len(cols)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range work {
				cols[i], errs[i] = d.decodeField(i, want)
			}
		}()
	}
	wg.Wait()
	return errors.Join(firstError(errs))
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *parquetDecoder) decodeField(i int, want int64) (col *arrow.Chunked, err error) {
	what := fmt.Sprintf("column %q, after row %d", d.sc.Field(i).Name, d.read)
	defer guard(ErrMalformed, what, &err)
	col, err = d.fields[i].NextBatch(want)
	switch {
	case err == nil:
		return col, nil
	case strings.Contains(err.Error(), "exceeds configured limit"):
		return nil, wrap(ErrUnsupported, what, err) // a page too large to hold in memory
	}
	return nil, wrap(ErrMalformed, what, err)
}

// adapt chooses how many rows to ask for next, from how wide the last ones were.
func (d *parquetDecoder) adapt(cols []*arrow.Chunked, rows int64) {
	var size int64
	for _, c := range cols {
		for _, a := range c.Chunks() {
			size += dataBytes(a.Data())
		}
	}
	fit := batchBytes / max(size/rows, 1)
	d.want = max(min(fit, rows*8, d.limit), 1)
}

// dataBytes is the length of all buffers of an array that shares none of them.
func dataBytes(data arrow.ArrayData) int64 {
	var n int64
	for _, b := range data.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, c := range data.Children() {
		n += dataBytes(c)
	}
	if dict := data.Dictionary(); dict != nil {
		if d, ok := dict.(*array.Data); !ok || d != nil {
			n += dataBytes(dict)
		}
	}
	return n
}

// alignChunks cuts columns of equal length into batches wherever one of them has a chunk boundary. The library ends a chunk before its 32-bit
// offsets would overflow, and joining the chunks again would overflow them.
func alignChunks(sc *arrow.Schema, cols []*arrow.Chunked) []arrow.RecordBatch {
	var out []arrow.RecordBatch
	rows := cols[0].Len()
	chunk := make([]int, len(cols)) // current chunk of each column
	from := make([]int, len(cols))  // rows of it that are used up
	for done := 0; done < rows; {
		n := rows - done
		for i, c := range cols {
			for c.Chunk(chunk[i]).Len() == from[i] {
				chunk[i], from[i] = chunk[i]+1, 0
			}
			n = min(n, c.Chunk(chunk[i]).Len()-from[i])
		}
		arrays := make([]arrow.Array, len(cols))
		for i, c := range cols {
			arrays[i] = array.NewSlice(c.Chunk(chunk[i]), int64(from[i]), int64(from[i]+n))
			from[i] += n
		}
		out = append(out, array.NewRecordBatch(sc, arrays, int64(n)))
		for _, a := range arrays {
			a.Release()
		}
		done += n
	}
	return out
}

func (d *parquetDecoder) close() {
	for _, b := range d.ready {
		b.Release()
	}
	for _, f := range d.fields {
		f.Release()
	}
	d.ready, d.fields = nil, nil
}
