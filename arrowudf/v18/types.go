package v18

import (
	"fmt"

	arrow18 "github.com/apache/arrow-go/v18/arrow"
	arrow17 "github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/mask"
)

// simple are the types without parameters, in both versions.
var simple = []struct {
	v17 arrow17.DataType
	v18 arrow18.DataType
}{
	{arrow17.Null, arrow18.Null},
	{arrow17.FixedWidthTypes.Boolean, arrow18.FixedWidthTypes.Boolean},
	{arrow17.PrimitiveTypes.Int8, arrow18.PrimitiveTypes.Int8},
	{arrow17.PrimitiveTypes.Int16, arrow18.PrimitiveTypes.Int16},
	{arrow17.PrimitiveTypes.Int32, arrow18.PrimitiveTypes.Int32},
	{arrow17.PrimitiveTypes.Int64, arrow18.PrimitiveTypes.Int64},
	{arrow17.PrimitiveTypes.Uint8, arrow18.PrimitiveTypes.Uint8},
	{arrow17.PrimitiveTypes.Uint16, arrow18.PrimitiveTypes.Uint16},
	{arrow17.PrimitiveTypes.Uint32, arrow18.PrimitiveTypes.Uint32},
	{arrow17.PrimitiveTypes.Uint64, arrow18.PrimitiveTypes.Uint64},
	{arrow17.FixedWidthTypes.Float16, arrow18.FixedWidthTypes.Float16},
	{arrow17.PrimitiveTypes.Float32, arrow18.PrimitiveTypes.Float32},
	{arrow17.PrimitiveTypes.Float64, arrow18.PrimitiveTypes.Float64},
	{arrow17.FixedWidthTypes.Date32, arrow18.FixedWidthTypes.Date32},
	{arrow17.FixedWidthTypes.Date64, arrow18.FixedWidthTypes.Date64},
	{arrow17.FixedWidthTypes.MonthInterval, arrow18.FixedWidthTypes.MonthInterval},
	{arrow17.FixedWidthTypes.DayTimeInterval, arrow18.FixedWidthTypes.DayTimeInterval},
	{arrow17.FixedWidthTypes.MonthDayNanoInterval, arrow18.FixedWidthTypes.MonthDayNanoInterval},
	{arrow17.BinaryTypes.String, arrow18.BinaryTypes.String},
	{arrow17.BinaryTypes.LargeString, arrow18.BinaryTypes.LargeString},
	{arrow17.BinaryTypes.StringView, arrow18.BinaryTypes.StringView},
	{arrow17.BinaryTypes.Binary, arrow18.BinaryTypes.Binary},
	{arrow17.BinaryTypes.LargeBinary, arrow18.BinaryTypes.LargeBinary},
	{arrow17.BinaryTypes.BinaryView, arrow18.BinaryTypes.BinaryView},
}

