package overhead

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

// random is the source of all data: the same in every run.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6d61736b)) }

// texts is n strings of lo to hi characters.
func texts(rng *rand.Rand, n, lo, hi int) []string {
	out := make([]string, n)
	b := make([]byte, hi)
	for i := range out {
		size := lo + rng.IntN(hi-lo+1)
		for k := range size {
			b[k] = alphabet[rng.IntN(len(alphabet))]
		}
		out[i] = string(b[:size])
	}
	return out
}

func textColumn(values []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewArray()
}

// textSchema has n columns of text: c0, c1, ...
func textSchema(n int) *arrow.Schema {
	fields := make([]arrow.Field, n)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: arrow.BinaryTypes.String, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// textBatch is rows of textSchema, of lo to hi characters each.
func textBatch(rng *rand.Rand, schema *arrow.Schema, rows, lo, hi int) arrow.Record {
	cols := make([]arrow.Array, schema.NumFields())
	for i := range cols {
		cols[i] = textColumn(texts(rng, rows, lo, hi))
	}
	return newBatch(schema, cols, rows)
}

// newBatch takes over the columns.
func newBatch(schema *arrow.Schema, cols []arrow.Array, rows int) arrow.Record {
	rec := array.NewRecord(schema, cols, int64(rows))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// object is a JSON object.
type object = map[string]any

// maskPolicy is a Ranger policy that masks a column of a table of schema "db"
// for everybody.
func maskPolicy(id int, table, column, maskType string) object {
	return columnPolicy(id, table, column, object{"dataMaskType": maskType}, "groups", "public")
}

// exprPolicy masks by an expression.
func exprPolicy(id int, table, column, expr string) object {
	return columnPolicy(id, table, column, object{"dataMaskType": "CUSTOM", "valueExpr": expr}, "groups", "public")
}

// columnPolicy masks for some: who is "users" or "groups".
func columnPolicy(id int, table, column string, info object, who string, names ...string) object {
	item := object{"accesses": []object{{"type": "select"}}, "dataMaskInfo": info, who: names}
	return object{
		"id": id, "name": fmt.Sprintf("mask %d", id), "policyType": 1,
		"resources": object{
			"catalog": level("c"), "schema": level("db"), "table": level(table), "column": level(column),
		},
		"dataMaskPolicyItems": []object{item},
	}
}

func level(n string) object { return object{"values": []string{n}} }

// loadRules reads policies of a Trino service, where names may be patterns.
func loadRules(version int, policies []object) (*ranger.Rules, error) {
	body, err := json.Marshal(object{"serviceName": "bench", "serviceType": "trino", "policyVersion": version, "policies": policies})
	if err != nil {
		return nil, err
	}
	return ranger.Load(body, ranger.Options{Zone: time.UTC})
}

// otherPolicies is n policies, from an id on, about tables that nobody reads
// here: one in a hundred by a pattern.
func otherPolicies(n, id int) []object {
	out := make([]object, n)
	for i := range out {
		table, column := fmt.Sprintf("table_%d", i), "c"
		if i%100 == 99 {
			table, column = fmt.Sprintf("x%d*", i), "*"
		}
		out[i] = columnPolicy(id+i, table, column, object{"dataMaskType": "MASK"}, "users", fmt.Sprintf("user%d", i%10))
	}
	return out
}

// textTable is a table of schema "db" with n text columns as textSchema's.
func textTable(name string, n int) (*policy.Table, error) {
	cols := make([]policy.Column, n)
	for i := range cols {
		cols[i] = policy.Column{Name: fmt.Sprintf("c%d", i), Type: mask.Type{Kind: mask.Text}}
	}
	return policy.NewTable([]string{"c", "db", name}, "", cols)
}

// bind makes a masker of what rules decide for ann.
func bind(rules policy.Rules, table *policy.Table, schema *arrow.Schema) (*arrowudf.Masker, error) {
	plan, err := policy.NewSnapshot(rules).Plan(ann, table, time.Time{})
	if err != nil {
		return nil, err
	}
	return arrowudf.NewMasker(plan, schema, arrowudf.Options{})
}

// ann is who asks where it does not matter.
var ann = policy.NewIdentity("ann", []string{"analysts", "europe"}, []string{"reader"}, nil)

// mallocs is how many allocations a function makes. Nothing else may run.
func mallocs(f func() error) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), err
}

// heap is how many bytes are reachable more after make than before, with what
// it returned alive.
func heap[T any](make func() (T, error)) (T, float64, error) {
	var before, after runtime.MemStats
	// Twice: what pools hold goes with the second.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	v, err := make()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return v, float64(after.HeapAlloc) - float64(before.HeapAlloc), err
}

// sameRecord compares two batches cell by cell, with the columns' types.
func sameRecord(want, got arrow.Record) error {
	if want.NumRows() != got.NumRows() || want.NumCols() != got.NumCols() {
		return fmt.Errorf("%d rows of %d columns, want %d of %d", got.NumRows(), got.NumCols(), want.NumRows(), want.NumCols())
	}
	for i, c := range want.Columns() {
		if !array.Equal(c, got.Column(i)) {
			return fmt.Errorf("column %s differs", want.ColumnName(i))
		}
	}
	return nil
}

// governed is a table under policies that may be replaced at any time, with the
// maskers of the plans seen so far.
type governed struct {
	schema *arrow.Schema
	table  *policy.Table
	rules  *ranger.Rules
	live   policy.Live
	bound  map[*policy.Plan]*arrowudf.Masker
}

// find is the masker of the current snapshot, by the plan.
func (g *governed) find() (*arrowudf.Masker, error) {
	s, err := g.live.Snapshot()
	if err != nil {
		return nil, err
	}
	p, err := s.Plan(ann, g.table, time.Time{})
	if err != nil {
		return nil, err
	}
	m := g.bound[p]
	if m == nil {
		if m, err = arrowudf.NewMasker(p, g.schema, arrowudf.Options{}); err != nil {
			return nil, err
		}
		g.bound[p] = m
	}
	return m, nil
}
