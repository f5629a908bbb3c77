package overhead

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
)

// decisions is what one decision costs, by how what is asked for is written:
// may ann read this column of this table?
//
//	arrowmask    the plan of the table, which answers for all of its columns
//	object       a permission parsed from "user:schema.table:column", then compared: the report's way
//	string-key   the text put together, looked up in a map
//	struct-key   a struct of the three names, looked up
//	interned-id  a struct of three numbers, looked up
//
// ns is for a table of 20 columns.

const decisionTables, decisionColumns = 100, 20

type (
	columnKey struct{ user, table, column string }
	numberKey struct{ user, table, column uint32 }
)

// permission is built of text for every question.
type permission struct{ user, table, column string }

func parsePermission(s string) (permission, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return permission{}, errors.New("no permission")
	}
	return permission{strings.TrimSpace(parts[0]), strings.ToLower(parts[1]), strings.ToLower(parts[2])}, nil
}

func (p permission) implies(o permission) bool {
	return p.user == o.user && (p.table == "*" || p.table == o.table) && (p.column == "*" || p.column == o.column)
}

func decisions(b *bench) error {
	d, err := newDecisions()
	if err != nil {
		return err
	}
	ways := []way{
		{name: result.Ours, run: d.plans},
		{name: "object", run: d.objects},
		{name: "string-key", run: d.strings},
		{name: "struct-key", run: d.structs},
		{name: "interned-id", run: d.numbers},
	}
	for i := range ways {
		// Once, and counted: every way must find every column allowed.
		n, err := mallocs(ways[i].run)
		if err != nil {
			return fmt.Errorf("%s: %w", ways[i].name, err)
		}
		ways[i].ops = decisionTables
		ways[i].extra = map[string]float64{"allocs": n / decisionTables}
	}
	key := result.Keys("work", "GEODE-7004", "decision", "table", "columns", decisionColumns)
	records, err := b.measure(key, "ns", ways...)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		side string
		ns   float64
	}{{"before", 800}, {"after", 100}} {
		if err := b.reported(key, r.side, "ns", r.ns); err != nil {
			return err
		}
	}
	var rows [][]string
	for _, r := range records {
		rows = append(rows, []string{r.Side, result.Figure(r.Median), result.Figure(r.Median / decisionColumns), fmt.Sprintf("%.2f", r.Extra["allocs"])})
	}
	b.table("GEODE-7004: deciding about a table of 20 columns", []string{"way", "ns a table", "ns a column", "allocations a table"}, rows,
		"arrowmask decides about the table; the others about each column. The report: 0.8 us an object before, 0.1 after.")
	b.budget("O1", "warm-plan", "ns", 200, records[0].Median)
	b.budget("O1", "allocations-of-a-warm-plan", "allocs", 0, records[0].Extra["allocs"])
	return nil
}

// decisionSet holds the same permissions in every form.
type decisionSet struct {
	snapshot *policy.Snapshot
	tables   []*policy.Table
	names    []string // of the tables
	columns  []string
	granted  permission
	byText   map[string]bool
	byNames  map[columnKey]bool
	byNumber map[numberKey]bool
}

func newDecisions() (*decisionSet, error) {
	d := &decisionSet{
		snapshot: policy.NewSnapshot(planRules{filter: sharedFilter, masked: decisionColumns}),
		granted:  permission{user: ann.User(), table: "*", column: "*"},
		byText:   map[string]bool{}, byNames: map[columnKey]bool{}, byNumber: map[numberKey]bool{},
	}
	for k := range decisionColumns {
		d.columns = append(d.columns, fmt.Sprintf("c%d", k))
	}
	for i := range decisionTables {
		t, err := planTable(i)
		if err != nil {
			return nil, err
		}
		if _, err := d.snapshot.Plan(ann, t, time.Time{}); err != nil {
			return nil, err
		}
		d.tables, d.names = append(d.tables, t), append(d.names, t.Name())
		for k, c := range d.columns {
			d.byText[ann.User()+":"+t.Name()+":"+c] = true
			d.byNames[columnKey{ann.User(), t.Name(), c}] = true
			d.byNumber[numberKey{0, uint32(i), uint32(k)}] = true
		}
	}
	// The cache settles: entries asked for often enough are read without a lock.
	for range decisionTables {
		if err := d.plans(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

var errDenied = errors.New("a column is not allowed that is")

func (d *decisionSet) plans() error {
	for _, t := range d.tables {
		p, err := d.snapshot.Plan(ann, t, time.Time{})
		if err != nil {
			return err
		}
		if len(p.Masks) != decisionColumns {
			return errDenied
		}
	}
	return nil
}

func (d *decisionSet) objects() error {
	for _, t := range d.names {
		for _, c := range d.columns {
			p, err := parsePermission(ann.User() + ":" + t + ":" + c)
			if err != nil {
				return err
			}
			if !d.granted.implies(p) {
				return errDenied
			}
		}
	}
	return nil
}

func (d *decisionSet) strings() error {
	for _, t := range d.names {
		for _, c := range d.columns {
			if !d.byText[ann.User()+":"+t+":"+c] {
				return errDenied
			}
		}
	}
	return nil
}

func (d *decisionSet) structs() error {
	for _, t := range d.names {
		for _, c := range d.columns {
			if !d.byNames[columnKey{ann.User(), t, c}] {
				return errDenied
			}
		}
	}
	return nil
}

func (d *decisionSet) numbers() error {
	for i := range d.names {
		for k := range d.columns {
			if !d.byNumber[numberKey{0, uint32(i), uint32(k)}] {
				return errDenied
			}
		}
	}
	return nil
}
