// Package digest times the digest of a column through the public API beside
// loops over its rows.
package digest

import (
	"context"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/arrowmask/arrowmask/bench/column"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/bench/suite"
	"github.com/arrowmask/arrowmask/kernels"
)

const (
	name = "digest"
	// turn is how long a turn takes at least.
	turn = time.Millisecond
	// patience is how much longer than planned it may measure.
	patience = 12 * time.Second
)

// cell is what is timed at once: one digest of one column by all sides.
type cell struct {
	column.Digest
	length int // of every row in bytes, or email
}

// email stands for lengths as e-mail addresses have them.
const email = -1

var (
	algs    = []kernels.Alg{kernels.SHA256, kernels.MD5, kernels.SHA1, kernels.SHA512}
	lengths = []int{8, 16, 32, 55, 56, 64, 119, 256, 1024, email}
)

func newCell(alg kernels.Alg, raw bool, length, threads int) cell {
	return cell{column.Digest{Alg: alg, Raw: raw, Threads: threads}, length}
}

// cells are those of the full run: every digest, output, length and number of
// threads.
func cells() []cell {
	var all []cell
	for _, length := range lengths {
		for _, alg := range algs {
			for _, raw := range []bool{false, true} {
				for _, threads := range []int{1, 2} {
					all = append(all, newCell(alg, raw, length, threads))
				}
			}
		}
	}
	return all
}

// quickCells are those that matter most.
func quickCells() []cell {
	var some []cell
	for _, length := range []int{email, 32} {
		for _, alg := range algs {
			some = append(some, newCell(alg, false, length, 1))
		}
	}
	return append(some,
		newCell(kernels.SHA256, true, 32, 1),
		newCell(kernels.SHA256, false, 32, 2),
		newCell(kernels.SHA256, false, 256, 1))
}

func (c cell) keys() []result.Key {
	out, length := "hex", strconv.Itoa(c.length)
	if c.Raw {
		out = "raw"
	}
	if c.length == email {
		length = "email"
	}
	return result.Keys("alg", c.Alg, "out", out, "len", length, "threads", c.Threads)
}

// size is how many rows a cell has, in batches of how many: a million rows,
// fewer where they are long, so that no side of a round takes much more than a
// third of a second.
func (c cell) size(quick bool) (rows, batch int) {
	rows, batch = 1<<20, 1<<16
	switch {
	case c.length > 256:
		rows, batch = 1<<17, 1<<14
	case c.length > 119:
		rows, batch = 1<<18, 1<<14
	case c.length > 64:
		rows = 1 << 19
	}
	if quick {
		rows /= 4
	}
	return rows, batch
}

// rowLength draws the length of a row.
func (c cell) rowLength(rng *rand.Rand) int {
	if c.length != email {
		return c.length
	}
	// given.family123@example.com
	n := 3 + rng.IntN(7) + 1 + 4 + rng.IntN(7)
	if rng.IntN(10) < 7 {
		n += 1 + rng.IntN(3)
	}
	return n + [...]int{12, 12, 17}[rng.IntN(3)]
}

// Run times every cell: by arrowmask, as a caller of arrowudf has it, and by
// each rival, with all outputs compared first.
func Run(ctx context.Context, o suite.Options) error {
	todo := cells()
	if o.Quick {
		todo = quickCells()
	}
	columns := map[int]*rows{}
	for _, c := range todo {
		if columns[c.length] == nil {
			columns[c.length] = newRows(c, o.Quick)
		}
	}
	race := make([]*rounds.Cell, len(todo))
	for i, c := range todo {
		race[i] = c.race(ctx, columns[c.length])
	}
	return o.Race(ctx, name, 5, patience, race, func(i int, timings []rounds.Timing) []result.Record {
		return todo[i].records(timings, columns[todo[i].length])
	})
}

// rows are the batches of the cells of one length.
type rows struct {
	batch   int
	batches []*column.Batch
}

func newRows(c cell, quick bool) *rows {
	n, batch := c.size(quick)
	r := &rows{batch: batch}
	for i := range n / batch {
		r.batches = append(r.batches, column.New(batch, uint64(i), c.rowLength))
	}
	return r
}

// race is the cell with a turn for every batch. Its sides are made for each
// round and not kept over the rounds of the other cells: they hold memory.
func (c cell) race(ctx context.Context, r *rows) *rounds.Cell {
	compared := false
	return &rounds.Cell{
		Match: rounds.Match{Least: turn, Passes: len(r.batches)},
		Key:   c.keys(),
		Sides: func() ([]rounds.Side, error) {
			ways, err := c.ways(ctx, r.batch)
			if err != nil {
				return nil, err
			}
			warm := r.batches[:1]
			if !compared {
				compared, warm = true, r.batches
			}
			if err := compare(ways, warm); err != nil {
				return nil, err
			}
			sides := make([]rounds.Side, len(ways))
			for i, w := range ways {
				sides[i] = w.side(r.batches)
			}
			return sides, nil
		},
	}
}

// records are those of the sides that are rivals. What arrowmask took with fresh
// memory, and the kernels alone, tell what the layers above them cost.
func (c cell) records(timings []rounds.Timing, r *rows) []result.Record {
	var rivals []rounds.Timing
	layers := map[string]float64{}
	for _, t := range timings {
		if t.Name == fresh || t.Name == bare {
			layers[t.Name] = t.Min
		} else {
			rivals = append(rivals, t)
		}
	}
	extra := map[string]float64{"rows": float64(len(r.batches) * r.batch), "batch": float64(r.batch)}
	records := rounds.Records(name, c.keys(), "ns/row", rivals, extra)
	maps.Copy(records[0].Extra, layers)
	return records
}
