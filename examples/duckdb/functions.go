package main

import (
	"context"
	"database/sql"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/arrowmask/arrowmask/mask"
)

// function is a mask expression as a vectorized scalar function of text. DuckDB
// calls it from several threads, a chunk of up to 2048 rows at a time.
type function struct {
	program *mask.Program
	text    duckdb.TypeInfo
	scratch sync.Pool // of *mask.Vector
}

// register adds an expression over {col} to a connection under a name.
func register(conn *sql.Conn, name, expr string) error {
	e, err := mask.Parse(expr)
	if err != nil {
		return err
	}
	f := &function{}
	if f.program, err = mask.Compile(e, mask.Type{Kind: mask.Text}, mask.Options{}); err != nil {
		return err
	}
	if f.text, err = duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR); err != nil {
		return err
	}
	f.scratch.New = func() any { return &mask.Vector{} }
	return duckdb.RegisterScalarUDF(conn, name, f)
}

// Config says: one text in, one text out, NULLs are ours to answer.
func (f *function) Config() duckdb.ScalarFuncConfig {
	return duckdb.ScalarFuncConfig{
		InputTypeInfos:      []duckdb.TypeInfo{f.text},
		ResultTypeInfo:      f.text,
		SpecialNullHandling: true,
	}
}

// Executor answers a chunk at a time.
func (f *function) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{ChunkContextExecutor: f.chunk}
}

func (f *function) chunk(ctx context.Context, state *duckdb.ChunkIteratorState) error {
	column, err := state.GetInputChunk().GetVector(0)
	if err != nil {
		return err
	}
	view, err := duckdb.GetVectorView[string](column)
	if err != nil {
		return err
	}
	in := f.scratch.Get().(*mask.Vector)
	defer func() {
		clear(in.Data) // values of a query do not outlive it
		f.scratch.Put(in)
	}()
	if err := gather(view, in); err != nil {
		return err
	}
	out, err := f.program.Eval(ctx, in, mask.EvalOptions{})
	if err != nil {
		return err
	}
	result, err := duckdb.GetVectorWriter[string](state.GetResultVector())
	if err != nil {
		return err
	}
	return scatter(out, result)
}

// gather copies a chunk of DuckDB's strings into one buffer and offsets.
func gather(view duckdb.VectorView[string], v *mask.Vector) error {
	n := view.Len()
	v.Type, v.Layout, v.Len, v.Nulls = mask.Type{Kind: mask.Text}, mask.LayoutOffsets32, n, 0
	v.Data, v.Offsets32, v.Valid = v.Data[:0], append(v.Offsets32[:0], 0), v.Valid[:0]
	for range (n + 7) / 8 {
		v.Valid = append(v.Valid, 0)
	}
	for i := range n {
		s, ok, err := view.GetValueBorrowed(i)
		if err != nil {
			return err
		}
		if ok {
			v.Valid[i/8] |= 1 << (i % 8)
			v.Data = append(v.Data, s...)
		} else {
			v.Nulls++
		}
		v.Offsets32 = append(v.Offsets32, int32(len(v.Data)))
	}
	return nil
}

// scatter writes a result into DuckDB's vector, which copies every value.
func scatter(v *mask.Vector, to duckdb.VectorWriter[string]) error {
	text := string(v.Data) // once a chunk, not once a row
	for i := range v.Len {
		var err error
		if v.IsNull(i) {
			err = to.SetNull(i)
		} else {
			err = to.Set(i, text[v.Offsets32[i]:v.Offsets32[i+1]])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
