package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/v18"
	"github.com/arrowmask/arrowmask/internal/samplegen"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

// streamRows is the rows of a batch of the benchmark.
const streamRows = 1 << 16

// BenchmarkNoOpPolicy reads batches of 64k rows, asks the policies for each
// what the user may see, which is everything, and writes them; and the same
// without policies. The two take turns, so that whatever else the machine does
// falls on both. %-of-plain is the throughput kept: the median of the pairs.
func BenchmarkNoOpPolicy(b *testing.B) {
	batch := samplegen.Batch(memory.DefaultAllocator, 0, streamRows)
	defer batch.Release()
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(batch.Schema()))
	for range 4 {
		if err := w.Write(batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	body, err := os.ReadFile(customerPolicies)
	if err != nil {
		b.Fatal(err)
	}
	rules, err := ranger.Load(body, ranger.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var live policy.Live
	live.Swap(policy.NewSnapshot(rules))
	// Dora is exempt from every mask and filter.
	dora := policy.NewIdentity("dora", nil, nil, nil)
	table, err := policy.NewTable([]string{"shop", "customers"}, "", v18.Columns(batch.Schema()))
	if err != nil {
		b.Fatal(err)
	}

	pass := func(change func(arrow.RecordBatch) (arrow.RecordBatch, error)) time.Duration {
		start := time.Now()
		r, err := ipc.NewReader(bytes.NewReader(stream.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		defer r.Release()
		out := ipc.NewWriter(io.Discard, ipc.WithSchema(r.Schema()))
		for r.Next() {
			seen, err := change(r.RecordBatch())
			if err != nil {
				b.Fatal(err)
			}
			if err := out.Write(seen); err != nil {
				b.Fatal(err)
			}
			seen.Release()
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	plain := func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		in.Retain()
		return in, nil
	}
	var masker *v18.Masker
	asked := func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		s, err := live.Snapshot()
		if err != nil {
			return nil, err
		}
		p, err := s.Plan(dora, table, time.Time{})
		if err != nil {
			return nil, err
		}
		if masker == nil || masker.Plan() != p {
			if masker, err = v18.NewMasker(p, in.Schema(), arrowudf.Options{}); err != nil {
				return nil, err
			}
		}
		return masker.Mask(context.Background(), in)
	}
	b.ResetTimer()
	var kept []float64
	for range b.N {
		var with, without time.Duration
		if len(kept)%2 == 0 { // who goes first takes turns too
			without, with = pass(plain), pass(asked)
		} else {
			with, without = pass(asked), pass(plain)
		}
		kept = append(kept, 100*float64(without)/float64(with))
	}
	slices.Sort(kept)
	b.ReportMetric(kept[len(kept)/2], "%-of-plain")
}
