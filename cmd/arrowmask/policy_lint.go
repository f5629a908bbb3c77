package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/arrowudf/v18"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
	"github.com/arrowmask/arrowmask/tablefile"
)

// lintFinding is a finding as --json prints it.
type lintFinding struct {
	Kind     string `json:"kind"`
	PolicyID int64  `json:"policy_id"` // -1: the file
	Policy   string `json:"policy"`
	Item     int    `json:"item"` // from 1; 0: the whole policy
	Detail   string `json:"detail"`
}

func policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check policy files",
		Args:  nArgs(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(lintCommand())
	return cmd
}

func lintCommand() *cobra.Command {
	var (
		stores  storeFlags
		tables  []string
		dialect string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "lint FILE [--table DB.TABLE=DATAFILE]...",
		Short: "List what in a policy file would be refused, shadowed or unmatched",
		Long: `Read a policy file as mask does and list every finding, worst first:

  malformed  the file is refused as a whole
  refused    sound, but cannot be evaluated exactly: what it applies to is closed
  shadowed   an earlier policy or item always decides first
  unmatched  matches none of the tables given with --table
  warning    probably not what was meant
  disabled   switched off

Exit status 1 when anything is malformed or refused.`,
		Example: `  arrowmask policy lint policies.json --table shop.customers=customers.parquet`,
		Args:    nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkDialect(dialect); err != nil {
				return err
			}
			known, err := lintTables(cmd.Context(), tables)
			if err != nil {
				return err
			}
			body, opts, err := stores.read(args[0], dialect)
			if err != nil {
				return err
			}
			found := ranger.Lint(body, opts, known...)
			bad := false
			out := []lintFinding{}
			for _, f := range found {
				bad = bad || f.Kind == ranger.Malformed || f.Kind == ranger.Refused
				out = append(out, lintFinding{string(f.Kind), f.PolicyID, f.Policy, f.Item + 1, f.Detail})
				if !asJSON {
					fmt.Fprintln(cmd.OutOrStdout(), strings.ReplaceAll(f.String(), "\n", " "))
				}
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				e.SetEscapeHTML(false)
				if err := e.Encode(out); err != nil {
					return err
				}
			} else if len(found) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to say")
			}
			if bad {
				return errQuiet
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&tables, "table", nil, "also find policies that match none of these: `DB.TABLE=DATAFILE`")
	f.StringVar(&dialect, "dialect", "safe", "whose rules the functions follow")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	stores.register(f)
	return cmd
}

// lintTables reads the columns of the data files; no row is read.
func lintTables(ctx context.Context, flags []string) ([]*policy.Table, error) {
	var tables []*policy.Table
	for _, f := range flags {
		name, file, found := strings.Cut(f, "=")
		if !found || name == "" || file == "" {
			return nil, usagef("--table %q: want DB.TABLE=DATAFILE", f)
		}
		format, err := formatOf("a name that says it", "", file)
		if err != nil {
			return nil, err
		}
		r, err := await(ctx, func() (tablefile.Reader, error) {
			return tablefile.Open(ctx, file, tablefile.ReadOptions{Format: format, BatchRows: tablefile.DefaultBatchRows, Threads: 1})
		})
		if err != nil {
			return nil, err
		}
		t, err := policy.NewTable(policy.SplitName(name), "", v18.Columns(r.Schema()))
		if err != nil {
			return nil, err
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}
