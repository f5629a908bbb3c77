package mask

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/arrowmask/arrowmask/kernels"
)

// countingAlloc hands out dirty buffers and knows what is still out.
type countingAlloc struct {
	sync.Mutex
	live  map[*byte]int
	calls int
}

func (a *countingAlloc) Allocate(n int) []byte {
	a.Lock()
	defer a.Unlock()
	if n <= 0 {
		panic("allocation of nothing")
	}
	if a.live == nil {
		a.live = map[*byte]int{}
	}
	b := bytes.Repeat([]byte{0xdd}, n+64)[:n]
	a.live[&b[0]] = n
	a.calls++
	return b
}

func (a *countingAlloc) Free(b []byte) {
	a.Lock()
	defer a.Unlock()
	if a.live[&b[0]] != len(b) {
		panic("freed what was not allocated")
	}
	delete(a.live, &b[0])
}

// Data and Valid of a result, and nothing else, come from the allocator; dirty
// memory never shows (cells checks what lies under NULLs).
func TestAllocator(t *testing.T) {
	rng := testRand(t)
	for range 300 {
		in, layout := text, byteLayouts[rng.IntN(3)]
		if rng.IntN(2) == 0 {
			in, layout = plainTypes[rng.IntN(len(plainTypes))], LayoutFixed
		}
		column := randomCells(rng, in, rng.IntN(50))
		src := randomExpr(rng, in)
		p, a := compile(t, src, in), &countingAlloc{}
		out := eval(t, p, build(rng, in, layout, column), EvalOptions{Alloc: a, Threads: rng.IntN(3)})
		checkAgainstRows(t, p, src, column, out)
		for _, b := range [][]byte{out.Data, out.Valid} {
			if len(b) > 0 {
				a.Free(b)
			}
		}
		if len(a.live) != 0 {
			t.Fatalf("%s: %d buffers are neither data nor validity", src, len(a.live))
		}
	}
}

// TestB31OutputLimit: one below, at and one above the bytes of the output, for
// growth by digest, by hex and by replacement; refused before allocation.
func TestB31OutputLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([]Value, 1000)
	for i := range rows {
		rows[i] = str("abcd")
	}
	rows[500] = null
	for src, size := range map[string]int64{
		"mask_hash({col})":                 999 * 64,
		"md5({col})":                       999 * 32,
		"hex({col})":                       999 * 8,
		"mask({col})":                      999 * 4,
		"mask({col}, 'x', '😀')":            999 * 16,
		"mask_first_n({col}, 2, 'x', '日')": 999 * 8,
		"{col}":                            999 * 4,
		"'1234567'":                        1000 * 7,
		"mask_null({col})":                 0,
		"sha512(mask({col}))":              999 * 128,
	} {
		p := compile(t, src, text)
		for _, layout := range byteLayouts {
			in := build(rng, text, layout, rows)
			for _, limit := range []int64{size - 1, size, size + 1} {
				if limit <= 0 {
					continue
				}
				a := &countingAlloc{}
				out, err := p.Eval(context.Background(), in, EvalOptions{Limit: limit, Alloc: a, Threads: 2})
				wide := layout == LayoutOffsets64
				if limit >= size || wide {
					if err != nil || int64(len(out.Data)) != size {
						t.Errorf("%s, limit %d: %v", src, limit, err)
					}
					continue
				}
				if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), p.root.name) || out != nil {
					t.Errorf("%s, limit %d: %v", src, limit, err)
				}
				if a.calls != 0 {
					t.Errorf("%s, limit %d: allocated %d buffers first", src, limit, a.calls)
				}
				if out, err := p.Eval(context.Background(), in, EvalOptions{Limit: limit, Large: true}); err != nil || int64(len(out.Data)) != size {
					t.Errorf("%s, limit %d, large: %v", src, limit, err)
				}
			}
		}
	}
}

