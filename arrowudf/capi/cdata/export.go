package cdata

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Exporter writes structures that outlive this process's interest in them. It
// is read-only and safe for any number of goroutines.
type Exporter struct {
	// Alloc gives size bytes outside of Go's heap, or nil; Free takes them back.
	Alloc func(size int) unsafe.Pointer
	Free  func(unsafe.Pointer)
	// ReleaseSchema and ReleaseArray are the addresses of C functions that
	// release the children and the dictionary that are not released yet, free
	// private_data, which is one block from Alloc, and set release to NULL. The
	// block of an array begins with the number of further blocks (int64_t) and
	// their addresses, which go with it.
	ReleaseSchema, ReleaseArray uintptr
	// Adopt gives a buffer's memory away where it is a whole block from Alloc:
	// such a buffer is not copied. nil: every buffer is copied.
	Adopt func(buffer []byte) bool
}

// align is where buffers begin in a block, as the Arrow format recommends.
const align = 64

// block is the memory of one structure, handed out from the front.
type block struct {
	base, next, end uintptr // base is what Alloc gave
}

func (e *Exporter) block(size int) (*block, error) {
	p := e.Alloc(size)
	if p == nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrMemory, size)
	}
	return &block{base: uintptr(p), next: uintptr(p), end: uintptr(p) + uintptr(size)}, nil
}

// take hands out n bytes at a multiple of to.
func (b *block) take(n, to int) uintptr {
	at := (b.next + uintptr(to) - 1) &^ (uintptr(to) - 1)
	if b.next = at + uintptr(n); b.next > b.end {
		panic("cdata: block too small")
	}
	return at
}

// put hands out a copy of what; its address is never 0.
func (b *block) put(what []byte, to int) uintptr {
	at := b.take(len(what), to)
	copy(view(&at, len(what)), what)
	return at
}

// places hands out n structures of size bytes and the C array of their
// addresses; all bytes of the structures are 0.
func (b *block) places(n, size int) (list uintptr) {
	if n == 0 {
		return 0
	}
	first := b.take(n*size, 8)
	clear(view(&first, n*size))
	list = b.take(n*8, 8)
	for i := range n {
		*element(&list, i) = first + uintptr(i*size)
	}
	return list
}

const (
	schemaSize = int(unsafe.Sizeof(Schema{}))
	arraySize  = int(unsafe.Sizeof(Array{}))
)

// Field writes the schema of a column into out, which need not be initialised.
// After an error out is marked as released.
func (e *Exporter) Field(f arrow.Field, out *Schema) error {
	*out = Schema{}
	format, err := formatOf(f.Type)
	if err != nil {
		return err
	}
	if ext, ok := f.Type.(arrow.ExtensionType); ok {
		f.Type = ext.StorageType()
	}
	children := childFields(f.Type)
	meta := exportMetadata(f.Metadata)
	size := len(format) + len(f.Name) + 2 + len(meta) + len(children)*(schemaSize+8) + schemaSize + 64
	b, err := e.block(size)
	if err != nil {
		return err
	}
	out.Private, out.Release = b.base, e.ReleaseSchema
	out.Children, out.NChildren = b.places(len(children), schemaSize), int64(len(children))
	dict, isDict := f.Type.(*arrow.DictionaryType)
	if isDict {
		place := b.places(1, schemaSize)
		out.Dictionary = *element(&place, 0)
	}
	if len(meta) > 0 {
		out.Metadata = b.put(meta, 8)
	}
	out.Format = b.put(append([]byte(format), 0), 1)
	out.Name = b.put(append([]byte(f.Name), 0), 1)
	if f.Nullable {
		out.Flags |= FlagNullable
	}
	if m, ok := f.Type.(*arrow.MapType); ok && m.KeysSorted {
		out.Flags |= FlagMapKeysSorted
	}
	for i, c := range children {
		if err := e.Field(c, (*Schema)(pointer(element(&out.Children, i)))); err != nil {
			e.DropSchema(out)
			return err
		}
	}
	if isDict {
		if dict.Ordered {
			out.Flags |= FlagDictionaryOrdered
		}
		if err := e.Field(arrow.Field{Type: dict.ValueType, Nullable: true}, (*Schema)(pointer(&out.Dictionary))); err != nil {
			e.DropSchema(out)
			return err
		}
	}
	return nil
}

