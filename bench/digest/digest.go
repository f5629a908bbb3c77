// Package digest times the digest of a column through the public API beside
// loops over its rows.
package digest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/arrowmask/arrowmask/bench/column"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/bench/suite"
	"github.com/arrowmask/arrowmask/kernels"
)

const name = "digest"

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
	patience := &rounds.Patience{Rounds: 15, Left: time.Minute}
	if o.Quick {
		patience.Left = 4 * time.Second
	}
	var col rows
	for _, c := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		col.prepare(c, o.Quick)
		if err := c.run(ctx, o, &col, patience); err != nil {
			return fmt.Errorf("%v: %w", c.keys(), err)
		}
	}
	return nil
}

// rows are the batches of one cell; those of the same length share them.
type rows struct {
	length, batch int
	batches       []*column.Batch
}

func (r *rows) prepare(c cell, quick bool) {
	if len(r.batches) > 0 && r.length == c.length {
		return
	}
	n, batch := c.size(quick)
	*r = rows{length: c.length, batch: batch}
	for i := range n / batch {
		r.batches = append(r.batches, column.New(batch, uint64(i), c.rowLength))
	}
}

// run times one cell and writes its records.
func (c cell) run(ctx context.Context, o suite.Options, col *rows, patience *rounds.Patience) error {
	ways, err := c.ways(ctx, col.batch)
	if err != nil {
		return err
	}
	if err := compare(ways, col.batches); err != nil {
		return err
	}
	sides := make([]rounds.Side, len(ways))
	for i, w := range ways {
		if sides[i], err = w.side(col.batches); err != nil {
			return err
		}
	}
	timings, err := rounds.RunSteady(cmp.Or(o.Rounds, 5), len(col.batches), sides, patience)
	if err != nil {
		return err
	}
	// Fresh memory and the kernels alone are no rivals: they tell what the layers
	// above cost.
	last := len(timings) - 2
	n := float64(len(col.batches) * col.batch)
	fresh, kernel := float64(timings[last].Median)/n, float64(timings[last+1].Median)/n
	extra := map[string]float64{"rows": n, "batch": float64(col.batch)}
	records, err := rounds.Records(name, c.keys(), "ns/row", n, timings[:last], extra)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r.Side == result.Ours {
			r.Extra["fresh"], r.Extra["kernels"] = fresh, kernel
		}
		if err := o.Out.Write(r); err != nil {
			return err
		}
	}
	return nil
}
