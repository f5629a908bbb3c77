package arrowudf

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/mask"
)

// storage is the type behind any extension types.
func storage(dt arrow.DataType) arrow.DataType {
	for {
		ext, ok := dt.(arrow.ExtensionType)
		if !ok {
			return dt
		}
		dt = ext.StorageType()
	}
}

// sameType is arrow.TypeEqual, at once for types that their number says all of.
func sameType(a, b arrow.DataType) bool {
	if id := a.ID(); id == b.ID() && id <= arrow.BINARY {
		return true
	}
	return arrow.TypeEqual(a, b)
}

var kinds = map[arrow.Type]mask.Kind{
	arrow.NULL:                    mask.Null,
	arrow.STRING:                  mask.Text,
	arrow.LARGE_STRING:            mask.Text,
	arrow.STRING_VIEW:             mask.Text,
	arrow.BINARY:                  mask.Binary,
	arrow.LARGE_BINARY:            mask.Binary,
	arrow.BINARY_VIEW:             mask.Binary,
	arrow.FIXED_SIZE_BINARY:       mask.Binary,
	arrow.INT8:                    mask.Int8,
	arrow.INT16:                   mask.Int16,
	arrow.INT32:                   mask.Int32,
	arrow.INT64:                   mask.Int64,
	arrow.UINT8:                   mask.Uint8,
	arrow.UINT16:                  mask.Uint16,
	arrow.UINT32:                  mask.Uint32,
	arrow.UINT64:                  mask.Uint64,
	arrow.DATE32:                  mask.Date32,
	arrow.DATE64:                  mask.Date64,
	arrow.BOOL:                    mask.Bool,
	arrow.FLOAT16:                 mask.Float16,
	arrow.FLOAT32:                 mask.Float32,
	arrow.FLOAT64:                 mask.Float64,
	arrow.DECIMAL128:              mask.Decimal,
	arrow.DECIMAL256:              mask.Decimal,
	arrow.TIMESTAMP:               mask.Timestamp,
	arrow.TIME32:                  mask.Time,
	arrow.TIME64:                  mask.Time,
	arrow.DURATION:                mask.Duration,
	arrow.INTERVAL_MONTHS:         mask.Interval,
	arrow.INTERVAL_DAY_TIME:       mask.Interval,
	arrow.INTERVAL_MONTH_DAY_NANO: mask.Interval,
}

// maskType is what package mask calls a plain type (no dictionary, run-end
// encoding or extension). Lists, structs, maps and unions have no masks.
func maskType(dt arrow.DataType) (mask.Type, error) {
	kind, ok := kinds[dt.ID()]
	if !ok {
		return mask.Type{}, fmt.Errorf("%w: %s", mask.ErrType, dt)
	}
	t := mask.Type{Kind: kind}
	if fsb, ok := dt.(*arrow.FixedSizeBinaryType); ok {
		t.Width = fsb.ByteWidth
	}
	return t, nil
}

// plainTypes are the results that do not come from the input's own type, as of
// a literal.
var plainTypes = map[mask.Kind]arrow.DataType{
	mask.Null:   arrow.Null,
	mask.Bool:   arrow.FixedWidthTypes.Boolean,
	mask.Int8:   arrow.PrimitiveTypes.Int8,
	mask.Int16:  arrow.PrimitiveTypes.Int16,
	mask.Int32:  arrow.PrimitiveTypes.Int32,
	mask.Int64:  arrow.PrimitiveTypes.Int64,
	mask.Uint8:  arrow.PrimitiveTypes.Uint8,
	mask.Uint16: arrow.PrimitiveTypes.Uint16,
	mask.Uint32: arrow.PrimitiveTypes.Uint32,
	mask.Uint64: arrow.PrimitiveTypes.Uint64,
	mask.Date32: arrow.FixedWidthTypes.Date32,
	mask.Date64: arrow.FixedWidthTypes.Date64,
}

// outType is the plain arrow type of a program's result, given the plain type
// of its column. Text and binary follow the layout of the column.
func outType(out mask.Type, in arrow.DataType, large bool) (arrow.DataType, error) {
	switch {
	case out.Kind == mask.Binary && out.Width > 0:
		return &arrow.FixedSizeBinaryType{ByteWidth: out.Width}, nil
	case out.Kind == mask.Text:
		switch {
		case isView(in):
			return arrow.BinaryTypes.StringView, nil
		case isLarge(in) || large:
			return arrow.BinaryTypes.LargeString, nil
		}
		return arrow.BinaryTypes.String, nil
	case out.Kind == mask.Binary:
		switch {
		case in.ID() == arrow.FIXED_SIZE_BINARY && storageBytes(in, 1) == 0:
			return in, nil
		case isView(in):
			return arrow.BinaryTypes.BinaryView, nil
		case isLarge(in) || large:
			return arrow.BinaryTypes.LargeBinary, nil
		}
		return arrow.BinaryTypes.Binary, nil
	case out.Kind == kinds[in.ID()]:
		return in, nil
	}
	dt, ok := plainTypes[out.Kind]
	if !ok {
		return nil, fmt.Errorf("%w: no result type for a column of %s", mask.ErrType, in)
	}
	return dt, nil
}

func isView(dt arrow.DataType) bool {
	return dt.ID() == arrow.STRING_VIEW || dt.ID() == arrow.BINARY_VIEW
}

func isLarge(dt arrow.DataType) bool {
	return dt.ID() == arrow.LARGE_STRING || dt.ID() == arrow.LARGE_BINARY
}
