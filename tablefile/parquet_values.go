package tablefile

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// convertedUnit says whether values of t are converted on the way into Parquet, which has no seconds and no dates in milliseconds: seconds become
// milliseconds, date64 becomes date32. The library multiplies and divides without looking.
func convertedUnit(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Date64Type:
		return true
	case *arrow.Time32Type:
		return t.Unit == arrow.Second
	case *arrow.TimestampType:
		return t.Unit == arrow.Second
	case *arrow.DictionaryType:
		return convertedUnit(t.ValueType)
	case arrow.ExtensionType:
		return convertedUnit(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if convertedUnit(f.Type) {
				return true
			}
		}
	}
	return false
}

// checkConverted refuses values that the conversion would change. It gives the row within a, or, for nested columns, -1.
func checkConverted(a arrow.Array) (row int, err error) {
	if !convertedUnit(a.DataType()) {
		return 0, nil
	}
	switch a := a.(type) {
	case *array.Date64:
		return firstBad(a, func(i int) bool {
			days, rest := floorDiv(int64(a.Value(i)), dayMillis)
			return rest != 0 || days != int64(int32(days))
		}, "a date64 that is not a whole day, or too far away, in Parquet")
	case *array.Time32:
		return firstBad(a, func(i int) bool { return a.Value(i) < 0 || a.Value(i) >= daySeconds }, "a time of day outside its day, in Parquet")
	case *array.Timestamp:
		return firstBad(a, func(i int) bool {
			return a.Value(i) > math.MaxInt64/1000 || a.Value(i) < math.MinInt64/1000
		}, "a timestamp in seconds that milliseconds cannot count to, in Parquet")
	}
	for _, child := range nestedArrays(a) {
		if _, err := checkConverted(child); err != nil {
			return -1, err
		}
	}
	return 0, nil
}

func firstBad(a arrow.Array, bad func(int) bool, what string) (int, error) {
	for i := range a.Len() {
		if a.IsValid(i) && bad(i) {
			return i, fmt.Errorf("%w: %s", ErrValue, what)
		}
	}
	return 0, nil
}

func nestedArrays(a arrow.Array) []arrow.Array {
	switch a := a.(type) {
	case *array.Dictionary:
		return []arrow.Array{a.Dictionary()}
	case array.ExtensionArray:
		return []arrow.Array{a.Storage()}
	case *array.Struct:
		var out []arrow.Array
		for i := range a.NumField() {
			out = append(out, a.Field(i))
		}
		return out
	case array.ListLike:
		return []arrow.Array{a.ListValues()}
	}
	return nil
}
