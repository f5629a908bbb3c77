package arrowudf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// column is rows texts, the same for the same seed.
func column(rows int, seed uint64) arrow.Array {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := array.NewStringBuilder(heap)
	defer b.Release()
	for i := range rows {
		if i%9 == 4 {
			b.AppendNull()
		} else {
			b.Append(fmt.Sprintf("Row %d of %d", rng.IntN(1000), i))
		}
	}
	return b.NewArray()
}

// TestRecyclerBlocks: sizes around every boundary are aligned and zeroed, also
// when they were full before, and so is the capacity behind them.
func TestRecyclerBlocks(t *testing.T) {
	r := NewRecycler(64 << 20)
	for _, size := range []int{0, 1, 63, 64, 65, 4095, 4096, 4097, 5120, 5121, 8191, 8192, 8193, 100000, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
		for range 3 {
			b := r.Allocate(size)
			if len(b) != size || !isAligned(b) {
				t.Fatalf("%d: %d bytes, aligned %v", size, len(b), isAligned(b))
			}
			if size >= 4096 && cap(b) > size+size/4+1 && cap(b) >= 2*size {
				t.Errorf("%d: a block of %d", size, cap(b))
			}
			whole := b[:cap(b)]
			if bytes.ContainsFunc(whole, func(c rune) bool { return c != 0 }) {
				t.Fatalf("%d: not zero", size)
			}
			for i := range whole {
				whole[i] = 0xdb
			}
			r.Free(b)
		}
	}
	for n := 1; n < 1<<22; n += 1 + n/7 {
		if c := blockSize(n); c < n || c-n > n/4 || blockSize(c) != c || n > leastRecycled && c%alignment != 0 {
			t.Errorf("%d: a block of %d", n, c)
		}
	}
}

// TestRecyclerReuse: the memory of a released result is that of the next one,
// which is right all the same; memory in use is never given out.
func TestRecyclerReuse(t *testing.T) {
	r := &Recycler{}
	arr := released(t, column(4096, 1))
	for _, expr := range []string{"sha256({col})", "mask({col})", "mask_show_last_n({col}, 2)", "regexp_replace({col}, 'R', 'xyz')"} {
		want := logical(eval(t, expr, arr, Options{}))
		f := must(Compile(expr, arr.DataType(), Options{Mem: r}))
		seen, again := map[*byte]bool{}, 0
		for range 4 {
			one, two := must(f.Call(ctx, arr)), must(f.Call(ctx, arr))
			a, b := &one.Data().Buffers()[2].Buf()[0], &two.Data().Buffers()[2].Buf()[0]
			if a == b {
				t.Fatalf("%s: two live results in one place", expr)
			}
			if seen[a] && seen[b] {
				again++
			}
			seen[a], seen[b] = true, true
			sameCells(t, expr, logical(one), want)
			sameCells(t, expr, logical(two), want)
			one.Release()
			two.Release()
		}
		if again < 3 {
			t.Errorf("%s: memory was used again %d times of 3", expr, again)
		}
	}
}

// TestRecyclerFree: what is freed twice or by a stranger is never handed out
// twice.
func TestRecyclerFree(t *testing.T) {
	r := NewRecycler(1 << 20)
	a := r.Allocate(8192)
	r.Free(a)
	r.Free(a)
	if b, c := r.Allocate(8192), r.Allocate(8192); &b[0] == &c[0] || &a[0] != &b[0] && &a[0] != &c[0] {
		t.Error("freed twice, given out twice")
	}
	for name, b := range map[string][]byte{
		"nil": nil, "short": make([]byte, 100), "odd": make([]byte, 8193), "misaligned": make([]byte, 8192+1)[1:], "too long": alignedBytes(2 << 20),
	} {
		if r.Free(b); r.kept != 0 || len(r.free) != 0 {
			t.Errorf("%s: kept", name)
		}
	}
}

// TestRecyclerBound: the oldest blocks go when the limit is reached, by bytes
// and by number.
func TestRecyclerBound(t *testing.T) {
	r := NewRecycler(100 << 10)
	blocks := make([][]byte, 20)
	for i := range blocks {
		blocks[i] = r.Allocate(16 << 10)
	}
	for _, b := range blocks {
		if r.Free(b); r.kept > 100<<10 {
			t.Fatalf("%d bytes are kept", r.kept)
		}
	}
	if r.kept != 96<<10 || len(r.free) != 6 || &r.free[0][0] != &blocks[14][0] {
		t.Errorf("%d bytes in %d blocks", r.kept, len(r.free))
	}
	r = NewRecycler(1 << 30)
	blocks = make([][]byte, recycledBlocks+10)
	for i := range blocks {
		blocks[i] = r.Allocate(4096)
	}
	for _, b := range blocks {
		r.Free(b)
	}
	if len(r.free) != recycledBlocks || r.kept != 4096*recycledBlocks || &r.free[0][0] != &blocks[10][0] {
		t.Errorf("%d blocks, %d bytes", len(r.free), r.kept)
	}
	none := NewRecycler(0)
	if none.Free(none.Allocate(8192)); none.kept != 0 {
		t.Error("a limit of 0 keeps memory")
	}
}

