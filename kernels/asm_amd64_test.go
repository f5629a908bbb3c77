//go:build !purego

package kernels

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/internal/asmtest"
	"github.com/arrowmask/arrowmask/internal/cpu"
)

// funcName is the name of a function without its package.
func funcName(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}

// TestB01Disassembly: the machine code of every backend uses the extensions
// that the backend says it needs, no more, and needs no more than it uses.
func TestB01Disassembly(t *testing.T) {
	if testing.Short() {
		t.Skip("links and disassembles a test binary; not with -short")
	}
	used := asmtest.Extensions(t)
	seen := map[string]bool{}
	for _, alg := range Algs() {
		for _, b := range assembly(alg) {
			k := b.kernel
			var all cpu.Set
			for _, f := range []any{k.run, k.pack1, k.pack2, k.gather32} {
				name := funcName(f)
				need, ok := used[name]
				if !ok {
					t.Fatalf("%s of %s: no machine code of %s", b.Name, alg, name)
				}
				if missing := b.Needs.Missing(need); missing != 0 {
					t.Errorf("%s of %s: %s uses %s, which the backend does not list", b.Name, alg, name, missing)
				}
				all |= need
				seen[name] = true
			}
			if idle := all.Missing(b.Needs); idle != 0 {
				t.Errorf("%s of %s lists %s, which none of its functions uses", b.Name, alg, idle)
			}
		}
	}
	for name := range used {
		if !seen[name] {
			t.Errorf("%s belongs to no backend", name)
		}
	}
}

// TestB06ReservedRegisters: no assembly touches a register of the runtime's.
func TestB06ReservedRegisters(t *testing.T) { asmtest.ReservedRegisters(t, "*_amd64.s") }

// TestB06ProfileAndCollect interrupts every tier by a CPU profile at 1 kHz, an
// execution trace, stack dumps and garbage collections: for a moment each with
// a few goroutines, or as long as ARROWMASK_STRESS says with sixteen and rows of
// a mebibyte.
func TestB06ProfileAndCollect(t *testing.T) {
	span, goroutines, length := 10*time.Millisecond, 3, 4<<10
	if s := os.Getenv("ARROWMASK_STRESS"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal("ARROWMASK_STRESS:", err)
		}
		span, goroutines, length = d, 16, 1<<20
	}
	runtime.SetCPUProfileRate(1000)
	defer runtime.SetCPUProfileRate(0)
	// The rate stands; the library says on standard error that it could not
	// set its own.
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip("a profile is being taken already: ", err)
	}
	defer pprof.StopCPUProfile()
	if err := trace.Start(io.Discard); err == nil {
		defer trace.Stop()
	}
	onLanes(t, func(t *testing.T, k *laneKernel) {
		data := bytes.Repeat([]byte("interrupted at any instruction, "), length)
		long, short := FixedWidth(data, length, 32), FixedWidth(data, 32, 512)
		wantLong, wantShort := make([]byte, 32*k.alg.Size()), make([]byte, 512*k.alg.Size())
		oneShots(wantLong, k.alg, &long, 0, 32)
		oneShots(wantShort, k.alg, &short, 0, 512)
		var stop, wrong atomic.Bool
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				got := make([]byte, 512*k.alg.Size())
				for !stop.Load() {
					k.sum(got, &short, 0, 512, nil)
					if !bytes.Equal(got, wantShort) {
						wrong.Store(true)
					}
					k.sum(got, &long, 0, 32, nil)
					if !bytes.Equal(got[:len(wantLong)], wantLong) {
						wrong.Store(true)
					}
				}
			})
		}
		buf := make([]byte, 1<<16)
		for end := time.Now().Add(span); time.Now().Before(end); {
			runtime.Stack(buf, true)
			runtime.GC()
		}
		stop.Store(true)
		wg.Wait()
		if wrong.Load() {
			t.Error("wrong digests")
		}
	})
}
