//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
	"github.com/arrowmask/arrowmask/mask"
)

// errNull: a pointer that must not be NULL is.
var errNull = errors.New("NULL pointer")

// kernelOptions is the JSON of arrowmask_kernel_new.
type kernelOptions struct {
	Expr     string             `json:"expr"`
	Columns  []string           `json:"columns"`
	Function string             `json:"function"`
	Args     *[]json.RawMessage `json:"args"`
	runOptions
}

// runOptions are those of kernels and maskers alike.
type runOptions struct {
	Dialect string `json:"dialect"`
	Threads int    `json:"threads"`
	Large   bool   `json:"large"`
	Backend string `json:"backend"`
}

func (o runOptions) udf(keys *mask.Keyring, mem *allocator) arrowudf.Options {
	return arrowudf.Options{Dialect: o.Dialect, Threads: o.Threads, Large: o.Large, Backend: o.Backend, Keys: keys, Mem: mem}
}

// kernel is behind a handle of arrowmask_kernel_new.
type kernel struct {
	handle
	options kernelOptions
	keys    *mask.Keyring
	// overTable: the columns that the expression names are those of a table.
	overTable bool
	bound     atomic.Pointer[function]
}

// parseJSON reads options; a misspelt one is an error.
func parseJSON(text string, into any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%w: options: %v", mask.ErrArgument, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("%w: options: text after the end", mask.ErrArgument)
	}
	return nil
}

// keysOf is the keyring behind a handle; none for 0.
func keysOf(h C.arrowmask_handle) (*mask.Keyring, error) {
	if h == 0 {
		return nil, nil
	}
	k, err := find[*keyring](h)
	if err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	return k.keys.Load(), nil
}

//export am_go_kernel_new
func am_go_kernel_new(options *C.char, keys C.arrowmask_handle, out *C.arrowmask_handle) C.int {
	k := &kernel{}
	return create(out, k, func() (err error) {
		if options == nil {
			return fmt.Errorf("options: %w", errNull)
		}
		if err := parseJSON(C.GoString(options), &k.options); err != nil {
			return err
		}
		if k.keys, err = keysOf(keys); err != nil {
			return err
		}
		if (k.options.Expr == "") == (k.options.Function == "") || k.options.Expr != "" && k.options.Args != nil {
			return fmt.Errorf("%w: options: either expr, or function and its args", mask.ErrArgument)
		}
		if k.options.Function != "" {
			if k.options.Columns != nil {
				return fmt.Errorf("%w: options: columns are for an expr", mask.ErrArgument)
			}
			_, err = mask.FunctionsOf(k.options.Dialect)
			return err
		}
		if k.options.Columns != nil && len(k.options.Columns) == 0 {
			return fmt.Errorf("%w: options: no columns", mask.ErrArgument)
		}
		return k.parse()
	})
}

// expression is what the kernel computes, with constants from bind.
func (k *kernel) expression(constants []string) (string, error) {
	o := k.options
	if len(constants) > 0 && (o.Expr != "" || o.Args != nil) {
		return "", fmt.Errorf("%w: arguments both in the options and from the caller", mask.ErrArgument)
	}
	if o.Expr != "" {
		return o.Expr, nil
	}
	if o.Args != nil {
		for _, raw := range *o.Args {
			lit, err := jsonLiteral(raw)
			if err != nil {
				return "", err
			}
			constants = append(constants, lit)
		}
	}
	if !plainName(o.Function) {
		return "", fmt.Errorf("%w: the name may have letters, digits and _", mask.ErrUnknownFunction)
	}
	return o.Function + "(" + strings.Join(append([]string{"{col}"}, constants...), ", ") + ")", nil
}

