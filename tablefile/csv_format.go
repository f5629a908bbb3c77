package tablefile

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// canFormat says whether values of t can be CSV cells.
func canFormat(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return canFormat(t.ValueType)
	case *arrow.RunEndEncodedType:
		return canFormat(t.Encoded())
	case arrow.ExtensionType:
		return canFormat(t.StorageType())
	}
	return t.ID() == arrow.NULL || checkCellType(t) == nil
}

// valueFormat appends the text of a row's value, before any quoting. It reports false, and appends nothing, for NULL.
type valueFormat func(dst []byte, row int) ([]byte, bool, error)

func formatter(col arrow.Array) valueFormat {
	switch col := col.(type) {
	case *array.Dictionary:
		values := formatter(col.Dictionary())
		return func(dst []byte, row int) ([]byte, bool, error) {
			if col.IsNull(row) {
				return dst, false, nil
			}
			return values(dst, col.GetValueIndex(row))
		}
	case *array.RunEndEncoded:
		values := formatter(col.Values())
		return func(dst []byte, row int) ([]byte, bool, error) {
			return values(dst, col.GetPhysicalIndex(row))
		}
	case array.ExtensionArray:
		return formatter(col.Storage())
	case *array.Null:
		return func(dst []byte, _ int) ([]byte, bool, error) { return dst, false, nil }
	}
	value := plainFormatter(col)
	return func(dst []byte, row int) ([]byte, bool, error) {
		if col.IsNull(row) {
			return dst, false, nil
		}
		dst, err := value(dst, row)
		return dst, true, err
	}
}

// plainFormatter formats values that are not NULL.
func plainFormatter(col arrow.Array) cellWriter {
	if text := textOf(col); text != nil {
		return func(dst []byte, row int) ([]byte, error) { return append(dst, text(row)...), nil }
	}
	if bin := bytesOf(col); bin != nil {
		return func(dst []byte, row int) ([]byte, error) { return hex.AppendEncode(dst, bin(row)), nil }
	}
	switch col := col.(type) {
	case *array.Boolean:
		return func(dst []byte, row int) ([]byte, error) { return strconv.AppendBool(dst, col.Value(row)), nil }
	case *array.Int8:
		return integers(col.Value)
	case *array.Int16:
		return integers(col.Value)
	case *array.Int32:
		return integers(col.Value)
	case *array.Int64:
		return integers(col.Value)
	case *array.Uint8:
		return integers(col.Value)
	case *array.Uint16:
		return integers(col.Value)
	case *array.Uint32:
		return integers(col.Value)
	case *array.Uint64:
		return func(dst []byte, row int) ([]byte, error) { return strconv.AppendUint(dst, col.Value(row), 10), nil }
	case *array.Duration:
		return integers(col.Value)
	case *array.Float16:
		return floats(32, func(row int) float64 { return float64(col.Value(row).Float32()) })
	case *array.Float32:
		return floats(32, func(row int) float64 { return float64(col.Value(row)) })
	case *array.Float64:
		return floats(64, col.Value)
	case *array.Date32:
		return func(dst []byte, row int) ([]byte, error) { return appendDate(dst, int64(col.Value(row))), nil }
	case *array.Date64:
		return func(dst []byte, row int) ([]byte, error) {
			days, rest := floorDiv(int64(col.Value(row)), dayMillis)
			if rest != 0 {
				return dst, fmt.Errorf("%w: a date64 that is not a whole day", ErrValue)
			}
			return appendDate(dst, days), nil
		}
	case *array.Time32:
		unit := col.DataType().(*arrow.Time32Type).Unit
		return clocks(unit, func(row int) int64 { return int64(col.Value(row)) })
	case *array.Time64:
		unit := col.DataType().(*arrow.Time64Type).Unit
		return clocks(unit, func(row int) int64 { return int64(col.Value(row)) })
	case *array.Timestamp:
		t := col.DataType().(*arrow.TimestampType)
		return func(dst []byte, row int) ([]byte, error) {
			return appendTimestamp(dst, int64(col.Value(row)), t.Unit, t.TimeZone != ""), nil
		}
	}
	return decimals(col)
}

// textOf gives access to the bytes of a text column, nil for other columns.
func textOf(col arrow.Array) func(row int) []byte {
	switch col := col.(type) {
	case *array.String:
		return offsetBytes(col.ValueOffsets(), col.Data())
	case *array.LargeString:
		return offsetBytes(col.ValueOffsets(), col.Data())
	case *array.StringView:
		return func(row int) []byte { return []byte(col.Value(row)) }
	}
	return nil
}

// bytesOf gives access to the values of a binary column, nil for other columns.
func bytesOf(col arrow.Array) func(row int) []byte {
	if b, ok := col.(interface{ Value(int) []byte }); ok {
		return b.Value
	}
	return nil
}

// offsetBytes cuts rows out of the data buffer without making strings of them.
func offsetBytes[T int32 | int64](offsets []T, data arrow.ArrayData) func(row int) []byte {
	var values []byte
	if b := data.Buffers()[2]; b != nil {
		values = b.Bytes()
	}
	return func(row int) []byte { return values[offsets[row]:offsets[row+1]] }
}

func integers[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](value func(int) T) cellWriter {
	return func(dst []byte, row int) ([]byte, error) { return strconv.AppendInt(dst, int64(value(row)), 10), nil }
}

func floats(bits int, value func(int) float64) cellWriter {
	return func(dst []byte, row int) ([]byte, error) {
		v, notation := value(row), byte('e')
		if a := math.Abs(v); a == 0 || 1e-6 <= a && a < 1e21 {
			notation = 'f'
		}
		return strconv.AppendFloat(dst, v, notation, -1, bits), nil
	}
}

func clocks(unit arrow.TimeUnit, value func(int) int64) cellWriter {
	_, per := unitDigits(unit)
	return func(dst []byte, row int) ([]byte, error) {
		v := value(row)
		if v < 0 || v >= daySeconds*per {
			return dst, fmt.Errorf("%w: a time of day outside its day", ErrValue)
		}
		return appendClock(dst, v, unit), nil
	}
}

func decimals(col arrow.Array) cellWriter {
	t, ok := col.DataType().(arrow.DecimalType)
	if !ok {
		return func(dst []byte, _ int) ([]byte, error) {
			return dst, fmt.Errorf("%w: type %s in CSV", ErrUnsupported, col.DataType())
		}
	}
	scale := t.GetScale()
	var text func(row int) string
	switch col := col.(type) {
	case *array.Decimal32:
		text = func(row int) string { return strconv.FormatInt(int64(col.Value(row)), 10) }
	case *array.Decimal64:
		text = func(row int) string { return strconv.FormatInt(int64(col.Value(row)), 10) }
	case *array.Decimal128:
		text = func(row int) string { return col.Value(row).BigInt().String() }
	case *array.Decimal256:
		text = func(row int) string { return col.Value(row).BigInt().String() }
	}
	return func(dst []byte, row int) ([]byte, error) { return appendScaled(dst, text(row), int(scale)), nil }
}

// appendScaled writes the integer in digits with its decimal point scale places from the right: scaledDigits the other way round.
func appendScaled(dst []byte, digits string, scale int) []byte {
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale < 0 {
		dst = append(dst, digits...)
		for ; scale < 0 && digits != "0"; scale++ {
			dst = append(dst, '0')
		}
		return dst
	}
	for n := scale + 1 - len(digits); n > 0; n-- {
		digits = "0" + digits
	}
	whole, fraction := digits[:len(digits)-scale], digits[len(digits)-scale:]
	dst = append(dst, whole...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, fraction...)
	}
	return dst
}
