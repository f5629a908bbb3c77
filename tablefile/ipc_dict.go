package tablefile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// dictEncoder writes IPC files with dictionary columns. Such a file has one dictionary a column, ahead of all batches, while batches come
// each with its own. So the batches first go to an unnamed spool, with the indices that their values have in one common dictionary, and
// from there to the file once that dictionary is complete.
type dictEncoder struct {
	file   *ipcEncoder
	sc     *arrow.Schema // of the file
	flatSc *arrow.Schema // of the spool: indices in place of dictionaries
	dicts  []array.DictionaryUnifier
	last   []placed // of each column, the dictionary it brought last
	mem    memory.Allocator
	spool  *os.File
	w      *ipc.Writer
}

func hasDictionary(s *arrow.Schema) bool {
	for _, f := range s.Fields() {
		if f.Type.ID() == arrow.DICTIONARY {
			return true
		}
	}
	return false
}

func newDictEncoder(file *ipcEncoder, s *sink, schema *arrow.Schema, opts WriteOptions) (e *dictEncoder, err error) {
	e = &dictEncoder{file: file, sc: schema, mem: opts.Mem, dicts: make([]array.DictionaryUnifier, schema.NumFields()),
		last: make([]placed, schema.NumFields())}
	defer func() {
		if err != nil {
			e.free()
		}
	}()
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		fields[i] = f
		t, ok := f.Type.(*arrow.DictionaryType)
		if !ok {
			continue
		}
		if e.dicts[i], err = array.NewDictionaryUnifier(opts.Mem, t.ValueType); err != nil {
			return nil, wrap(ErrUnsupported, fmt.Sprintf("column %q: type %s in an Arrow file", f.Name, f.Type), err)
		}
		fields[i].Type = t.IndexType
	}
	e.flatSc = arrow.NewSchema(fields, nil)
	dir := ""
	if s.temp != "" {
		dir = filepath.Dir(s.temp)
	}
	if e.spool, err = unnamedTemp(dir); err != nil {
		return nil, err
	}
	e.w = ipc.NewWriter(onlyWriter{e.spool}, ipc.WithSchema(e.flatSc), ipc.WithAllocator(opts.Mem))
	return e, nil
}

func (e *dictEncoder) write(batch arrow.RecordBatch) (err error) {
	defer guard(ErrUnsupported, "encoding rows", &err)
	cols := make([]arrow.Array, batch.NumCols())
	for i, c := range batch.Columns() {
		if e.dicts[i] == nil {
			c.Retain()
			cols[i] = c
		} else if cols[i], err = e.flatten(i, c.(*array.Dictionary)); err != nil {
			return err
		}
		defer cols[i].Release()
	}
	flat := array.NewRecordBatch(e.flatSc, cols, batch.NumRows())
	defer flat.Release()
	if err := e.w.Write(flat); err != nil {
		return wrap(ErrUnsupported, "writing the spool", err)
	}
	return nil
}

