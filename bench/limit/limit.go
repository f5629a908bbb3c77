// Package limit measures how far the digest of a column is from what the
// processor can do: the bare block functions on data in the first-level cache,
// and where the time of a row goes around them.
package limit

import (
	"context"
	"crypto"
	"fmt"
	"time"

	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/column"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rounds"
	"github.com/arrowmask/arrowmask/bench/suite"
	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

const name = "limit"

const (
	// passes are the turns of a side in a round, of so long each at least.
	passes = 8
	turn   = 2 * time.Millisecond
	// patience is how much longer than planned it may measure.
	patience = 10 * time.Second
	// batchRows is how many rows a call of the API gets.
	batchRows = 1 << 16
	// streamBlocks is how many blocks the standard library's long message has.
	streamBlocks = 256
)

// digests are what is measured, and the standard library's name of each.
var digests = []struct {
	alg kernels.Alg
	std crypto.Hash
}{
	{kernels.SHA256, crypto.SHA256},
	{kernels.MD5, crypto.MD5},
	{kernels.SHA1, crypto.SHA1},
	{kernels.SHA512, crypto.SHA512},
}

// Run measures the active backend of each digest, with rows of one block and of
// two.
func Run(ctx context.Context, o suite.Options) error {
	var race []*rounds.Cell
	var tables []table
	for _, d := range digests {
		b, err := kernels.Active(d.alg)
		if err != nil {
			return err
		}
		size := d.alg.BlockSize()
		for blocks, n := range []int{1: 32, 2: size - size/8} {
			if blocks == 0 || blocks == 2 && o.Quick {
				continue
			}
			probes, err := all(ctx, b, d.std, n)
			if err != nil {
				return fmt.Errorf("%s len=%d: %w", d.alg, n, err)
			}
			if probes == nil {
				why := fmt.Sprintf("%s: backend %s takes row after row and has no block function of its own", b.Alg, b.Name)
				if err := o.Out.Skip(name, result.Ours, why); err != nil {
					return err
				}
				continue
			}
			race = append(race, &rounds.Cell{
				Match: rounds.Match{Least: turn, Passes: passes},
				Key:   result.Keys("alg", b.Alg, "len", n),
				Sides: func() ([]rounds.Side, error) { return probes, nil },
			})
			tables = append(tables, table{alg: b.Alg, backend: b.Name, n: n, blocks: float64(blocks)})
		}
	}
	return o.Race(ctx, name, 5, patience, race, func(i int, timings []rounds.Timing) []result.Record {
		t := tables[i]
		t.took = map[string]rounds.Timing{}
		for _, timing := range timings {
			t.took[timing.Name] = timing
		}
		return t.records()
	})
}

// probe is a side that does units of one thing in a run: rows, blocks or cycles.
func probe(name string, units float64, run func() error) rounds.Side {
	return rounds.Side{Name: name, Units: units, Run: rounds.Clocked(run)}
}

// The probes that are no steps of the backend. The steps are the backend's, and
// "compress" is the bare block function.
const (
	clock    = "clock"    // dependent additions: what a cycle takes
	stream   = "stream"   // a block of a long message by the standard library
	whole    = "column"   // a row by the kernels, over a batch and in memory that is there
	call     = "call"     // a row by the public API, over the same batch
	recycled = "recycled" // call with results in memory that is used again
	compress = "compress" // a row's blocks
)

// all are the probes for rows of n bytes; none for a backend without steps.
func all(ctx context.Context, b *kernels.Backend, std crypto.Hash, n int) ([]rounds.Side, error) {
	steps, rows := kernelbench.Stages(b, n, cacheRows(b.Alg))
	if rows == 0 {
		return nil, nil
	}
	const repeat = 64 // a step may take less than a reading of the clock
	var probes []rounds.Side
	for _, s := range steps {
		probes = append(probes, probe(s.Name, float64(rows*repeat), func() error {
			for range repeat {
				s.Run()
			}
			return nil
		}))
	}
	var x uint64
	const times = 1000
	h, message := std.New(), make([]byte, streamBlocks*b.Alg.BlockSize())
	digest := column.Digest{Alg: b.Alg, Threads: 1}
	batch := column.New(batchRows, 0, column.Equal(n))
	api, err := digest.API(ctx, nil)
	if err != nil {
		return nil, err
	}
	again, err := digest.API(ctx, &arrowudf.Recycler{})
	if err != nil {
		return nil, err
	}
	bare, err := digest.Kernels(batchRows)
	if err != nil {
		return nil, err
	}
	over := func(way column.Way) func() error {
		return func() error {
			_, free, err := way(batch)
			if err != nil {
				return err
			}
			free()
			return nil
		}
	}
	return append(probes,
		probe(clock, times*chainSteps, func() error { x = chain(times, x, 3, 5); return nil }),
		probe(stream, streamBlocks, func() error { _, err := h.Write(message); return err }),
		probe(whole, batchRows, over(bare)),
		probe(call, batchRows, over(api)),
		probe(recycled, batchRows, over(again))), nil
}

// cacheRows is how many rows keep all that is touched of them well inside a
// first-level cache of 32 KiB, and fill the lanes of every backend: the padded
// block, the digest, its text and 16 bytes of address.
func cacheRows(alg kernels.Alg) int {
	const lanes = 48 // a multiple of all
	return 24 << 10 / (alg.BlockSize() + 3*alg.Size() + 16) / lanes * lanes
}
