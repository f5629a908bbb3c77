package mask

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Eval computes the whole column. The result has in.Len rows; NULL rows have
// zeroed or no bytes; no buffer of the input is aliased or kept. in may be nil
// for an expression without {col}: then one row is computed. The rows are
// split over at most o.Threads goroutines, and the answer does not depend on
// the split. The context is polled between chunks of rows.
//
// Errors wrap ErrVector or ErrType (in is malformed or not of the compiled
// type), ErrTooLarge, ErrInternal, or the context's error.
func (p *Program) Eval(ctx context.Context, in *Vector, o EvalOptions) (out *Vector, err error) {
	if in == nil {
		return p.EvalColumns(ctx, nil, o)
	}
	return p.EvalColumns(ctx, []*Vector{in}, o)
}

// EvalColumns is Eval for a program of CompileColumns: one vector for each
// column that it was compiled for, in that order, all of the same length. A
// column that the expression does not use may be nil.
func (p *Program) EvalColumns(ctx context.Context, cols []*Vector, o EvalOptions) (out *Vector, err error) {
	r := runs.Get().(*run)
	defer r.end()
	r.ctx, r.threads, r.alloc, r.limit, r.wide, r.step = ctx, o.Threads, o.Alloc, o.Limit, o.Large, p.root.name
	if r.limit <= 0 || r.limit > math.MaxInt32 {
		r.limit = math.MaxInt32
	}
	defer func() {
		if x := recover(); x != nil {
			err = internal(r.step, x)
		}
		if err != nil {
			out = nil
			r.free()
		}
	}()
	rows, any := 1, false
	r.columns(len(p.in))
	for i, in := range cols {
		switch {
		case i >= len(p.in):
			return nil, fmt.Errorf("%s: %w: %d columns given for %d", p.root.name, ErrVector, len(cols), len(p.in))
		case in == nil:
			continue
		case any && in.Len != rows:
			return nil, fmt.Errorf("{%s}: %w: %d rows, other columns have %d", p.in[i].Name, ErrVector, in.Len, rows)
		}
		rows, any = in.Len, true
		r.checked[i] = *in
		in = &r.checked[i]
		if err = in.check(); err != nil {
			if len(p.in) > 1 {
				err = fmt.Errorf("{%s}: %w", p.in[i].Name, err)
			}
			return nil, fmt.Errorf("%s: %w", p.root.name, err)
		}
		if p.used[i] && in.Type != p.in[i].Type {
			return nil, fmt.Errorf("{%s}: %w: compiled for %s, got %s", p.in[i].Name, ErrType, p.in[i].Type, in.Type)
		}
		r.cols[i] = in
		r.wide = r.wide || in.Type.bytes() && in.Layout == LayoutOffsets64
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.root.name, err)
	}
	constant := true
	for i, used := range p.used {
		if constant = constant && !used; used && r.cols[i] == nil {
			return nil, fmt.Errorf("%s: %w: no column given for {%s}", p.root.name, ErrVector, p.in[i].Name)
		}
	}
	if !constant {
		return r.eval(p.root, true)
	}
	// A constant: one row is computed, then repeated.
	one, err := r.eval(p.root, false)
	if err != nil {
		return nil, err
	}
	r.final = true
	return r.repeat(one, rows)
}

// internal is the error for a caught panic. Its text leaves the panic's value
// out: that may hold a cell.
func internal(step string, x any) error {
	return fmt.Errorf("%s: %w (%T)", step, ErrInternal, x)
}

// run is one evaluation.
type run struct {
	ctx     context.Context
	threads int
	limit   int64 // bytes behind 32-bit offsets
	wide    bool  // outputs have 64-bit offsets
	step    string
	cols    []*Vector // nil for one that is not used
	checked []Vector  // what they point at

	// Only the result comes from alloc; what an inner step makes is garbage
	// once the next step has read it.
	alloc Allocator
	final bool
	held  [][]byte // from alloc, to be freed after an error
}

// runs are used again: a batch of a few rows costs little more than its result.
var runs = sync.Pool{New: func() any { return new(run) }}

// columns makes room for n columns.
func (r *run) columns(n int) {
	if cap(r.cols) < n {
		r.cols, r.checked = make([]*Vector, n), make([]Vector, n)
	}
	r.cols, r.checked = r.cols[:n], r.checked[:n]
}

// end lets go of everything that is the caller's. All goroutines have ended.
func (r *run) end() {
	clear(r.cols)
	clear(r.checked)
	clear(r.held)
	*r = run{cols: r.cols[:0], checked: r.checked[:0], held: r.held[:0]}
	runs.Put(r)
}

func (r *run) eval(n *node, root bool) (*Vector, error) {
	switch {
	case n.op != nil:
	case n.lit != nil:
		return n.lit.vector(), nil
	default:
		return r.cols[n.col], nil
	}
	from := n.arg
	if n.reads != nil {
		from = n.reads
	}
	in, err := r.eval(from, false)
	if err != nil {
		return nil, err
	}
	if n.also == nil {
		r.step, r.final = n.name, root
		return n.op.eval(r, in)
	}
	ins := []*Vector{in}
	for _, a := range n.also {
		if in, err = r.eval(a, false); err != nil {
			return nil, err
		}
		ins = append(ins, in)
	}
	r.step, r.final = n.name, root
	return n.op.(rowsOp).evalRows(r, ins)
}

// bytes is a buffer of n bytes with unspecified content; nil for none.
func (r *run) bytes(n int) []byte {
	if n == 0 {
		return nil
	}
	if r.alloc == nil || !r.final {
		return make([]byte, n)
	}
	b := r.alloc.Allocate(n)
	r.held = append(r.held, b)
	return b[:n:n]
}

// release gives a buffer of bytes back that is not part of the result.
func (r *run) release(b []byte) {
	if i := slices.IndexFunc(r.held, func(h []byte) bool { return len(b) > 0 && &h[0] == &b[0] }); i >= 0 {
		r.alloc.Free(r.held[i])
		r.held = slices.Delete(r.held, i, i+1)
	}
}

func (r *run) free() {
	for _, b := range r.held {
		r.alloc.Free(b)
	}
	r.held = r.held[:0]
}

// fixed is the size of rows values of width bytes, or ErrTooLarge.
func (r *run) fixed(rows, width int) (int, error) {
	if width > 0 && rows > maxSize/width {
		return 0, fmt.Errorf("%s: %w: %d values of %d bytes", r.step, ErrTooLarge, rows, width)
	}
	return rows * width, nil
}

// each calls work for chunks of at most size rows, in any order, on up to
// r.threads goroutines. It polls the context before each chunk, turns a panic
// into an error and returns when all work has ended.
func (r *run) each(rows, size int, work func(chunk, lo, hi int) error) error {
	chunks := (rows + size - 1) / size
	threads := min(r.threads, chunks)
	if threads <= 1 {
		for c := range chunks {
			if err := r.chunk(c, rows, size, work); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next  atomic.Int64
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	for range threads {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				c := int(next.Add(1)) - 1
				if c >= chunks {
					return
				}
				if err := r.chunk(c, rows, size, work); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(chunks)) // nobody starts another
					return
				}
			}
		}()
	}
	wg.Wait()
	return first
}

func (r *run) chunk(c, rows, size int, work func(chunk, lo, hi int) error) (err error) {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.step, err)
	}
	defer func() {
		if x := recover(); x != nil {
			err = internal(r.step, x)
		}
	}()
	return work(c, c*size, min(rows, (c+1)*size))
}
