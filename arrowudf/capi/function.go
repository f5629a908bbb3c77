//go:build cgo

package main

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
	"github.com/arrowmask/arrowmask/mask"
)

// function is an expression compiled for the types of its columns, with results
// in malloc's memory.
type function struct {
	*arrowudf.ColumnsFunc
	columns []arrow.Field
	table   *arrow.StructType // the one argument that has the columns; nil when each is one
	export  *cdata.Exporter
}

// parse checks the expression. One that names other columns than {col} is over
// those of a table, or over the arguments where the options list them.
func (k *kernel) parse() error {
	if k.options.Columns == nil {
		if _, err := mask.Parse(k.options.Expr); err == nil {
			return nil
		}
		k.overTable = true
	}
	_, err := mask.ParseColumns(k.options.Expr)
	return err
}

// compile makes the function for arguments of these types.
func (k *kernel) compile(args []arrow.Field, constants []string) (*function, error) {
	expr, err := k.expression(constants)
	if err != nil {
		return nil, err
	}
	f, target := &function{columns: args}, -1
	switch names := k.options.Columns; {
	case names != nil:
		if len(args) != len(names) {
			return nil, fmt.Errorf("%w: %d arguments for %d columns", mask.ErrArgument, len(args), len(names))
		}
		f.columns = make([]arrow.Field, len(args))
		for i, a := range args {
			f.columns[i] = arrow.Field{Name: names[i], Type: a.Type}
		}
	case k.overTable:
		table, ok := args[0].Type.(*arrow.StructType)
		if !ok {
			return nil, fmt.Errorf("%w: the expression names columns: they are children of a struct, not of %s, or the arguments that the options list", mask.ErrType, args[0].Type)
		}
		f.table, f.columns = table, table.Fields()
	default:
		target = 0
	}
	mem := newAllocator()
	f.export = mem.exporter()
	f.ColumnsFunc, err = arrowudf.CompileColumns(expr, f.columns, target, k.options.udf(k.keys, mem))
	return f, err
}

// evaluate runs f over arrays of C's, of so many rows unless that is negative.
func (f *function) evaluate(args []*cdata.Array, rows int64, out *cdata.Array) error {
	data := make([]arrow.ArrayData, len(f.columns))
	defer func() {
		for _, d := range data {
			if d != nil {
				d.Release()
			}
		}
	}()
	if f.table != nil {
		if err := checkRows(args[0], rows); err != nil {
			return err
		}
		table, err := importTable(args[0], f.table)
		if err != nil {
			return err
		}
		defer table.Release()
		for _, i := range f.Reads() {
			data[i] = array.NewSliceData(table.Children()[i], int64(table.Offset()), int64(table.Offset()+table.Len()))
		}
	} else {
		if len(args) < len(data) {
			return fmt.Errorf("%w: %d arguments for %d columns", mask.ErrArgument, len(args), len(data))
		}
		for _, i := range f.Reads() {
			if err := checkRows(args[i], rows); err != nil {
				return err
			}
			var err error
			if data[i], err = cdata.ImportArray(args[i], f.columns[i].Type); err != nil {
				return err
			}
		}
	}
	res, err := f.CallData(context.Background(), data)
	if err != nil {
		return err
	}
	defer res.Release()
	return f.export.Array(res, out)
}

func checkRows(a *cdata.Array, rows int64) error {
	if a != nil && rows >= 0 && a.Length != rows {
		return fmt.Errorf("%w: column of %d rows, %d asked for", mask.ErrArgument, a.Length, rows)
	}
	return nil
}

// importTable imports a batch of rows; none of them may be NULL as a whole.
func importTable(a *cdata.Array, t *arrow.StructType) (arrow.ArrayData, error) {
	data, err := cdata.ImportArray(a, t)
	if err != nil {
		return nil, err
	}
	if a.NullCount != 0 && data.NullN() > 0 {
		data.Release()
		return nil, fmt.Errorf("%w: a row of a batch is NULL as a whole", arrowudf.ErrArray)
	}
	return data, nil
}