// Schema writes the schema of a table, a struct of its columns, into out.
func (e *Exporter) Schema(s *arrow.Schema, out *Schema) error {
	return e.Field(arrow.Field{Type: arrow.StructOf(s.Fields()...), Metadata: s.Metadata()}, out)
}

func exportMetadata(md arrow.Metadata) []byte {
	if md.Len() == 0 {
		return nil
	}
	b := binary.NativeEndian.AppendUint32(nil, uint32(md.Len()))
	for i, key := range md.Keys() {
		for _, word := range []string{key, md.Values()[i]} {
			b = append(binary.NativeEndian.AppendUint32(b, uint32(len(word))), word...)
		}
	}
	return b
}

// Array writes array data into out, which need not be initialised. After an
// error out is marked as released. Buffers that Adopt gave away are out's; all
// others are copied. In either case d stays the caller's to release.
func (e *Exporter) Array(d arrow.ArrayData, out *Array) error {
	bufs := buffersOf(d)
	children := d.Children()
	size := 8 + 4*8*len(bufs) + 3*align + arraySize + 16
	for _, b := range bufs {
		if e.Adopt == nil || len(b.bytes) < adoptFrom {
			size += len(b.bytes) + b.least + align
		}
	}
	size += len(children) * (arraySize + 8)
	*out = Array{}
	b, err := e.block(size)
	if err != nil {
		return err
	}
	*out = Array{
		Length: int64(d.Len()), Offset: int64(d.Offset()), NullCount: int64(d.NullN()),
		NBuffers: int64(len(bufs)), NChildren: int64(len(children)),
		Private: b.base, Release: e.ReleaseArray,
	}
	if d.DataType().ID() == arrow.NULL {
		out.NullCount = out.Length
	}
	further := b.take(8+8*len(bufs), 8)
	*element(&further, 0) = 0
	out.Children = b.places(len(children), arraySize)
	dict := d.Dictionary()
	hasDict := d.DataType().ID() == arrow.DICTIONARY
	if hasDict {
		place := b.places(1, arraySize)
		out.Dictionary = *element(&place, 0)
	}
	if len(bufs) > 0 {
		out.Buffers = b.take(8*len(bufs), 8)
		for i, buf := range bufs {
			*element(&out.Buffers, i) = 0
			switch {
			case buf.absent:
			case e.Adopt == nil || len(buf.bytes) < adoptFrom:
				*element(&out.Buffers, i) = buf.put(b)
			default:
				at, err := e.adopt(buf.bytes)
				if err != nil {
					e.DropArray(out)
					return err
				}
				*element(&out.Buffers, i) = at
				n := *element(&further, 0) + 1
				*element(&further, 0), *element(&further, int(n)) = n, at
			}
		}
	}
	for i, c := range children {
		if err := e.Array(c, (*Array)(pointer(element(&out.Children, i)))); err != nil {
			e.DropArray(out)
			return err
		}
	}
	if hasDict {
		if err := e.Array(dict, (*Array)(pointer(&out.Dictionary))); err != nil {
			e.DropArray(out)
			return err
		}
	}
	return nil
}

// adoptFrom is the size from which a buffer has a block of its own.
const adoptFrom = 1024

// adopt is the address of a buffer's bytes in a block of their own: the one that
// they are in, or a copy.
func (e *Exporter) adopt(buf []byte) (uintptr, error) {
	if e.Adopt(buf) {
		return uintptr(unsafe.Pointer(unsafe.SliceData(buf))), nil
	}
	b, err := e.block(len(buf))
	if err != nil {
		return 0, err
	}
	return b.put(buf, 1), nil
}

