package main

import (
	"context"
	"errors"
	"io"
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var numberSchema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

func numberBatch(mem memory.Allocator, n int64) arrow.RecordBatch {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.Append(n)
	a := b.NewArray()
	defer a.Release()
	return array.NewRecordBatch(numberSchema, []arrow.Array{a}, 1)
}

func number(b arrow.RecordBatch) int64 { return b.Column(0).(*array.Int64).Value(0) }

// counter reads the numbers 0 to n-1 as batches of one row.
func counter(mem memory.Allocator, n int64) func() (arrow.RecordBatch, error) {
	next := int64(0)
	return func() (arrow.RecordBatch, error) {
		if next == n {
			return nil, io.EOF
		}
		next++
		return numberBatch(mem, next-1), nil
	}
}

func TestPipelineKeepsOrderAndBound(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		var held, peak atomic.Int64
		read := counter(mem, 500)
		want := int64(0)
		err := pipeline(context.Background(), threads,
			func() (arrow.RecordBatch, error) {
				b, err := read()
				if err == nil {
					peak.Store(max(peak.Load(), held.Add(1)))
				}
				return b, err
			},
			func(_ context.Context, b arrow.RecordBatch) (arrow.RecordBatch, error) {
				time.Sleep(time.Duration(rand.Intn(50)) * time.Microsecond)
				return numberBatch(mem, 10*number(b)), nil
			},
			func(b arrow.RecordBatch) error {
				if number(b) != 10*want {
					t.Errorf("threads %d: batch %d came out in place %d", threads, number(b)/10, want)
				}
				want++
				held.Add(-1)
				return nil
			})
		if err != nil || want != 500 {
			t.Fatalf("threads %d: %d batches, error %v", threads, want, err)
		}
		if peak.Load() > int64(threads+2) {
			t.Errorf("threads %d: %d batches were held at once", threads, peak.Load())
		}
		mem.AssertSize(t, 0)
	}
}

func TestPipelineStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, place := range []string{"read", "change", "write"} {
		t.Run(place, func(t *testing.T) {
			read := counter(memory.DefaultAllocator, 100)
			reads, written := 0, int64(0)
			err := pipeline(context.Background(), 3,
				func() (arrow.RecordBatch, error) {
					if reads++; place == "read" && reads == 41 {
						return nil, broken
					}
					return read()
				},
				func(_ context.Context, b arrow.RecordBatch) (arrow.RecordBatch, error) {
					if place == "change" && number(b) == 40 {
						return nil, broken
					}
					b.Retain()
					return b, nil
				},
				func(b arrow.RecordBatch) error {
					if place == "write" && number(b) == 40 {
						return broken
					}
					written++
					return nil
				})
			// Everything before the error was written, nothing after it.
			if !errors.Is(err, broken) || written != 40 {
				t.Errorf("%d batches written, error %v", written, err)
			}
		})
	}
}

// A reader that waits for ever must not keep a cancelled run alive.
func TestPipelineCancelledWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("stopped")
	stuck := make(chan struct{})
	defer close(stuck)
	err := pipeline(ctx, 2,
		func() (arrow.RecordBatch, error) { cancel(cause); <-stuck; return nil, io.EOF },
		func(_ context.Context, b arrow.RecordBatch) (arrow.RecordBatch, error) { return b, nil },
		func(arrow.RecordBatch) error { return nil })
	if !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