// The bound without an injected limit is 2^31-1 bytes: a column of 2^25 empty
// strings has that much SHA-256 hex less one row, and is refused before any of
// it is computed.
func TestB31DigestsBeyondOffsets(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 256 MiB of memory; left out with -short")
	}
	const rows = 1 << 25
	in := &Vector{Type: text, Len: rows, Layout: LayoutOffsets32, Offsets32: make([]int32, rows+1)}
	a := &countingAlloc{}
	_, err := compile(t, "mask_hash({col})", text).Eval(context.Background(), in, EvalOptions{Alloc: a, Threads: 2})
	if !errors.Is(err, ErrTooLarge) || a.calls != 0 {
		t.Errorf("%v after %d allocations", err, a.calls)
	}
}

// TestB37NothingOfTheNeighbours: rows around a slice, bytes under NULLs and
// slack in buffers hold a marker; it never shows in an output buffer up to its
// capacity, nor in an error.
func TestB37NothingOfTheNeighbours(t *testing.T) {
	rng := testRand(t)
	clean := func(what string, bufs ...[]byte) {
		t.Helper()
		for _, b := range bufs {
			if bytes.Contains(b[:cap(b)], []byte(marker[:4])) {
				t.Fatalf("%s: the marker shows in an output", what)
			}
		}
	}
	for range 600 {
		in, layout := text, byteLayouts[rng.IntN(3)]
		if rng.IntN(4) == 0 {
			in, layout = Type{Kind: Binary, Width: 20}, LayoutFixed
		}
		rows := rng.IntN(30)
		column := randomCells(rng, in, rows)
		v := build(rng, in, layout, column)
		src := randomExpr(rng, in)
		p := compile(t, src, in)
		out := eval(t, p, v, EvalOptions{Threads: rng.IntN(3), Alloc: []Allocator{nil, &countingAlloc{}}[rng.IntN(2)]})
		clean(src, out.Data, out.Valid)
		checkAgainstRows(t, p, src, column, out)

		// The same through a failure.
		bad := *v
		bad.Len += 100
		if _, err := p.Eval(context.Background(), &bad, EvalOptions{}); err == nil || strings.Contains(err.Error(), marker[:4]) {
			t.Fatalf("%s: %v", src, err)
		}
	}
	// Scratch that goes back to its pool holds no digest of a row.
	s := getScratch()
	v := build(rng, text, LayoutOffsets32, texts("a", "b", "c"))
	if _, err := s.digests(compile(t, "sha512({col})", text).root.op.(textStep).op.(hexDigest).hash, v, 0, 3); err != nil {
		t.Fatal(err)
	}
	s.put()
	if !bytes.Equal(s.sums[:], make([]byte, len(s.sums))) || s.col.Len() != 0 {
		t.Error("scratch keeps what it held")
	}
}

