package cdata

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// ImportField copies the type, name, nullability and metadata of a schema. An
// extension type comes as its storage type; its name stays in the metadata.
func ImportField(s *Schema) (f arrow.Field, err error) {
	defer func() {
		if p := recover(); p != nil { // arrow's constructors panic on parameters they do not like
			f, err = arrow.Field{}, fmt.Errorf("%w: parameters of a type", ErrType)
		}
	}()
	if s == nil || s.Release == 0 {
		return arrow.Field{}, fmt.Errorf("%w: schema is missing or released", ErrInvalid)
	}
	return importField(s, 0)
}

// ImportSchema is the columns of a schema whose type is a struct.
func ImportSchema(s *Schema) (*arrow.Schema, error) {
	f, err := ImportField(s)
	if err != nil {
		return nil, err
	}
	st, ok := f.Type.(*arrow.StructType)
	if !ok {
		return nil, fmt.Errorf("%w: a table is needed, not a column of %s", ErrType, f.Type)
	}
	return arrow.NewSchema(st.Fields(), &f.Metadata), nil
}

func importField(s *Schema, depth int) (arrow.Field, error) {
	var f arrow.Field
	if depth > maxDepth {
		return f, fmt.Errorf("%w: schema nested deeper than %d", ErrInvalid, maxDepth)
	}
	format, err := text(&s.Format, "format")
	if err != nil {
		return f, err
	}
	if f.Name, err = text(&s.Name, "name"); err != nil {
		return f, err
	}
	if f.Metadata, err = importMetadata(&s.Metadata); err != nil {
		return f, err
	}
	f.Nullable = s.Flags&FlagNullable != 0
	if s.NChildren < 0 || s.NChildren > maxCount || s.NChildren > 0 && s.Children == 0 {
		return f, fmt.Errorf("%w: schema with %d children", ErrInvalid, s.NChildren)
	}
	var children []arrow.Field
	for i := range int(s.NChildren) {
		c, err := s.nested(i)
		if err != nil {
			return f, err
		}
		child, err := importField(c, depth+1)
		if err != nil {
			return f, err
		}
		children = append(children, child)
	}
	if f.Type, err = parseFormat(format, children, s.Flags); err != nil || s.Dictionary == 0 {
		return f, err
	}
	d := (*Schema)(pointer(&s.Dictionary))
	if d.Release == 0 {
		return f, fmt.Errorf("%w: released dictionary of a schema", ErrInvalid)
	}
	if !arrow.IsInteger(f.Type.ID()) {
		return f, fmt.Errorf("%w: dictionary with an index of %s", ErrType, f.Type)
	}
	values, err := importField(d, depth+1)
	f.Type = &arrow.DictionaryType{IndexType: f.Type, ValueType: values.Type, Ordered: s.Flags&FlagDictionaryOrdered != 0}
	return f, err
}

// importMetadata reads pairs of byte strings, each after its length.
func importMetadata(p *uintptr) (arrow.Metadata, error) {
	if *p == 0 {
		return arrow.Metadata{}, nil
	}
	at := *p
	count := func(what string) (int, error) {
		n := int32(binary.NativeEndian.Uint32(view(&at, 4)))
		if at += 4; n < 0 || n > maxCount {
			return 0, fmt.Errorf("%w: %s of %d in metadata", ErrInvalid, what, n)
		}
		return int(n), nil
	}
	pairs, err := count("count")
	if err != nil {
		return arrow.Metadata{}, err
	}
	var words []string
	for range 2 * pairs {
		n, err := count("length")
		if err != nil {
			return arrow.Metadata{}, err
		}
		words = append(words, string(view(&at, n)))
		at += uintptr(n)
	}
	keys, values := make([]string, pairs), make([]string, pairs)
	for i := range pairs {
		keys[i], values[i] = words[2*i], words[2*i+1]
	}
	return arrow.NewMetadata(keys, values), nil
}

