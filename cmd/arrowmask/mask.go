package main

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arrowmask/arrowmask/arrowudf"
)

// maskFlags are the flags of arrowmask mask.
type maskFlags struct {
	input       inputFlags
	keys        keyFlags
	policy      policyFlags
	audit       string
	output      string
	to          string
	sets        []string
	dialect     string
	threads     int
	progress    string
	report      string
	compression string
	rewrite     string
	verify      bool
	overwrite   bool
	passThrough bool
	quiet       bool
}

func maskCommand() *cobra.Command {
	var o maskFlags
	cmd := &cobra.Command{
		Use:   "mask IN -o OUT {--set 'COLUMN=EXPRESSION'... | --policy FILE --user NAME --resource DB.TABLE}",
		Short: "Mask columns of a file into another file",
		Long: `Read IN, replace the columns that --set names, write OUT. Every other column is
passed through unchanged; the order and the number of rows never change. IN and
OUT are Parquet, Arrow IPC or CSV, each by its name's extension; - is standard
input or output.

COLUMN ends at the first '='. Write a name that holds '=' or begins with '"' in
double quotes: --set '"a=b"=mask({col})'. {col} in the expression is the column;
another name in braces is the column of that name, and always its old values:
--set 'id=hash_row({col}, {email})'. "arrowmask functions" lists the functions.

OUT appears under its name when it is complete; after a failure there is none.
Memory is bounded by --batch-rows times --threads, not by the size of the file.

CSV: every column is text unless --csv-type says otherwise. A bare empty cell is
NULL, "" is the empty string. From CSV to CSV, the cells of columns that are not
masked, nor read by an expression, come out byte for byte; --csv-type is of use
for the others only.

With --policy, Ranger policies say which columns are masked for --user and how,
and which rows are left out; "arrowmask explain" with the same flags says why.
Whatever a policy says that cannot be carried out exactly is an error, and there
is no OUT. Policies that name what is not there are an error too.

A key is never an argument. Its file, variable or descriptor holds the bytes;
in a file, one line end after them does not belong to the key.`,
		Example: `  arrowmask mask customers.parquet -o masked.parquet \
    --set 'name=mask({col})' --set 'card=mask_show_last_n({col}, 4)'
  arrowmask mask people.csv -o people.arrow --key-file pepper=pepper.key \
    --set "email=mask_hmac({col}, 'pepper')" --report report.json
  arrowmask mask customers.parquet -o for-ann.parquet \
    --policy policies.json --user ann --group analysts --resource shop.customers`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := newMasking(args[0], &o)
			if err != nil {
				return err
			}
			// A batch is released once it is written, and no writer keeps a slice
			// of its values: the next one takes its memory.
			m.mem = &arrowudf.Recycler{}
			return m.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *maskFlags) register(f *pflag.FlagSet) {
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write; - is standard output")
	f.StringArrayVar(&o.sets, "set", nil, "replace a column: `COLUMN=EXPRESSION`, once a column")
	f.StringVar(&o.to, "to", "", "`format` of OUT, as --from")
	f.StringVar(&o.dialect, "dialect", "safe", "whose rules the functions follow")
	// One goroutine reads and one writes: more than a few that mask would only
	// wait, each with a batch in memory.
	f.IntVar(&o.threads, "threads", min(runtime.GOMAXPROCS(0), 8), "batches masked at once, and columns decoded at once")
	f.StringVar(&o.progress, "progress", "auto", "auto: a bar when standard error is a terminal; never; json: a line a second on standard error")
	f.StringVar(&o.report, "report", "", "write a JSON report of what was done to this `file`; - is standard output")
	f.StringVar(&o.compression, "compression", "", "`codec` of OUT: none, snappy, gzip, brotli, zstd, lz4 (default: that of IN where the format is the same)")
	f.StringVar(&o.rewrite, "rewrite", rewriteAuto, "auto: from Parquet to Parquet, copy the column chunks that are not masked as they are; all: decode and encode every column")
	f.BoolVar(&o.verify, "verify-checksums", false, "check the checksums of Parquet pages, where there are any, before anything is written")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace OUT and the report when they exist")
	f.BoolVar(&o.passThrough, "pass-through", false, "mask nothing, only convert IN to OUT; without it, no --set is an error")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no warnings and no summary on standard error")
	f.StringVar(&o.audit, "audit", "", "with --policy: append a JSON line that says who was given what, by which policies, to this `file`")
	o.policy.register(f)
	o.input.register(f)
	o.keys.register(f)
}
