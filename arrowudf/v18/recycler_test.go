package v18

import (
	"fmt"
	"testing"

	array18 "github.com/apache/arrow-go/v18/arrow/array"
	memory18 "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
)

// TestRecycler: one recycler serves v18's builders and the results of masks,
// whose memory comes back when the v18 array is released.
func TestRecycler(t *testing.T) {
	mem := &arrowudf.Recycler{}
	var _ memory18.Allocator = mem
	b := array18.NewStringBuilder(mem)
	defer b.Release()
	for i := range 5000 {
		b.Append(fmt.Sprint("value ", i))
	}
	arr := b.NewArray()
	defer arr.Release()
	plain := must(Compile("sha256({col})", arr.DataType(), arrowudf.Options{}))
	f := must(Compile("sha256({col})", arr.DataType(), arrowudf.Options{Mem: mem}))
	want := must(plain.Call(t.Context(), arr))
	defer want.Release()
	var first *byte
	for i := range 3 {
		out := must(f.Call(t.Context(), arr))
		if !array18.Equal(out, want) {
			t.Error("another result")
		}
		at := &out.Data().Buffers()[2].Bytes()[0]
		if i == 0 {
			first = at
		} else if at != first {
			t.Error("released memory is not used again")
		}
		out.Release()
	}
}
