package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/arrowmask/arrowmask/mask"
)

// Mask is what is done to a column: an expression of package mask over {col},
// and the dialect to compile it with ("" is safe). It may name other columns of
// the table in braces, spelled as they are there: it reads their raw values,
// whatever their own masks do. Masks are interned: two columns of one Set with
// the same mask share one *Mask.
type Mask struct {
	Expr    string
	Dialect string
}

// TargetColumn is what a mask calls its own column: {col}.
const TargetColumn = "col"

// CheckMask reports whether a mask can be carried out on a column of a type
// within a table: the error wraps ErrMask and package mask's sentinel. A key
// need not be there yet, only the masker has the keyring. Of a nested column the
// masker works on the leaves, so here only the expression is checked, as if on
// text. Without columns those that the expression names are taken for text.
func CheckMask(m *Mask, t mask.Type, columns []Column) error {
	e, err := mask.ParseColumns(m.Expr)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMask, err)
	}
	if e.IsColumn() && e.Columns()[0] != TargetColumn {
		return fmt.Errorf("%w: %s: %w: it would show another column as it is", ErrMask, e, mask.ErrArgument)
	}
	text := mask.Type{Kind: mask.Text}
	if t.Kind == mask.Nested {
		t = text
	}
	in := []mask.Column{{Name: TargetColumn, Type: t}}
	for _, name := range e.Columns() {
		c := mask.Column{Name: name, Type: text}
		if name == TargetColumn {
			continue
		}
		if columns != nil {
			i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
			if i < 0 {
				return fmt.Errorf("%w: {%s}: %w: the table has none", ErrMask, name, mask.ErrColumn)
			}
			c.Type = columns[i].Type
		}
		in = append(in, c)
	}
	if _, err := mask.CompileColumns(e, in, mask.Options{Dialect: m.Dialect}); err != nil && !errors.Is(err, mask.ErrKey) {
		return fmt.Errorf("%w: %w", ErrMask, err)
	}
	return nil
}

// Others lists the columns that the mask reads besides its own, each once.
func (m *Mask) Others() []string {
	e, err := mask.ParseColumns(m.Expr)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(e.Columns(), func(name string) bool { return name == TargetColumn })
}
