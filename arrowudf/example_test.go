package arrowudf_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
)

func column(values ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendStringValues(values, nil)
	return b.NewArray()
}

func ExampleCompile() {
	f, err := arrowudf.Compile("mask_show_last_n({col}, 4)", arrow.BinaryTypes.String, arrowudf.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	cards := column("4929-1111-2222-3344", "")
	defer cards.Release()
	out, err := f.Call(context.Background(), cards)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer out.Release()
	fmt.Println(f.OutType(), out)
	// Output: utf8 ["nnnn-nnnn-nnnn-3344" ""]
}

func ExampleMD5() {
	names := column("101")
	defer names.Release()
	out, err := arrowudf.MD5(context.Background(), names, arrowudf.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer out.Release()
	fmt.Println(out)
	// Output: ["38b3eff8baf56627478ec76a704e9b52"]
}

func ExampleNewRegistry() {
	reg, err := arrowudf.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	ec := compute.DefaultExecCtx()
	ec.Registry = reg
	ctx := compute.SetExecCtx(context.Background(), ec)

	names := column("Anna", "Bo")
	defer names.Release()
	out, err := compute.CallFunction(ctx, "mask", nil, compute.NewDatumWithoutOwning(names), compute.NewDatum("*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer out.Release()
	masked := out.(*compute.ArrayDatum).MakeArray()
	defer masked.Release()
	fmt.Println(masked)
	// Output: ["*xxx" "*x"]
}