// TypeToV17 is the same type in v17. An extension type crosses as its storage.
// Nested types and those that v17 lacks (Decimal32, Decimal64) are errors that
// wrap mask.ErrType.
func TypeToV17(dt arrow18.DataType) (arrow17.DataType, error) {
	switch t := storage(dt).(type) {
	case *arrow18.FixedSizeBinaryType:
		return &arrow17.FixedSizeBinaryType{ByteWidth: t.ByteWidth}, nil
	case *arrow18.Decimal128Type:
		return &arrow17.Decimal128Type{Precision: t.Precision, Scale: t.Scale}, nil
	case *arrow18.Decimal256Type:
		return &arrow17.Decimal256Type{Precision: t.Precision, Scale: t.Scale}, nil
	case *arrow18.TimestampType:
		return &arrow17.TimestampType{Unit: arrow17.TimeUnit(t.Unit), TimeZone: t.TimeZone}, nil
	case *arrow18.Time32Type:
		return &arrow17.Time32Type{Unit: arrow17.TimeUnit(t.Unit)}, nil
	case *arrow18.Time64Type:
		return &arrow17.Time64Type{Unit: arrow17.TimeUnit(t.Unit)}, nil
	case *arrow18.DurationType:
		return &arrow17.DurationType{Unit: arrow17.TimeUnit(t.Unit)}, nil
	case *arrow18.DictionaryType:
		index, err := TypeToV17(t.IndexType)
		if err != nil {
			return nil, err
		}
		values, err := TypeToV17(t.ValueType)
		if err != nil {
			return nil, err
		}
		return &arrow17.DictionaryType{IndexType: index, ValueType: values, Ordered: t.Ordered}, nil
	case *arrow18.RunEndEncodedType:
		ends, err := TypeToV17(t.RunEnds())
		if err != nil {
			return nil, err
		}
		values, err := TypeToV17(t.Encoded())
		if err != nil {
			return nil, err
		}
		ree := arrow17.RunEndEncodedOf(ends, values)
		ree.ValueNullable = t.ValueNullable
		return ree, nil
	}
	for _, s := range simple {
		if s.v18.ID() == storage(dt).ID() {
			return s.v17, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", mask.ErrType, dt)
}

// TypeFromV17 is TypeToV17 the other way.
func TypeFromV17(dt arrow17.DataType) (arrow18.DataType, error) {
	for {
		ext, ok := dt.(arrow17.ExtensionType)
		if !ok {
			break
		}
		dt = ext.StorageType()
	}
	switch t := dt.(type) {
	case *arrow17.FixedSizeBinaryType:
		return &arrow18.FixedSizeBinaryType{ByteWidth: t.ByteWidth}, nil
	case *arrow17.Decimal128Type:
		return &arrow18.Decimal128Type{Precision: t.Precision, Scale: t.Scale}, nil
	case *arrow17.Decimal256Type:
		return &arrow18.Decimal256Type{Precision: t.Precision, Scale: t.Scale}, nil
	case *arrow17.TimestampType:
		return &arrow18.TimestampType{Unit: arrow18.TimeUnit(t.Unit), TimeZone: t.TimeZone}, nil
	case *arrow17.Time32Type:
		return &arrow18.Time32Type{Unit: arrow18.TimeUnit(t.Unit)}, nil
	case *arrow17.Time64Type:
		return &arrow18.Time64Type{Unit: arrow18.TimeUnit(t.Unit)}, nil
	case *arrow17.DurationType:
		return &arrow18.DurationType{Unit: arrow18.TimeUnit(t.Unit)}, nil
	case *arrow17.DictionaryType:
		index, err := TypeFromV17(t.IndexType)
		if err != nil {
			return nil, err
		}
		values, err := TypeFromV17(t.ValueType)
		if err != nil {
			return nil, err
		}
		return &arrow18.DictionaryType{IndexType: index, ValueType: values, Ordered: t.Ordered}, nil
	case *arrow17.RunEndEncodedType:
		ends, err := TypeFromV17(t.RunEnds())
		if err != nil {
			return nil, err
		}
		values, err := TypeFromV17(t.Encoded())
		if err != nil {
			return nil, err
		}
		ree := arrow18.RunEndEncodedOf(ends, values)
		ree.ValueNullable = t.ValueNullable
		return ree, nil
	}
	for _, s := range simple {
		if s.v17.ID() == dt.ID() {
			return s.v18, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", mask.ErrType, dt)
}

// sameType is arrow's TypeEqual, at once for types that their number says all of.
func sameType(a, b arrow18.DataType) bool {
	if id := a.ID(); id == b.ID() && id <= arrow18.BINARY {
		return true
	}
	return arrow18.TypeEqual(a, b)
}

// storage is the type behind any extension types.
func storage(dt arrow18.DataType) arrow18.DataType {
	for {
		ext, ok := dt.(arrow18.ExtensionType)
		if !ok {
			return dt
		}
		dt = ext.StorageType()
	}
}
