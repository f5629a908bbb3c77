package arrowudf

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/arrowmask/arrowmask/mask"
)

// node evaluates one encoding of a column. It is read-only.
type node interface {
	out() arrow.DataType
	eval(r *run, d arrow.ArrayData) (arrow.ArrayData, error)
}

// run is one evaluation.
type run struct {
	ctx   context.Context
	alloc *allocator
	opts  mask.EvalOptions
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
	v, err := p.view(d)
	if err != nil {
		return nil, err
	}
	if v, err = p.run(r, v); err != nil {
		return nil, err
	}
	return wrap(v, p.result, r.alloc)
}

// view views array data of the node's type, or of an extension type over it.
func (p *plain) view(d arrow.ArrayData) (*mask.Vector, error) {
	if dt := storage(d.DataType()); !arrow.TypeEqual(dt, p.in) {
		return nil, fmt.Errorf("%w: values of %s in a column of %s", ErrArray, dt, p.in)
	}
	return vector(d, p.in, p.inMask)
}

// run evaluates the program and holds the answer against what was declared.
func (p *plain) run(r *run, in *mask.Vector) (*mask.Vector, error) {
	o := r.opts
	o.Large = p.large
	v, err := p.prog.EvalColumns(r.ctx, slices.Repeat([]*mask.Vector{in}, p.names), o)
	if err != nil {
		return nil, err
	}
	if v.Len != in.Len {
		return nil, fmt.Errorf("%w: %d rows in, %d out", mask.ErrInternal, in.Len, v.Len)
	}
	return v, nil
}
