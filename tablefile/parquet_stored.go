package tablefile

import (
	"bytes"
	"encoding/base64"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// storedKey is the entry of the key-value metadata that holds the Arrow schema which a file was written from.
const storedKey = "ARROW:schema"

// storedSchema is that Arrow schema. Nil stands for none.
type storedSchema struct{ fields []arrow.Field }

// readStored takes the stored Arrow schema. One that cannot be read, or that does not fit the columns, counts as none, as readers do.
func (p *parquetFile) readStored() *storedSchema {
	l, err := p.foot.Structs(fileKeyValues)
	if err != nil {
		return nil
	}
	for _, raw := range l.Items {
		kv, _, err := thrift.ReadStruct(raw)
		if err != nil {
			return nil
		}
		if key, _ := kv.Bytes(keyValueKey); string(key) != storedKey {
			continue
		}
		text, _ := kv.Bytes(keyValueValue)
		sc, err := decodeStored(string(text))
		if err != nil || sc.NumFields() != len(p.tops) {
			return nil
		}
		for i, t := range p.tops {
			if sc.Field(i).Name != t.name {
				return nil
			}
		}
		return &storedSchema{cleanSchema(sc).Fields()}
	}
	return nil
}

func decodeStored(text string) (sc *arrow.Schema, err error) {
	defer guard(ErrMalformed, "reading the stored Arrow schema", &err)
	if err := checkStoredSchema(text); err != nil {
		return nil, err
	}
	r, err := ipc.NewReader(bytes.NewReader(fromBase64(text)))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema(), checkTypes(r.Schema())
}

// fromBase64 decodes text with or without padding, and gives nil for any other.
func fromBase64(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		if b, err = base64.RawStdEncoding.DecodeString(text); err != nil {
			return nil
		}
	}
	return b
}

// project is the text of the stored schema with only some of its columns.
func (s *storedSchema) project(columns []int) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = s.fields[c]
	}
	return encodeStored(fields)
}

// encodeStored is an Arrow schema as Parquet files store it.
func encodeStored(fields []arrow.Field) (text []byte, err error) {
	defer guard(ErrUnsupported, "storing the Arrow schema", &err)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err := w.Close(); err != nil {
		return nil, wrap(ErrUnsupported, "storing the Arrow schema", err)
	}
	return base64.StdEncoding.AppendEncode(nil, buf.Bytes()), nil
}
