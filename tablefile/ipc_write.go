package tablefile

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

func ipcOptions(schema *arrow.Schema, opts WriteOptions) ([]ipc.Option, error) {
	out := []ipc.Option{ipc.WithSchema(schema), ipc.WithAllocator(opts.Mem)}
	switch opts.Compression {
	case "", NoCompression:
	case LZ4:
		out = append(out, ipc.WithLZ4())
	case Zstd:
		out = append(out, ipc.WithZstd())
	default:
		return nil, fmt.Errorf("%w: compression %q in Arrow IPC, which has lz4 and zstd", ErrUnsupported, opts.Compression)
	}
	return out, nil
}

// ipcWriter is what the library's stream and file writers share.
type ipcWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// ipcEncoder writes batches as they come. Its gate keeps the end of a stream that failed from the output, where it would make it look whole.
type ipcEncoder struct {
	w    ipcWriter
	gate *gate
}

func newStreamEncoder(out io.Writer, schema *arrow.Schema, opts WriteOptions) (encoder, error) {
	o, err := ipcOptions(schema, opts)
	if err != nil {
		return nil, err
	}
	g := &gate{w: out}
	return &ipcEncoder{ipc.NewWriter(g, o...), g}, nil
}

func newFileEncoder(out io.Writer, s *sink, schema *arrow.Schema, opts WriteOptions) (encoder, error) {
	o, err := ipcOptions(schema, opts)
	if err != nil {
		return nil, err
	}
	g := &gate{w: out}
	w, err := ipc.NewFileWriter(g, o...)
	if err != nil {
		return nil, wrap(ErrUnsupported, "starting the Arrow file", err)
	}
	plain := &ipcEncoder{w, g}
	if !hasDictionary(schema) {
		return plain, nil
	}
	return newDictEncoder(plain, s, schema, opts)
}

func (e *ipcEncoder) write(batch arrow.RecordBatch) (err error) {
	defer guard(ErrUnsupported, "encoding rows", &err)
	if err := e.w.Write(batch); err != nil {
		return wrap(ErrUnsupported, "encoding rows", err)
	}
	return nil
}

func (e *ipcEncoder) finish() (err error) {
	defer guard(ErrUnsupported, "ending the Arrow output", &err)
	return e.w.Close()
}

func (e *ipcEncoder) free() {
	var err error
	defer guard(ErrUnsupported, "", &err)
	e.gate.w = io.Discard
	err = e.w.Close()
}
