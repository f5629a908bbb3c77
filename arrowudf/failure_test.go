package arrowudf

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// failsAt is an allocator whose k-th allocation panics.
type failsAt struct {
	memory.Allocator
	left int
}

func (f *failsAt) Allocate(size int) []byte {
	if f.left--; f.left < 0 {
		panic("SECRET-MARKER")
	}
	return f.Allocator.Allocate(size)
}

// Wherever an evaluation stops, by a panic or a cancelled context, it is an
// error that quotes nothing, and everything allocated before is freed.
func TestFailureAtEveryStepFreesEverything(t *testing.T) {
	str, view := arrow.BinaryTypes.String, arrow.BinaryTypes.StringView
	cells := make([]any, 0, 3*len(sample)*30)
	for range 90 {
		cells = append(cells, sample...)
	}
	for _, arr := range []arrow.Array{
		build(heap, str, cells), build(heap, view, cells),
		dictOf(arrow.PrimitiveTypes.Int16, view, cells, nil), runsOf(arrow.PrimitiveTypes.Int32, str, cells),
	} {
		released(t, arr)
		for _, expr := range []string{"md5({col})", "mask({col})", "mask_null({col})"} {
			steps := 0
			for done := false; !done; steps++ {
				mem := checked(t)
				f := must(Compile(expr, arr.DataType(), Options{Mem: &failsAt{mem, steps}}))
				out, err := f.Call(ctx, arr)
				if done = err == nil; done {
					out.Release()
				} else if !errors.Is(err, mask.ErrInternal) || strings.Contains(err.Error(), "MARKER") {
					t.Fatalf("%s of %s, allocation %d: %v", expr, arr.DataType(), steps, err)
				}
			}
			if steps < 2 {
				t.Errorf("%s of %s: no allocation was made to fail", expr, arr.DataType())
			}
			for left, done := int64(0), false; !done; left++ {
				mem := checked(t)
				f := must(Compile(expr, arr.DataType(), Options{Mem: mem}))
				out, err := f.Call(&countdown{Context: ctx, left: left}, arr)
				if done = err == nil; done {
					out.Release()
				} else if !errors.Is(err, context.Canceled) {
					t.Fatalf("%s of %s, cancelled at %d: %v", expr, arr.DataType(), left, err)
				}
			}
		}
	}
}

func TestRecoveredKeepsOnlyTheRuntimesOwnText(t *testing.T) {
	trip := func(f func()) (err error) {
		defer func() { err = recovered("md5", recover()) }()
		f()
		return nil
	}
	var none []byte
	err := trip(func() { _ = none[len(sample)] })
	if !errors.Is(err, mask.ErrInternal) || !strings.Contains(err.Error(), "out of range") {
		t.Errorf("index: %v", err)
	}
	if err = trip(func() { panic("SECRET-MARKER") }); strings.Contains(err.Error(), "MARKER") {
		t.Errorf("text: %v", err)
	}
}

func TestNumbersAndDates(t *testing.T) {
	for _, tc := range []struct {
		dt       arrow.DataType
		expr     string
		in, want []any
	}{
		{arrow.PrimitiveTypes.Int8, "mask({col})", []any{0, -12, nil, 99}, []any{int64(1), int64(-11), nil, int64(11)}},
		{arrow.PrimitiveTypes.Int64, "mask_show_last_n({col}, 2)", []any{123456, nil}, []any{int64(111156), nil}},
		{arrow.PrimitiveTypes.Int32, "mask_show_first_n({col}, 1)", []any{9876}, []any{int64(9111)}},
		{arrow.FixedWidthTypes.Date32, "mask({col}, 'x', 'x', 'x', -1, 1, 1, 0, -1)", []any{"2016-02-29", nil}, []any{int64(16801), nil}},
	} {
		plain := released(t, build(heap, tc.dt, tc.in))
		sameCells(t, tc.expr+" of "+tc.dt.Name(), logical(eval(t, tc.expr, plain, Options{})), tc.want)
		dict := released(t, dictOf(arrow.PrimitiveTypes.Int8, tc.dt, tc.in, nil))
		sameCells(t, tc.expr+" of a dictionary of "+tc.dt.Name(), logical(eval(t, tc.expr, dict, Options{})), tc.want)
	}
}
