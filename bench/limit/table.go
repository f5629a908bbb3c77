package limit

import (
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/kernels"
)

// table is what a cell's probes took, by name.
type table struct {
	alg     kernels.Alg
	backend string
	n       int
	blocks  float64 // of a row
	took    map[string]rounds.Timing
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
	row := t.took[compress]
	block := series(row, row, func(ns, _ float64) float64 { return ns / t.blocks })
	kernel := t.record(result.Keys("part", "kernel", "alg", t.alg, "backend", t.backend, "blocks", t.blocks), "ns/block", block)
	kernel.Extra["ghz"] = 1 / t.took[clock].Min
	records := []result.Record{kernel}
	if t.blocks == 1 {
		std := t.record(kernel.Case, "ns/block", t.took[stream])
		std.Side = "go-std"
		ratio := series(t.took[stream], block, rounds.Quotient)
		std.Ratio, std.Extra["ratio_median"] = ratio.Min, ratio.Median
		records = append(records, std)
	}
	t.took[buffers] = series(t.took[call], t.took[whole], func(a, b float64) float64 { return a - b })
	for _, stage := range stages {
		r := t.record(result.Keys("part", "stages", "alg", t.alg, "backend", t.backend, "len", t.n, "stage", stage), "ns/row", t.took[stage])
		switch stage {
		case "all", whole, recycled, call:
			r.Extra["over_kernel"] = t.took[stage].Min / row.Min
		}
		records = append(records, r)
	}
	return records
}

// record is one series, with its cycles by the clock measured next to it.
func (t table) record(key []result.Key, unit string, took rounds.Timing) result.Record {
	return result.Record{
		Suite: name, Case: key, Side: result.Ours, Unit: unit,
		Min: took.Min, Median: took.Median, Rounds: len(took.Rounds),
		Extra: map[string]float64{"cycles": took.Min / t.took[clock].Min},
	}
}

// series makes one series of two: round by round, and of the smallest times.
func series(a, b rounds.Timing, f func(a, b float64) float64) rounds.Timing {
	each := rounds.Combine(a.Rounds, b.Rounds, f)
	return rounds.Timing{Rounds: each, Min: f(a.Min, b.Min), Median: rounds.Median(each)}
}
