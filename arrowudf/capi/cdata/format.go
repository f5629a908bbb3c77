package cdata

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// formatOf is the format string of a type; of a dictionary that of its index,
// of an extension type that of its storage.
func formatOf(dt arrow.DataType) (string, error) {
	switch t := dt.(type) {
	case arrow.ExtensionType:
		return formatOf(t.StorageType())
	case *arrow.DictionaryType:
		return formatOf(t.IndexType)
	case *arrow.FixedSizeBinaryType:
		return "w:" + strconv.Itoa(t.ByteWidth), nil
	case *arrow.Decimal128Type:
		return fmt.Sprintf("d:%d,%d", t.Precision, t.Scale), nil
	case *arrow.Decimal256Type:
		return fmt.Sprintf("d:%d,%d,256", t.Precision, t.Scale), nil
	case *arrow.TimestampType:
		for letter, unit := range timeUnits {
			if unit == t.Unit {
				return "ts" + letter + ":" + t.TimeZone, nil
			}
		}
	case *arrow.StructType:
		return "+s", nil
	case *arrow.ListType:
		return "+l", nil
	case *arrow.LargeListType:
		return "+L", nil
	case *arrow.ListViewType:
		return "+vl", nil
	case *arrow.LargeListViewType:
		return "+vL", nil
	case *arrow.FixedSizeListType:
		return "+w:" + strconv.Itoa(int(t.Len())), nil
	case *arrow.MapType:
		return "+m", nil
	case *arrow.RunEndEncodedType:
		return "+r", nil
	case *arrow.SparseUnionType:
		return "+us:" + codeList(t.TypeCodes()), nil
	case *arrow.DenseUnionType:
		return "+ud:" + codeList(t.TypeCodes()), nil
	default:
		for format, known := range formats {
			if arrow.TypeEqual(known, dt) {
				return format, nil
			}
		}
	}
	return "", fmt.Errorf("%w: %s", ErrType, dt)
}

func codeList(codes []arrow.UnionTypeCode) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = strconv.Itoa(int(c))
	}
	return strings.Join(words, ",")
}