// Table writes an array of struct type with n rows into out and returns the
// places of its columns, which the caller fills by Array or Move.
func (e *Exporter) Table(n int64, columns int, out *Array) ([]*Array, error) {
	*out = Array{}
	b, err := e.block(columns*(arraySize+8) + 40)
	if err != nil {
		return nil, err
	}
	*out = Array{Length: n, NBuffers: 1, NChildren: int64(columns), Private: b.base, Release: e.ReleaseArray}
	further := b.take(8, 8)
	*element(&further, 0) = 0
	out.Buffers = b.take(8, 8)
	*element(&out.Buffers, 0) = 0
	out.Children = b.places(columns, arraySize)
	places := make([]*Array, columns)
	for i := range places {
		places[i] = out.Child(i)
	}
	return places, nil
}

// DropSchema and DropArray release what this Exporter wrote and nobody moved.
func (e *Exporter) DropSchema(s *Schema) {
	if s == nil || s.Release == 0 {
		return
	}
	for i := range int(s.NChildren) {
		e.DropSchema((*Schema)(pointer(element(&s.Children, i))))
	}
	e.DropSchema((*Schema)(pointer(&s.Dictionary)))
	e.Free(pointer(&s.Private))
	*s = Schema{}
}

// DropArray is for arrays what DropSchema is for schemas.
func (e *Exporter) DropArray(a *Array) {
	if a == nil || a.Release == 0 {
		return
	}
	for i := range int(a.NChildren) {
		e.DropArray(a.Child(i))
	}
	e.DropArray((*Array)(pointer(&a.Dictionary)))
	for i := range int(*element(&a.Private, 0)) {
		e.Free(pointer(element(&a.Private, 1+i)))
	}
	e.Free(pointer(&a.Private))
	*a = Array{}
}

// part is a buffer of an array that is being exported.
type part struct {
	bytes  []byte
	least  int  // bytes that must be there, as the one offset of an empty array
	absent bool // a NULL pointer, allowed for validity
}

func (p part) put(b *block) uintptr {
	if len(p.bytes) >= p.least {
		return b.put(p.bytes, align)
	}
	at := b.take(p.least, align)
	dst := view(&at, p.least)
	clear(dst[copy(dst, p.bytes):])
	return at
}

// buffersOf lists the buffers in the order of the interface.
func buffersOf(d arrow.ArrayData) []part {
	raw := d.Buffers()
	at := func(i int) []byte {
		if i < len(raw) && raw[i] != nil {
			return raw[i].Bytes()
		}
		return nil
	}
	validity := part{bytes: at(0)}
	validity.absent = len(validity.bytes) == 0
	switch id := d.DataType().ID(); id {
	case arrow.NULL, arrow.RUN_END_ENCODED:
		return nil
	case arrow.SPARSE_UNION:
		return []part{{bytes: at(1)}}
	case arrow.DENSE_UNION:
		return []part{{bytes: at(1)}, {bytes: at(2)}}
	case arrow.STRUCT, arrow.FIXED_SIZE_LIST:
		return []part{validity}
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return []part{validity, {bytes: at(1), least: offsetWidth(d.DataType())}, {bytes: at(2)}}
	case arrow.LIST, arrow.MAP, arrow.LARGE_LIST:
		return []part{validity, {bytes: at(1), least: offsetWidth(d.DataType())}}
	case arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return []part{validity, {bytes: at(1)}, {bytes: at(2)}}
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		parts := []part{validity, {bytes: at(1)}}
		var lengths []byte
		for _, b := range raw[2:] {
			parts = append(parts, part{bytes: bytesOf(b)})
			lengths = binary.NativeEndian.AppendUint64(lengths, uint64(len(bytesOf(b))))
		}
		return append(parts, part{bytes: lengths})
	}
	return []part{validity, {bytes: at(1)}}
}

func bytesOf(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}
