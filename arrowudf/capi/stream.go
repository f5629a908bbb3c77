//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
)

// stream turns the arrays of one stream into those of another. The C side
// (capi.c) holds the stream that comes in and asks for one array at a time.
type stream interface {
	object
	schema(out *cdata.Schema) error
	// next answers one array. in is released by the caller; what next moves out
	// of it stays.
	next(in, out *cdata.Array) error
}

//export am_go_stream_open
func am_go_stream_open(h C.arrowmask_handle, schema *C.struct_ArrowSchema, out *C.arrowmask_handle) C.int {
	return withObject(h, func(o object) error {
		s, err := openStream(o, (*cdata.Schema)(unsafe.Pointer(schema)))
		if err == nil {
			create(out, s, func() error { return nil })
		}
		return err
	})
}

func openStream(o object, in *cdata.Schema) (stream, error) {
	switch o := o.(type) {
	case *kernel:
		column, err := cdata.ImportField(in)
		if err != nil {
			return nil, err
		}
		f, err := o.compile([]arrow.Field{column}, nil)
		if err != nil {
			return nil, err
		}
		column.Type, column.Nullable, column.Metadata = f.OutType(), true, arrow.Metadata{}
		return &columnStream{f: f, field: column}, nil
	case *masker:
		columns, err := cdata.ImportSchema(in)
		if err != nil {
			return nil, err
		}
		if o.Masker == nil {
			return nil, errHandle
		}
		return &tableStream{m: o.Masker, export: o.export, columns: columns}, nil
	}
	return nil, errHandle
}

//export am_go_stream_fail
func am_go_stream_fail(h C.arrowmask_handle, status C.int, text *C.char) {
	_ = withObject(h, func(object) error {
		what := "no text"
		if text != nil {
			what = C.GoString(text)
		}
		return fmt.Errorf("the input stream failed with %d: %s", int(status), what)
	})
}

//export am_go_stream_schema
func am_go_stream_schema(h C.arrowmask_handle, out *C.struct_ArrowSchema) C.int {
	return withObject(h, func(s stream) error { return s.schema((*cdata.Schema)(unsafe.Pointer(out))) })
}

//export am_go_stream_next
func am_go_stream_next(h C.arrowmask_handle, in, out *C.struct_ArrowArray) C.int {
	return withObject(h, func(s stream) error {
		return s.next((*cdata.Array)(unsafe.Pointer(in)), (*cdata.Array)(unsafe.Pointer(out)))
	})
}

// columnStream evaluates a function over a column, or the columns of a table,
// that come in chunks.
type columnStream struct {
	handle
	f     *function
	field arrow.Field
}

func (s *columnStream) schema(out *cdata.Schema) error { return exporter.Field(s.field, out) }

func (s *columnStream) next(in, out *cdata.Array) error {
	return s.f.evaluate([]*cdata.Array{in}, -1, out)
}

// tableStream carries out a plan on a table that comes in batches.
type tableStream struct {
	handle
	m       *arrowudf.Masker
	export  *cdata.Exporter
	columns *arrow.Schema // of the stream that comes in
}

func (s *tableStream) schema(out *cdata.Schema) error { return exporter.Schema(s.m.Schema(), out) }

func (s *tableStream) next(in, out *cdata.Array) error {
	data, err := importTable(in, arrow.StructOf(s.columns.Fields()...))
	if err != nil {
		return err
	}
	defer data.Release()
	batch, err := makeBatch(s.columns, data)
	if err != nil {
		return err
	}
	defer batch.Release()
	res, err := s.m.Mask(context.Background(), batch)
	if err != nil {
		return err
	}
	defer res.Release()
	places, err := exporter.Table(res.NumRows(), int(res.NumCols()), out)
	if err != nil {
		return err
	}
	for i, place := range places {
		if c := res.Column(i); c == batch.Column(i) {
			// The plan lets this column pass: it changes hands as it is, cut to
			// the rows of the batch.
			moveColumn(in, i, place)
		} else if err := s.export.Array(c.Data(), place); err != nil {
			releaseArray(out)
			return err
		}
	}
	return nil
}

// moveColumn moves child i of a table out of it. A child knows nothing of its
// parent's offset.
func moveColumn(table *cdata.Array, i int, place *cdata.Array) {
	cdata.Move(table.Child(i), place)
	if place.Length != table.Length || table.Offset != 0 {
		place.Offset += table.Offset
		place.Length = table.Length
		if place.NullCount != 0 {
			place.NullCount = -1
		}
	}
}

func releaseArray(a *cdata.Array) {
	C.am_call_release_array((*C.struct_ArrowArray)(unsafe.Pointer(a)))
}

// makeBatch looks at the children of struct data as columns. Arrow's
// constructors panic on what they do not like.
func makeBatch(schema *arrow.Schema, data arrow.ArrayData) (rec arrow.Record, err error) {
	defer func() {
		if recover() != nil {
			rec, err = nil, fmt.Errorf("%w: a column cannot be read", cdata.ErrInvalid)
		}
	}()
	from, n := int64(data.Offset()), int64(data.Len())
	var cols []arrow.Array
	for _, child := range data.Children() {
		cut := array.NewSliceData(child, from, from+n)
		cols = append(cols, array.MakeFromData(cut))
		cut.Release()
	}
	rec = array.NewRecord(schema, cols, n)
	for _, c := range cols {
		c.Release()
	}
	return rec, nil
}

//export am_go_array_copy
func am_go_array_copy(schema *C.struct_ArrowSchema, in *C.struct_ArrowArray, outSchema *C.struct_ArrowSchema, out *C.struct_ArrowArray) C.int {
	return guard(nil, func() error {
		f, err := cdata.ImportField((*cdata.Schema)(unsafe.Pointer(schema)))
		if err != nil {
			return err
		}
		d, err := cdata.ImportArray((*cdata.Array)(unsafe.Pointer(in)), f.Type)
		if err != nil {
			return err
		}
		defer d.Release()
		if out == nil || outSchema == nil {
			return errNull
		}
		s := (*cdata.Schema)(unsafe.Pointer(outSchema))
		if err := exporter.Field(f, s); err != nil {
			return err
		}
		if err := exporter.Array(d, (*cdata.Array)(unsafe.Pointer(out))); err != nil {
			exporter.DropSchema(s)
			return err
		}
		return nil
	})
}
