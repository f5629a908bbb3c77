package mask

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/arrowmask/arrowmask/kernels"
)

var (
	text = Type{Kind: Text}
	bin  = Type{Kind: Binary}
)

// testRand is a source of random numbers whose seed a failure prints; set
// ARROWMASK_TEST_SEED to run it again.
func testRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("ARROWMASK_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed: ARROWMASK_TEST_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

func testKeys(t testing.TB) *Keyring {
	t.Helper()
	k := NewKeyring()
	if err := k.Add("k1", []byte("0123456789abcdef0123")); err != nil {
		t.Fatal(err)
	}
	return k
}

func compile(t testing.TB, src string, in Type) *Program {
	t.Helper()
	p, err := compileErr(src, in, Options{Keys: testKeys(t)})
	if err != nil {
		t.Fatalf("%s over %s: %v", src, in, err)
	}
	return p
}

func compileErr(src string, in Type, o Options) (*Program, error) {
	e, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return Compile(e, in, o)
}

func eval(t testing.TB, p *Program, in *Vector, o EvalOptions) *Vector {
	t.Helper()
	out, err := p.Eval(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// str and null are cells of text.
func str(s string) Value { return Value{Kind: Text, Bytes: []byte(s)} }

var null = Value{Kind: Text, Null: true}

func texts(rows ...string) []Value {
	cells := make([]Value, len(rows))
	for i, s := range rows {
		cells[i] = str(s)
	}
	return cells
}

// marker fills everything that an evaluation must not look at.
const marker = "SECRET-MARKER"

func fill(b []byte) []byte {
	for i := range b {
		b[i] = marker[i%len(marker)]
	}
	return b
}

// build lays cells out as a slice of a larger column: rows before and after
// them and the bytes under NULLs hold the marker.
func build(rng *rand.Rand, t Type, layout Layout, cells []Value) *Vector {
	before, after := rng.IntN(20), rng.IntN(20)
	all := make([]Value, 0, before+len(cells)+after)
	filler := func() Value { return Value{Kind: t.Kind, Bytes: fill(make([]byte, rng.IntN(40))), Int: 77} }
	for range before {
		all = append(all, filler())
	}
	all = append(all, cells...)
	for range after {
		all = append(all, filler())
	}
	v := &Vector{Type: t, Len: len(cells), Layout: layout, ValidOffset: before, Nulls: -1}
	for _, c := range cells {
		if (c.Null || rng.IntN(64) == 0) && v.Valid == nil { // now and then a bitmap without NULLs
			v.Valid = bytes.Repeat([]byte{0xff}, bitmapSize(len(all)))
		}
	}
	if size := t.size(); size > 0 || layout == LayoutFixed {
		for i, c := range all {
			switch {
			case t.Kind == Binary && !c.Null && i >= before && i < before+len(cells):
				v.Data = append(v.Data, c.Bytes...)
			case t.Kind == Binary:
				v.Data = append(v.Data, fill(make([]byte, size))...)
			case c.Null:
				v.Data = append(v.Data, fill(make([]byte, size))...)
			default:
				v.Data = append(v.Data, binary.LittleEndian.AppendUint64(nil, uint64(c.Int))[:size]...)
			}
		}
		v.Data = v.Data[before*size : (before+len(cells))*size]
	}
	v.Data = append([]byte(nil), v.Data...)
	if layout == LayoutViews {
		v.Buffers = [][]byte{nil, fill(make([]byte, 5)), fill(make([]byte, 3))}
	}
	o32, o64, data := []int32{}, []int64{}, fill(make([]byte, rng.IntN(9)))
	for i, c := range all {
		if c.Null {
			v.Valid[i>>3] &^= 1 << (i & 7)
			if rng.IntN(2) == 0 {
				c.Bytes = fill(make([]byte, rng.IntN(30)))
			}
		}
		o32, o64 = append(o32, int32(len(data))), append(o64, int64(len(data)))
		if layout == LayoutViews {
			v.Views = append(v.Views, view(rng, v, c.Bytes))
		} else {
			data = append(data, c.Bytes...)
		}
	}
	o32, o64 = append(o32, int32(len(data))), append(o64, int64(len(data)))
	switch layout {
	case LayoutOffsets32:
		v.Offsets32, v.Data = o32[before:before+len(cells)+1], data
	case LayoutOffsets64:
		v.Offsets64, v.Data = o64[before:before+len(cells)+1], data
	case LayoutViews:
		v.Views = v.Views[before : before+len(cells)]
		for i, c := range cells {
			if c.Null && rng.IntN(3) == 0 { // the view of a NULL may be anything
				binary.LittleEndian.PutUint32(v.Views[i][0:], 1<<30)
				binary.LittleEndian.PutUint32(v.Views[i][8:], 99)
			}
		}
	}
	return v
}

func view(rng *rand.Rand, v *Vector, b []byte) (w kernels.View) {
	binary.LittleEndian.PutUint32(w[0:], uint32(len(b)))
	if len(b) <= kernels.ViewInline {
		copy(w[4:], b)
		return w
	}
	copy(w[4:8], b)
	n := rng.IntN(len(v.Buffers))
	binary.LittleEndian.PutUint32(w[8:], uint32(n))
	binary.LittleEndian.PutUint32(w[12:], uint32(len(v.Buffers[n])))
	v.Buffers[n] = append(v.Buffers[n], b...)
	return w
}

// cells reads an output back and checks what every output promises: offsets
// from 0 that use all of the data, nothing under NULLs, an exact count of NULLs,
// a clean end of the bitmap.
func cells(t testing.TB, v *Vector) []Value {
	t.Helper()
	out, nulls := make([]Value, v.Len), 0
	if v.Valid != nil && len(v.Valid) != bitmapSize(v.Len) {
		t.Fatalf("bitmap of %d bytes for %d rows", len(v.Valid), v.Len)
	}
	if v.Valid != nil && v.Len&7 != 0 && v.Valid[v.Len>>3]>>(v.Len&7) != 0 {
		t.Fatal("bits are set after the last row")
	}
	if v.Type.bytes() && v.Type.Width == 0 {
		col := v.column(0, v.Len)
		if err := col.Validate(); err != nil {
			t.Fatal(err)
		}
		first, last := v.ends()
		if first != 0 || last != len(v.Data) {
			t.Fatalf("offsets from %d to %d of %d bytes", first, last, len(v.Data))
		}
	} else if v.Type.Kind == Bool && v.Nulls < v.Len {
		if len(v.Data) != bitmapSize(v.Len) || v.Len&7 != 0 && v.Data[v.Len>>3]>>(v.Len&7) != 0 {
			t.Fatalf("%d booleans are the bytes %x", v.Len, v.Data)
		}
	} else if want := v.Len * v.Type.size(); len(v.Data) != want {
		t.Fatalf("%d bytes of data, want %d", len(v.Data), want)
	}
	for i := range out {
		c := &out[i]
		c.Kind, c.Null = v.Type.Kind, v.IsNull(i)
		if c.Null {
			nulls++
		}
		size := v.Type.size()
		switch {
		case v.Type.Kind == Bool && !c.Null:
			c.Int = int64(v.Data[i>>3] >> (i & 7) & 1)
		case v.Type.bytes():
			col := v.column(i, i+1)
			c.Bytes = append([]byte(nil), col.Row(0)...)
		case size > 0:
			raw := make([]byte, 8)
			copy(raw, v.Data[i*size:(i+1)*size])
			c.Int = int64(binary.LittleEndian.Uint64(raw)) << (64 - 8*size)
			if kinds[v.Type.Kind].signed {
				c.Int >>= 64 - 8*size
			} else {
				c.Int = int64(uint64(c.Int) >> (64 - 8*size))
			}
		}
		if c.Null && (c.Int != 0 || len(bytes.Trim(c.Bytes, "\x00")) != 0 || v.Type.Width == 0 && len(c.Bytes) != 0) {
			t.Fatalf("row %d is NULL but has bytes", i)
		}
		if c.Null {
			c.Bytes = nil
		}
	}
	if nulls != v.Nulls {
		t.Fatalf("%d NULLs, the vector says %d", nulls, v.Nulls)
	}
	return out
}

func (v *Vector) ends() (first, last int) {
	if v.Layout == LayoutOffsets64 {
		return int(v.Offsets64[0]), int(v.Offsets64[v.Len])
	}
	return int(v.Offsets32[0]), int(v.Offsets32[v.Len])
}

// show spells a cell for a failure.
func (c Value) spell() string {
	switch {
	case c.Null:
		return "NULL"
	case c.Kind == Text || c.Kind == Binary:
		return fmt.Sprintf("%q", c.Bytes)
	}
	return strconv.FormatInt(c.Int, 10)
}

func sameCell(a, b Value) bool {
	return a.Kind == b.Kind && a.Null == b.Null && (a.Null || a.Int == b.Int && bytes.Equal(a.Bytes, b.Bytes))
}

// one evaluates an expression over a single cell, by column and by reference,
// and checks that they agree.
func one(t testing.TB, src string, cell Value) Value {
	t.Helper()
	in := Type{Kind: cell.Kind}
	p := compile(t, src, in)
	layout := LayoutOffsets32
	if !in.bytes() {
		layout = LayoutFixed
	}
	got := cells(t, eval(t, p, build(rand.New(rand.NewPCG(1, 2)), in, layout, []Value{cell}), EvalOptions{}))[0]
	ref, err := p.EvalRow(cell)
	if err != nil {
		t.Fatal(err)
	}
	if !sameCell(got, ref) {
		t.Fatalf("%s of %s: column %s, reference %s", src, cell.spell(), got.spell(), ref.spell())
	}
	return got
}

// randomText is n characters of every sort, bad bytes among them.
func randomText(rng *rand.Rand, n int) []byte {
	var b []byte
	ascii := rng.IntN(3) == 0
	for range n {
		switch k := rng.IntN(10); {
		case ascii || k < 5:
			b = append(b, byte(rng.IntN(128)))
		case k < 7:
			b = utf8.AppendRune(b, rune(rng.IntN(0x800)))
		case k < 8:
			b = utf8.AppendRune(b, rune(rng.IntN(0x10000)))
		case k < 9:
			b = utf8.AppendRune(b, rune(rng.IntN(utf8.MaxRune+1)))
		default: // bytes as they come: stray, truncated, overlong, surrogates
			b = append(b, [][]byte{{byte(rng.IntN(256))}, {0xe2, 0x82}, {0xc0, 0x80}, {0xed, 0xa0, 0x80}, {0xf4, 0x90, 0x80, 0x80}, []byte("\uFFFD")}[rng.IntN(6)]...)
		}
	}
	return b
}

// sharedFile is a file of the folder beside the repository, or a skip.
func sharedFile(t *testing.T, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("needs ../shared/%s beside the repository, which is not there", name)
	}
	return b
}
