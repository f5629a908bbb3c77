package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

func selftestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "selftest",
		Short: "Run the self-test of every digest backend",
		Long: `Run the self-test that a backend must pass before it is used, on every backend
that may be used here: all that this machine can run or, in FIPS mode, Go's
cryptographic module. "arrowmask kat" runs many more known answers.`,
		Args: nArgs(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			rows := [][]string{{"DIGEST", "BACKEND", "RESULT"}}
			var passed, failed, skipped int
			for _, alg := range kernels.Algs() {
				for _, b := range kernels.All(alg) {
					if why := notInFIPS(b); why != "" {
						skipped++
						rows = append(rows, []string{alg.String(), b.Name, "skipped: " + why})
						continue
					}
					outcome := "passed"
					switch _, err := kernels.ByName(alg, b.Name); {
					case err == nil:
						passed++
					case errors.Is(err, kernels.ErrUnsupportedBackend):
						outcome = "skipped: " + b.Reason()
						skipped++
					default:
						outcome = "FAILED: " + oneLine(err)
						failed++
					}
					rows = append(rows, []string{alg.String(), b.Name, outcome})
				}
			}
			if err := writeTable(cmd.OutOrStdout(), rows); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
			if failed > 0 {
				return errQuiet
			}
			return nil
		},
	}
}

// notInFIPS says why FIPS mode leaves a backend unused; empty when it does not.
func notInFIPS(b *kernels.Backend) string {
	switch {
	case !fips.Enabled():
		return ""
	case !b.Alg.SHA2():
		return fips.ErrNotApproved.Error()
	case b.Name != fipsBackend:
		return "not used in FIPS mode"
	}
	return ""
}
