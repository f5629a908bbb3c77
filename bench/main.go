// Command bench measures arrowmask beside what a user would otherwise pick, on
// one machine and in one run.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/bench/digest"
	"github.com/arrowmask/arrowmask/bench/engines"
	"github.com/arrowmask/arrowmask/bench/impala"
	"github.com/arrowmask/arrowmask/bench/limit"
	"github.com/arrowmask/arrowmask/bench/overhead"
	"github.com/arrowmask/arrowmask/bench/pipeline"
	"github.com/arrowmask/arrowmask/bench/report"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/suite"
)

// suites are run by `all` in this order.
var suites = []suite.Suite{
	{Name: "digest", Short: "Every digest beside loops over the rows", Quick: true, Relay: true, Run: digest.Run},
	{Name: "limit", Short: "The bare block functions, and where the time of a row goes", Quick: true, Relay: true, Run: limit.Run},
	{Name: "impala", Short: "Impala's row functions before and after their fix, in C++", Relay: true, Run: impala.Run},
	overhead.Suite,
	{Name: "engines", Short: "The digests of other engines, in their memory", Run: engines.Run},
	{Name: "pipeline", Short: "arrowmask mask on a Parquet file beside DuckDB", Run: pipeline.Run},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var (
		out string
		opt suite.Options
	)
	root := &cobra.Command{
		Use:           "bench",
		Short:         "Measure arrowmask beside its rivals",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	measure := func(cmd *cobra.Command, suites []suite.Suite) (err error) {
		if opt.Bench, err = benchDir(); err != nil {
			return err
		}
		opt.Root = filepath.Dir(opt.Bench)
		if out == "" {
			out = filepath.Join(opt.Bench, "out")
			if opt.Quick {
				out = filepath.Join(out, "quick") // beside a full run's records, not over them
			}
		}
		if opt.Out, err = result.NewWriter(out, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
			return err
		}
		start := time.Now()
		err = run(cmd.Context(), opt, suites)
		return errors.Join(err, sumUp(cmd.ErrOrStderr(), out, time.Since(start)))
	}
	root.PersistentFlags().StringVar(&out, "out", "", "`folder` of the records (default bench/out, or bench/out/quick)")
	root.PersistentFlags().IntVar(&opt.Rounds, "rounds", 0, "interleaved rounds of a cell at least (default: the suite's)")
	for _, s := range suites {
		cmd := &cobra.Command{
			Use: s.Name, Short: s.Short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return measure(cmd, []suite.Suite{s})
			},
		}
		if s.Quick {
			cmd.Flags().BoolVar(&opt.Quick, "quick", false, "only the cells that matter most")
		}
		root.AddCommand(cmd)
	}
	root.AddCommand(
		compareCommand(),
		&cobra.Command{
			Use: "report", Short: "Draw the records: bench/report/index.html, and the tables of README.md and doc/performance.md", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				dir, err := benchDir()
				if err != nil {
					return err
				}
				return report.Write(cmp.Or(out, filepath.Join(dir, "out")), filepath.Dir(dir))
			},
		},
		&cobra.Command{
			Use: "all", Short: "Run every suite", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return measure(cmd, suites) },
		},
		&cobra.Command{
			Use: "quick", Short: "Run the cells that matter most, in under a minute and without the network", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				opt.Quick = true
				var quick []suite.Suite
				for _, s := range suites {
					if s.Quick {
						quick = append(quick, s)
					}
				}
				return measure(cmd, quick)
			},
		},
	)
	return root
}

// run runs suites: those that may by turns, a round each, the others one after the
// other. One that fails does not keep the others from being measured.
func run(ctx context.Context, opt suite.Options, suites []suite.Suite) error {
	machine := result.NewMachine(opt.Root)
	var together []suite.Suite
	errs := make([]error, 0, len(suites))
	for _, s := range suites {
		if s.Relay {
			together = append(together, s)
		}
	}
	errs = append(errs, relay(ctx, opt, machine, together))
	for _, s := range suites {
		if !s.Relay && ctx.Err() == nil {
			errs = append(errs, runOne(ctx, opt, machine, s, new(time.Duration)))
		}
	}
	return errors.Join(errs...)
}

// relay runs suites by turns.
func relay(ctx context.Context, opt suite.Options, machine result.Machine, suites []suite.Suite) error {
	if len(suites) == 0 {
		return nil
	}
	turns := suite.NewRelay(len(suites))
	errs := make([]error, len(suites))
	var done sync.WaitGroup
	for i, s := range suites {
		done.Go(func() {
			turns.Begin(i)
			defer turns.End(i)
			opt, waited := opt, time.Duration(0)
			opt.Yield = func() {
				start := time.Now()
				turns.Yield(i)
				waited += time.Since(start)
			}
			errs[i] = runOne(ctx, opt, machine, s, &waited)
		})
	}
	done.Wait()
	return errors.Join(errs...)
}

// runOne runs a suite and writes down how long that took, less what it waited.
func runOne(ctx context.Context, opt suite.Options, machine result.Machine, s suite.Suite, waited *time.Duration) error {
	if err := opt.Out.Begin(s.Name); err != nil {
		return err
	}
	start := time.Now()
	if err := s.Run(ctx, opt); err != nil {
		fmt.Fprintf(os.Stderr, "failed suite=%s\n", s.Name)
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return opt.Out.Ran(machine, s.Name, result.Ran{
		Date: start.UTC().Truncate(time.Second), Seconds: (time.Since(start) - *waited).Round(time.Second / 10).Seconds(),
		Command: strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " "),
	})
}

// sumUp says what took how long and, once more, what was left out.
func sumUp(w io.Writer, dir string, took time.Duration) error {
	skipped, err := result.ReadSkipped(dir)
	if err != nil {
		return err
	}
	for _, line := range skipped {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "records=%s left_out=%d seconds=%.0f\n", dir, len(skipped), took.Seconds())
	return err
}

// errDiffer makes compare's exit status 1, as diff's is.
var errDiffer = errors.New("the runs differ")

func compareCommand() *cobra.Command {
	limit := 0.15
	cmd := &cobra.Command{
		Use:   "compare FOLDER FOLDER",
		Short: "Print every ratio in which two runs differ",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, folders []string) error {
			a, err := result.Read(folders[0])
			if err != nil {
				return err
			}
			b, err := result.Read(folders[1])
			if err != nil {
				return err
			}
			c := result.Compare(a, b, limit)
			if err := c.Print(cmd.OutOrStdout()); err != nil {
				return err
			}
			if len(c.Differences) > 0 {
				return errDiffer
			}
			return nil
		},
	}
	cmd.Flags().Float64Var(&limit, "limit", limit, "how much larger one ratio may be than the other")
	return cmd
}

// benchDir is the folder of this module, found from the working folder upwards.
func benchDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		for _, d := range []string{dir, filepath.Join(dir, "bench")} {
			if _, err := os.Stat(filepath.Join(d, "suite", "suite.go")); err == nil {
				return d, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("run it inside the repository: bench/ was not found")
		}
	}
}
