package main

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

// job is a batch on its way: out carries its one outcome.
type job struct {
	in  arrow.RecordBatch
	out chan outcome
}

type outcome struct {
	batch arrow.RecordBatch
	err   error
}

// pipeline reads batches, changes them on up to threads goroutines and writes
// them in the order in which they were read. At most threads+2 batches are
// held at any time. read ends with io.EOF. read and write are each called by
// one goroutine at a time; batches handed to change and write are released
// after the call.
//
// After an error or a cancellation pipeline returns at once: read may then
// still be waiting for its input, so the caller must not touch what it uses.
func pipeline(ctx context.Context, threads int,
	read func() (arrow.RecordBatch, error),
	change func(context.Context, arrow.RecordBatch) (arrow.RecordBatch, error),
	write func(arrow.RecordBatch) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan job)
	order := make(chan job, threads)
	go readAll(ctx, read, work, order)
	for range threads {
		go func() {
			for j := range work {
				batch, err := change(ctx, j.in)
				j.in.Release()
				j.out <- outcome{batch, err}
			}
		}()
	}
	for {
		var next outcome
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case j, more := <-order:
			if !more {
				return nil
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case next = <-j.out:
			}
		}
		if next.err != nil {
			return next.err
		}
		err := write(next.batch)
		next.batch.Release()
		if err != nil {
			return err
		}
	}
}

// readAll queues every batch twice: in order, for the writer, and as work. An
// error takes its place in the order, behind the batches before it.
func readAll(ctx context.Context, read func() (arrow.RecordBatch, error), work, order chan<- job) {
	defer close(order)
	defer close(work)
	for {
		batch, err := read()
		if errors.Is(err, io.EOF) {
			return
		}
		j := job{in: batch, out: make(chan outcome, 1)}
		if err != nil {
			j.out <- outcome{err: err}
		}
		select {
		case order <- j:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		select {
		case work <- j:
		case <-ctx.Done():
			return
		}
	}
}
