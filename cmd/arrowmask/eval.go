package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/mask"
)

func evalCommand() *cobra.Command {
	var (
		dialect string
		keys    keyFlags
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Evaluate one expression on literals",
		Long: `Evaluate one expression without {col} and print its value: text as it is,
bytes in hex after 0x, dates as YYYY-MM-DD, NULL as NULL (with --json, null).`,
		Example: `  arrowmask eval "sha2('abc', 256)"
  arrowmask eval "mask_show_last_n('4012-8888-8888-1881', 4)"`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			ring, err := keys.keyring()
			if err != nil {
				return err
			}
			expr, err := mask.Parse(args[0])
			if err != nil {
				return usageError{err}
			}
			prog, err := mask.Compile(expr, mask.Type{}, mask.Options{Dialect: dialect, Keys: ring})
			if err != nil {
				return usageError{err}
			}
			v, err := prog.Eval(cmd.Context(), nil, mask.EvalOptions{})
			if err != nil {
				return err
			}
			c := vectorCell(v, 0)
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"type": kindName(v.Type), "value": c.json()})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), c)
			return err
		},
	}
	cmd.Flags().StringVar(&dialect, "dialect", "safe", "whose rules the functions follow")
	keys.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, `print {"type": ..., "value": ...}`)
	return cmd
}
