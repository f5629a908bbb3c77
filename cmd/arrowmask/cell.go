package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/arrowmask/arrowmask/mask"
)

// cell is one value for showing.
type cell struct {
	text   string
	null   bool
	number bool // text is a number or a boolean: JSON shows it unquoted
}

// String is NULL or the value.
func (c cell) String() string {
	if c.null {
		return "NULL"
	}
	return c.text
}

func (c cell) json() any {
	switch {
	case c.null:
		return nil
	case c.number:
		return json.RawMessage(c.text)
	}
	return c.text
}

// vectorCell reads row i of a vector that Eval made.
func vectorCell(v *mask.Vector, i int) cell {
	if v.IsNull(i) {
		return cell{null: true}
	}
	switch v.Type.Kind {
	case mask.Text:
		return cell{text: string(vectorBytes(v, i))}
	case mask.Binary:
		return cell{text: "0x" + hex.EncodeToString(vectorBytes(v, i))}
	case mask.Date32:
		return cell{text: time.Unix(86400*vectorInt(v, i), 0).UTC().Format(time.DateOnly)}
	case mask.Date64:
		return cell{text: time.UnixMilli(vectorInt(v, i)).UTC().Format(time.DateOnly)}
	case mask.Bool:
		return cell{text: strconv.FormatBool(v.Data[i>>3]>>(i&7)&1 == 1), number: true}
	case mask.Uint64:
		return cell{text: strconv.FormatUint(uint64(vectorInt(v, i)), 10), number: true}
	}
	return cell{text: strconv.FormatInt(vectorInt(v, i), 10), number: true}
}

func vectorBytes(v *mask.Vector, i int) []byte {
	switch v.Layout {
	case mask.LayoutOffsets32:
		return v.Data[v.Offsets32[i]:v.Offsets32[i+1]]
	case mask.LayoutOffsets64:
		return v.Data[v.Offsets64[i]:v.Offsets64[i+1]]
	}
	return v.Data[i*v.Type.Width : (i+1)*v.Type.Width]
}

// vectorInt reads an integer or a date of any width.
func vectorInt(v *mask.Vector, i int) int64 {
	switch v.Type.Kind {
	case mask.Int8:
		return int64(int8(v.Data[i]))
	case mask.Uint8:
		return int64(v.Data[i])
	case mask.Int16:
		return int64(int16(binary.LittleEndian.Uint16(v.Data[2*i:])))
	case mask.Uint16:
		return int64(binary.LittleEndian.Uint16(v.Data[2*i:]))
	case mask.Int32, mask.Date32:
		return int64(int32(binary.LittleEndian.Uint32(v.Data[4*i:])))
	case mask.Uint32:
		return int64(binary.LittleEndian.Uint32(v.Data[4*i:]))
	}
	return int64(binary.LittleEndian.Uint64(v.Data[8*i:]))
}

var kindNames = map[mask.Kind]string{
	mask.Null: "null", mask.Text: "text", mask.Binary: "binary", mask.Bool: "bool",
	mask.Int8: "int8", mask.Int16: "int16", mask.Int32: "int32", mask.Int64: "int64",
	mask.Uint8: "uint8", mask.Uint16: "uint16", mask.Uint32: "uint32", mask.Uint64: "uint64",
	mask.Date32: "date", mask.Date64: "date",
}

func kindName(t mask.Type) string { return kindNames[t.Kind] }
