package mask

import (
	"fmt"
	"slices"
	"strings"
)

// form is what an overload expects of an argument.
type form byte

const (
	formAny    form = 0
	formString form = 'S'
	formInt    form = 'I'
)

// impalaForms are the overloads of Impala's mask functions, by what the value
// is: the types of the arguments after it, S for STRING and I for INT, as its
// function registry lists them (impala_functions.py).
var impalaForms = map[string]map[bool][]string{ // by kind of value, then whether n comes first
	"text": {
		false: {"", "SSSS", "IIIS", "SSSSI", "SSSIS", "IIIII", "SSSSIIII", "SSSISIII", "IIIIIIII"},
		true:  {"", "I", "ISSSS", "IIIIS", "ISSSSI", "ISSSIS", "IIIIII"},
	},
	"integer": {
		false: {"", "SSSSI", "SSSIS", "IIIII", "SSSSIIII", "SSSISIII", "IIIIIIII"},
		true:  {"", "I", "ISSSSI", "ISSSIS", "IIIIII"},
	},
	"date": {
		false: {"", "SSSSII", "SSSSIII", "SSSSIIII", "SSSISIII", "IIIIIIII"},
		true:  {"ISSSIS"},
	},
	"rest": {
		false: {"", "SSSISIII"},
		true:  {"ISSSIS"},
	},
}

// overload finds the overload that a call of a mask function matches. NULL
// matches both types, the first overload wins. Without one the error says what
// there is.
func overload(t Type, counts bool, args []*Expr) (string, error) {
	kind := "rest"
	switch {
	case t.Kind == Text:
		kind = "text"
	case t.integer():
		kind = "integer"
	case t.Kind == Date32 || t.Kind == Date64:
		kind = "date"
	}
	forms := impalaForms[kind][counts]
	for _, f := range forms {
		if matches(f, args) {
			return f, nil
		}
	}
	return "", fmt.Errorf("no overload for %s takes these arguments; after the value there are (S string, I integer): %s", t, strings.Join(quoted(forms), " "))
}

func quoted(forms []string) []string {
	out := slices.Clone(forms)
	for i, f := range out {
		if f == "" {
			out[i] = "none"
		}
	}
	return out
}

func matches(f string, args []*Expr) bool {
	if len(f) != len(args) {
		return false
	}
	for i, a := range args {
		switch {
		case a.kind == exprNull:
		case a.kind == exprString && form(f[i]) == formString:
		case a.kind == exprInt && form(f[i]) == formInt && a.num == int64(int32(a.num)):
		default:
			return false
		}
	}
	return true
}
