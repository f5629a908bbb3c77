package main

import (
	"strconv"
	"strings"
	"time"

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
		all     bool
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time the digest backends on this machine against the standard library",
		Long: `Time the active backend of each digest against a loop over the rows with Go's
standard library and encoding/hex. Both take turns in one process; every figure
is a median, ns_row is wall time by row, ratio is how many times faster the
backend is. Without flags it takes under a minute.

FIPS mode does not change what is timed.`,
		Example: `  arrowmask bench
  arrowmask bench --alg sha256 --len 16,32,mixed --rows 65536 --threads 1,2
  arrowmask bench --alg md5 --backend avx2 --stages`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			if all {
				if algs != nil || lengths != nil || c.Rows != nil || c.Threads != nil {
					return usagef("--all has its own --alg, --len, --rows and --threads")
				}
				full := kernelbench.All()
				full.Backend, full.Raw, full.Stages, full.Rounds, full.Sample = c.Backend, c.Raw, c.Stages, c.Rounds, c.Sample
				c = full
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
			if c.Rounds < 1 || c.Sample <= 0 {
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
	f.BoolVar(&c.Raw, "raw", false, "leave the digests as bytes instead of hex text")
	f.BoolVar(&c.Stages, "stages", false, "also show where the time goes")
	f.IntVar(&c.Rounds, "rounds", 5, "rounds of which the median is taken")
	f.DurationVar(&c.Sample, "sample", 20*time.Millisecond, "how long one side runs in a round")
	f.BoolVar(&all, "all", false, "every digest, length and batch size; takes long")
	return cmd
}