// TestRecyclerCollected: memory that is never released is the collector's.
func TestRecyclerCollected(t *testing.T) {
	r := &Recycler{}
	gone := make(chan struct{})
	func() {
		b := r.Allocate(1 << 20)
		runtime.AddCleanup(&b[0], func(c chan struct{}) { close(c) }, gone)
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(r)
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("memory without a reference is held")
}

// TestRecyclerReallocate: what grows keeps its bytes and is zero beyond them,
// as arrow's builders expect; the memory it leaves is used again.
func TestRecyclerReallocate(t *testing.T) {
	r := NewRecycler(1 << 20)
	r.Free(r.Reallocate(20000, bytes.Repeat([]byte{1}, 20000)))
	sevens := bytes.Repeat([]byte{7}, 1<<16)
	b := r.Allocate(5000)
	copy(b, sevens)
	for _, size := range []int{3000, 5120, 20000, 100, 18000} {
		keep := min(size, len(b))
		b = r.Reallocate(size, b)
		if len(b) != size || !bytes.Equal(b[:keep], sevens[:keep]) || bytes.ContainsFunc(b[keep:], func(c rune) bool { return c != 0 }) {
			t.Fatalf("%d bytes: wrong", size)
		}
		copy(b, sevens)
	}
	if r.kept != 5120 {
		t.Errorf("%d bytes are free, not the block that was left", r.kept)
	}
}

// TestRecyclerWithArrow: builders, which count on zeroed memory, over blocks
// that were full.
func TestRecyclerWithArrow(t *testing.T) {
	r := &Recycler{}
	for range 3 {
		full := [][]byte{}
		for size := 4096; size <= 1<<18; size *= 2 {
			b := r.Allocate(size)
			for i := range b {
				b[i] = 0xff
			}
			full = append(full, b)
		}
		for _, b := range full {
			r.Free(b)
		}
		cells := make([]any, 70000)
		for i := range cells {
			if i%3 != 0 {
				cells[i] = fmt.Sprint(i)
			}
		}
		mem := memory.NewCheckedAllocator(r)
		arr := build(mem, arrow.BinaryTypes.String, cells)
		sameCells(t, "a builder", logical(arr), cells)
		arr.Release()
		mem.AssertSize(t, 0)
	}
}

// TestRecyclerConcurrent: goroutines that share one each see their own result,
// intact until they release it.
func TestRecyclerConcurrent(t *testing.T) {
	r := NewRecycler(1 << 20)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			arr := column(600+300*g, uint64(g))
			defer arr.Release()
			f, err := Compile("sha256({col})", arr.DataType(), Options{Mem: r, Threads: 1 + g%2})
			if err != nil {
				t.Error(err)
				return
			}
			plain, err := Eval(ctx, "sha256({col})", arr, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer plain.Release()
			for range 30 {
				out, err := f.Call(ctx, arr)
				if err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
				if !array.Equal(out, plain) {
					t.Errorf("goroutine %d: another result", g)
				}
				out.Release()
			}
		})
	}
	wg.Wait()
}

// TestRecyclerHidesBlocks: a marker that fills every released block shows up in
// no result, capacity included.
func TestRecyclerHidesBlocks(t *testing.T) {
	for name, arr := range variants(t, arrow.BinaryTypes.String, slices.Repeat(sample, 1+9000/len(sample))) {
		for _, expr := range []string{"sha256({col})", "mask({col})", "mask_null({col})", "mask_first_n({col}, 100)"} {
			r := &Recycler{}
			var full [][]byte
			for size := leastRecycled; size <= 1<<16; size *= 2 {
				full = append(full, r.Allocate(size))
			}
			for _, b := range full {
				for i := range b {
					b[i] = marker[i%len(marker)]
				}
				r.Free(b)
			}
			out := released(t, must(Eval(ctx, expr, arr, Options{Mem: r})))
			for _, b := range buffersOf(out.Data()) {
				if bytes.Contains(b[:cap(b)], []byte("MARKER")) {
					t.Fatalf("%s, %s: the marker is in the output", expr, name)
				}
			}
		}
	}
}

// BenchmarkRecycler is a batch of digests in fresh memory and in memory that is
// used again.
func BenchmarkRecycler(b *testing.B) {
	arr := column(65536, 1)
	defer arr.Release()
	for _, c := range []struct {
		name string
		mem  memory.Allocator
	}{{"fresh", nil}, {"recycled", &Recycler{}}} {
		b.Run("mem="+c.name, func(b *testing.B) {
			f := must(Compile("sha256({col})", arr.DataType(), Options{Mem: c.mem}))
			b.ReportAllocs()
			for b.Loop() {
				must(f.Call(ctx, arr)).Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/65536, "ns/row")
		})
	}
}
