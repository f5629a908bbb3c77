package tablefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// maxMetadata bounds the metadata of one message.
const maxMetadata = 64 << 20

// messages hands checked IPC messages to the library. A stream's come one after the other; a file's are taken from where its footer says, schema
// and dictionaries first, so that the library sees a stream.
type messages struct {
	refs   atomic.Int64
	mem    memory.Allocator
	next   func() (*ipc.Message, error)
	last   *ipc.Message
	schema *messageInfo // nil before the schema's message
}

func newMessages(mem memory.Allocator) *messages {
	m := &messages{mem: mem}
	m.refs.Store(1)
	return m
}

func (m *messages) Retain() { m.refs.Add(1) }

func (m *messages) Release() {
	if m.refs.Add(-1) == 0 && m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// Message returns the next message, valid until the next call, or io.EOF.
func (m *messages) Message() (*ipc.Message, error) {
	msg, err := m.next()
	if err != nil {
		return nil, err
	}
	if m.last != nil {
		m.last.Release()
	}
	m.last = msg
	return msg, nil
}

// read reads one message from r; limit bounds its body. A stream ends with an end mark or with its last byte; only then is the error io.EOF.
func (m *messages) read(r io.Reader, limit int64) (*ipc.Message, messageInfo, error) {
	meta, err := readMetadata(r)
	if err != nil {
		return nil, messageInfo{}, err
	}
	info, err := checkMessage(meta)
	if err != nil {
		return nil, info, err
	}
	if err := m.expect(&info); err != nil {
		return nil, info, err
	}
	if info.body > limit {
		return nil, info, fmt.Errorf("a message claims a body of %d bytes, of at most %d", info.body, limit)
	}
	body := memory.NewResizableBuffer(m.mem)
	defer body.Release()
	body.Resize(int(info.body))
	if _, err := io.ReadFull(r, body.Bytes()); err != nil {
		return nil, info, cutShort(err)
	}
	buf := memory.NewBufferBytes(meta)
	defer buf.Release()
	return ipc.NewMessage(buf, body), info, nil
}

// expect checks a message against the schema, which must come first and only once.
func (m *messages) expect(info *messageInfo) error {
	switch info.kind {
	case schemaMessage:
		if m.schema != nil {
			return errors.New("a second schema")
		}
		m.schema = info
		return nil
	case batchMessage:
		if m.schema != nil && info.views >= m.schema.views {
			return nil
		}
	case dictionaryMessage:
		if m.schema == nil {
			break
		}
		if views, known := m.schema.dicts[info.dict]; known && info.views >= views {
			return nil
		}
	}
	return errors.New("a message does not fit the schema")
}

func readMetadata(r io.Reader) ([]byte, error) {
	var word [4]byte
	if _, err := io.ReadFull(r, word[:]); err != nil {
		if err == io.EOF {
			return nil, err
		}
		return nil, cutShort(err)
	}
	size := binary.LittleEndian.Uint32(word[:])
	if size == math.MaxUint32 {
		if _, err := io.ReadFull(r, word[:]); err != nil {
			return nil, cutShort(err)
		}
		size = binary.LittleEndian.Uint32(word[:])
	}
	switch {
	case size == 0:
		return nil, io.EOF
	case size > maxMetadata:
		return nil, fmt.Errorf("a message claims %d bytes of metadata, of at most %d", size, maxMetadata)
	}
	meta := make([]byte, size)
	if _, err := io.ReadFull(r, meta); err != nil {
		return nil, cutShort(err)
	}
	return meta, nil
}

var errCutShort = errors.New("the input ends inside a message")

func cutShort(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCutShort
	}
	return err
}

// streamMessages reads the messages of a stream.
func streamMessages(r io.Reader, limit int64, mem memory.Allocator) *messages {
	m := newMessages(mem)
	m.next = func() (*ipc.Message, error) {
		msg, _, err := m.read(r, limit)
		return msg, err
	}
	return m
}

// fileMessages reads the messages of a file.
func fileMessages(src *source, mem memory.Allocator) (*messages, error) {
	schema, dicts, batches, err := readFooter(src)
	if err != nil {
		return nil, err
	}
	m := newMessages(mem)
	blocks := append(dicts, batches...)
	seen := map[int64]bool{}
	i := -1
	m.next = func() (*ipc.Message, error) {
		if i < 0 {
			// The schema is the footer's: what stands behind the magic is a message only in files that some writers make.
			i++
			return m.schemaMessage(schema)
		}
		if i == len(blocks) {
			return nil, io.EOF
		}
		b := blocks[i]
		msg, info, err := m.read(io.NewSectionReader(src, b.at, src.size-b.at), src.size)
		if err == nil {
			err = checkBlock(info, i, len(dicts), seen)
			if err != nil {
				msg.Release()
			}
		}
		if err == io.EOF {
			err = errCutShort
		}
		if err != nil {
			return nil, err
		}
		i++
		return msg, nil
	}
	return m, nil
}

// checkBlock checks that a file's i-th message is of the kind that its place asks for, and that no dictionary is given twice, which would leave
// open which one a batch means.
func checkBlock(info messageInfo, i, dicts int, seen map[int64]bool) error {
	want := batchMessage
	if i < dicts {
		want = dictionaryMessage
	}
	if info.kind != want {
		return fmt.Errorf("a message of kind %d stands where the footer has one of kind %d", info.kind, want)
	}
	if want == dictionaryMessage {
		if seen[info.dict] && !info.delta {
			return fmt.Errorf("%w: a file that replaces a dictionary", ErrUnsupported)
		}
		seen[info.dict] = true
	}
	return nil
}

// schemaMessage is a message of the metadata of a schema.
func (m *messages) schemaMessage(meta []byte) (*ipc.Message, error) {
	info, err := checkMessage(meta)
	if err == nil {
		err = m.expect(&info)
	}
	if err != nil {
		return nil, err
	}
	buf, body := memory.NewBufferBytes(meta), memory.NewBufferBytes(nil)
	defer buf.Release()
	defer body.Release()
	return ipc.NewMessage(buf, body), nil
}

// readFooter reads the footer and checks that the blocks it lists lie in the file.
func readFooter(src *source) (schema []byte, dicts, batches []fileBlock, err error) {
	const magic = "ARROW1"
	tail := make([]byte, 4+len(magic))
	if src.size < int64(2*len(tail)) {
		return nil, nil, nil, errors.New("too few bytes for a footer")
	}
	if _, err := src.ReadAt(tail, src.size-int64(len(tail))); err != nil {
		return nil, nil, nil, err
	}
	if string(tail[4:]) != magic {
		return nil, nil, nil, errors.New("cut short: it does not end in ARROW1")
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	at := src.size - int64(len(tail)) - size
	if size > maxMetadata || at < 8 {
		return nil, nil, nil, fmt.Errorf("a footer of %d bytes", size)
	}
	footer := make([]byte, size)
	if _, err := src.ReadAt(footer, at); err != nil {
		return nil, nil, nil, err
	}
	if schema, dicts, batches, err = checkFooter(footer); err != nil {
		return nil, nil, nil, err
	}
	for _, list := range [][]fileBlock{dicts, batches} {
		for _, b := range list {
			if b.at < 8 || b.meta < 0 || b.body < 0 || b.at > at || b.meta > at-b.at || b.body > at-b.at-b.meta {
				return nil, nil, nil, errors.New("the footer lists a block outside the file")
			}
		}
	}
	return schema, dicts, batches, nil
}
