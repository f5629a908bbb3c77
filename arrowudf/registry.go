package arrowudf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/compute"

	"github.com/arrowmask/arrowmask/mask"
)

// NewRegistry is a child of arrow's global registry with every function of the
// expression grammar under its own name. The global one is not touched. Use it
// for a call through compute.SetExecCtx:
//
//	ec := compute.DefaultExecCtx()
//	ec.Registry = reg
//	compute.CallFunction(compute.SetExecCtx(ctx, ec), "sha2", &arrowudf.SHA2Options{Bits: 256}, datum)
func NewRegistry() (compute.FunctionRegistry, error) {
	reg := compute.NewChildRegistry(compute.GetFunctionRegistry())
	return reg, Register(reg)
}

// Register adds every function of the expression grammar to reg, all or none:
// when reg or its parent has one of the names, the error wraps ErrExists.
//
// The functions take the column, as an array, chunked array or scalar, and then
// scalars or options (Args, SHA2Options, HMACOptions) for the other arguments.
// hash_row and row_bytes take any number of columns, and sha2 a column of
// lengths: arrays and chunked arrays of the same length, cut into chunks as they
// may be. The result is chunked when one of them is.
// Dialect, keys and limits come from the context: WithOptions, WithKeyring.
func Register(reg compute.FunctionRegistry) error {
	var fns []compute.Function
	for _, sig := range mask.Functions() {
		fn := newFunction(sig)
		if err := fn.Validate(); err != nil {
			return fmt.Errorf("%w: %v", mask.ErrInternal, err)
		}
		if !reg.CanAddFunction(fn, false) {
			return fmt.Errorf("%w: %s", ErrExists, sig.Name)
		}
		fns = append(fns, fn)
	}
	for _, fn := range fns {
		if !reg.AddFunction(fn, false) {
			return fmt.Errorf("%w: %s", ErrExists, fn.Name())
		}
	}
	return nil
}

// function is a registered function. It sees the raw datums: arrow's own
// executor would panic, out of reach, on a view column with several data
// buffers, and knows nothing of dictionaries, run ends or extension types.
type function struct{ *compute.MetaFunction }

// Kind is FuncMeta; arrow v17 leaves it at FuncScalar for meta functions.
func (function) Kind() compute.FuncKind { return compute.FuncMeta }

func newFunction(sig mask.Signature) function {
	arity, names := compute.Unary(), []string{"value"}
	if sig.MaxArgs != 1 {
		arity, names = compute.VarArgs(1), []string{"value", "arguments"}
	}
	doc := compute.FunctionDoc{
		Summary:     strings.TrimSuffix(strings.Join(strings.Fields(sig.Help), " "), "."),
		Description: wrapText(sig.Usage+" -> "+sig.Output, 78),
		ArgNames:    names,
		OptionsType: Args{}.TypeName(),
	}
	return function{compute.NewMetaFunction(sig.Name, arity, doc, call(sig.Name))}
}

// call compiles for the types of the columns and evaluates.
func call(name string) compute.MetaFunctionImpl {
	return func(ctx context.Context, opts compute.FunctionOptions, args ...compute.Datum) (out compute.Datum, err error) {
		defer func() {
			if p := recover(); p != nil {
				out, err = nil, recovered(name, p)
			}
		}()
		expr, cols, err := expression(name, opts, args)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(cols[1:], func(c compute.ArrayLikeDatum) bool { return c != nil }) {
			return callColumns(ctx, expr, cols)
		}
		f, err := Compile(expr, cols[0].Type(), optionsOf(ctx))
		if err != nil {
			return nil, err
		}
		return f.CallDatum(ctx, args[0])
	}
}

// wrapText breaks a text at spaces into lines of at most width characters.
func wrapText(s string, width int) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(s) {
		switch {
		case b.Len() == 0:
		case line+1+len(word) > width:
			b.WriteByte('\n')
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += len(word)
	}
	return b.String()
}
