package tablefile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// rawKey marks a field whose text holds CSV cells as they stand in a file; its value is the delimiter of that file.
const rawKey = "arrowmask:csv-raw"

// keptMetadata lists the field metadata that is written. It may hold nothing that quotes values.
var keptMetadata = map[string]bool{
	"PARQUET:field_id":         true,
	"ARROW:extension:name":     true,
	"ARROW:extension:metadata": true,
}

// cleanSchema drops the schema's metadata and all field metadata that is not kept, at every depth.
func cleanSchema(s *arrow.Schema) *arrow.Schema {
	fields := make([]arrow.Field, s.NumFields())
	for i, f := range s.Fields() {
		fields[i] = cleanField(f)
		if raw, ok := rawDelimiter(f); ok {
			fields[i].Metadata = rawMetadata(raw)
		}
	}
	return arrow.NewSchema(fields, nil)
}

func cleanField(f arrow.Field) arrow.Field {
	var keys, values []string
	for i, k := range f.Metadata.Keys() {
		if keptMetadata[k] {
			keys, values = append(keys, k), append(values, f.Metadata.Values()[i])
		}
	}
	f.Metadata = arrow.NewMetadata(keys, values)
	f.Type = cleanType(f.Type)
	return f
}

// cleanType cleans the fields inside a nested type. Types whose fields carry no metadata of the file's are returned as they are.
func cleanType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = cleanField(f)
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOfField(cleanField(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(cleanField(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), cleanField(t.ElemField()))
	case *arrow.MapType:
		m := arrow.MapOfFields(cleanField(t.KeyField()), cleanField(t.ItemField()))
		m.KeysSorted = t.KeysSorted
		return m
	}
	return t
}

func rawMetadata(delimiter byte) arrow.Metadata {
	return arrow.NewMetadata([]string{rawKey}, []string{string(rune(delimiter))})
}

// rawDelimiter says whether f carries raw CSV cells, and the delimiter they were cut by.
func rawDelimiter(f arrow.Field) (byte, bool) {
	v, ok := f.Metadata.GetValue(rawKey)
	if !ok || len(v) != 1 || f.Type.ID() != arrow.STRING {
		return 0, false
	}
	return v[0], true
}

// checkSchema refuses what the format cannot hold, before any file is made.
func checkSchema(s *arrow.Schema, opts WriteOptions) error {
	if s.NumFields() == 0 {
		return fmt.Errorf("%w: a table without columns", ErrUnsupported)
	}
	for _, f := range s.Fields() {
		if _, raw := rawDelimiter(f); raw && !opts.Format.IsText() {
			return fmt.Errorf("column %q: %w: raw CSV cells in a %s file", f.Name, ErrUnsupported, opts.Format)
		}
	}
	switch opts.Format {
	case Parquet:
		return checkParquetSchema(s, opts)
	case CSV, TSV:
		return checkCSVSchema(s, opts)
	}
	return nil
}

// checkTypes refuses types whose parameters make no sense, which a damaged schema may have.
func checkTypes(s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if err := checkType(f.Type); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	return nil
}

// decimalDigits is how many digits each decimal can have. The library's tables of powers of ten end there too.
var decimalDigits = map[arrow.Type]int32{arrow.DECIMAL32: 9, arrow.DECIMAL64: 18, arrow.DECIMAL128: 38, arrow.DECIMAL256: 76}

func checkType(t arrow.DataType) error {
	good := true
	switch t := t.(type) {
	case arrow.DecimalType:
		most := decimalDigits[t.ID()]
		good = 0 < t.GetPrecision() && t.GetPrecision() <= most && -most <= t.GetScale() && t.GetScale() <= most
	case *arrow.FixedSizeBinaryType:
		good = t.ByteWidth >= 0
	case *arrow.FixedSizeListType:
		good = t.Len() >= 0
	case *arrow.DictionaryType:
		return checkType(t.ValueType)
	case arrow.ExtensionType:
		return checkType(t.StorageType())
	}
	if !good {
		return fmt.Errorf("%w: type %s", ErrMalformed, t)
	}
	if nested, ok := t.(arrow.NestedType); ok {
		for _, f := range nested.Fields() {
			if err := checkType(f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}
