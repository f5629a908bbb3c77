package tablefile

import (
	"context"
	"fmt"
	"sync"
)

// chunkMaker makes new chunks on several goroutines, ahead of the writer by a bounded number, and hands them over in the order of the file.
type chunkMaker struct {
	order   chan chan madeChunk
	slots   chan struct{}
	workers sync.WaitGroup
}

type madeChunk struct {
	chunk *newChunk
	err   error
}

// chunkJob is a chunk to be made.
type chunkJob struct {
	rep   *replacement
	group int
	out   chan madeChunk
}

func (w *rewriteWriter) makeChunks(ctx context.Context) *chunkMaker {
	threads := w.opts.Threads
	m := &chunkMaker{order: make(chan chan madeChunk, threads+1), slots: make(chan struct{}, threads+1)}
	work := make(chan chunkJob)
	m.workers.Add(1 + threads)
	go func() {
		defer m.workers.Done()
		defer close(m.order)
		defer close(work)
		for g := range w.file.groups {
			for _, rep := range w.plan.reps {
				if rep == nil {
					continue
				}
				job := chunkJob{rep, g, make(chan madeChunk, 1)}
				select {
				case m.slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				m.order <- job.out // there is room: it holds as many as there are slots
				select {
				case work <- job:
				case <-ctx.Done():
					job.out <- madeChunk{err: ctx.Err()}
					return
				}
			}
		}
	}()
	for range threads {
		go func() {
			defer m.workers.Done()
			for job := range work {
				chunk, err := w.make(ctx, job.rep, job.group, w.dir)
				job.out <- madeChunk{chunk, err}
			}
		}()
	}
	return m
}

// next is the next chunk in the order of the file. The caller frees it and then calls placed.
func (m *chunkMaker) next(ctx context.Context) (*newChunk, error) {
	select {
	case out, more := <-m.order:
		if !more {
			return nil, ctx.Err()
		}
		made := <-out
		return made.chunk, made.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *chunkMaker) placed() { <-m.slots }

// stop ends the goroutines and frees the chunks that nobody took.
func (m *chunkMaker) stop(cancel context.CancelFunc) {
	cancel()
	m.workers.Wait()
	for out := range m.order {
		if made := <-out; made.chunk != nil {
			made.chunk.free()
		}
	}
}

// make makes the new chunk of a column in a row group.
func (r *Rewriter) make(ctx context.Context, rep *replacement, g int, dir string) (c *newChunk, err error) {
	defer guard(ErrMalformed, fmt.Sprintf("column %q", rep.name), &err)
	d, why, err := r.dictionaryOf(ctx, rep, g)
	if err == nil && d != nil {
		c, why, err = r.replaceDictionary(ctx, rep, d, dir)
	}
	if err == nil && c == nil {
		c, err = r.encode(ctx, rep, g, dir)
	}
	if c != nil {
		c.why = why
	}
	return c, err
}
