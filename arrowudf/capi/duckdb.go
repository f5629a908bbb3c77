//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
	"github.com/arrowmask/arrowmask/mask"
)

// sqlFunction is a function in SQL of a DuckDB database: of one name, or, for
// am_eval, of an expression that comes with the call. Its programs are compiled
// once for each argument that it is called with.
type sqlFunction struct {
	handle
	name string

	mu       sync.RWMutex
	programs map[string]*sqlProgram
}

type sqlProgram struct {
	*mask.Program
	threads int
}

// maxPrograms bounds the programs that a function keeps.
const maxPrograms = 1000

//export am_go_duckdb_new
func am_go_duckdb_new(name *C.char, out *C.arrowmask_handle) C.int {
	f := &sqlFunction{name: C.GoString(name), programs: map[string]*sqlProgram{}}
	return create(out, f, func() error { return nil })
}

// program is the function for an argument: a number or NULL, none, or an
// expression; options are those of a kernel.
func (f *sqlFunction) program(arg, options []byte) (*sqlProgram, error) {
	var buf [128]byte
	key := append(append(append(buf[:0], options...), 0), arg...)
	f.mu.RLock()
	p := f.programs[string(key)]
	f.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := f.compile(string(arg), string(options))
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.programs) >= maxPrograms {
		clear(f.programs)
	}
	f.programs[string(key)] = p
	return p, nil
}

func (f *sqlFunction) compile(arg, options string) (*sqlProgram, error) {
	var o runOptions
	if options != "" {
		if err := parseJSON(options, &o); err != nil {
			return nil, err
		}
	}
	expr := arg
	switch {
	case f.name != "" && arg != "":
		expr = f.name + "({col}, " + arg + ")"
	case f.name != "":
		expr = f.name + "({col})"
	}
	e, err := mask.Parse(expr)
	if err != nil {
		return nil, err
	}
	p, err := mask.Compile(e, mask.Type{Kind: mask.Text}, mask.Options{Dialect: o.Dialect, Backend: o.Backend})
	if err != nil {
		return nil, err
	}
	if p.Out().Kind != mask.Text {
		return nil, fmt.Errorf("%w: the result is %s, SQL wants text", mask.ErrType, p.Out())
	}
	return &sqlProgram{p, o.Threads}, nil
}

// am_go_duckdb_call evaluates a chunk. After an error *text says why, for free;
// it is NULL without memory.
//
//export am_go_duckdb_call
func am_go_duckdb_call(h C.arrowmask_handle, arg *C.char, argLen C.uint32_t, options *C.char, optionsLen C.uint32_t, chunk *C.struct_am_duckdb_chunk, text **C.char) C.int {
	err := caught(func() error {
		f, err := find[*sqlFunction](h)
		if err != nil {
			return err
		}
		p, err := f.program(bytesOf(arg, int(argLen)), bytesOf(options, int(optionsLen)))
		if err != nil {
			return err
		}
		return p.run(chunk)
	})
	if err != nil {
		*text = cText(err.Error())
	}
	return code(err)
}

func bytesOf[P *C.char | *C.uint8_t](p P, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n)
}

// run evaluates a chunk of rows in memory of C's into such memory.
func (p *sqlProgram) run(c *C.struct_am_duckdb_chunk) error {
	n := int(c.rows)
	offsets := unsafe.Slice((*int32)(unsafe.Pointer(c.in_offsets)), n+1)
	in := mask.Vector{
		Type: mask.Type{Kind: mask.Text}, Len: n,
		Layout: mask.LayoutOffsets32, Offsets32: offsets, Data: bytesOf(c.in_data, int(offsets[n])),
	}
	if c.in_valid != nil {
		in.ValidOffset, in.Nulls = int(c.in_bit), -1
		in.Valid = bytesOf(c.in_valid, (in.ValidOffset+n+7)/8)
	}
	memory := chunkMemory{all: bytesOf(c.memory, int(c.memory_size))}
	out, err := p.Eval(context.Background(), &in, mask.EvalOptions{Threads: p.threads, Alloc: &memory})
	if err != nil {
		return err
	}
	copy(unsafe.Slice((*int32)(unsafe.Pointer(c.out_offsets)), n+1), out.Offsets32)
	c.out_nulls = C.bool(out.Valid != nil)
	copy(bytesOf(c.out_valid, (n+7)/8), out.Valid)
	if len(out.Data) > 0 && !memory.holds(out.Data) {
		if !C.am_duckdb_reserve(c, C.size_t(memory.wanted)) {
			return cdata.ErrMemory
		}
		out.Data = append(bytesOf(c.memory, int(c.memory_size))[:0], out.Data...)
	}
	c.out_data = (*C.char)(unsafe.Pointer(unsafe.SliceData(out.Data)))
	return nil
}

// chunkMemory is an allocator of a thread's memory, as far as it reaches, then of
// Go's.
type chunkMemory struct {
	all    []byte
	wanted int // bytes asked for so far
}

func (m *chunkMemory) Allocate(size int) []byte {
	from := m.wanted
	if m.wanted += size; m.wanted > len(m.all) {
		return make([]byte, size)
	}
	return m.all[from:m.wanted:m.wanted]
}

func (m *chunkMemory) Free([]byte) {}

// holds reports whether b lies in the thread's memory.
func (m *chunkMemory) holds(b []byte) bool {
	at, base := uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(m.all)))
	return at >= base && at-base < uintptr(len(m.all))
}
