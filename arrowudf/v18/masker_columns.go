package v18

import (
	arrow18 "github.com/apache/arrow-go/v18/arrow"
	arrow17 "github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// Columns is arrowudf.Columns for a v18 schema.
func Columns(schema *arrow18.Schema) []policy.Column {
	out := make([]policy.Column, schema.NumFields())
	for i, f := range schema.Fields() {
		out[i] = columnOf(f.Name, f.Type)
	}
	return out
}

func columnOf(name string, dt arrow18.DataType) policy.Column {
	dt = storage(dt)
	switch t := dt.(type) {
	case *arrow18.DictionaryType:
		return columnOf(name, t.ValueType)
	case *arrow18.RunEndEncodedType:
		return columnOf(name, t.Encoded())
	case arrow18.ListLikeType:
		return policy.Column{Name: name, Type: mask.Type{Kind: mask.Nested}, Children: []policy.Column{columnOf("", t.Elem())}}
	case arrow18.NestedType:
		c := policy.Column{Name: name, Type: mask.Type{Kind: mask.Nested}}
		for _, f := range t.Fields() {
			c.Children = append(c.Children, columnOf(f.Name, f.Type))
		}
		return c
	}
	return policy.Column{Name: name, Type: maskType(dt)}
}

// maskType is arrowudf.MaskType, also of types that v17 lacks.
func maskType(dt arrow18.DataType) mask.Type {
	switch storage(dt).ID() {
	case arrow18.DECIMAL32, arrow18.DECIMAL64:
		return mask.Type{Kind: mask.Decimal}
	}
	in17, _, err := standIn(dt)
	if err != nil {
		return mask.Type{Kind: mask.Nested}
	}
	return arrowudf.MaskType(in17)
}

// filterType is the v17 type that a filter reads a column as.
func filterType(dt arrow18.DataType) (arrow17.DataType, error) {
	in17, _, err := standIn(dt)
	return in17, err
}
