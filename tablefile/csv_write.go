package tablefile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

type csvEncoder struct {
	w       io.Writer
	sc      *arrow.Schema
	like    *Style // read late: its reader may not have seen the first line end yet
	delim   byte
	buf     []byte
	special [256]bool // bytes that a bare cell must not have
	records int64     // header included
	empty   bool      // the last record has no bytes
	rows    int64
}

func newCSVEncoder(w io.Writer, schema *arrow.Schema, opts WriteOptions) (*csvEncoder, error) {
	e := &csvEncoder{w: w, sc: schema, like: opts.Like, delim: csvDelimiter(opts)}
	for _, c := range []byte{e.delim, '"', '\n', '\r'} {
		e.special[c] = true
	}
	return e, nil
}

// csvDelimiter takes the delimiter of the look only into the same format: CSV made from TSV has commas.
func csvDelimiter(opts WriteOptions) byte {
	like := opts.Like.CSV.Delimiter
	if opts.Like.Format != opts.Format {
		like = 0
	}
	return delimiterOf(opts.Format, opts.Delimiter, like)
}

func checkCSVSchema(s *arrow.Schema, opts WriteOptions) error {
	if opts.Compression != "" && opts.Compression != NoCompression {
		return fmt.Errorf("%w: compression %q in CSV", ErrUnsupported, opts.Compression)
	}
	if err := checkDelimiter(csvDelimiter(opts)); err != nil {
		return err
	}
	for _, f := range s.Fields() {
		if !canFormat(f.Type) {
			return fmt.Errorf("column %q: %w: type %s in CSV", f.Name, ErrUnsupported, f.Type)
		}
	}
	return nil
}

// begin writes what comes before the first record, and the header.
func (e *csvEncoder) begin() {
	if e.like.CSV.BOM {
		e.buf = append(e.buf, bom...)
	}
	if e.like.CSV.NoHeader {
		return
	}
	e.startRecord()
	for i, f := range e.sc.Fields() {
		if i > 0 {
			e.buf = append(e.buf, e.delim)
		}
		e.buf = e.appendName(e.buf, i, f.Name)
	}
	e.endRecord()
}

// appendName writes a header cell as the input had it, when it is the same name.
func (e *csvEncoder) appendName(dst []byte, i int, name string) []byte {
	if h := e.like.CSV.Header; i < len(h) && len(h) == e.sc.NumFields() {
		c := parseRaw([]byte(h[i]))
		if text, _ := c.text(nil); string(text) == name {
			return e.appendRaw(dst, c.raw, e.like.CSV.Delimiter)
		}
	}
	if name == "" {
		return dst
	}
	return e.quoteFrom(append(dst, name...), len(dst))
}

// startRecord ends the record before. A record's line end is written only then, so that the last one may go without.
func (e *csvEncoder) startRecord() {
	if e.records > 0 {
		e.lineEnd()
	}
	e.records++
	e.empty = false
}

func (e *csvEncoder) lineEnd() {
	if e.like.CSV.CRLF {
		e.buf = append(e.buf, '\r')
	}
	e.buf = append(e.buf, '\n')
}

// endRecord notes whether the record is the empty line that a NULL, or an empty name, makes in a table of one column.
func (e *csvEncoder) endRecord() {
	n := len(e.buf)
	e.empty = e.sc.NumFields() == 1 && (n == 0 || e.buf[n-1] == '\n' || n == len(bom) && e.records == 1 && e.like.CSV.BOM)
}

func (e *csvEncoder) write(batch arrow.RecordBatch) (err error) {
	defer guard(ErrUnsupported, "formatting rows", &err)
	if e.records == 0 {
		e.begin()
	}
	cols := make([]cellWriter, batch.NumCols())
	for i, c := range batch.Columns() {
		if raw, ok := rawDelimiter(e.sc.Field(i)); ok {
			cols[i] = e.rawWriter(c, raw)
		} else {
			cols[i] = e.valueWriter(c)
		}
	}
	for row := range int(batch.NumRows()) {
		e.startRecord()
		for i, col := range cols {
			if i > 0 {
				e.buf = append(e.buf, e.delim)
			}
			if e.buf, err = col(e.buf, row); err != nil {
				return fmt.Errorf("column %q, row %d: %w", e.sc.Field(i).Name, e.rows+1, err)
			}
		}
		e.endRecord()
		e.rows++
		if len(e.buf) >= 1<<16 {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return e.flush()
}

// cellWriter appends the cell of a row.
type cellWriter func(dst []byte, row int) ([]byte, error)

// valueWriter writes NULL as nothing and an empty value as "".
func (e *csvEncoder) valueWriter(col arrow.Array) cellWriter {
	format := formatter(col)
	return func(dst []byte, row int) ([]byte, error) {
		out, ok, err := format(dst, row)
		if err != nil || !ok {
			return dst, err
		}
		return e.quoteFrom(out, len(dst)), nil
	}
}

// rawWriter writes cells as they were read. Cells cut by another delimiter are written anew.
func (e *csvEncoder) rawWriter(col arrow.Array, delim byte) cellWriter {
	text := textOf(col)
	return func(dst []byte, row int) ([]byte, error) {
		return e.appendRaw(dst, text(row), delim), nil
	}
}

func (e *csvEncoder) appendRaw(dst, raw []byte, delim byte) []byte {
	if delim == e.delim {
		return append(dst, raw...)
	}
	c := parseRaw(raw)
	if c.null() {
		return dst
	}
	from := len(dst)
	value, _ := c.text(nil)
	return e.quoteFrom(append(dst, value...), from)
}

// quoteFrom puts the cell dst[from:], which is not NULL, in quotes if it cannot stand bare: when it is empty, holds a special byte, or would be
// taken for a byte order mark.
func (e *csvEncoder) quoteFrom(dst []byte, from int) []byte {
	value := dst[from:]
	quotes, bare := 0, len(value) > 0
	for _, c := range value {
		if e.special[c] {
			bare = false
			if c == '"' {
				quotes++
			}
		}
	}
	if e.records == 1 && bytes.HasPrefix(value, bom) {
		bare = false
	}
	if bare {
		return dst
	}
	if quotes > 0 {
		value = bytes.ReplaceAll(value, []byte(`"`), []byte(`""`))
		dst = append(dst[:from], value...)
	}
	dst = append(dst, 0, '"')
	copy(dst[from+1:], dst[from:len(dst)-2])
	dst[from] = '"'
	return dst
}

func (e *csvEncoder) flush() error {
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *csvEncoder) finish() error {
	if e.records == 0 {
		e.begin()
	}
	// Without its line end a last record that is empty would not be there.
	if e.records > 0 && (!e.like.CSV.NoFinalNewline || e.empty) {
		e.lineEnd()
	}
	return e.flush()
}

func (e *csvEncoder) free() {}
