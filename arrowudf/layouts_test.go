package arrowudf

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

var (
	textTypes   = []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView}
	binaryTypes = []arrow.DataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView}
	indexTypes  = []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	}
	endTypes = []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}
)

// sample has empty, short, inline (12 bytes), just longer, block-sized and long
// values, repeats, NULL runs, and more than eight rows twice over.
var sample = []any{
	"Alice", nil, "", "Alice", "Alice", "123456789012", "1234567890123", nil, nil,
	"añb-Ü9", "日本語テスト", "The quick brown fox jumps over the lazy dog, 123 times.",
	"0123456789012345678901234567890123456789012345678901234567890123", "", "a", "A", "1", "-", nil,
	"The quick brown fox jumps over the lazy dog, 123 times.", "z",
}

// oracles compute one value with the standard library or by plain rules.
var oracles = map[string]func(string) any{
	"md5({col})":       func(s string) any { return fmt.Sprintf("%x", md5.Sum([]byte(s))) },
	"sha2({col}, 256)": func(s string) any { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	"sha512({col})":    func(s string) any { return fmt.Sprintf("%x", sha512.Sum512([]byte(s))) },
	"hex({col})":       func(s string) any { return fmt.Sprintf("%X", s) },
	"sha2({col}, 1)":   func(string) any { return nil },
	"mask_null({col})": func(string) any { return nil },
	"digest({col}, 'sha256')": func(s string) any {
		d := sha256.Sum256([]byte(s))
		return string(d[:])
	},
}

// textOracles hold for text only.
var textOracles = map[string]func(string) any{
	"mask_hash({col})": func(s string) any { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	"mask({col})": func(s string) any {
		out := ""
		for _, r := range s {
			switch {
			case r >= 'A' && r <= 'Z' || r == 'Ü':
				out += "X"
			case r >= '0' && r <= '9':
				out += "n"
			case r >= 'a' && r <= 'z' || r > 127:
				out += "x"
			default:
				out += string(r)
			}
		}
		return out
	},
	"mask_show_last_n({col}, 2, 'U', 'l', 'd', 'o')": func(s string) any {
		rs := []rune(s)
		out := ""
		for i, r := range rs {
			switch {
			case i >= len(rs)-2:
				out += string(r)
			case r >= 'A' && r <= 'Z' || r == 'Ü':
				out += "U"
			case r >= '0' && r <= '9':
				out += "d"
			case r >= 'a' && r <= 'z' || r > 127:
				out += "l"
			default:
				out += "o"
			}
		}
		return out
	},
}

func apply(f func(string) any, cells []any) []any {
	out := make([]any, len(cells))
	for i, c := range cells {
		if c != nil {
			out[i] = f(c.(string))
		}
	}
	return out
}

// variants are the same cells in every encoding of a plain type.
func variants(t testing.TB, dt arrow.DataType, cells []any) map[string]arrow.Array {
	n := int64(len(cells))
	out := map[string]arrow.Array{"plain": build(heap, dt, cells)}
	around := append(append([]any{nil, "SECRET-MARKER-before", "x"}, cells...), "SECRET-MARKER-after", nil)
	whole := released(t, build(heap, dt, around))
	out["sliced"] = array.NewSlice(whole, 3, 3+n)
	out["garbage under nulls"] = garbage(dt, cells)
	if isView(dt) {
		out["many buffers"] = viewsOfMany(dt, cells)
	}
	unused := func(i int) any { return fmt.Sprintf("SECRET-MARKER-unused-%d", i) }
	for _, ix := range indexTypes {
		out["dictionary of "+ix.Name()] = dictOf(ix, dt, cells, unused)
		d := released(t, dictOf(ix, dt, around, unused))
		out["sliced dictionary of "+ix.Name()] = array.NewSlice(d, 3, 3+n)
	}
	for _, e := range endTypes {
		out["run ends of "+e.Name()] = runsOf(e, dt, cells)
		r := released(t, runsOf(e, dt, around))
		out["sliced run ends of "+e.Name()] = array.NewSlice(r, 3, 3+n)
	}
	plain := released(t, build(heap, dt, around))
	ext := released(t, array.NewExtensionArrayWithStorage(newTag(dt), plain))
	out["sliced extension"] = array.NewSlice(ext, 3, 3+n)
	for _, a := range out {
		t.Cleanup(a.Release)
	}
	return out
}

// garbage is a plain array with value bytes under its NULLs.
func garbage(dt arrow.DataType, cells []any) arrow.Array {
	full := make([]any, len(cells))
	valid := make([]byte, (len(cells)+7)/8)
	nulls := 0
	for i, c := range cells {
		if c == nil {
			c = fmt.Sprintf("SECRET-MARKER-null-%d", i)
			nulls++
		} else {
			setBit(valid, i, true)
		}
		full[i] = c
	}
	arr := build(heap, dt, full)
	defer arr.Release()
	bufs := append([]*memory.Buffer{memory.NewBufferBytes(valid)}, arr.Data().Buffers()[1:]...)
	d := array.NewData(dt, len(cells), bufs, nil, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// The same cells give the same answer in every layout and encoding, equal to
// what the standard library computes value by value.
func TestLayoutInvariance(t *testing.T) {
	check := func(t *testing.T, dt arrow.DataType, exprs map[string]func(string) any) {
		for name, arr := range variants(t, dt, sample) {
			for expr, oracle := range exprs {
				for _, threads := range []int{1, 3} {
					got := eval(t, expr, arr, Options{Threads: threads})
					sameCells(t, fmt.Sprintf("%s, %s of %s", expr, name, dt), logical(got), apply(oracle, sample))
				}
			}
		}
	}
	for _, dt := range append(append([]arrow.DataType{}, textTypes...), binaryTypes...) {
		t.Run(dt.Name(), func(t *testing.T) { check(t, dt, oracles) })
	}
	for _, dt := range textTypes {
		t.Run("masks of "+dt.Name(), func(t *testing.T) { check(t, dt, textOracles) })
	}
}

func TestChunkedIsEvaluatedChunkByChunk(t *testing.T) {
	mem := checked(t)
	for _, dt := range textTypes {
		var chunks []arrow.Array
		for _, cut := range [][2]int{{0, 0}, {0, 5}, {5, 5}, {5, 6}, {6, len(sample)}} {
			chunks = append(chunks, released(t, build(heap, dt, sample[cut[0]:cut[1]])))
		}
		col := released(t, arrow.NewChunked(dt, chunks))
		f := must(Compile("md5({col})", dt, Options{Mem: mem}))
		out := released(t, must(f.CallChunked(ctx, col)))
		if len(out.Chunks()) != len(chunks) || !arrow.TypeEqual(out.DataType(), f.OutType()) {
			t.Fatalf("%d chunks of %s", len(out.Chunks()), out.DataType())
		}
		var got []any
		for _, c := range out.Chunks() {
			got = append(got, logical(c)...)
		}
		sameCells(t, "chunked "+dt.Name(), got, apply(oracles["md5({col})"], sample))

		none := released(t, arrow.NewChunked(dt, nil))
		out = released(t, must(f.CallChunked(ctx, none)))
		if out.Len() != 0 || len(out.Chunks()) != 0 {
			t.Errorf("no chunks gave %d rows", out.Len())
		}
	}
}

// A chunk that fails takes back the chunks before it.
func TestChunkedErrorFreesEarlierChunks(t *testing.T) {
	mem := checked(t)
	f := must(Compile("md5({col})", arrow.BinaryTypes.String, Options{Mem: mem, Limit: 100}))
	small := released(t, build(heap, arrow.BinaryTypes.String, []any{"a"}))
	big := released(t, build(heap, arrow.BinaryTypes.String, []any{"a", "b", "c", "d"}))
	col := released(t, arrow.NewChunked(arrow.BinaryTypes.String, []arrow.Array{small, big}))
	if _, err := f.CallChunked(ctx, col); err == nil {
		t.Fatal("no error")
	}
}
