package overhead

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
)

// fanOut sends the plan of a query to many workers, for several queries under
// one version of the policies.
//
//	arrowmask    the id; a worker that lacks the plan asks for its bytes, once
//	encode-once  the bytes, encoded once, to every worker with every query
//	re-encode    encoded for every worker and query
const fanQueries = 4

func fanOut(b *bench) error {
	var table [][]string
	for _, tables := range []int{10, 100} {
		plans, _, err := makePlans(tables, planRules{filter: sharedFilter, masked: planMasked})
		if err != nil {
			return err
		}
		set, err := policy.NewSet(plans...)
		if err != nil {
			return err
		}
		for _, workers := range []int{1, 10, 100} {
			f := &fan{plans: plans, set: set, workers: workers}
			rows, err := f.cell(b, tables)
			if err != nil {
				return fmt.Errorf("%d tables, %d workers: %w", tables, workers, err)
			}
			table = append(table, rows...)
		}
	}
	b.table(fmt.Sprintf("Fan-out of a plan with one filter of 2 kB, %d queries", fanQueries),
		[]string{"tables", "workers", "side", "bytes sent", "us a request", "bytes a worker, later queries"}, table)
	return nil
}

type fan struct {
	plans   []*policy.Plan
	set     *policy.Set
	workers int
	sent    int
}

// send counts bytes on the wire and hands a copy over.
func (f *fan) send(b []byte) []byte {
	f.sent += len(b)
	return bytes.Clone(b)
}

func (f *fan) worked(s *policy.Set, err error) error {
	if err == nil && s.Hash() != f.set.Hash() {
		err = errPlan
	}
	return err
}

func (f *fan) reencode() error {
	for range fanQueries * f.workers {
		s, err := policy.NewSet(f.plans...)
		if err != nil {
			return err
		}
		if err := f.worked(policy.Decode(f.send(s.Bytes()))); err != nil {
			return err
		}
	}
	return nil
}

func (f *fan) once() error {
	for range fanQueries {
		s, err := policy.NewSet(f.plans...)
		if err != nil {
			return err
		}
		for range f.workers {
			if err := f.worked(policy.Decode(f.send(s.Bytes()))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fan) byID() error {
	known := make([]map[planID]*policy.Set, f.workers)
	for i := range known {
		known[i] = map[planID]*policy.Set{}
	}
	var s *policy.Set
	for range fanQueries {
		if s == nil { // the coordinator keeps the plan of a query, too
			var err error
			if s, err = policy.NewSet(f.plans...); err != nil {
				return err
			}
		}
		for _, worker := range known {
			id, err := readID(f.send(appendID(nil, planID{s.Hash(), 7})))
			if err != nil {
				return err
			}
			got := worker[id]
			if got == nil {
				if got, err = policy.Decode(f.send(s.Bytes())); err != nil {
					return err
				}
				worker[id] = got
			}
			if err := f.worked(got, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fan) cell(b *bench, tables int) ([][]string, error) {
	requests, size := fanQueries*f.workers, len(f.set.Bytes())
	sides := []struct {
		name        string
		run         func() error
		sent, later int
	}{
		{result.Ours, f.byID, requests*planIDBytes + f.workers*size, planIDBytes},
		{"encode-once", f.once, requests * size, size},
		{"re-encode", f.reencode, requests * size, size},
	}
	key := result.Keys("work", "fan-out", "tables", tables, "workers", f.workers)
	ways := make([]way, len(sides))
	sent := make([]value, len(sides))
	for i, s := range sides {
		f.sent = 0
		if err := s.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		if f.sent != s.sent {
			return nil, fmt.Errorf("%s sent %d bytes, not %d", s.name, f.sent, s.sent)
		}
		ways[i] = way{name: s.name, ops: requests, run: s.run}
		sent[i] = value{side: s.name, x: float64(f.sent), extra: map[string]float64{"later": float64(s.later)}}
	}
	if err := b.compared(append(key[:len(key):len(key)], result.Key{Name: "figure", Value: "sent"}), "B", sent...); err != nil {
		return nil, err
	}
	records, err := b.measure(append(key, result.Key{Name: "figure", Value: "request"}), "ns", ways...)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for i, r := range records {
		rows = append(rows, []string{strconv.Itoa(tables), strconv.Itoa(f.workers), r.Side, result.Figure(sent[i].x), result.Figure(r.Median / 1e3), strconv.Itoa(sides[i].later)})
	}
	return rows, nil
}
