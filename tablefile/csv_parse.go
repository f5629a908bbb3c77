package tablefile

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
)

// checkCellType says whether CSV cells can be read as t.
func checkCellType(t arrow.DataType) error {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY,
		arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION,
		arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		return nil
	}
	return fmt.Errorf("%w: type %s from CSV cells", ErrUnsupported, t)
}

// parser makes the function that appends cells to b, the builder of field f.
func (d *csvDecoder) parser(f arrow.Field, b array.Builder) cellParser {
	if _, raw := rawDelimiter(f); raw {
		b := b.(*array.StringBuilder)
		return func(c cell) (int, error) {
			b.BinaryBuilder.Append(c.raw)
			return len(c.raw) + 4, nil
		}
	}
	text, other := appendText(b), appendParsed(b, f.Type)
	return func(c cell) (int, error) {
		if c.null() {
			if !f.Nullable {
				return 0, fmt.Errorf("%w: NULL in a column that is not nullable", ErrValue)
			}
			b.AppendNull()
			return 8, nil
		}
		var value []byte
		value, d.scratch = c.text(d.scratch)
		if text != nil {
			text(value)
		} else if !other(string(value)) {
			return 0, fmt.Errorf("%w: the cell is not a %s", ErrValue, f.Type)
		}
		return len(value) + 8, nil
	}
}

// appendText returns nil for builders that are not of text.
func appendText(b array.Builder) func([]byte) {
	switch b := b.(type) {
	case *array.StringBuilder:
		return b.BinaryBuilder.Append
	case *array.LargeStringBuilder:
		return b.BinaryBuilder.Append
	case *array.StringViewBuilder:
		return func(v []byte) { b.AppendString(string(v)) }
	}
	return nil
}

// appendParsed returns a function that appends a cell of type t, or appends nothing and returns false when the cell is not one.
func appendParsed(b array.Builder, t arrow.DataType) func(string) bool {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return func(s string) bool { return appendIf(b.Append, s == "true", s == "true" || s == "false") }
	case *array.Int8Builder:
		return signed(8, b.Append)
	case *array.Int16Builder:
		return signed(16, b.Append)
	case *array.Int32Builder:
		return signed(32, b.Append)
	case *array.Int64Builder:
		return signed(64, b.Append)
	case *array.Uint8Builder:
		return unsigned(8, b.Append)
	case *array.Uint16Builder:
		return unsigned(16, b.Append)
	case *array.Uint32Builder:
		return unsigned(32, b.Append)
	case *array.Uint64Builder:
		return unsigned(64, b.Append)
	case *array.DurationBuilder:
		return signed(64, b.Append)
	case *array.Float16Builder:
		return func(s string) bool {
			v, ok := parseFloat(s, 32)
			return appendIf(b.Append, float16.New(float32(v)), ok)
		}
	case *array.Float32Builder:
		return func(s string) bool {
			v, ok := parseFloat(s, 32)
			return appendIf(b.Append, float32(v), ok)
		}
	case *array.Float64Builder:
		return func(s string) bool {
			v, ok := parseFloat(s, 64)
			return appendIf(b.Append, v, ok)
		}
	case *array.Date32Builder:
		return func(s string) bool {
			days, ok := parseDate(s)
			return appendIf(b.Append, arrow.Date32(days), ok && days == int64(int32(days)))
		}
	case *array.Date64Builder:
		return func(s string) bool {
			days, ok := parseDate(s)
			return appendIf(b.Append, arrow.Date64(days*dayMillis), ok)
		}
	case *array.Time32Builder:
		unit := t.(*arrow.Time32Type).Unit
		return func(s string) bool {
			v, ok := parseTime(s, unit)
			return appendIf(b.Append, arrow.Time32(v), ok)
		}
	case *array.Time64Builder:
		unit := t.(*arrow.Time64Type).Unit
		return func(s string) bool {
			v, ok := parseTime(s, unit)
			return appendIf(b.Append, arrow.Time64(v), ok)
		}
	case *array.TimestampBuilder:
		ts := t.(*arrow.TimestampType)
		return func(s string) bool {
			v, ok := parseTimestamp(s, ts.Unit, ts.TimeZone != "")
			return appendIf(b.Append, arrow.Timestamp(v), ok)
		}
	case *array.Decimal32Builder:
		return parseDecimal(t, func(v *big.Int) { b.Append(decimal.Decimal32(v.Int64())) })
	case *array.Decimal64Builder:
		return parseDecimal(t, func(v *big.Int) { b.Append(decimal.Decimal64(v.Int64())) })
	case *array.Decimal128Builder:
		return parseDecimal(t, func(v *big.Int) { b.Append(decimal128.FromBigInt(v)) })
	case *array.Decimal256Builder:
		return parseDecimal(t, func(v *big.Int) { b.Append(decimal256.FromBigInt(v)) })
	case *array.FixedSizeBinaryBuilder:
		width := t.(*arrow.FixedSizeBinaryType).ByteWidth
		return func(s string) bool {
			v, err := hex.DecodeString(s)
			return appendIf(b.Append, v, err == nil && len(v) == width)
		}
	case *array.BinaryViewBuilder:
		return func(s string) bool {
			v, err := hex.DecodeString(s)
			return appendIf(b.Append, v, err == nil)
		}
	case *array.BinaryBuilder:
		return func(s string) bool {
			v, err := hex.DecodeString(s)
			return appendIf(b.Append, v, err == nil)
		}
	}
	return func(string) bool { return false }
}

