package tablefile

import (
	"bufio"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ipcDecoder cuts the batches of an IPC file or stream to the size asked for and checks each one: the library takes lengths, offsets and
// indices as it finds them.
type ipcDecoder struct {
	r     *ipc.Reader
	sc    *arrow.Schema
	look  Style
	limit int64
	count int64             // batches read, for messages
	batch arrow.RecordBatch // what is left of the current one
	from  int64
}

func newFileDecoder(src *source, opts ReadOptions) (*ipcDecoder, error) {
	if err := checkFileMagic(src); err != nil {
		return nil, err
	}
	m, err := fileMessages(src, &boundedAllocator{opts.Mem})
	if err != nil {
		return nil, wrap(ErrMalformed, "reading the footer", err)
	}
	return newIPCDecoder(m, ArrowFile, opts)
}

// checkFileMagic tells what a file is that is not an Arrow IPC file.
func checkFileMagic(src *source) error {
	head := make([]byte, 6)
	n, err := src.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	switch {
	case string(head) == "ARROW1":
		return nil
	case n >= 4 && string(head[:4]) == "FEA1":
		return fmt.Errorf("%w: a Feather version 1 file", ErrUnsupported)
	case n >= 4 && string(head[:4]) == "\xff\xff\xff\xff":
		return fmt.Errorf("%w: not an Arrow IPC file but, by its first bytes, an Arrow IPC stream", ErrMalformed)
	}
	return fmt.Errorf("%w: not an Arrow IPC file: it does not begin with ARROW1", ErrMalformed)
}

func newStreamDecoder(src *source, opts ReadOptions) (*ipcDecoder, error) {
	limit := int64(maxBuffer)
	if src.size >= 0 {
		limit = src.size
	}
	in := bufio.NewReaderSize(src, 1<<20)
	return newIPCDecoder(streamMessages(in, limit, &boundedAllocator{opts.Mem}), ArrowStream, opts)
}

// newIPCDecoder passes its reference to m on to the library's reader, which releases it.
func newIPCDecoder(m *messages, f Format, opts ReadOptions) (d *ipcDecoder, err error) {
	defer guard(ErrMalformed, "reading the schema", &err)
	r, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(m.mem))
	if err != nil {
		return nil, wrap(ErrMalformed, "reading the schema", err)
	}
	if r.Schema() == nil || r.Schema().NumFields() == 0 {
		r.Release()
		return nil, fmt.Errorf("%w: a table without columns", ErrUnsupported)
	}
	if err := checkTypes(r.Schema()); err != nil {
		r.Release()
		return nil, err
	}
	return &ipcDecoder{r: r, sc: r.Schema(), look: Style{Format: f}, limit: int64(opts.BatchRows)}, nil
}

func (d *ipcDecoder) schema() *arrow.Schema { return d.sc }
func (d *ipcDecoder) numRows() int64        { return -1 }
func (d *ipcDecoder) style() *Style         { return &d.look }

func (d *ipcDecoder) next() (arrow.RecordBatch, error) {
	if d.batch == nil {
		batch, err := d.load()
		if err != nil {
			return nil, err
		}
		d.count++
		d.batch, d.from = batch, 0
	}
	to := min(d.from+d.limit, d.batch.NumRows())
	part := d.batch
	if d.from > 0 || to < part.NumRows() {
		part = d.batch.NewSlice(d.from, to)
	} else {
		part.Retain()
	}
	d.from = to
	if to == d.batch.NumRows() {
		d.batch.Release()
		d.batch = nil
	}
	return part, nil
}

func (d *ipcDecoder) load() (batch arrow.RecordBatch, err error) {
	what := fmt.Sprintf("batch %d", d.count+1)
	defer guard(ErrMalformed, what, &err)
	if !d.r.Next() {
		if d.r.Err() == nil {
			return nil, io.EOF
		}
		return nil, wrap(ErrMalformed, what, d.r.Err())
	}
	batch = d.r.RecordBatch()
	batch.Retain()
	if err := validate(d.sc, batch); err != nil {
		batch.Release()
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return batch, nil
}

func (d *ipcDecoder) close() {
	if d.batch != nil {
		d.batch.Release()
		d.batch = nil
	}
	if d.r != nil {
		d.r.Release()
		d.r = nil
	}
}

// boundedAllocator refuses sizes that no honest buffer has, by a panic that guard recovers: the run-time system's own refusal ends the process.
type boundedAllocator struct{ memory.Allocator }

const maxBuffer = 4 << 30

func (b *boundedAllocator) Allocate(size int) []byte {
	checkAllocation(size)
	return b.Allocator.Allocate(size)
}

func (b *boundedAllocator) Reallocate(size int, old []byte) []byte {
	checkAllocation(size)
	return b.Allocator.Reallocate(size, old)
}

func checkAllocation(size int) {
	if size < 0 || size > maxBuffer {
		panic("a buffer claims a size that cannot be")
	}
}
