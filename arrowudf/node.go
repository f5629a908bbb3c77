package arrowudf

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/mask"
)

// node evaluates one encoding of a column. It is read-only.
type node interface {
	out() arrow.DataType
	eval(r *run, d arrow.ArrayData) (arrow.ArrayData, error)
}

// run is one evaluation, and what it needs for a while.
type run struct {
	ctx   context.Context
	alloc allocator
	opts  mask.EvalOptions
	in    mask.Vector // a plain column
	cols  [1]*mask.Vector
}

var runs = sync.Pool{New: func() any { return new(run) }}

// begin is a run with results in mem; end must follow.
func begin(ctx context.Context, o Options, mem memory.Allocator) *run {
	r := runs.Get().(*run)
	r.ctx, r.alloc.mem = ctx, mem
	r.opts = mask.EvalOptions{Alloc: &r.alloc, Threads: o.Threads, Limit: o.Limit}
	return r
}

// end frees what did not become part of a result.
func (r *run) end() {
	r.alloc.close()
	r.ctx, r.alloc.mem, r.opts, r.in, r.cols[0] = nil, nil, mask.EvalOptions{}, mask.Vector{}, nil
	runs.Put(r)
}

// plan chooses the node for a column type.
func plan(e *mask.Expr, dt arrow.DataType, o Options) (node, *plain, error) {
	switch t := storage(dt).(type) {
	case *arrow.DictionaryType:
		values, err := planPlain(e, t.ValueType, o)
		if err != nil {
			return nil, nil, err
		}
		n, err := newDictionary(t, values)
		return n, values, err
	case *arrow.RunEndEncodedType:
		values, err := planPlain(e, t.Encoded(), o)
		if err != nil {
			return nil, nil, err
		}
		n, err := newRunEnd(t, values)
		return n, values, err
	default:
		values, err := planPlain(e, t, o)
		return values, values, err
	}
}

// plain is a column with a value in every row.
type plain struct {
	prog   *mask.Program
	names  int            // of the column in the expression: each is a column of prog
	in     arrow.DataType // storage type
	inMask mask.Type
	result arrow.DataType
	large  bool // 64-bit offsets in the result
}

// planPlain compiles an expression in which every name is that of one column.
func planPlain(e *mask.Expr, dt arrow.DataType, o Options) (*plain, error) {
	p := &plain{in: storage(dt)}
	var err error
	if p.inMask, err = maskType(p.in); err != nil {
		return nil, err
	}
	cols := []mask.Column{{Type: p.inMask}} // without a name it only types a NULL
	for i, name := range e.Columns() {
		cols = append(cols[:i], mask.Column{Name: name, Type: p.inMask})
	}
	p.names = len(cols)
	p.prog, err = mask.CompileColumns(e, cols, maskOptions(o))
	if err != nil {
		return nil, err
	}
	if p.result, err = outType(p.prog.Out(), p.in, o.Large); err != nil {
		return nil, err
	}
	// A view column reaches any size through several buffers, if offsets do.
	p.large = isLarge(p.result) || o.Large
	return p, nil
}

func maskOptions(o Options) mask.Options {
	return mask.Options{Dialect: o.Dialect, Keys: o.Keys, Backend: o.Backend}
}

func (p *plain) out() arrow.DataType { return p.result }

func (p *plain) eval(r *run, d arrow.ArrayData) (arrow.ArrayData, error) {
	if err := p.viewTo(&r.in, d); err != nil {
		return nil, err
	}
	v, err := p.run(r, &r.in)
	if err != nil {
		return nil, err
	}
	return wrap(v, p.result, &r.alloc)
}

// view views array data of the node's type, or of an extension type over it.
func (p *plain) view(d arrow.ArrayData) (*mask.Vector, error) {
	v := &mask.Vector{}
	return v, p.viewTo(v, d)
}

func (p *plain) viewTo(v *mask.Vector, d arrow.ArrayData) error {
	if dt := storage(d.DataType()); !sameType(dt, p.in) {
		return fmt.Errorf("%w: values of %s in a column of %s", ErrArray, dt, p.in)
	}
	return vectorTo(v, d, p.in, p.inMask)
}

// run evaluates the program and holds the answer against what was declared.
func (p *plain) run(r *run, in *mask.Vector) (*mask.Vector, error) {
	o := r.opts
	o.Large = p.large
	r.cols[0] = in
	cols := r.cols[:]
	if p.names > 1 {
		cols = slices.Repeat(cols, p.names)
	}
	v, err := p.prog.EvalColumns(r.ctx, cols, o)
	if err != nil {
		return nil, err
	}
	if v.Len != in.Len {
		return nil, fmt.Errorf("%w: %d rows in, %d out", mask.ErrInternal, in.Len, v.Len)
	}
	return v, nil
}
