package tablefile

import (
	"bytes"
	"fmt"
	"io"
)

// maxRecord bounds the bytes of one CSV record, and so the memory that a quote which is never closed can take.
const maxRecord = 256 << 20

// cell is a CSV cell as it stands in the input.
type cell struct {
	raw     []byte // with its quotes
	quoted  bool
	doubled bool // it has doubled quotes inside
}

// text gives the cell's value. It may lie in scratch, which is returned for the next call.
func (c cell) text(scratch []byte) (value, next []byte) {
	if !c.quoted {
		return c.raw, scratch
	}
	inner := c.raw[1 : len(c.raw)-1]
	if !c.doubled {
		return inner, scratch
	}
	scratch = scratch[:0]
	for {
		i := bytes.IndexByte(inner, '"')
		if i < 0 {
			scratch = append(scratch, inner...)
			return scratch, scratch
		}
		scratch = append(scratch, inner[:i+1]...)
		inner = inner[i+2:]
	}
}

// null says whether the cell is NULL: bare and empty.
func (c cell) null() bool { return len(c.raw) == 0 }

// parseRaw reads a cell from its raw bytes, as a scanner cut them.
func parseRaw(raw []byte) cell {
	quoted := len(raw) >= 2 && raw[0] == '"'
	return cell{raw, quoted, quoted && bytes.IndexByte(raw[1:len(raw)-1], '"') >= 0}
}

// recordEnd is how a record ended.
type recordEnd uint8

const (
	endMore recordEnd = iota // it did not: more input is needed
	endLF
	endCRLF
	endFile
)

// scanner cuts a CSV input into records.
type scanner struct {
	in    io.Reader
	buf   []byte // input not yet consumed is buf[pos:]
	pos   int
	eof   bool
	limit int
	stop  [256]bool // bytes that end or break a bare cell
	delim byte
	line  int64 // of the next record, from 1
	start int64 // line of the last record
	last  recordEnd
	cells []cell // of the last record; valid until the next call
}

func newScanner(in io.Reader, delim byte) *scanner {
	s := &scanner{in: in, delim: delim, line: 1, limit: maxRecord, buf: make([]byte, 0, 1<<20)}
	for _, c := range []byte{delim, '\n', '\r', '"'} {
		s.stop[c] = true
	}
	return s
}

// skipBOM consumes a byte order mark and says whether there was one.
func (s *scanner) skipBOM() (bool, error) {
	for len(s.buf) < len(bom) && !s.eof {
		if err := s.fill(); err != nil {
			return false, err
		}
	}
	if !bytes.HasPrefix(s.buf, bom) {
		return false, nil
	}
	s.pos = len(bom)
	return true, nil
}

var bom = []byte("\xef\xbb\xbf")

// next reads one record into s.cells. It returns io.EOF when none is left.
func (s *scanner) next() error {
	for {
		if s.pos == len(s.buf) && s.eof {
			return io.EOF
		}
		n, end, err := s.cut(s.buf[s.pos:])
		if err != nil {
			return err
		}
		if end != endMore {
			s.start, s.last = s.line, end
			s.line += int64(bytes.Count(s.buf[s.pos:s.pos+n], newline))
			s.pos += n
			return nil
		}
		if len(s.buf)-s.pos >= s.limit {
			return fmt.Errorf("%w: a record of more than %d bytes; perhaps a quote is never closed", ErrMalformed, s.limit)
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

var newline = []byte("\n")

// fill reads more input behind what is left of it.
func (s *scanner) fill() error {
	if s.pos > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.pos:])]
		s.pos = 0
	}
	if len(s.buf) == cap(s.buf) {
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	n, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if err == io.EOF {
		s.eof = true
		return nil
	}
	return err
}

// cut parses the record at the start of data into s.cells and gives its length, line end included.
func (s *scanner) cut(data []byte) (int, recordEnd, error) {
	s.cells = s.cells[:0]
	for i := 0; ; {
		c, n, err := s.cutCell(data[i:])
		if err != nil {
			return 0, 0, err
		}
		if n < 0 {
			return 0, endMore, nil
		}
		i += n
		s.cells = append(s.cells, c)
		if i == len(data) {
			if s.eof {
				return i, endFile, nil
			}
			return 0, endMore, nil
		}
		switch data[i] {
		case s.delim:
			i++
		case '\n':
			return i + 1, endLF, nil
		case '\r':
			if i+1 == len(data) && !s.eof {
				return 0, endMore, nil
			}
			if i+1 == len(data) || data[i+1] != '\n' {
				return 0, 0, fmt.Errorf("%w: a carriage return outside quotes that no line feed follows, in cell %d", ErrMalformed, len(s.cells))
			}
			return i + 2, endCRLF, nil
		case '"':
			return 0, 0, fmt.Errorf("%w: a quote inside the bare cell %d", ErrMalformed, len(s.cells))
		default:
			return 0, 0, fmt.Errorf("%w: text after the closing quote of cell %d", ErrMalformed, len(s.cells))
		}
	}
}

// cutCell parses the cell at the start of data and gives its length, or -1 when its end is not in sight.
func (s *scanner) cutCell(data []byte) (cell, int, error) {
	if len(data) == 0 || data[0] != '"' {
		i := 0
		for i < len(data) && !s.stop[data[i]] {
			i++
		}
		return cell{raw: data[:i:i]}, i, nil
	}
	doubled := false
	for i := 1; ; {
		j := bytes.IndexByte(data[i:], '"')
		if j < 0 {
			if s.eof {
				return cell{}, 0, fmt.Errorf("%w: the quote that opens cell %d is never closed", ErrMalformed, len(s.cells)+1)
			}
			return cell{}, -1, nil
		}
		i += j + 1
		if i < len(data) && data[i] == '"' {
			doubled = true
			i++
			continue
		}
		if i == len(data) && !s.eof {
			return cell{}, -1, nil
		}
		return cell{data[:i:i], true, doubled}, i, nil
	}
}
