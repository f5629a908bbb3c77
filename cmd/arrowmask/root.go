package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// streams are the standard streams of a run.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run executes one command line and gives the exit status.
func run(args []string, s streams) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if sig := (signalError{}); err != nil && errors.As(context.Cause(ctx), &sig) {
		err = sig // what a reader or writer says of its end is of no use
	}
	if err != nil && !errors.Is(err, errQuiet) {
		fmt.Fprintf(s.err, "arrowmask: %s\n", oneLine(err))
	}
	return exitStatus(err)
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "arrowmask",
		Short: "Hash and mask columns of Parquet, Arrow IPC and CSV files",
		Long: `arrowmask replaces columns of a table by their hash or mask.

Exit status: 0 done, 1 the run failed, 2 the command line was refused before any
input was read, 128+n ended by signal n. After a failure there is no output file.

Environment:
  ARROWMASK_BACKEND  use these backends: "generic", "sha256=std,hex=ssse3"
                     (see "arrowmask version")
  ARROWMASK_FIPS     on | off: FIPS mode whatever the kernel says`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; see arrowmask --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(maskCommand(), explainCommand(), verifyCommand(), policyCommand(), evalCommand(), functionsCommand(),
		katCommand(), selftestCommand(), benchCommand(), versionCommand())
	return root
}

// nArgs demands between lo and hi arguments; hi < 0 is no upper bound.
func nArgs(lo, hi int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < lo || hi >= 0 && len(args) > hi {
			return usagef("%s takes %s, got %d; see %[1]s --help", cmd.CommandPath(), arity(lo, hi), len(args))
		}
		return nil
	}
}

func arity(lo, hi int) string {
	switch {
	case hi < 0:
		return fmt.Sprintf("%d or more arguments", lo)
	case lo != hi:
		return fmt.Sprintf("%d to %d arguments", lo, hi)
	case lo == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", lo)
}

// checkSettings refuses to work under an environment setting that cannot be
// honoured. Commands that compute a digest call it first.
func checkSettings() error {
	if err := errors.Join(fips.Err(), kernels.Err(), hexenc.Err()); err != nil {
		return usageError{err}
	}
	return nil
}
