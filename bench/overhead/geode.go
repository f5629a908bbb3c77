package overhead

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
)

// geode is GEODE-7004: every operation built a permission object, which parsed
// a string. Batches are read from an Arrow stream, decided about and written to
// another, in memory that is used again; the policies change nothing of them, so
// that whatever the time differs by is the cost of having policies.
//
//	arrowmask  a policy exempts the column: snapshot and plan are looked up for every batch
//	no-policy  batches are read and written, nothing is asked
//	evaluate   the policies are evaluated anew for every batch
//	identity   a mask runs that leaves every value as it is
func geode(b *bench) error {
	sizes := []int{1 << 16, 4096, 1024}
	if b.quick {
		sizes = sizes[1:2]
	}
	var table [][]string
	for _, rows := range sizes {
		row, err := geodeCell(b, rows)
		if err != nil {
			return fmt.Errorf("batches of %d rows: %w", rows, err)
		}
		table = append(table, row)
	}
	key := result.Keys("work", "GEODE-7004", "figure", "throughput")
	if err := b.reported(key, "without", "ops/s", 313078); err != nil {
		return err
	}
	if err := b.reported(key, "with", "ops/s", 303115); err != nil {
		return err
	}
	b.table("GEODE-7004: read, decide, write batches of 8 columns; nothing is changed",
		[]string{"rows a batch", "Mrows/s without", "with", "slower", "evaluated a batch", "slower", "mask that changes nothing", "slower", "decision ns", "of a batch"}, table,
		"slower is the median of the rounds' ratios; a part of a percent is the noise of it. The last column is the decision's time by the batch's.",
		"The report: 313078 operations/s without, 303115 with security (3.2 % slower); building the object took 0.8 and, mended, 0.1 us (ms in the report's words).")
	return decisions(b)
}

func geodeCell(b *bench, rows int) ([]string, error) {
	g, err := newGeode(rows)
	if err != nil {
		return nil, err
	}
	if err := g.check(b); err != nil {
		return nil, err
	}
	ways := make([]way, 0, 4)
	for _, side := range []struct {
		name string
		mask masking
	}{{result.Ours, g.lookup}, {"no-policy", nil}, {"evaluate", g.evaluate}, {"identity", g.same.mask}} {
		ways = append(ways, way{name: side.name, ops: g.rows, run: func() error { return g.pass(b, side.mask) }})
	}
	key := result.Keys("work", "GEODE-7004", "rows", rows)
	r, err := b.measure(append(key[:len(key):len(key)], result.Key{Name: "step", Value: "batches"}), "ns/row", ways...)
	if err != nil {
		return nil, err
	}
	batch := g.batches[0]
	d, err := b.measure(append(key[:len(key):len(key)], result.Key{Name: "step", Value: "decision"}), "ns", way{name: result.Ours, ops: 1, run: func() error {
		out, err := g.lookup(b, batch)
		if err == nil {
			out.Release()
		}
		return err
	}})
	if err != nil {
		return nil, err
	}
	// Ratios are to ours; what is wanted here is to reading and writing alone.
	than := func(side float64) string { return fmt.Sprintf("%+.2f %%", 100*(side/r[1].Ratio-1)) }
	part := d[0].Median / (r[1].Median * float64(rows))
	key = append(key, result.Key{Name: "step", Value: "share"})
	if err := b.values(key, "%", value{side: result.Ours, x: 100 * part}); err != nil {
		return nil, err
	}
	rate := func(r result.Record) string { return result.Figure(1e3 / r.Median) }
	return []string{
		strconv.Itoa(rows), rate(r[1]), rate(r[0]), than(1), rate(r[2]), than(r[2].Ratio), rate(r[3]), than(r[3].Ratio),
		result.Figure(d[0].Median), fmt.Sprintf("%.4f %%", 100*part),
	}, nil
}

// masking is what is done to a batch between reading and writing.
type masking func(*bench, arrow.Record) (arrow.Record, error)

