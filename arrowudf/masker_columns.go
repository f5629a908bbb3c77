package arrowudf

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// Columns describes a schema to package policy: policy.NewTable takes it.
// Dictionary and run-end encoded columns are their values, extension types
// their storage. The fields of nested columns are listed too, so that a policy
// may name them; the elements of a list have no name of their own.
func Columns(schema *arrow.Schema) []policy.Column {
	out := make([]policy.Column, schema.NumFields())
	for i, f := range schema.Fields() {
		out[i] = columnOf(f.Name, f.Type)
	}
	return out
}

func columnOf(name string, dt arrow.DataType) policy.Column {
	dt = storage(dt)
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		return columnOf(name, t.ValueType)
	case *arrow.RunEndEncodedType:
		return columnOf(name, t.Encoded())
	case arrow.ListLikeType:
		return policy.Column{Name: name, Type: mask.Type{Kind: mask.Nested}, Children: []policy.Column{columnOf("", t.Elem())}}
	case arrow.NestedType:
		c := policy.Column{Name: name, Type: mask.Type{Kind: mask.Nested}}
		for _, f := range t.Fields() {
			c.Children = append(c.Children, columnOf(f.Name, f.Type))
		}
		return c
	}
	return policy.Column{Name: name, Type: MaskType(dt)}
}

// MaskType is what package mask calls the values of a type; Nested for those
// that no mask reads.
func MaskType(dt arrow.DataType) mask.Type {
	dt = storage(dt)
	switch t := dt.(type) {
	case *arrow.DictionaryType:
		return MaskType(t.ValueType)
	case *arrow.RunEndEncodedType:
		return MaskType(t.Encoded())
	}
	t, err := maskType(dt)
	if err != nil {
		return mask.Type{Kind: mask.Nested}
	}
	return t
}

// SafeMetadata leaves out the entries that may quote values of a column, or
// that describe the column before it was masked.
func SafeMetadata(keys, values []string) (safeKeys, safeValues []string) {
	for i, key := range keys {
		if !mayQuote(key) {
			safeKeys, safeValues = append(safeKeys, key), append(safeValues, values[i])
		}
	}
	return safeKeys, safeValues
}

func mayQuote(key string) bool {
	key = strings.ToLower(key)
	if key == "parquet:field_id" {
		return false
	}
	for _, prefix := range []string{"arrow:", "parquet:", "pandas", "geo", "org.apache.spark", "spark"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	for _, part := range []string{"stat", "min", "max", "categor", "dictionary", "distinct", "histogram", "quantile", "bloom", "sample", "example"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}