// A vector that does not fit its description is a typed error for every
// function, never a panic or a read outside.
func TestMalformedVectors(t *testing.T) {
	view := func(n, buffer, offset uint32) (w kernels.View) {
		copy(w[:], []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
		w[8], w[12] = byte(buffer), byte(offset)
		return w
	}
	int32s := Type{Kind: Int32}
	for name, c := range map[string]struct {
		v    Vector
		want error
	}{
		"negative length":        {Vector{Type: text, Len: -1, Layout: LayoutOffsets32}, ErrVector},
		"length beyond memory":   {Vector{Type: text, Len: math.MaxInt, Layout: LayoutOffsets32}, ErrVector},
		"no offsets":             {Vector{Type: text, Len: 1, Layout: LayoutOffsets32}, ErrVector},
		"too few offsets":        {Vector{Type: text, Len: 2, Layout: LayoutOffsets32, Offsets32: []int32{0, 1}, Data: []byte("ab")}, ErrVector},
		"too many offsets":       {Vector{Type: text, Len: 0, Layout: LayoutOffsets64, Offsets64: []int64{0, 1}, Data: []byte("ab")}, ErrVector},
		"offset outside":         {Vector{Type: text, Len: 1, Layout: LayoutOffsets32, Offsets32: []int32{0, 3}, Data: []byte("ab")}, ErrVector},
		"offsets run back":       {Vector{Type: text, Len: 2, Layout: LayoutOffsets64, Offsets64: []int64{0, 2, 1}, Data: []byte("ab")}, ErrVector},
		"negative offset":        {Vector{Type: text, Len: 1, Layout: LayoutOffsets64, Offsets64: []int64{-1, 1}, Data: []byte("ab")}, ErrVector},
		"text of fixed width":    {Vector{Type: text, Len: 1, Layout: LayoutFixed, Data: []byte("ab")}, ErrVector},
		"no such layout":         {Vector{Type: text, Len: 1, Layout: 9}, ErrVector},
		"view without buffer":    {Vector{Type: text, Len: 1, Layout: LayoutViews, Views: []kernels.View{view(20, 0, 0)}}, ErrVector},
		"view outside buffer":    {Vector{Type: text, Len: 1, Layout: LayoutViews, Views: []kernels.View{view(20, 0, 1)}, Buffers: [][]byte{make([]byte, 20)}}, ErrVector},
		"view of no length":      {Vector{Type: text, Len: 1, Layout: LayoutViews, Views: []kernels.View{view(1<<31, 0, 0)}}, ErrVector},
		"bad view beside NULL":   {Vector{Type: text, Len: 2, Layout: LayoutViews, Views: []kernels.View{view(20, 0, 0), view(20, 7, 0)}, Valid: []byte{2}}, ErrVector},
		"too few views":          {Vector{Type: text, Len: 2, Layout: LayoutViews, Views: make([]kernels.View, 1)}, ErrVector},
		"short bitmap":           {Vector{Type: text, Len: 9, Layout: LayoutOffsets32, Offsets32: make([]int32, 10), Valid: []byte{0}}, ErrVector},
		"bitmap offset outside":  {Vector{Type: text, Len: 1, Layout: LayoutOffsets32, Offsets32: make([]int32, 2), Valid: []byte{0}, ValidOffset: 8}, ErrVector},
		"bits after the bitmap":  {Vector{Type: text, Len: 2, Layout: LayoutOffsets32, Offsets32: make([]int32, 3), Valid: []byte{0xff}, ValidOffset: 7}, ErrVector},
		"huge bitmap offset":     {Vector{Type: text, Len: 1, Layout: LayoutOffsets32, Offsets32: make([]int32, 2), Valid: []byte{0}, ValidOffset: math.MaxInt}, ErrVector},
		"negative bitmap offset": {Vector{Type: text, Len: 1, Layout: LayoutOffsets32, Offsets32: make([]int32, 2), Valid: []byte{0}, ValidOffset: -1}, ErrVector},
		"short integers":         {Vector{Type: int32s, Len: 2, Data: make([]byte, 7)}, ErrVector},
		"another type":           {Vector{Type: bin, Len: 0, Layout: LayoutOffsets32}, ErrType},
		"another width":          {Vector{Type: Type{Kind: Binary, Width: 4}, Len: 0}, ErrType},
		"nested":                 {Vector{Type: Type{Kind: Nested}}, ErrType},
		"no type":                {Vector{}, ErrType},
		"text with a width":      {Vector{Type: Type{Kind: Text, Width: 3}}, ErrType},
	} {
		for _, src := range []string{"mask({col})", "mask_hash({col})", "mask_null({col})", "hex({col})", "{col}"} {
			in := text
			if c.v.Type == int32s {
				if in = int32s; src == "hex({col})" {
					continue
				}
			}
			out, err := compile(t, src, in).Eval(context.Background(), &c.v, EvalOptions{})
			if !errors.Is(err, c.want) || out != nil {
				t.Errorf("%s, %s: %v, want %v", name, src, err, c.want)
			}
		}
	}
	fixed := Type{Kind: Binary, Width: 4}
	for _, v := range []Vector{
		{Type: fixed, Len: 2, Data: make([]byte, 7)},
		{Type: fixed, Len: math.MaxInt / 8, Data: make([]byte, 7)},
		{Type: fixed, Len: 1, Layout: LayoutOffsets32, Offsets32: []int32{0, 4}, Data: make([]byte, 4)},
	} {
		if _, err := compile(t, "md5({col})", fixed).Eval(context.Background(), &v, EvalOptions{}); !errors.Is(err, ErrVector) {
			t.Errorf("%d rows of %s in layout %d: %v", v.Len, v.Type, v.Layout, err)
		}
	}
	// A width of 0 needs no data for any number of rows; their digests do.
	none := Vector{Type: bin, Len: maxSize}
	if _, err := compile(t, "digest({col}, 'sha512')", bin).Eval(context.Background(), &none, EvalOptions{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("digests beyond memory: %v", err)
	}
	if _, err := compile(t, "mask({col})", text).Eval(context.Background(), nil, EvalOptions{}); !errors.Is(err, ErrVector) {
		t.Errorf("no column: %v", err)
	}
	if _, err := compile(t, "mask({col})", text).EvalRow(Value{Kind: Int8}); !errors.Is(err, ErrType) {
		t.Errorf("row of another kind: %v", err)
	}
	// An empty column may leave everything out.
	for _, l := range byteLayouts {
		if out, err := compile(t, "mask_hash({col})", text).Eval(context.Background(), &Vector{Type: text, Layout: l}, EvalOptions{}); err != nil || out.Len != 0 {
			t.Errorf("empty column of layout %d: %v", l, err)
		}
	}
}

// cancelAlloc cancels on the first allocation, in the middle of the work.
type cancelAlloc struct {
	countingAlloc
	cancel func()
}

func (a *cancelAlloc) Allocate(n int) []byte {
	a.cancel()
	return a.countingAlloc.Allocate(n)
}

func TestCancellation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := build(rng, text, LayoutOffsets32, randomCells(rng, text, 3000))
	ints := build(rng, Type{Kind: Int32}, LayoutFixed, randomCells(rng, Type{Kind: Int32}, 9000))
	for src, in := range map[string]*Vector{"mask({col})": in, "mask_hash({col})": in, "digest({col}, 'md5')": in, "mask_first_n({col})": ints} {
		p := compile(t, src, in.Type)
		for _, threads := range []int{1, 4} {
			done, cancel := context.WithCancel(context.Background())
			cancel()
			if out, err := p.Eval(done, in, EvalOptions{Threads: threads}); !errors.Is(err, context.Canceled) || out != nil {
				t.Errorf("%s, before: %v", src, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			a := &cancelAlloc{cancel: cancel}
			if out, err := p.Eval(ctx, in, EvalOptions{Threads: threads, Alloc: a}); !errors.Is(err, context.Canceled) || out != nil {
				t.Errorf("%s, in the middle: %v", src, err)
			}
			if a.calls == 0 || len(a.live) != 0 {
				t.Errorf("%s: %d of %d buffers not freed", src, len(a.live), a.calls)
			}
		}
	}
}

// brokenAlloc panics with what could be a cell.
type brokenAlloc struct{}

func (brokenAlloc) Allocate(int) []byte { panic(marker) }
func (brokenAlloc) Free([]byte)         {}

// brokenOp panics in its goroutine.
type brokenOp struct{ copyText }

func (brokenOp) write([]byte, *Vector, int, int) error { panic(errors.New(marker)) }

func TestPanicsStayInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := build(rng, text, LayoutOffsets32, randomCells(rng, text, 3000))
	check := func(what string, out *Vector, err error) {
		t.Helper()
		if !errors.Is(err, ErrInternal) || out != nil || strings.Contains(err.Error(), marker) {
			t.Errorf("%s: %v", what, err)
		}
	}
	out, err := compile(t, "mask({col})", text).Eval(context.Background(), in, EvalOptions{Alloc: brokenAlloc{}})
	check("allocator", out, err)
	for _, threads := range []int{1, 4} {
		a := &countingAlloc{}
		p := compile(t, "{col}", text)
		p.root.op = textStep{op: brokenOp{}, out: text}
		out, err := p.Eval(context.Background(), in, EvalOptions{Threads: threads, Alloc: a})
		check("goroutine", out, err)
		if len(a.live) != 0 {
			t.Errorf("%d buffers not freed", len(a.live))
		}
	}
}

// A Program and its input are only read.
func TestConcurrentUse(t *testing.T) {
	rng := testRand(t)
	p := compile(t, "hmac(mask_show_first_n({col}, 2), 'k1')", text)
	column := randomCells(rng, text, 1200)
	in := build(rng, text, LayoutViews, column)
	want := eval(t, p, in, EvalOptions{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out, err := p.Eval(context.Background(), in, EvalOptions{Threads: 3})
			if err != nil || !bytes.Equal(out.Data, want.Data) {
				t.Errorf("another answer: %v", err)
			}
		}()
	}
	wg.Wait()
}