func appendIf[T any](add func(T), v T, ok bool) bool {
	if ok {
		add(v)
	}
	return ok
}

func signed[T ~int8 | ~int16 | ~int32 | ~int64](bits int, add func(T)) func(string) bool {
	return func(s string) bool {
		v, err := strconv.ParseInt(s, 10, bits)
		return appendIf(add, T(v), err == nil && s[0] != '+')
	}
}

func unsigned[T ~uint8 | ~uint16 | ~uint32 | ~uint64](bits int, add func(T)) func(string) bool {
	return func(s string) bool {
		v, err := strconv.ParseUint(s, 10, bits)
		return appendIf(add, T(v), err == nil)
	}
}

// parseFloat reads decimal notation, NaN, +Inf and -Inf. The hexadecimal notation, underscores and other spellings that strconv takes are refused.
func parseFloat(s string, bits int) (float64, bool) {
	switch s {
	case "NaN", "+Inf", "-Inf":
	default:
		for _, c := range []byte(s) {
			if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
				return 0, false
			}
		}
	}
	v, err := strconv.ParseFloat(s, bits)
	return v, err == nil
}

// parseDecimal reads an optional minus, digits, and at most as many fraction digits as the type's scale. More digits than the type holds are
// refused, never rounded.
func parseDecimal(t arrow.DataType, add func(*big.Int)) func(string) bool {
	dt := t.(arrow.DecimalType)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(dt.GetPrecision())), nil)
	return func(s string) bool {
		digits, ok := scaledDigits(s, int(dt.GetScale()))
		if !ok {
			return false
		}
		v, ok := new(big.Int).SetString(digits, 10)
		if !ok || v.CmpAbs(limit) >= 0 {
			return false
		}
		add(v)
		return true
	}
}

// scaledDigits turns "-12.5" with scale 2 into "-1250". With a negative scale the digits it stands for must be zeros.
func scaledDigits(s string, scale int) (string, bool) {
	out := make([]byte, 0, len(s)+max(scale, 0))
	digits, fraction, point := 0, 0, false
	for i, c := range []byte(s) {
		switch {
		case c == '-' && i == 0:
			out = append(out, c)
		case c == '.' && !point && digits > 0:
			point = true
		case '0' <= c && c <= '9':
			out = append(out, c)
			digits++
			if point {
				fraction++
			}
		default:
			return "", false
		}
	}
	if digits == 0 || point && fraction == 0 || fraction > max(scale, 0) || len(out) > 100 {
		return "", false
	}
	for ; fraction < scale; fraction++ {
		out = append(out, '0')
	}
	for ; scale < 0; scale++ {
		switch {
		case digits > 1 && out[len(out)-1] == '0':
			out, digits = out[:len(out)-1], digits-1
		case string(out) != "0":
			return "", false
		}
	}
	return string(out), true
}
