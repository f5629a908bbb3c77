package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/tablefile"
)

// verification is what arrowmask verify shows.
type verification struct {
	OK       bool                 `json:"ok"`
	Rows     int64                `json:"rows"`
	Columns  []columnVerification `json:"columns"`
	Searched int                  `json:"values_searched"`
	Shown    int                  `json:"values_shown_by_masks"`
	Survived int                  `json:"values_survived"`
	Error    string               `json:"error,omitempty"`
}

type columnVerification struct {
	Name       string `json:"name"`
	Expression string `json:"expression"` // empty: not masked
	OK         bool   `json:"ok"`
	Result     string `json:"result"`
}

func verifyCommand() *cobra.Command {
	o := maskFlags{progress: "never", threads: 1, rewrite: rewriteAuto}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify BEFORE AFTER [--set 'COLUMN=EXPRESSION'... | --policy FILE --user NAME --resource DB.TABLE]",
		Short: "Prove that a file is another one, masked",
		Long: `Check that the file AFTER is what "arrowmask mask BEFORE -o AFTER" makes with the
same flags: the same columns and rows; every other column equal, byte for byte
where its Parquet chunks or CSV cells were copied; every masked column equal to
the expression of the old values; and no old value of a masked column, if longer
than 4 bytes, anywhere in AFTER outside the other columns: not in statistics,
indexes, filters, dictionaries, metadata or unused bytes. That search is for
values of text and bytes; in CSV for all values, as cells spell them.

Values that the masks show themselves, because an expression leaves them as they
are or makes something that holds them, are counted and not looked for.`,
		Example: `  arrowmask verify customers.parquet masked.csv --set 'name=mask({col})'
  arrowmask verify customers.parquet for-ann.parquet \
    --policy policies.json --user ann --group analysts --resource shop.customers`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.output, o.passThrough = args[1], len(o.sets) == 0 && o.policy.file == ""
			m := &masking{maskFlags: &o, in: args[0]}
			if err := inTurn(checkSettings, m.checkReadAgain, m.checkFlags, m.checkFormats, m.load); err != nil {
				return err
			}
			v, p, err := m.prove(cmd.Context())
			if err != nil {
				return err
			}
			x := newVerification(v, p)
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				e.SetEscapeHTML(false)
				err = e.Encode(x)
			} else {
				err = x.print(cmd.OutOrStdout())
			}
			if err == nil && !x.OK {
				err = errQuiet
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.sets, "set", nil, "as for mask: `COLUMN=EXPRESSION`, once a column")
	f.StringVar(&o.to, "to", "", "`format` of AFTER, as --from")
	f.StringVar(&o.dialect, "dialect", "safe", "whose rules the functions follow")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	o.policy.register(f)
	o.input.register(f)
	o.keys.register(f)
	return cmd
}

// checkReadAgain refuses what cannot be read more than once.
func (m *masking) checkReadAgain() error {
	if m.in == "-" || m.output == "-" {
		return usagef("verify reads both files more than once: standard input will not do")
	}
	return nil
}

// errByRows: a plan does more than change whole columns.
var errByRows = errors.New("not by column chunks")

// prove compares the column chunks of two Parquet files, and any other two
// files, or what a policy does to rows, by values.
func (m *masking) prove(ctx context.Context) (v *tablefile.Verdict, p *plan, err error) {
	if m.read.Format == tablefile.Parquet && m.write.Format == tablefile.Parquet {
		v, err = tablefile.Verify(ctx, m.in, m.output, func(r *tablefile.Rewriter) ([]tablefile.Replacement, error) {
			if p, err = m.planRewrite(r); err != nil {
				return nil, err
			}
			if !p.byChunks() {
				return nil, errByRows
			}
			return p.replacements(), nil
		}, m.read)
		if !errors.Is(err, errByRows) {
			return v, p, err
		}
	}
	to := tablefile.ReadOptions{Format: m.write.Format, BatchRows: m.read.BatchRows, Delimiter: m.write.Delimiter, NoHeader: m.read.NoHeader}
	v, err = tablefile.VerifyRows(ctx, m.in, m.output, func(schema *arrow.Schema) (*tablefile.Change, error) {
		if p, err = m.newPlan(schema); err != nil {
			return nil, err
		}
		c := &tablefile.Change{Schema: p.masks.Schema(), Apply: p.apply}
		for _, masked := range p.masked {
			c.Masked = append(c.Masked, masked.index)
		}
		return c, nil
	}, m.read, to)
	return v, p, err
}

func newVerification(v *tablefile.Verdict, p *plan) *verification {
	x := &verification{OK: v.OK(), Rows: v.Rows, Columns: []columnVerification{}, Searched: v.Searched, Shown: v.Shown, Survived: v.Survived}
	if v.Err != nil {
		x.Error = oneLine(v.Err)
	}
	explained := p.explain()
	for i, c := range v.Columns {
		y := columnVerification{Name: c.Name, Expression: explained[i].Expression, OK: c.Err == nil}
		switch {
		case c.Err != nil:
			y.Result = oneLine(c.Err)
		case c.Replaced:
			y.Result = "equal to the expression of the old values"
		case c.Bytes:
			y.Result = "equal byte for byte"
		default:
			y.Result = "equal values"
		}
		x.Columns = append(x.Columns, y)
	}
	return x
}

func (x *verification) print(w io.Writer) error {
	rows := [][]string{{"COLUMN", "EXPRESSION", "OK", "RESULT"}}
	for _, c := range x.Columns {
		rows = append(rows, []string{showText(c.Name), orDash(showText(c.Expression)), yesNo(c.OK), c.Result})
	}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d rows; %d old values looked for, %d found", x.Rows, x.Searched-x.Shown, x.Survived)
	if x.Shown > 0 {
		fmt.Fprintf(w, "; %d more are shown by the masks themselves", x.Shown)
	}
	verdict := "verified"
	if !x.OK {
		verdict = "NOT verified"
		if x.Error != "" {
			verdict += ": " + x.Error
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", verdict)
	return err
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}
