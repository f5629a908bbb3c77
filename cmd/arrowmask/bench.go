package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// mixedLengths is how kernelbench.Mixed is written on the command line.
const mixedLengths = "mixed"

func benchCommand() *cobra.Command {
	var (
		c       kernelbench.Config
		algs    []string
		lengths []string
		raw     bool
		all     bool
		grid    bool
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time the digest backends on this machine against the standard library",
		Long: `Time the active backend of each digest against a loop over the rows with Go's
standard library and encoding/hex. Both take turns in one process; every figure
is a median: ns_row is the time of a row, of all threads together, ratio is how
many times faster the backend is. ratio_min is the same of the smallest times,
which says more on a busy machine. Without flags it takes under a minute.

With several --threads, all numbers of threads take turns too; scaling is how
many times the rows of one thread they do.

--grid is from one row to 65536 and from empty rows to 1 MiB, as text and as
bytes, 0.95 being the least ratio that no batch may fall below: the cells that
do, and still do when timed again for longer, are listed at the end. Rows whose
batch would take more than 64 MiB repeat; distinct says how many do not.

--stages adds where the time goes: gather, pack, compress and hex on their own,
all of them as one call, and all/compress, how much longer that takes than the
bare block function.

FIPS mode does not change what is timed.`,
		Example: `  arrowmask bench
  arrowmask bench --alg sha256 --len 16,32,mixed --rows 65536 --threads 1,2
  arrowmask bench --alg md5 --backend avx2 --stages
  arrowmask bench --grid --alg md5,sha1`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			set := cmd.Flags().Changed
			switch {
			case all && grid:
				return usagef("--all and --grid are two sets of cells")
			case all && set("alg"), (all || grid) && (set("len") || set("rows")), grid && set("threads"):
				return usagef("--all has its own --alg, --len and --rows, --grid its own --len, --rows and --threads")
			case all:
				c = kernelbench.All().With(c)
			case grid:
				c = kernelbench.Grid().With(c)
			}
			if raw {
				c.Outputs = []kernelbench.Output{kernelbench.Raw}
			}
			for _, name := range algs {
				alg, err := kernels.ParseAlg(strings.ToLower(name))
				if err != nil {
					return usageError{err}
				}
				c.Algs = append(c.Algs, alg)
			}
			for _, s := range lengths {
				if s == mixedLengths {
					c.Lengths = append(c.Lengths, kernelbench.Mixed)
					continue
				}
				n, err := strconv.Atoi(s)
				if err != nil || n < 0 {
					return usagef("--len %q: want a number of bytes or %q", s, mixedLengths)
				}
				c.Lengths = append(c.Lengths, n)
			}
			for _, list := range [][]int{c.Rows, c.Threads} {
				for _, n := range list {
					if n < 1 {
						return usagef("--rows and --threads: want 1 or more, got %d", n)
					}
				}
			}
			if set("rounds") && c.Rounds < 1 || set("sample") && c.Sample <= 0 {
				return usagef("--rounds and --sample: want more than 0")
			}
			return kernelbench.Run(cmd.OutOrStdout(), c)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&algs, "alg", nil, "`digests` to time (default sha256, md5, sha1, sha512)")
	f.StringVar(&c.Backend, "backend", "", "time this `backend` instead of the active one")
	f.StringSliceVar(&lengths, "len", nil, "row `lengths` in bytes, or mixed for 10 to 40 (default 32, mixed, 56, 119, 256)")
	f.IntSliceVar(&c.Rows, "rows", nil, "rows of a batch (default 65536)")
	f.IntSliceVar(&c.Threads, "threads", nil, "threads that work at once (default 1)")
	f.BoolVar(&raw, "raw", false, "leave the digests as bytes instead of hex text")
	f.BoolVar(&c.Stages, "stages", false, "also show where the time goes")
	f.IntVar(&c.Rounds, "rounds", 0, "rounds of which the median is taken (default 151; with --grid 61)")
	f.DurationVar(&c.Sample, "sample", 0, "how long the row loop runs in a round (default 4ms; with --grid 1ms)")
	f.BoolVar(&grid, "grid", false, "the cells in which no batch may be slower than the row loop")
	f.BoolVar(&all, "all", false, "every digest, length and batch size; takes long")
	return cmd
}
