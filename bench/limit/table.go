package limit

import (
	"slices"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/kernels"
)

// table is what a cell's probes took in each round, in ns a unit.
type table struct {
	alg     kernels.Alg
	backend string
	n       int
	blocks  float64 // of a row
	ns      map[string][]float64
}

// stages are the parts of a row's time in the order in which it passes them,
// and then what they come to: all is a chunk in the cache, column a batch in
// memory, recycled the same with Arrow around it, call that with fresh memory for
// the result.
var stages = []string{"gather", "pack", compress, "hex", buffers, "all", whole, recycled, call}

// buffers is what a call takes longer than the kernels.
const buffers = "buffers"

// records are the bare block function, beside the standard library's on one
// long message, and the stages. Every figure is also in cycles; those of whole
// rows also in multiples of the bare block function.
func (t table) records() []result.Record {
	block := combine(t.ns[compress], t.ns[compress], func(ns, _ float64) float64 { return ns / t.blocks })
	kernel := t.record(result.Keys("part", "kernel", "alg", t.alg, "backend", t.backend, "blocks", t.blocks), "ns/block", block)
	kernel.Extra["ghz"] = 1 / rounds.Median(t.ns[clock])
	records := []result.Record{kernel}
	if t.blocks == 1 {
		std := t.record(kernel.Case, "ns/block", t.ns[stream])
		std.Side = "go-std"
		std.Ratio = rounds.Median(combine(t.ns[stream], block, quotient))
		std.Extra["ratio_min"] = std.Min / kernel.Min
		records = append(records, std)
	}
	t.ns[buffers] = combine(t.ns[call], t.ns[whole], func(a, b float64) float64 { return a - b })
	for _, stage := range stages {
		r := t.record(result.Keys("part", "stages", "alg", t.alg, "backend", t.backend, "len", t.n, "stage", stage), "ns/row", t.ns[stage])
		switch stage {
		case buffers:
			r.Min = slices.Min(t.ns[call]) - slices.Min(t.ns[whole])
		case "all", whole, recycled, call:
			r.Extra["over_kernel"] = rounds.Median(combine(t.ns[stage], t.ns[compress], quotient))
		}
		records = append(records, r)
	}
	return records
}

// record is one series, with its cycles by the clock measured next to it.
func (t table) record(key []result.Key, unit string, ns []float64) result.Record {
	return result.Record{
		Suite: name, Case: key, Side: result.Ours, Unit: unit,
		Min: slices.Min(ns), Median: rounds.Median(ns), Rounds: len(ns),
		Extra: map[string]float64{"cycles": rounds.Median(combine(ns, t.ns[clock], quotient))},
	}
}

// combine makes one series of two, round by round.
func combine(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

func quotient(a, b float64) float64 { return a / b }
