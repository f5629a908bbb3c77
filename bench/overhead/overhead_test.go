package overhead

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/suite"
	"github.com/arrowmask/arrowmask/policy"
)

// untimed is a bench that runs everything as seldom as it can.
func untimed(t *testing.T, quick bool) (*bench, *bytes.Buffer) {
	t.Helper()
	out, err := result.NewWriter(t.TempDir(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var tables bytes.Buffer
	b := newBench(t.Context(), suite.Options{Out: out, Quick: quick}, &tables)
	b.rounds, b.turn, b.patience = 1, 0, 0
	return b, &tables
}

// TestWorkloads runs the quick form of every workload that has one: all sides
// must give the same, every record must be sound and name its cell alone, and
// what is counted must be within its budget.
func TestWorkloads(t *testing.T) {
	b, tables := untimed(t, true)
	for _, w := range workloads {
		if !w.quick {
			continue
		}
		if err := w.run(b); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
	}
	checkRecords(t, b, tables)
	for _, g := range b.budgets {
		// Whatever is timed is not judged here.
		if counted := slices.Contains([]string{"allocs", "schemas", "batches"}, g.unit); counted && g.got > g.limit {
			t.Errorf("%s %s: %v of %v %s", g.rule, g.what, g.got, g.limit, g.unit)
		}
	}
}

// TestLongWorkloads does the same with whole workloads; ARROWMASK_BENCH_LONG=1
// asks for it.
func TestLongWorkloads(t *testing.T) {
	if os.Getenv("ARROWMASK_BENCH_LONG") == "" {
		t.Skip("ARROWMASK_BENCH_LONG=1 runs it")
	}
	b, tables := untimed(t, false)
	for _, w := range workloads {
		if err := w.run(b); err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
	}
	checkRecords(t, b, tables)
}

func checkRecords(t *testing.T, b *bench, tables *bytes.Buffer) {
	t.Helper()
	if err := b.writeBudgets(); err != nil {
		t.Fatal(err)
	}
	if err := b.tables.Flush(); err != nil {
		t.Fatal(err)
	}
	records, err := result.Read(b.out.Dir())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	reported := map[string]bool{}
	for _, r := range records {
		if seen[r.ID()] {
			t.Errorf("two records of %s", r.ID())
		}
		seen[r.ID()] = true
		if r.Suite != suiteName || math.IsNaN(r.Median) || math.IsInf(r.Median, 0) || r.Rounds < 1 {
			t.Errorf("%+v", r)
		}
		if strings.HasPrefix(r.Side, Reported) {
			reported[r.Get("work")] = true
			if r.Ratio != 0 {
				t.Errorf("%s is compared with ours", r.ID())
			}
		}
	}
	for _, w := range []string{"IMPALA-15424", "OpenSearch", "GEODE-7004", "Corda"} {
		if !reported[w] || !strings.Contains(tables.String(), w) {
			t.Errorf("no figures of %s", w)
		}
	}
}

// TestMeasure: ways that do different amounts of work are compared by the unit.
func TestMeasure(t *testing.T) {
	b, _ := untimed(t, true)
	b.rounds, b.turn, b.passes, b.patience = 3, time.Millisecond, 3, 0
	calls := [2]int{}
	wait := func(i int, d time.Duration) func() error {
		return func() error { calls[i]++; time.Sleep(d); return nil }
	}
	records, err := b.measure(result.Keys("work", "test"), "ns",
		way{name: result.Ours, ops: 10, run: wait(0, 2*time.Millisecond)},
		way{name: "half", ops: 5, run: wait(1, 2*time.Millisecond), extra: map[string]float64{"x": 3}})
	if err != nil {
		t.Fatal(err)
	}
	// A sleep is never shorter than asked for.
	if r := records[0]; r.Min < 2e6/10 || r.Rounds != 3 || r.Ratio != 0 {
		t.Errorf("%+v", r)
	}
	if r := records[1]; r.Min < 2e6/5 || r.Ratio == 0 || r.Extra["x"] != 3 {
		t.Errorf("%+v", r)
	}
	if calls[0] != calls[1] || calls[0] < 4 {
		t.Errorf("%v calls", calls)
	}
	if _, err := b.measure(result.Keys("work", "fails"), "ns", way{name: "a", ops: 1, run: func() error { return io.ErrClosedPipe }}); err == nil || !strings.Contains(err.Error(), "a: ") {
		t.Error(err)
	}
}

// TestCountStreams counts against the bytes that a writer really wrote.
func TestCountStreams(t *testing.T) {
	schema := textSchema(3)
	batch := textBatch(random(1), schema, 10, 3, 9)
	defer batch.Release()
	var all bytes.Buffer
	var want Streams
	for n := range 3 {
		w := ipc.NewWriter(&all, ipc.WithSchema(schema))
		want.Streams++
		for k := range n {
			before := all.Len()
			if err := w.Write(batch); err != nil {
				t.Fatal(err)
			}
			// The first batch brings the schema along: as many bytes as in a
			// stream of none.
			if want.Batches++; k > 0 {
				want.BatchBytes += all.Len() - before
			} else {
				want.BatchBytes += all.Len() - before - empty(t, schema)
			}
		}
		before := all.Len()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want.Schemas++
		want.SchemaBytes += empty(t, schema)
		want.Ends += 8
		if n == 0 && all.Len()-before != empty(t, schema)+8 {
			t.Fatalf("an empty stream of %d bytes", all.Len()-before)
		}
	}
	got, err := CountStreams(all.Bytes())
	if err != nil || got != want || got.Total() != all.Len() {
		t.Errorf("%+v, want %+v: %v", got, want, err)
	}
	if share := got.SchemaShare(); !near(share, float64(3*empty(t, schema))/float64(all.Len()), 1e-12) {
		t.Error(share)
	}
	for _, cut := range []int{1, 7, 9, all.Len() / 2} {
		if s, err := CountStreams(all.Bytes()[:all.Len()-cut]); err == nil {
			t.Errorf("cut by %d: %+v", cut, s)
		}
	}
	if s, err := CountStreams(append(all.Bytes(), 1)); err == nil {
		t.Errorf("a byte more: %+v", s)
	}
	if s, err := CountStreams(nil); err != nil || s != (Streams{}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// empty is the bytes of a schema message, by a stream without batches.
func empty(t *testing.T, schema *arrow.Schema) int {
	t.Helper()
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(schema)).Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len() - 8
}

func TestQuantile(t *testing.T) {
	var ns []int64
	for i := range 1000 {
		ns = append(ns, int64(i+1))
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		if got := quantile(ns, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if quantile([]int64{7}, 0.5) != 7 || quantile(nil, 0.5) != 0 {
		t.Error("few values")
	}
}

// TestInlinePlans: a difference in any part is found, and each text is written
// as often as it occurs.
func TestInlinePlans(t *testing.T) {
	plans, _, err := makePlans(3, planRules{filter: ownFilter, masked: planMasked})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		if n := len(p.Filter.String()); n < filterBytes-100 || n > filterBytes+100 || len(p.Masks) != planMasked {
			t.Fatalf("%d bytes of filter, %d masks", n, len(p.Masks))
		}
	}
	body, err := encodeInline(plans)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(body, []byte("mask_hash({col})")); n != 3*7 {
		t.Errorf("a mask %d times", n)
	}
	read, filters, err := decodeInline(body)
	if err != nil || sameInline(plans, read, filters) != nil {
		t.Fatal(err, sameInline(plans, read, filters))
	}
	for name, change := range map[string]func([]inlinePlan){
		"table": func(p []inlinePlan) { p[1].Table = "x" },
		"mask":  func(p []inlinePlan) { p[2].Columns[1].Mask = "mask({col})" },
		"index": func(p []inlinePlan) { p[0].Columns[0].Index = 5 },
		"why":   func(p []inlinePlan) { p[0].Columns[1].Why = &policy.Reason{} },
		"fewer": func(p []inlinePlan) { p[0].Columns = p[0].Columns[1:] },
	} {
		var other []inlinePlan
		if err := json.Unmarshal(body, &other); err != nil {
			t.Fatal(err)
		}
		change(other)
		if sameInline(plans, other, filters) == nil {
			t.Errorf("%s: no difference", name)
		}
	}
	if sameInline(plans, read, []*policy.Filter{filters[1], filters[0], filters[2]}) == nil || sameInline(plans[:2], read, filters) == nil {
		t.Error("no difference")
	}
}

func TestPlanID(t *testing.T) {
	id := planID{hash: policy.Hash{1, 2, 15: 9}, version: 1<<63 + 77}
	b := appendID(nil, id)
	if got, err := readID(b); err != nil || got != id || len(b) != planIDBytes {
		t.Error(got, err)
	}
	if _, err := readID(b[1:]); err == nil {
		t.Error("a short id")
	}
}

// TestTablesFile: a run leaves its tables beside the records.
func TestTablesFile(t *testing.T) {
	b, tables := untimed(t, true)
	b.table("Title", []string{"a", "b"}, [][]string{{"1", "22"}, {"333", "4"}}, "A note.")
	if err := b.tables.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "Title\n\na    b\n1    22\n333  4\nA note.\n\n"; tables.String() != want {
		t.Errorf("%q", tables)
	}
	if filepath.Ext(TablesFile) == ".jsonl" {
		t.Error("tables would be read as records")
	}
}
