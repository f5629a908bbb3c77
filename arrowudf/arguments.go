package arrowudf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/arrowmask/arrowmask/mask"
)

// Args are function options that hold the arguments after the column, written
// as literals of the expression grammar: Args{"4, 'X', 'x'"}. Any registered
// function takes them.
type Args struct {
	Literals string `compute:"literals"`
}

// TypeName is "arrowmask.Args".
func (Args) TypeName() string { return "arrowmask.Args" }

func (a Args) literals() string { return a.Literals }

// SHA2Options are function options of sha2.
type SHA2Options struct {
	Bits int64 `compute:"bits"` // 224, 256, 384 or 512; 0 is 256
}

// TypeName is "arrowmask.SHA2Options".
func (SHA2Options) TypeName() string { return "arrowmask.SHA2Options" }

func (o SHA2Options) literals() string { return strconv.FormatInt(o.Bits, 10) }

// HMACOptions are function options of hmac, hmac_raw and mask_hmac.
type HMACOptions struct {
	Key string `compute:"key"` // a handle in the context's keyring, never the key
	Alg string `compute:"alg"` // "" is sha256
}

// TypeName is "arrowmask.HMACOptions".
func (HMACOptions) TypeName() string { return "arrowmask.HMACOptions" }

func (o HMACOptions) literals() string {
	if o.Alg == "" {
		return quote(o.Key)
	}
	return quote(o.Key) + ", " + quote(o.Alg)
}

// expression writes the call of a registered function in the expression
// grammar, with {col} for the first argument. Further columns, arrays or chunked
// arrays, are named after their place; other arguments are scalars or come from
// options. cols has a datum for each column, nil for the other arguments.
func expression(name string, opts compute.FunctionOptions, args []compute.Datum) (expr string, cols []compute.ArrayLikeDatum, err error) {
	first, ok := args[0].(compute.ArrayLikeDatum)
	if !ok {
		return "", nil, fmt.Errorf("%w: %s: a column is needed, not %s", mask.ErrArgument, name, datumKind(args[0]))
	}
	cols = append(make([]compute.ArrayLikeDatum, 0, len(args)), first)
	parts := []string{"{" + columnName + "}"}
	scalars := 0
	for i, d := range args[1:] {
		switch d := d.(type) {
		case *compute.ScalarDatum:
			lit, err := literal(d.Value)
			if err != nil {
				return "", nil, fmt.Errorf("%w: %s: argument %d is a scalar of %s", mask.ErrArgument, name, i+2, d.Value.DataType())
			}
			parts, cols = append(parts, lit), append(cols, nil)
			scalars++
		case compute.ArrayLikeDatum:
			parts, cols = append(parts, "{"+argumentName(i+1)+"}"), append(cols, d)
		default:
			return "", nil, fmt.Errorf("%w: %s: argument %d must be a column or a scalar, not %s", mask.ErrArgument, name, i+2, datumKind(d))
		}
	}
	switch o := opts.(type) {
	case nil:
	case interface{ literals() string }:
		if scalars > 0 {
			return "", nil, fmt.Errorf("%w: %s: both options and scalars after the column", mask.ErrArgument, name)
		}
		if lit := o.literals(); lit != "" {
			parts = append(parts, lit)
		}
	default:
		return "", nil, fmt.Errorf("%w: %s: options of type %s", mask.ErrArgument, name, opts.TypeName())
	}
	return name + "(" + strings.Join(parts, ", ") + ")", cols, nil
}

// argumentName names the column that argument i, counted from 0, is.
func argumentName(i int) string { return fmt.Sprintf("argument %d", i+1) }

// literal writes a scalar as a literal of the expression grammar.
func literal(s scalar.Scalar) (string, error) {
	if !s.IsValid() {
		return "NULL", nil
	}
	switch s := s.(type) {
	case *scalar.String:
		return quote(string(s.Data())), nil
	case *scalar.LargeString:
		return quote(string(s.Data())), nil
	case *scalar.Boolean:
		return strings.ToUpper(strconv.FormatBool(s.Value)), nil
	case *scalar.Int8, *scalar.Int16, *scalar.Int32, *scalar.Int64,
		*scalar.Uint8, *scalar.Uint16, *scalar.Uint32, *scalar.Uint64:
		return s.String(), nil
	case *scalar.Extension:
		return literal(s.Value)
	}
	return "", mask.ErrArgument
}