// geodeTable is the stream with the policies about it.
type geodeTable struct {
	governed
	rows    int
	stream  []byte
	batches []arrow.Record
	same    sameMask
	out     bytes.Buffer
	memory  arrowudf.Recycler // of what is read: fresh memory would cost more than all else
}

// sameMask is a masker whose mask leaves every value as it is.
type sameMask struct{ *arrowudf.Masker }

func (s sameMask) mask(b *bench, batch arrow.Record) (arrow.Record, error) {
	return s.Mask(b.ctx, batch)
}

const geodeColumns = 8

func newGeode(batchRows int) (*geodeTable, error) {
	g := &geodeTable{governed: governed{schema: textSchema(geodeColumns), bound: map[*policy.Plan]*arrowudf.Masker{}}}
	n := max(1, (1<<14)/batchRows)
	g.rows = n * batchRows
	w := ipc.NewWriter(&g.out, ipc.WithSchema(g.schema))
	rng := random(7004)
	for range n {
		batch := textBatch(rng, g.schema, batchRows, 8, 24)
		g.batches = append(g.batches, batch)
		if err := w.Write(batch); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	g.stream = bytes.Clone(g.out.Bytes())
	var err error
	if g.table, err = policy.NewTable([]string{"c", "db", "puts"}, "", arrowudf.Columns(g.schema)); err != nil {
		return nil, err
	}
	exempt := append(otherPolicies(otherRules, 1000), maskPolicy(1, "puts", "c1", "MASK_NONE"))
	if g.rules, err = loadRules(1, exempt); err != nil {
		return nil, err
	}
	g.live.Swap(policy.NewSnapshot(g.rules))
	rules, err := loadRules(1, []object{exprPolicy(1, "puts", "c1", "mask_show_first_n({col}, 100)")})
	if err != nil {
		return nil, err
	}
	g.same.Masker, err = bind(rules, g.table, g.schema)
	return g, err
}

// lookup decides by the snapshot of the moment, with the plan from its cache.
func (g *geodeTable) lookup(b *bench, batch arrow.Record) (arrow.Record, error) {
	m, err := g.find()
	if err != nil {
		return nil, err
	}
	return m.Mask(b.ctx, batch)
}

func (g *geodeTable) evaluate(b *bench, batch arrow.Record) (arrow.Record, error) {
	m, err := bind(g.rules, g.table, g.schema)
	if err != nil {
		return nil, err
	}
	return m.Mask(b.ctx, batch)
}

// pass reads the stream and writes it again into out.
func (g *geodeTable) pass(b *bench, mask masking) error {
	r, err := ipc.NewReader(bytes.NewReader(g.stream), ipc.WithAllocator(&g.memory))
	if err != nil {
		return err
	}
	defer r.Release()
	g.out.Reset()
	w := ipc.NewWriter(&g.out, ipc.WithSchema(g.schema))
	for r.Next() {
		batch := r.Record()
		if mask == nil {
			err = w.Write(batch)
		} else if batch, err = mask(b, batch); err == nil {
			err = w.Write(batch)
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(r.Err(), w.Close())
}

// check: whatever decides, the bytes written are those read; and there is a
// decision to make.
func (g *geodeTable) check(b *bench) error {
	for i, mask := range []masking{nil, g.lookup, g.evaluate, g.same.mask} {
		if err := g.pass(b, mask); err != nil {
			return err
		}
		if !bytes.Equal(g.out.Bytes(), g.stream) {
			return fmt.Errorf("side %d wrote %d other bytes", i, g.out.Len())
		}
	}
	p, err := policy.NewSnapshot(g.rules).Plan(ann, g.table, time.Time{})
	if err != nil {
		return err
	}
	if len(p.Exempt) != 1 || !p.Empty() || len(g.same.Plan().Masks) != 1 {
		return errPlan
	}
	out, err := g.same.Mask(b.ctx, g.batches[0])
	if err != nil {
		return err
	}
	defer out.Release()
	if out.Column(1) == g.batches[0].Column(1) || !array.Equal(out.Column(1), g.batches[0].Column(1)) {
		return errors.New("the mask did not run, or changed a value")
	}
	return nil
}
