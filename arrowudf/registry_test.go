package arrowudf

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/arrowmask/arrowmask/mask"
)

// The names of these tests count the traps of arrow v17's compute package that
// a function in a registry can fall into.

// inRegistry is a context whose functions are those of a fresh child registry.
func inRegistry(t testing.TB, c context.Context) context.Context {
	t.Helper()
	ec := compute.DefaultExecCtx()
	ec.Registry = must(NewRegistry())
	return compute.SetExecCtx(compute.WithAllocator(c, checked(t)), ec)
}

// callArray calls a registered function on an array.
func callArray(t testing.TB, c context.Context, name string, opts compute.FunctionOptions, arr arrow.Array, rest ...compute.Datum) arrow.Array {
	t.Helper()
	out, err := compute.CallFunction(c, name, opts, append([]compute.Datum{compute.NewDatumWithoutOwning(arr)}, rest...)...)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, arr.DataType(), err)
	}
	t.Cleanup(out.Release)
	d, ok := out.(*compute.ArrayDatum)
	if !ok {
		t.Fatalf("%s of an array is %T", name, out)
	}
	return released(t, d.MakeArray())
}

func TestTrap01ManyBufferViews(t *testing.T) {
	c := inRegistry(t, ctx)
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView} {
		arr := released(t, viewsOfMany(dt, sample))
		if n := len(arr.Data().Buffers()); n < 5 {
			t.Fatalf("only %d buffers", n)
		}
		sameCells(t, dt.Name(), logical(callArray(t, c, "md5", nil, arr)), apply(oracles["md5({col})"], sample))
	}
}