// formats are the types that need no parameter.
var formats = map[string]arrow.DataType{
	"n": arrow.Null, "b": arrow.FixedWidthTypes.Boolean,
	"c": arrow.PrimitiveTypes.Int8, "C": arrow.PrimitiveTypes.Uint8,
	"s": arrow.PrimitiveTypes.Int16, "S": arrow.PrimitiveTypes.Uint16,
	"i": arrow.PrimitiveTypes.Int32, "I": arrow.PrimitiveTypes.Uint32,
	"l": arrow.PrimitiveTypes.Int64, "L": arrow.PrimitiveTypes.Uint64,
	"e": arrow.FixedWidthTypes.Float16, "f": arrow.PrimitiveTypes.Float32, "g": arrow.PrimitiveTypes.Float64,
	"z": arrow.BinaryTypes.Binary, "Z": arrow.BinaryTypes.LargeBinary, "vz": arrow.BinaryTypes.BinaryView,
	"u": arrow.BinaryTypes.String, "U": arrow.BinaryTypes.LargeString, "vu": arrow.BinaryTypes.StringView,
	"tdD": arrow.FixedWidthTypes.Date32, "tdm": arrow.FixedWidthTypes.Date64,
	"tts": arrow.FixedWidthTypes.Time32s, "ttm": arrow.FixedWidthTypes.Time32ms,
	"ttu": arrow.FixedWidthTypes.Time64us, "ttn": arrow.FixedWidthTypes.Time64ns,
	"tDs": arrow.FixedWidthTypes.Duration_s, "tDm": arrow.FixedWidthTypes.Duration_ms,
	"tDu": arrow.FixedWidthTypes.Duration_us, "tDn": arrow.FixedWidthTypes.Duration_ns,
	"tiM": arrow.FixedWidthTypes.MonthInterval, "tiD": arrow.FixedWidthTypes.DayTimeInterval, "tin": arrow.FixedWidthTypes.MonthDayNanoInterval,
}

var timeUnits = map[string]arrow.TimeUnit{"s": arrow.Second, "m": arrow.Millisecond, "u": arrow.Microsecond, "n": arrow.Nanosecond}

func parseFormat(format string, children []arrow.Field, flags int64) (arrow.DataType, error) {
	if dt, ok := formats[format]; ok && len(children) == 0 {
		return dt, nil
	}
	unknown := fmt.Errorf("%w: %q with %d children", ErrType, format, len(children))
	head, rest, _ := strings.Cut(format, ":")
	one := len(children) == 1
	switch {
	case head == "w":
		if n, err := strconv.ParseUint(rest, 10, 31); err == nil && len(children) == 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}, nil
		}
	case head == "d" && len(children) == 0:
		return parseDecimal(rest, unknown)
	case len(head) == 3 && strings.HasPrefix(head, "ts") && strings.Contains(format, ":") && len(children) == 0:
		if unit, ok := timeUnits[head[2:]]; ok {
			return &arrow.TimestampType{Unit: unit, TimeZone: rest}, nil
		}
	case format == "+s":
		return arrow.StructOf(children...), nil
	case format == "+l" && one:
		return arrow.ListOfField(children[0]), nil
	case format == "+L" && one:
		return arrow.LargeListOfField(children[0]), nil
	case format == "+vl" && one:
		return arrow.ListViewOfField(children[0]), nil
	case format == "+vL" && one:
		return arrow.LargeListViewOfField(children[0]), nil
	case head == "+w" && one:
		if n, err := strconv.ParseUint(rest, 10, 31); err == nil {
			return arrow.FixedSizeListOfField(int32(n), children[0]), nil
		}
	case format == "+m" && one:
		if st, ok := children[0].Type.(*arrow.StructType); ok && st.NumFields() == 2 {
			m := arrow.MapOf(st.Field(0).Type, st.Field(1).Type)
			m.SetItemNullable(st.Field(1).Nullable)
			m.KeysSorted = flags&FlagMapKeysSorted != 0
			return m, nil
		}
	case format == "+r" && len(children) == 2:
		switch ends := children[0].Type; ends.ID() {
		case arrow.INT16, arrow.INT32, arrow.INT64:
			return arrow.RunEndEncodedOf(ends, children[1].Type), nil
		}
	case head == "+ud" || head == "+us":
		codes, ok := parseCodes(rest, len(children))
		switch {
		case ok && head == "+ud":
			return arrow.DenseUnionOf(children, codes), nil
		case ok:
			return arrow.SparseUnionOf(children, codes), nil
		}
	}
	return nil, unknown
}

// parseDecimal reads "precision,scale" and, where it is not 128, ",bits".
func parseDecimal(s string, unknown error) (arrow.DataType, error) {
	parts := strings.Split(s, ",")
	bits := 128
	var nums []int
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, unknown
		}
		nums = append(nums, n)
	}
	if len(nums) == 3 {
		bits = nums[2]
	}
	switch {
	case len(nums) != 2 && len(nums) != 3 || nums[0] < 1:
	case bits == 128 && nums[0] <= 38:
		return &arrow.Decimal128Type{Precision: int32(nums[0]), Scale: int32(nums[1])}, nil
	case bits == 256 && nums[0] <= 76:
		return &arrow.Decimal256Type{Precision: int32(nums[0]), Scale: int32(nums[1])}, nil
	}
	return nil, unknown
}

func parseCodes(s string, want int) ([]arrow.UnionTypeCode, bool) {
	codes := []arrow.UnionTypeCode{}
	for word := range strings.SplitSeq(s, ",") {
		if word == "" && s == "" {
			break
		}
		n, err := strconv.ParseUint(word, 10, 7)
		if err != nil {
			return nil, false
		}
		codes = append(codes, arrow.UnionTypeCode(n))
	}
	return codes, len(codes) == want
}
