package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/tablefile"
)

// explanation is what arrowmask explain shows.
type explanation struct {
	Columns []columnExplanation `json:"columns"`
	Sample  []sampleCell        `json:"sample"`
	Policy  *policyExplanation  `json:"policy,omitempty"`
}

type columnExplanation struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Expression string         `json:"expression"` // empty: passed through
	OutputType string         `json:"output_type"`
	Digests    []digestReport `json:"digests"`
	Why        string         `json:"why"`
	Chunks     string         `json:"chunks"` // from Parquet to Parquet: how its column chunks get into the new file; else empty
	Warnings   []string       `json:"warnings"`
	Policy     *policyRef     `json:"policy,omitempty"`
}

// sampleCell is a cell before and after.
type sampleCell struct {
	Row    int64  `json:"row"` // from 1
	Column string `json:"column"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

func explainCommand() *cobra.Command {
	var (
		input   inputFlags
		keys    keyFlags
		sets    []string
		asked   policyFlags
		dialect string
		sample  int
		asJSON  bool
		rewrite string
	)
	cmd := &cobra.Command{
		Use:   "explain IN [--set 'COLUMN=EXPRESSION'... | --policy FILE --user NAME --resource DB.TABLE]",
		Short: "Show what mask would do: functions, types, backends, and a sample before and after",
		Long: `Show for every column what "arrowmask mask" would do with it and why, and the
first rows of the masked columns before and after. The sample shows clear values
on standard output; --sample 0 shows none and reads no rows. Without --set, the
columns and their types.

With --policy, for every column the mask, the policy and the item that decided,
every policy that was asked, and the policies for the table that match nothing;
then what mask would do, or why it would refuse (exit status 1).`,
		Args: nArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettings(); err != nil {
				return err
			}
			if err := checkRewrite(rewrite); err != nil {
				return err
			}
			if sample < 0 {
				return usagef("--sample %d: want 0 or more", sample)
			}
			format, err := input.format(args[0])
			if err != nil {
				return err
			}
			opts, err := input.options(format, tablefile.Auto, 1)
			if err != nil {
				return err
			}
			if err := asked.check(sets); err != nil {
				return err
			}
			parsed, err := parseSets(sets)
			if err != nil {
				return err
			}
			ring, err := keys.keyring()
			if err != nil {
				return err
			}
			if err := checkSets(parsed, dialect, ring); err != nil {
				return err
			}
			ctx := cmd.Context()
			if asked.file != "" {
				q, err := asked.load(dialect)
				if err != nil {
					return err
				}
				reader, err := await(ctx, func() (tablefile.Reader, error) { return tablefile.Open(ctx, args[0], opts) })
				if err != nil {
					return err
				}
				chunks := func(*plan, []columnExplanation) error { return nil }
				if format == tablefile.Parquet && rewrite == rewriteAuto && args[0] != "-" { // as for mask, which cannot read it twice
					chunks = func(p *plan, columns []columnExplanation) error {
						return p.explainChunksOf(ctx, args[0], opts, columns)
					}
				}
				return explainPolicy(cmd, q, reader, ring, chunks, sample, asJSON)
			}
			if format == tablefile.Parquet && rewrite == rewriteAuto {
				m := &masking{maskFlags: &maskFlags{dialect: dialect}, in: args[0], sets: parsed, ring: ring, read: opts}
				p, x, err := m.explainRewrite(ctx, sample)
				if err != nil {
					return err
				}
				return show(cmd, p, x, asJSON)
			}
			reader, err := await(ctx, func() (tablefile.Reader, error) { return tablefile.Open(ctx, args[0], opts) })
			if err != nil {
				return err
			}
			p, err := newPlan(reader.Schema(), parsed, arrowudf.Options{Dialect: dialect, Keys: ring})
			if err != nil {
				return err
			}
			x := explanation{Columns: p.explain(), Sample: []sampleCell{}}
			if sample > 0 && len(p.masked) > 0 {
				x.Sample, err = await(ctx, func() ([]sampleCell, error) { return p.sample(ctx, reader, sample) })
				if err != nil {
					return err
				}
			}
			if err := reader.Close(); err != nil {
				return err
			}
			return show(cmd, p, &x, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&sets, "set", nil, "replace a column: `COLUMN=EXPRESSION`, once a column")
	f.StringVar(&dialect, "dialect", "safe", "whose rules the functions follow")
	f.IntVar(&sample, "sample", 5, "rows to show before and after, in clear")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	asked.register(f)
	f.StringVar(&rewrite, "rewrite", rewriteAuto, "as for mask")
	input.register(f)
	keys.register(f)
	return cmd
}

// show prints an explanation; p is nil where there is no plan.
func show(cmd *cobra.Command, p *plan, x *explanation, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(x)
	}
	if p != nil {
		p.warn(cmd.ErrOrStderr())
	}
	return x.print(cmd.OutOrStdout())
}

// explain tells what becomes of every column.
func (p *plan) explain() []columnExplanation {
	all := make([]columnExplanation, p.in.NumFields())
	for i, f := range p.in.Fields() {
		all[i] = columnExplanation{Name: f.Name, Type: f.Type.String(), OutputType: f.Type.String(),
			Digests: []digestReport{}, Why: p.whyNot(i), Warnings: []string{}}
	}
	for _, c := range p.masked {
		x := &all[c.index]
		x.OutputType = c.out.Type.String()
		x.Digests, x.Warnings = append(x.Digests, c.digests()...), append(x.Warnings, c.notes...)
		if c.name != x.Name { // a field within
			if x.Expression != "" {
				x.Expression += "; "
			}
			x.Expression += c.name + ": " + c.source
			x.Why = "fields within are masked"
			continue
		}
		x.Expression, x.Policy, x.Why = c.source, c.policy, c.why()
	}
	return all
}

// whyNot gives the reason why a column is passed through.
func (p *plan) whyNot(index int) string {
	if p.policies == nil {
		return "no --set names it: passed through"
	}
	return p.policies.whyNot(index)
}

// why gives the reason for each backend, once.
func (c *maskedColumn) why() string {
	if c.fn == nil && c.rows == nil {
		return "NULL in every row"
	}
	var reasons []string
	for _, u := range c.uses() {
		alg, err := kernels.ParseAlg(u.Alg)
		if err != nil {
			continue
		}
		reasons = append(reasons, u.Backend+": "+backendOf(alg).Why)
	}
	if reasons == nil {
		return "computes no digest"
	}
	return strings.Join(reasons, "; ")
}

// sample masks the first n rows, however they are spread over batches.
func (p *plan) sample(ctx context.Context, r tablefile.Reader, n int) ([]sampleCell, error) {
	cells := []sampleCell{}
	for row := int64(0); row < int64(n); {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		head := batch.NewSlice(0, min(batch.NumRows(), int64(n)-row))
		batch.Release()
		masked, err := p.apply(ctx, head)
		if err != nil {
			head.Release()
			return nil, err
		}
		for i := range int(head.NumRows()) {
			for _, c := range p.masked {
				cells = append(cells, sampleCell{row + int64(i) + 1, c.name,
					arrayCell(head.Column(c.index), i), arrayCell(masked.Column(c.index), i)})
			}
		}
		row += head.NumRows()
		head.Release()
		masked.Release()
	}
	return cells, nil
}

// arrayCell is a cell for showing: nil for NULL. Text is copied, so the array
// may go.
func arrayCell(a arrow.Array, i int) any {
	if isNull(a, i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return arrayCell(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return arrayCell(a.Values(), a.GetPhysicalIndex(i))
	case interface{ Value(int) []byte }: // the binary layouts
		return fmt.Sprintf("0x%x", a.Value(i))
	case *array.Decimal128: // ValueStr drops zeros of the fraction
		return a.Value(i).ToString(a.DataType().(arrow.DecimalType).GetScale())
	}
	return strings.Clone(a.ValueStr(i))
}

func (x *explanation) print(w io.Writer) error {
	if x.Policy != nil {
		if err := x.Policy.print(w); err != nil || x.Policy.Refused != "" {
			return err
		}
	}
	heading := []string{"COLUMN", "TYPE", "EXPRESSION", "OUTPUT", "DIGEST", "WHY"}
	chunks := len(x.Columns) > 0 && x.Columns[0].Chunks != ""
	if chunks {
		heading = append(heading, "CHUNKS")
	}
	rows := [][]string{heading}
	for _, c := range x.Columns {
		var digests []string
		for _, d := range c.Digests {
			name := d.Algorithm + "/" + d.Backend
			if d.Keyed {
				name = "hmac-" + name
			}
			digests = append(digests, name)
		}
		row := []string{showText(c.Name), c.Type, orDash(showText(c.Expression)), c.OutputType, orDash(strings.Join(digests, ", ")), c.Why}
		if chunks {
			row = append(row, c.Chunks)
		}
		rows = append(rows, row)
	}
	if err := writeTable(w, rows); err != nil || len(x.Sample) == 0 {
		return err
	}
	fmt.Fprintln(w)
	rows = [][]string{{"ROW", "COLUMN", "BEFORE", "AFTER"}}
	for _, c := range x.Sample {
		rows = append(rows, []string{fmt.Sprint(c.Row), showText(c.Column), shorten(showCell(c.Before)), showCell(c.After)})
	}
	return writeTable(w, rows)
}

func showCell(v any) string {
	if v == nil {
		return "NULL"
	}
	return showText(fmt.Sprint(v))
}

func orDash(s string) string {
	if s == "" || s == `""` {
		return "-"
	}
	return s
}
