// Command bench measures arrowmask beside what a user would otherwise pick, on
// one machine and in one run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/bench/digest"
	"github.com/arrowmask/arrowmask/bench/limit"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/suite"
)

// suites are run by `all` in this order.
var suites = []suite.Suite{
	{Name: "digest", Short: "Every digest beside loops over the rows", Quick: true, Run: digest.Run},
	{Name: "limit", Short: "The bare block functions, and where the time of a row goes", Quick: true, Run: limit.Run},
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
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if opt.Bench, err = benchDir(); err != nil {
				return err
			}
			opt.Root = filepath.Dir(opt.Bench)
			if out == "" {
				out = filepath.Join(opt.Bench, "out")
			}
			opt.Out, err = result.NewWriter(out, cmd.OutOrStdout(), cmd.ErrOrStderr())
			return err
		},
	}
	root.PersistentFlags().StringVar(&out, "out", "", "`folder` of the records (default bench/out)")
	root.PersistentFlags().IntVar(&opt.Rounds, "rounds", 0, "interleaved rounds of a cell at least (default: the suite's)")
	for _, s := range suites {
		cmd := &cobra.Command{
			Use: s.Name, Short: s.Short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return run(cmd.Context(), opt, []suite.Suite{s})
			},
		}
		if s.Quick {
			cmd.Flags().BoolVar(&opt.Quick, "quick", false, "only the cells that matter most")
		}
		root.AddCommand(cmd)
	}
	root.AddCommand(
		&cobra.Command{
			Use: "all", Short: "Run every suite", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), opt, suites) },
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
				return run(cmd.Context(), opt, quick)
			},
		},
	)
	return root
}

// run runs suites one after the other.
func run(ctx context.Context, opt suite.Options, suites []suite.Suite) error {
	for _, s := range suites {
		if err := opt.Out.Begin(s.Name); err != nil {
			return err
		}
		if err := s.Run(ctx, opt); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
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
