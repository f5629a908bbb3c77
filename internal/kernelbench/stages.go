package kernelbench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// Stages are the steps that a backend takes with a chunk of up to rows equal
// rows of n bytes, each on its own, from the gathering of addresses to "hex",
// and last "all", which is all of them as one call with hex text as output.
// None for backends and rows that have no steps; rows is how many rows one call
// of every step works on.
func Stages(b *kernels.Backend, n, rows int) ([]kernels.Stage, int) {
	s := newSide(b, n, min(rows, chunk), false, 0)
	steps, rows := b.Stages(&s.col)
	if len(steps) == 0 {
		return nil, 0
	}
	digests := make([]byte, rows*b.Alg.Size())
	return append(steps,
		kernels.Stage{Name: "hex", Run: func() { hexenc.Lower(s.out, digests) }},
		kernels.Stage{Name: "all", Run: func() { s.ours(0, rows) }}), rows
}

// stages is the line that says where the time of a chunk goes: each step on
// its own, then all of them as one call, and how much longer that takes than
// the bare block function, by medians and by the smallest times. The steps take
// turns. Empty for backends and rows that have no steps.
func stages(b *kernels.Backend, n, rows, rounds int, sample time.Duration) string {
	steps, rows := Stages(b, n, rows)
	if len(steps) == 0 {
		return ""
	}
	times := make([][]float64, len(steps)) // ns by row
	for range rounds {
		for i, step := range steps {
			n := 0
			start := time.Now()
			for time.Since(start) < sample || n == 0 {
				step.Run()
				n++
			}
			times[i] = append(times[i], float64(time.Since(start))/float64(n*rows))
		}
	}
	var line strings.Builder
	fmt.Fprintf(&line, "stages alg=%s len=%d backend=%s", b.Alg, n, b.Name)
	all := times[len(times)-1]
	var compress []float64
	for i, step := range steps {
		if step.Name == "compress" {
			compress = times[i]
		}
		fmt.Fprintf(&line, " %s=%.2f", step.Name, median(times[i]))
	}
	fmt.Fprintf(&line, " all/compress=%.2f min=%.2f", medianOf(all, compress), slices.Min(all)/slices.Min(compress))
	return line.String()
}
