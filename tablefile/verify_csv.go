package tablefile

import (
	"bytes"
	"context"
	"io"
)

// searchCSV looks through all of a CSV file but the cells of columns that stay, which were found equal. Masked cells that stand side by side are
// searched with what is between them.
func (v *verifier) searchCSV(ctx context.Context, path string, opts ReadOptions) error {
	src, err := openSource(ctx, path, true)
	if err != nil {
		return err
	}
	defer src.Close()
	delim := delimiterOf(opts.Format, opts.Delimiter, 0)
	s := newScanner(src, delim)
	if _, err := s.skipBOM(); err != nil {
		return err
	}
	var run, text []byte
	for record := int64(0); ; record++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		header := record == 0 && !opts.NoHeader
		run = run[:0]
		for i, c := range s.cells {
			if !header && (i >= len(v.masked) || !v.masked[i]) {
				v.needles.find(run, needleMin, v.hit)
				run = append(run[:0], delim)
				continue
			}
			run = append(append(run, c.raw...), delim)
			if !header && v.out.Columns[i].Err == nil {
				text = v.showCell(c, text)
			}
		}
		v.needles.find(bytes.TrimSuffix(run, []byte{delim}), needleMin, v.hit)
	}
}

// showCell finds the old values that a new cell holds, as it stands and as a value.
func (v *verifier) showCell(c cell, scratch []byte) []byte {
	v.needles.find(c.raw, needleMin, v.show)
	value, scratch := c.text(scratch)
	if c.quoted {
		v.needles.find(value, needleMin, v.show)
	}
	return scratch
}