// flatten gives the indices of a column in the common dictionary, to which it adds the column's values. Indices under NULL are 0.
func (e *dictEncoder) flatten(i int, col *array.Dictionary) (arrow.Array, error) {
	place, err := e.unify(i, col.Dictionary())
	if err != nil {
		return nil, err
	}
	index := e.flatSc.Field(i).Type.(arrow.FixedWidthDataType)
	width := index.BitWidth() / 8
	out := memory.NewResizableBuffer(e.mem)
	defer out.Release()
	out.Resize(col.Len() * width)
	clear(out.Bytes())
	for row := range col.Len() {
		if col.IsNull(row) {
			continue
		}
		at := place[col.GetValueIndex(row)]
		if !fitsIndex(index, at) {
			return nil, fmt.Errorf("column %q: %w: more distinct values than the index type %s can number, in an Arrow file, which has one dictionary a column",
				e.sc.Field(i).Name, ErrUnsupported, index)
		}
		putIndex(out.Bytes()[row*width:(row+1)*width], at)
	}
	nulls := memory.NewResizableBuffer(e.mem)
	defer nulls.Release()
	if col.NullN() > 0 {
		nulls.Resize(int(bitutil.BytesForBits(int64(col.Len()))))
		clear(nulls.Bytes())
		bitutil.CopyBitmap(col.NullBitmapBytes(), col.Data().Offset(), col.Len(), nulls.Bytes(), 0)
	}
	data := array.NewData(index, col.Len(), []*memory.Buffer{nulls, out}, nil, col.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// unify adds a dictionary to the common one of column i and says where its values are there. A dictionary that comes again is not added again.
func (e *dictEncoder) unify(i int, dict arrow.Array) ([]int32, error) {
	if last := e.last[i]; last.dict != nil && last.dict.Data() == dict.Data() {
		return last.place, nil
	}
	buf, err := e.dicts[i].UnifyAndTranspose(dict)
	if err != nil {
		return nil, wrap(ErrUnsupported, fmt.Sprintf("column %q", e.sc.Field(i).Name), err)
	}
	defer buf.Release()
	place := slices.Clone(arrow.Int32Traits.CastFromBytes(buf.Bytes()))
	e.last[i].release()
	dict.Retain()
	e.last[i] = placed{dict, place}
	return place, nil
}

// placed is a dictionary and where its values are in the common one.
type placed struct {
	dict  arrow.Array
	place []int32
}

func (p *placed) release() {
	if p.dict != nil {
		p.dict.Release()
		p.dict = nil
	}
}

func fitsIndex(t arrow.DataType, at int32) bool {
	switch t.ID() {
	case arrow.INT8:
		return at <= math.MaxInt8
	case arrow.UINT8:
		return at <= math.MaxUint8
	case arrow.INT16:
		return at <= math.MaxInt16
	case arrow.UINT16:
		return at <= math.MaxUint16
	}
	return true
}

// putIndex stores an index in the machine's byte order, as arrays in memory have it.
func putIndex(dst []byte, at int32) {
	switch len(dst) {
	case 1:
		dst[0] = byte(at)
	case 2:
		binary.NativeEndian.PutUint16(dst, uint16(at))
	case 4:
		binary.NativeEndian.PutUint32(dst, uint32(at))
	case 8:
		binary.NativeEndian.PutUint64(dst, uint64(at))
	}
}

// finish writes the file from the spool.
func (e *dictEncoder) finish() (err error) {
	defer guard(ErrUnsupported, "writing dictionaries", &err)
	if err := e.w.Close(); err != nil {
		return err
	}
	e.w = nil
	if _, err := e.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	whole := make([]arrow.Array, len(e.dicts))
	for i, d := range e.dicts {
		if d == nil {
			continue
		}
		if whole[i], err = d.GetResultWithIndexType(e.flatSc.Field(i).Type); err != nil {
			return wrap(ErrUnsupported, fmt.Sprintf("column %q", e.sc.Field(i).Name), err)
		}
		defer whole[i].Release()
	}
	r, err := ipc.NewReader(bufio.NewReaderSize(e.spool, 1<<20), ipc.WithAllocator(e.mem))
	if err != nil {
		return fmt.Errorf("reading the spool: %w", err)
	}
	defer r.Release()
	for r.Next() {
		batch := e.restore(r.RecordBatch(), whole)
		err := e.file.write(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return fmt.Errorf("reading the spool: %w", r.Err())
	}
	return e.file.finish()
}

func (e *dictEncoder) restore(flat arrow.RecordBatch, whole []arrow.Array) arrow.RecordBatch {
	cols := make([]arrow.Array, flat.NumCols())
	for i, c := range flat.Columns() {
		if whole[i] == nil {
			c.Retain()
			cols[i] = c
		} else {
			cols[i] = array.NewDictionaryArray(e.sc.Field(i).Type, c, whole[i])
		}
		defer cols[i].Release()
	}
	return array.NewRecordBatch(e.sc, cols, flat.NumRows())
}

func (e *dictEncoder) free() {
	for i := range e.last {
		e.last[i].release()
	}
	for _, d := range e.dicts {
		if d != nil {
			d.Release()
		}
	}
	if e.w != nil {
		e.w.Close()
		e.w = nil
	}
	if e.spool != nil {
		e.spool.Close()
		e.spool = nil
	}
	e.file.free()
}