func TestTrap02OffsetOverflowIsAnError(t *testing.T) {
	arr := released(t, build(heap, arrow.BinaryTypes.String, []any{"a", "b", "c"}))
	c := WithOptions(inRegistry(t, ctx), Options{Limit: 100})
	if _, err := compute.CallFunction(c, "sha256", nil, compute.NewDatumWithoutOwning(arr)); !errors.Is(err, mask.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	c = WithOptions(inRegistry(t, ctx), Options{Limit: 100, Large: true})
	if out := callArray(t, c, "sha256", nil, arr); out.DataType().ID() != arrow.LARGE_STRING {
		t.Errorf("with Large: %s", out.DataType())
	}
}

func TestTrap03ChunkSizeDoesNotChangeTheResultKind(t *testing.T) {
	c := inRegistry(t, ctx)
	ec := compute.GetExecCtx(c)
	ec.ChunkSize = 2
	arr := released(t, build(heap, arrow.BinaryTypes.String, sample))
	sameCells(t, "chunk size 2", logical(callArray(t, compute.SetExecCtx(c, ec), "md5", nil, arr)), apply(oracles["md5({col})"], sample))
}

func TestTrap04RowsAreSplitOverNumParallel(t *testing.T) {
	if got := optionsOf(inRegistry(t, ctx)).Threads; got != compute.DefaultExecCtx().NumParallel {
		t.Errorf("%d goroutines by default", got)
	}
	cells := make([]any, 5000)
	for i := range cells {
		if i%7 != 0 {
			cells[i] = fmt.Sprint("row ", i)
		}
	}
	arr := released(t, build(heap, arrow.BinaryTypes.String, cells))
	for _, n := range []int{1, 2, 7} {
		c := inRegistry(t, ctx)
		ec := compute.GetExecCtx(c)
		ec.NumParallel = n
		sameCells(t, fmt.Sprint(n, " goroutines"), logical(callArray(t, compute.SetExecCtx(c, ec), "md5", nil, arr)), apply(oracles["md5({col})"], cells))
	}
}

func TestTrap05CancellationIsHonoured(t *testing.T) {
	cells := make([]any, 20000)
	for i := range cells {
		cells[i] = "x"
	}
	arr := released(t, build(heap, arrow.BinaryTypes.String, cells))
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]context.Context{
		"before the call": inRegistry(t, cancelled),
		"during the call": inRegistry(t, &countdown{Context: ctx, left: 5}),
	} {
		out, err := compute.CallFunction(c, "sha512", nil, compute.NewDatumWithoutOwning(arr))
		if !errors.Is(err, context.Canceled) || out != nil {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
}

// failing is an allocator that panics, as a foreign one may.
type failing struct{ memory.Allocator }

func (failing) Allocate(int) []byte { panic("SECRET-MARKER") }

func TestTrap06PanicsBecomeErrors(t *testing.T) {
	arr := released(t, build(heap, arrow.BinaryTypes.String, []any{"a"}))
	c := compute.WithAllocator(inRegistry(t, ctx), failing{heap})
	_, err := compute.CallFunction(c, "md5", nil, compute.NewDatumWithoutOwning(arr))
	if !errors.Is(err, mask.ErrInternal) || strings.Contains(err.Error(), "MARKER") {
		t.Errorf("error %v", err)
	}
	fn, _ := compute.GetExecCtx(c).Registry.GetFunction("md5")
	if _, err := fn.Execute(c, nil, nil); !errors.Is(err, mask.ErrArgument) {
		t.Errorf("nil datum: %v", err)
	}
}

func TestTrap07SlicedFixedSizeBinary(t *testing.T) {
	dt := &arrow.FixedSizeBinaryType{ByteWidth: 2}
	whole := released(t, build(heap, dt, []any{"aa", "bb", nil, "dd"}))
	slice := released(t, array.NewSlice(whole, 1, 4))
	sameCells(t, "slice", logical(callArray(t, inRegistry(t, ctx), "md5", nil, slice)),
		apply(oracles["md5({col})"], []any{"bb", nil, "dd"}))
}

func TestTrap08EncodingsAndExtensions(t *testing.T) {
	c := inRegistry(t, ctx)
	for name, arr := range variants(t, arrow.BinaryTypes.String, sample) {
		sameCells(t, name, logical(callArray(t, c, "md5", nil, arr)), apply(oracles["md5({col})"], sample))
	}
}

func TestTrap09EmptyOffsetsBuffer(t *testing.T) {
	c := inRegistry(t, ctx)
	for _, dt := range append(append([]arrow.DataType{}, textTypes...), arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary) {
		for _, offsets := range []*memory.Buffer{nil, memory.NewBufferBytes(nil), memory.NewBufferBytes(make([]byte, 16))} {
			d := array.NewData(dt, 0, []*memory.Buffer{nil, offsets, nil}, nil, 0, 0)
			out, err := compute.CallFunction(c, "md5", nil, &compute.ArrayDatum{Value: d})
			if err != nil {
				t.Fatalf("%s: %v", dt, err)
			}
			if out.Len() != 0 {
				t.Errorf("%s: %d rows", dt, out.Len())
			}
			out.Release()
			d.Release()
		}
	}
}

func TestTrap10KindIsMeta(t *testing.T) {
	reg := must(NewRegistry())
	for _, sig := range mask.Functions() {
		fn, ok := reg.GetFunction(sig.Name)
		if !ok || fn.Kind() != compute.FuncMeta {
			t.Errorf("%s: registered %v", sig.Name, ok)
		}
	}
}

func TestTrap11DocsAreValid(t *testing.T) {
	reg := must(NewRegistry())
	for _, sig := range mask.Functions() {
		fn, _ := reg.GetFunction(sig.Name)
		if err := fn.Validate(); err != nil {
			t.Errorf("%s: %v", sig.Name, err)
		}
		if doc := fn.Doc(); doc.Summary == "" || doc.Description == "" {
			t.Errorf("%s has no documentation", sig.Name)
		}
	}
}

func TestTrap12OptionsSerialise(t *testing.T) {
	for _, o := range []compute.FunctionOptions{Args{"4, 'X'"}, &SHA2Options{Bits: 224}, &HMACOptions{Key: "k"}} {
		buf, err := compute.SerializeOptions(o, heap)
		if err != nil {
			t.Errorf("%s: %v", o.TypeName(), err)
			continue
		}
		buf.Release()
	}
}

func TestTrap13KeysNeverTravelInOptions(t *testing.T) {
	const key = "S3CR3T key material"
	keys := mask.NewKeyring()
	if err := keys.Add("2026", []byte(key)); err != nil {
		t.Fatal(err)
	}
	arr := released(t, build(heap, arrow.BinaryTypes.String, sample))
	opts := &HMACOptions{Key: "2026"}
	c := WithKeyring(inRegistry(t, ctx), keys)
	want := apply(func(s string) any {
		h := hmac.New(sha256.New, []byte(key))
		h.Write([]byte(s))
		return fmt.Sprintf("%x", h.Sum(nil))
	}, sample)
	sameCells(t, "options", logical(callArray(t, c, "hmac", opts, arr)), want)
	sameCells(t, "scalar", logical(callArray(t, c, "hmac", nil, arr, compute.NewDatum("2026"))), want)

	call := compute.NewCall("hmac", nil, opts)
	for _, text := range []string{call.String(), fmt.Sprintf("%v %+v %#v", opts, opts, opts), fmt.Sprintf("%v %+v", c, keys)} {
		if strings.Contains(text, "S3CR3T") {
			t.Errorf("the key is in %q", text)
		}
	}
	if !strings.Contains(call.String(), "2026") {
		t.Errorf("the handle is not in %q", call.String())
	}
	_, err := compute.CallFunction(inRegistry(t, ctx), "hmac", opts, compute.NewDatumWithoutOwning(arr))
	if !errors.Is(err, mask.ErrKey) {
		t.Errorf("no keyring: %v", err)
	}
}

func TestTrap14NoPlaintextBehindNulls(t *testing.T) {
	c := compute.WithAllocator(inRegistry(t, ctx), heap)
	arr := released(t, garbage(arrow.BinaryTypes.String, sample))
	for _, name := range []string{"mask", "md5", "mask_null"} {
		for _, b := range buffersOf(callArray(t, c, name, nil, arr).Data()) {
			if strings.Contains(string(b), "MARKER") {
				t.Errorf("%s: the marker is in the output", name)
			}
		}
	}
}

func TestTrap15RegistriesAreLeftAlone(t *testing.T) {
	global := compute.GetFunctionRegistry()
	before := global.NumFunctions()
	child := must(NewRegistry())
	for _, sig := range mask.Functions() {
		if _, ok := global.GetFunction(sig.Name); ok {
			t.Errorf("%s is in the global registry", sig.Name)
		}
	}
	if n := global.NumFunctions(); n != before {
		t.Errorf("the global registry went from %d to %d functions", before, n)
	}
	if _, ok := child.GetFunction("take"); !ok {
		t.Error("the child does not see arrow's functions")
	}
	// A taken name: an error, and nothing else was added.
	reg := compute.NewRegistry()
	taken := compute.NewMetaFunction("sha256", compute.Unary(), compute.EmptyFuncDoc,
		func(context.Context, compute.FunctionOptions, ...compute.Datum) (compute.Datum, error) {
			return nil, nil
		})
	if !reg.AddFunction(taken, false) {
		t.Fatal("cannot add")
	}
	if err := Register(reg); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("error %v", err)
	}
	if reg.NumFunctions() != 1 {
		t.Errorf("%d functions after a refusal", reg.NumFunctions())
	}
	if err := Register(child); !errors.Is(err, ErrExists) {
		t.Errorf("registered twice: %v", err)
	}
}

func TestScalarArguments(t *testing.T) {
	c := inRegistry(t, ctx)
	arr := released(t, build(heap, arrow.BinaryTypes.String, []any{"abc", nil}))
	sum := "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"
	for name, bits := range map[string]scalar.Scalar{
		"int8": scalar.MakeScalar(int8(0)), "int16": scalar.MakeScalar(int16(224)), "int32": scalar.MakeScalar(int32(224)),
		"int64": scalar.MakeScalar(int64(224)), "uint16": scalar.MakeScalar(uint16(224)),
	} {
		want := any(sum)
		if name == "int8" {
			want = oracles["sha2({col}, 256)"]("abc")
		}
		sameCells(t, name, logical(callArray(t, c, "sha2", nil, arr, compute.NewDatum(bits))), []any{want, nil})
	}
	sameCells(t, "options", logical(callArray(t, c, "sha2", &SHA2Options{Bits: 224}, arr)), []any{sum, nil})
	sameCells(t, "literals", logical(callArray(t, c, "sha2", Args{"224"}, arr)), []any{sum, nil})
	sameCells(t, "a NULL length", logical(callArray(t, c, "sha2", nil, arr, compute.NewDatum(scalar.MakeNullScalar(arrow.PrimitiveTypes.Int32)))), []any{nil, nil})
	sameCells(t, "text", logical(callArray(t, c, "mask", nil, arr, compute.NewDatum("U"), compute.NewDatum("'"))), []any{"'''", nil})
	sameCells(t, "mask options", logical(callArray(t, c, "mask_show_last_n", Args{"1, 'U', 'l'"}, arr)), []any{"llc", nil})

	// A scalar column gives a scalar.
	out := must(compute.CallFunction(c, "sha2", nil, compute.NewDatum("abc"), compute.NewDatum(int32(224))))
	if s, ok := out.(*compute.ScalarDatum); !ok || s.Value.String() != sum {
		t.Errorf("scalar column: %v", out)
	}
	null := compute.NewDatum(scalar.MakeNullScalar(arrow.BinaryTypes.String))
	out = must(compute.CallFunction(c, "md5", nil, null))
	if s, ok := out.(*compute.ScalarDatum); !ok || s.Value.IsValid() || s.Value.DataType().ID() != arrow.STRING {
		t.Errorf("NULL scalar column: %v", out)
	}
}

func TestDatumsThatAreRefused(t *testing.T) {
	c := inRegistry(t, ctx)
	arr := released(t, build(heap, arrow.BinaryTypes.String, []any{"abc"}))
	ints := released(t, build(heap, arrow.PrimitiveTypes.Int32, []any{256}))
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType()}}, nil)
	rec := released(t, array.NewRecord(schema, []arrow.Array{arr}, 1))
	tbl := released(t, array.NewTableFromRecords(schema, []arrow.Record{rec}))
	col := compute.NewDatumWithoutOwning(arr)
	for name, try := range map[string]func() (compute.Datum, error){
		"record": func() (compute.Datum, error) {
			return compute.CallFunction(c, "md5", nil, compute.NewDatumWithoutOwning(rec))
		},
		"table": func() (compute.Datum, error) {
			return compute.CallFunction(c, "md5", nil, compute.NewDatumWithoutOwning(tbl))
		},
		"empty": func() (compute.Datum, error) { return compute.CallFunction(c, "md5", nil, compute.EmptyDatum{}) },
		"array as algorithm": func() (compute.Datum, error) {
			return compute.CallFunction(c, "digest", nil, col, col)
		},
		"scalar and array": func() (compute.Datum, error) {
			return compute.CallFunction(c, "sha2", nil, compute.NewDatum("abc"), compute.NewDatumWithoutOwning(ints))
		},
		"record as a further column": func() (compute.Datum, error) {
			return compute.CallFunction(c, "hash_row", nil, col, compute.NewDatumWithoutOwning(rec))
		},
		"float as length": func() (compute.Datum, error) { return compute.CallFunction(c, "sha2", nil, col, compute.NewDatum(1.5)) },
		"options and args": func() (compute.Datum, error) {
			return compute.CallFunction(c, "sha2", &SHA2Options{}, col, compute.NewDatum(256))
		},
		"foreign options": func() (compute.Datum, error) {
			return compute.CallFunction(c, "md5", compute.DefaultCastOptions(true), col)
		},
		"no length": func() (compute.Datum, error) { return compute.CallFunction(c, "sha2", nil, col) },
	} {
		if out, err := try(); !errors.Is(err, mask.ErrArgument) || out != nil {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	if _, err := compute.CallFunction(c, "md5", nil); err == nil {
		t.Error("no column: no error")
	}
	if _, err := compute.CallFunction(c, "md5", nil, compute.NewDatumWithoutOwning(ints)); !errors.Is(err, mask.ErrType) {
		t.Errorf("md5 of integers: %v", err)
	}
}

func TestChunkedDatum(t *testing.T) {
	c := inRegistry(t, ctx)
	chunk := released(t, build(heap, arrow.BinaryTypes.String, sample))
	col := released(t, arrow.NewChunked(chunk.DataType(), []arrow.Array{chunk, chunk}))
	out := must(compute.CallFunction(c, "md5", nil, compute.NewDatumWithoutOwning(col)))
	defer out.Release()
	d, ok := out.(*compute.ChunkedDatum)
	if !ok || len(d.Chunks()) != 2 {
		t.Fatalf("%T", out)
	}
	for _, ch := range d.Chunks() {
		sameCells(t, "chunk", logical(ch), apply(oracles["md5({col})"], sample))
	}
}
