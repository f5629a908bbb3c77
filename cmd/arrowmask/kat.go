package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kat"
	"github.com/arrowmask/arrowmask/kernels"
)

func katCommand() *cobra.Command {
	var (
		backends []string
		verbose  bool
	)
	cmd := &cobra.Command{
		Use:   "kat [FILE | FOLDER]...",
		Short: "Run known answers on every backend",
		Long: `Run known-answer files, or those that are built in, on every digest backend that
this machine can run and on both evaluators of the mask functions. The last line
is "N passed, N failed, N skipped"; a vector that was not run is listed with the
reason. Exit status 1 when one failed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			report, err := kat.Run(cmd.Context(), kat.Options{Files: args, Backends: backends})
			switch {
			case errors.Is(err, kernels.ErrUnknownBackend), errors.Is(err, kernels.ErrUnsupportedBackend), errors.Is(err, fips.ErrNotApproved):
				return usagef("--backend: %w", err)
			case err != nil:
				return err
			}
			if err := report.WriteText(cmd.OutOrStdout(), verbose); err != nil {
				return err
			}
			if report.Failed > 0 {
				return errQuiet
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&backends, "backend", nil, "run on this `backend` only; may be given several times")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "list every file and every skipped vector")
	return cmd
}
