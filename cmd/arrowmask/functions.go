package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/mask"
)

func functionsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "functions [NAME]",
		Short: "List the functions, or show one",
		Args:  nArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all := mask.Functions()
			if len(args) == 1 {
				all = slices.DeleteFunc(all, func(s mask.Signature) bool { return !strings.EqualFold(s.Name, args[0]) })
				if len(all) == 0 {
					return usagef("no function is called %q; see arrowmask functions", args[0])
				}
			}
			w := cmd.OutOrStdout()
			if asJSON {
				e := json.NewEncoder(w)
				e.SetIndent("", "  ")
				e.SetEscapeHTML(false)
				return e.Encode(all)
			}
			if len(args) == 1 {
				f := all[0]
				_, err := fmt.Fprintf(w, "%s\n  %s\n  result: %s\n", f.Usage, f.Help, f.Output)
				return err
			}
			for _, f := range all {
				if _, err := fmt.Fprintf(w, "%s\n    %s\n", f.Usage, f.Help); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
