package overhead

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// Streams is what Arrow IPC streams are made of, in bytes: every message with
// its prefix, metadata, padding and body.
type Streams struct {
	Streams, Schemas, Batches     int
	SchemaBytes, BatchBytes, Ends int
}

// Total is all bytes.
func (s Streams) Total() int { return s.SchemaBytes + s.BatchBytes + s.Ends }

// SchemaShare is the part of the bytes that schemas take.
func (s Streams) SchemaShare() float64 { return float64(s.SchemaBytes) / float64(s.Total()) }

var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// CountStreams walks IPC streams that follow one another. Bytes that belong to
// no message are an error: the count is exact or there is none.
func CountStreams(b []byte) (Streams, error) {
	var s Streams
	r := bytes.NewReader(b)
	for r.Len() > 0 {
		m := ipc.NewMessageReader(r)
		s.Streams++
		for {
			before := r.Len()
			if bytes.HasPrefix(b[len(b)-before:], endOfStream) {
				if _, err := io.CopyN(io.Discard, r, int64(len(endOfStream))); err != nil {
					return s, err
				}
				s.Ends += len(endOfStream)
				break
			}
			msg, err := m.Message()
			n := before - r.Len()
			if err != nil {
				return s, fmt.Errorf("stream %d ends without its mark, %d bytes before the end: %w", s.Streams, before, err)
			}
			switch msg.Type() {
			case ipc.MessageSchema:
				s.Schemas++
				s.SchemaBytes += n
			case ipc.MessageRecordBatch:
				s.Batches++
				s.BatchBytes += n
			default:
				return s, fmt.Errorf("stream %d holds a message of type %s", s.Streams, msg.Type())
			}
		}
		m.Release()
	}
	if s.Total() != len(b) {
		return s, fmt.Errorf("%d bytes counted of %d", s.Total(), len(b))
	}
	return s, nil
}
