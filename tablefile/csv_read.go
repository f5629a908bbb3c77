package tablefile

import (
	"fmt"
	"io"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

type csvDecoder struct {
	scan    *scanner
	sc      *arrow.Schema
	builder *array.RecordBuilder
	cols    []cellParser
	look    Style
	limit   int
	rows    int64 // data rows read
	pending bool  // the scanner holds a data row that is not in a batch yet
	scratch []byte
}

// cellParser appends a cell to its column's builder and says how many bytes of memory that took, roughly.
type cellParser func(c cell) (int, error)

func newCSVDecoder(src *source, opts ReadOptions) (*csvDecoder, error) {
	delim := delimiterOf(opts.Format, opts.Delimiter, 0)
	if err := checkDelimiter(delim); err != nil {
		return nil, err
	}
	d := &csvDecoder{scan: newScanner(src, delim), limit: opts.BatchRows}
	d.look = Style{Format: opts.Format, CSV: CSVStyle{Delimiter: delim, NoHeader: opts.NoHeader}}
	names, err := d.begin()
	if err != nil {
		return nil, err
	}
	fields, err := csvFields(names, delim, opts)
	if err != nil {
		return nil, err
	}
	d.sc = arrow.NewSchema(fields, nil)
	d.builder = array.NewRecordBuilder(opts.Mem, d.sc)
	for i, f := range fields {
		d.cols = append(d.cols, d.parser(f, d.builder.Field(i)))
	}
	return d, nil
}

// begin reads the first record and gives the columns' names.
func (d *csvDecoder) begin() (names []string, err error) {
	if d.look.CSV.BOM, err = d.scan.skipBOM(); err != nil {
		return nil, err
	}
	switch err := d.scan.next(); {
	case err == io.EOF:
		return nil, fmt.Errorf("%w: an empty file, without even a header", ErrMalformed)
	case err != nil:
		return nil, fmt.Errorf("first record, line 1: %w", err)
	}
	d.noteEnd()
	d.look.CSV.CRLF = d.scan.last == endCRLF
	for i, c := range d.scan.cells {
		if d.look.CSV.NoHeader {
			names = append(names, "f"+strconv.Itoa(i))
			continue
		}
		var name []byte
		name, d.scratch = c.text(d.scratch)
		names = append(names, string(name))
		d.look.CSV.Header = append(d.look.CSV.Header, string(c.raw))
	}
	d.pending = d.look.CSV.NoHeader
	return names, nil
}

// noteEnd remembers whether the last record had a line end.
func (d *csvDecoder) noteEnd() { d.look.CSV.NoFinalNewline = d.scan.last == endFile }

// csvFields gives the columns their types: raw, as in the schema, or text.
func csvFields(names []string, delim byte, opts ReadOptions) ([]arrow.Field, error) {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	typed := make([]bool, len(names))
	if opts.Schema != nil {
		byPlace := opts.NoHeader || opts.byPlace
		if byPlace && opts.Schema.NumFields() != len(names) {
			return nil, fmt.Errorf("%w: the schema has %d fields and the file %d columns", ErrMalformed, opts.Schema.NumFields(), len(names))
		}
		for k, f := range opts.Schema.Fields() {
			i := k
			if opts.byPlace && opts.Raw(i, names[i]) {
				continue
			}
			if !byPlace {
				var err error
				if i, err = oneColumn(names, f.Name); err != nil {
					return nil, err
				}
			}
			if err := checkCellType(f.Type); err != nil {
				return nil, fmt.Errorf("column %q: %w", f.Name, err)
			}
			f.Metadata = arrow.Metadata{}
			fields[i], typed[i] = f, true
		}
	}
	for i, name := range names {
		if opts.Raw == nil || !opts.Raw(i, name) {
			continue
		}
		if typed[i] {
			return nil, fmt.Errorf("column %q: %w: both raw and in the schema", name, ErrUnsupported)
		}
		fields[i].Nullable = false
		fields[i].Metadata = rawMetadata(delim)
	}
	return fields, nil
}

func oneColumn(names []string, name string) (int, error) {
	at := -1
	for i, n := range names {
		if n != name {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("column %q: %w: the schema names it and the header has it more than once", name, ErrMalformed)
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("column %q: %w: the schema names it and the header does not have it", name, ErrMalformed)
	}
	return at, nil
}

func (d *csvDecoder) schema() *arrow.Schema { return d.sc }
func (d *csvDecoder) numRows() int64        { return -1 }
func (d *csvDecoder) style() *Style         { return &d.look }

// next builds a batch of up to limit rows, fewer when they are long.
func (d *csvDecoder) next() (arrow.RecordBatch, error) {
	rows, size := 0, 0
	for rows < d.limit && size < batchBytes {
		if !d.pending {
			err := d.scan.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("row %d, line %d: %w", d.rows+1, d.scan.line, err)
			}
			d.noteEnd()
		}
		d.pending = false
		n, err := d.row()
		if err != nil {
			return nil, fmt.Errorf("row %d, line %d: %w", d.rows+1, d.scan.start, err)
		}
		size += n
		rows++
		d.rows++
	}
	if rows == 0 {
		return nil, io.EOF
	}
	return d.builder.NewRecordBatch(), nil
}

func (d *csvDecoder) row() (size int, err error) {
	if len(d.scan.cells) != len(d.cols) {
		return 0, fmt.Errorf("%w: %d cells where the first record has %d", ErrMalformed, len(d.scan.cells), len(d.cols))
	}
	for i, c := range d.scan.cells {
		n, err := d.cols[i](c)
		if err != nil {
			return 0, fmt.Errorf("column %q: %w", d.sc.Field(i).Name, err)
		}
		size += n
	}
	return size, nil
}

func (d *csvDecoder) close() {
	if d.builder != nil {
		d.builder.Release()
		d.builder = nil
	}
}
