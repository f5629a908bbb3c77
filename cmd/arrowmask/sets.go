package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/mask"
)

// set is one --set: the expression that replaces a column.
type set struct {
	column string
	source string // as written
	expr   *mask.Expr
}

// parseSets reads the --set flags. Two for one column are refused: an order
// among them would be a guess.
func parseSets(flags []string) ([]set, error) {
	sets := make([]set, 0, len(flags))
	seen := make(map[string]bool)
	for _, f := range flags {
		column, source, err := splitNamed("--set", f)
		if err != nil {
			return nil, err
		}
		if seen[column] {
			return nil, usagef("--set names column %q twice", column)
		}
		seen[column] = true
		expr, err := mask.ParseColumns(source)
		if err != nil {
			return nil, usagef("--set for column %q: %w", column, err)
		}
		sets = append(sets, set{column: column, source: source, expr: expr})
	}
	return sets, nil
}

// others lists the columns that the expression names beside its own.
func (s set) others() []string {
	return slices.DeleteFunc(s.expr.Columns(), func(name string) bool { return name == "col" || name == s.column })
}

// checkSets refuses what is wrong whatever the column's type is, so that no
// input is read for it.
func checkSets(sets []set, dialect string, keys *mask.Keyring) error {
	for _, s := range sets {
		cols := []mask.Column{{Type: mask.Type{Kind: mask.Text}}}
		for i, name := range s.expr.Columns() {
			cols = append(cols[:i], mask.Column{Name: name, Type: mask.Type{Kind: mask.Text}})
		}
		_, err := mask.CompileColumns(s.expr, cols, mask.Options{Dialect: dialect, Keys: keys})
		for _, always := range []error{mask.ErrDialect, mask.ErrUnknownFunction, mask.ErrKey, fips.ErrNotApproved} {
			if errors.Is(err, always) {
				return usagef("--set for column %q: %w", s.column, err)
			}
		}
	}
	return nil
}

// splitNamed cuts COLUMN=VALUE, the form of --set and --csv-type, at the first
// '='. A column whose name holds
// '=' or begins with '"' is written in double quotes, with each quote in it
// doubled: "a=b"=mask({col}).
func splitNamed(flag, s string) (column, value string, err error) {
	if !strings.HasPrefix(s, `"`) {
		column, value, found := strings.Cut(s, "=")
		if !found || column == "" {
			return "", "", usagef("%s %q: want COLUMN=...", flag, s)
		}
		return column, value, nil
	}
	var name strings.Builder
	rest := s[1:]
	for {
		part, after, found := strings.Cut(rest, `"`)
		if !found {
			return "", "", usagef("%s %q: the column name's quote is not closed", flag, s)
		}
		name.WriteString(part)
		if !strings.HasPrefix(after, `"`) {
			value, found = strings.CutPrefix(after, "=")
			if !found {
				return "", "", usagef("%s %q: want '=' after the quoted column name", flag, s)
			}
			return name.String(), value, nil
		}
		name.WriteByte('"')
		rest = after[1:]
	}
}
