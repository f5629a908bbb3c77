//go:build linux

package mask

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
)

func TestCPURatio(t *testing.T) {
	runtime.LockOSThread()
	cpu := func() float64 {
		var ru syscall.Rusage
		syscall.Getrusage(1, &ru)
		return float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e6
	}
	_ = os.Args
	debug.SetGCPercent(400)
	for _, kind := range []string{"ascii", "latin1", "cjk"} {
		in := benchText(1<<20, kind)
		loop := &rowLoop{text: string(in.Data)}
		dst := make([]byte, len(in.Data))
		for _, fn := range []string{"mask", "mask_show_last_n", "mask_show_first_n", "mask_first_n", "mask_last_n"} {
			p, pool := compile(t, fn+"({col})", in.Type), &keptAlloc{}
			var a, b, c []float64
			for range 9 {
				s := cpu()
				for range 3 { copy(dst, in.Data) }
				b = append(b, (cpu()-s)/3)
				s = cpu()
				for range 3 {
				out, _ := p.Eval(context.Background(), in, EvalOptions{Alloc: pool})
				pool.Free(out.Data)
				}
				a = append(a, (cpu()-s)/3)
			}
			for range 3 {
				s := cpu()
				loop.run(fn, in)
				c = append(c, cpu()-s)
			}
			fmt.Printf("%-8s %-18s column %.2f copy %.2f loop %.2f  of-copy %.2f times %.1f  (min %.2f / %.2f)\n", kind, fn, median(a), median(b), median(c), median(b)/median(a), median(c)/median(a), a[0], b[0])
		}
	}
}
