package mask

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// refRowBytes puts a row together as doc/functions.md writes it down.
func refRowBytes(cells []Value) (Value, error) {
	var b strings.Builder
	for _, c := range cells {
		if c.Null || c.Kind == Null {
			b.WriteByte(0)
			continue
		}
		sort, text := "i", fmt.Sprint(c.Int)
		switch c.Kind {
		case Text:
			sort, text = "t", string(c.Bytes)
		case Binary:
			sort, text = "b", string(c.Bytes)
		case Uint64:
			text = fmt.Sprint(uint64(c.Int))
		case Date32:
			sort = "d"
		case Date64:
			sort = "m"
		}
		length, _ := hex.DecodeString(fmt.Sprintf("%016x", len(text)))
		b.WriteString(sort + string(length) + text)
	}
	return Value{Kind: Binary, Bytes: []byte(b.String())}, nil
}

// ref is the row version of sha2 by column.
func (s sha2Rows) ref(cells []Value) (Value, error) {
	v, bits := cells[0], cells[1]
	null := Value{Kind: Text, Null: true}
	if v.Null || bits.Null {
		return null, nil
	}
	hash, ok := s.hashes[bits.Int]
	switch {
	case !ok && s.strict:
		return Value{}, fmt.Errorf("sha2: %w: no digest has that length", ErrValue)
	case !ok:
		return null, nil
	}
	alg := sha2Lengths[int64(8*hash.Size())]
	return Value{Kind: Text, Bytes: []byte(hex.EncodeToString(refDigest(v.Bytes, &settings{alg: alg})))}, nil
}
