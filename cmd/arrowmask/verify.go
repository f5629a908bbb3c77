package main

import (
	"encoding/json"
	"fmt"
	"io"

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
	var (
		keys    keyFlags
		sets    []string
		dialect string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "verify BEFORE AFTER [--set 'COLUMN=EXPRESSION']...",
		Short: "Prove that a Parquet file is another one, masked",
		Long: `Check that the Parquet file AFTER is what "arrowmask mask BEFORE -o AFTER" makes
with the same --set: the same columns and rows; every other column equal, byte
for byte where its chunks were copied; every masked column equal to the
expression of the old values; and no old value of a masked column of text or
bytes, if longer than 4 bytes, anywhere in AFTER outside the other columns: not
in statistics, indexes, filters, dictionaries, metadata or unused bytes.

Values that the masks show themselves, because an expression leaves them as they
are or makes something that holds them, are counted and not looked for.`,
		Args: nArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			parsed, err := parseSets(sets)
			if err != nil {
				return err
			}
			if why := readsOthers(parsed); why != "" {
				return usagef("%s: verify compares each column with itself only", why)
			}
			ring, err := keys.keyring()
			if err != nil {
				return err
			}
			if err := checkSets(parsed, dialect, ring); err != nil {
				return err
			}
			m := &masking{maskFlags: &maskFlags{dialect: dialect}, in: args[0], sets: parsed, ring: ring}
			v, err := tablefile.Verify(cmd.Context(), args[0], args[1], func(r *tablefile.Rewriter) ([]tablefile.Replacement, error) {
				p, err := m.planRewrite(r)
				if err != nil {
					return nil, err
				}
				return p.replacements(), nil
			}, tablefile.ReadOptions{})
			if err != nil {
				return err
			}
			x := newVerification(v, parsed)
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
	f.StringArrayVar(&sets, "set", nil, "as for mask: `COLUMN=EXPRESSION`, once a column")
	f.StringVar(&dialect, "dialect", "safe", "whose rules the functions follow")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	keys.register(f)
	return cmd
}

func newVerification(v *tablefile.Verdict, sets []set) *verification {
	x := &verification{OK: v.OK(), Rows: v.Rows, Columns: []columnVerification{}, Searched: v.Searched, Shown: v.Shown, Survived: v.Survived}
	if v.Err != nil {
		x.Error = oneLine(v.Err)
	}
	for _, c := range v.Columns {
		y := columnVerification{Name: c.Name, OK: c.Err == nil}
		for _, s := range sets {
			if s.column == c.Name {
				y.Expression = s.source
			}
		}
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