// plainName keeps a function's name from being more than that.
func plainName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// jsonLiteral writes a JSON value as a literal of the expression grammar.
func jsonLiteral(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	var s string
	switch {
	case string(raw) == "null", string(raw) == "true", string(raw) == "false":
		return strings.ToUpper(string(raw)), nil
	case len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		return quoted(s), nil
	case len(raw) > 0 && !bytes.ContainsAny(raw, ".eE[{\""):
		return string(raw), nil
	}
	return "", fmt.Errorf("%w: options: args are text, integers, booleans and null", mask.ErrArgument)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// list views n pointers of a C array.
func list[T any](p unsafe.Pointer, n C.int64_t) ([]*T, error) {
	if n < 1 || n > 64 || p == nil {
		return nil, fmt.Errorf("%w: %d arguments", mask.ErrArgument, n)
	}
	return unsafe.Slice((**T)(p), int(n)), nil
}

//export am_go_kernel_bind
func am_go_kernel_bind(h C.arrowmask_handle, types, scalars unsafe.Pointer, n C.int64_t, out *C.struct_ArrowSchema) C.int {
	return withObject(h, func(k *kernel) error {
		if out == nil {
			return fmt.Errorf("out: %w", errNull)
		}
		schemas, err := list[cdata.Schema](types, n)
		if err != nil {
			return err
		}
		var values []*cdata.Array
		if k.options.Columns == nil && n > 1 {
			if values, err = list[cdata.Array](scalars, n); err != nil {
				return err
			}
		}
		fields := make([]arrow.Field, len(schemas))
		for i, schema := range schemas {
			if fields[i], err = cdata.ImportField(schema); err != nil {
				return fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		var constants []string
		if values != nil {
			if constants, err = literals(fields, values); err != nil {
				return err
			}
			fields = fields[:1]
		}
		f, err := k.compile(fields, constants)
		if err != nil {
			return err
		}
		if err := exporter.Field(arrow.Field{Name: fields[0].Name, Type: f.OutType(), Nullable: true}, (*cdata.Schema)(unsafe.Pointer(out))); err != nil {
			return err
		}
		k.bound.Store(f)
		return nil
	})
}

// literals are the arguments after the column.
func literals(fields []arrow.Field, values []*cdata.Array) (constants []string, err error) {
	constants = make([]string, len(fields)-1)
	for i := range constants {
		if constants[i], err = constant(fields[i+1].Type, values[i+1]); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+2, err)
		}
	}
	return constants, nil
}

// constant writes an array of one row as a literal of the expression grammar.
func constant(dt arrow.DataType, a *cdata.Array) (string, error) {
	d, err := cdata.ImportArray(a, dt)
	if err != nil {
		return "", err
	}
	defer d.Release()
	if d.Len() != 1 {
		return "", fmt.Errorf("%w: a constant of %d rows", mask.ErrArgument, d.Len())
	}
	arr := array.MakeFromData(d)
	defer arr.Release()
	if arr.IsNull(0) {
		return "NULL", nil
	}
	switch v := arr.(type) {
	case *array.Boolean:
		return strings.ToUpper(v.ValueStr(0)), nil
	case *array.String, *array.LargeString, *array.StringView:
		return quoted(strings.Clone(v.ValueStr(0))), nil
	}
	if arrow.IsInteger(dt.ID()) {
		return arr.ValueStr(0), nil
	}
	return "", fmt.Errorf("%w: a constant of %s", mask.ErrArgument, dt)
}

//export am_go_kernel_execute
func am_go_kernel_execute(h C.arrowmask_handle, args unsafe.Pointer, n, rows C.int64_t, out *C.struct_ArrowArray) C.int {
	return withObject(h, func(k *kernel) error {
		if out == nil {
			return fmt.Errorf("out: %w", errNull)
		}
		f := k.bound.Load()
		if f == nil {
			return fmt.Errorf("%w: execute before bind", mask.ErrArgument)
		}
		arrays, err := list[cdata.Array](args, n)
		if err != nil {
			return err
		}
		return f.evaluate(arrays, int64(rows), (*cdata.Array)(unsafe.Pointer(out)))
	})
}
