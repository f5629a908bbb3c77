package tablefile

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
)

// Arrow metadata is FlatBuffers data. The library follows its offsets and takes its counts as they are: a wrong count makes it ask for so
// much memory that the run-time system ends the process. So metadata is walked here first, with every count held against the bytes that are
// there. Slot numbers are those of Arrow's format/{Schema,Message,File}.fbs.

var errFlat = errors.New("metadata leads outside its bytes")

// flat walks one FlatBuffers buffer. After a step outside the buffer bad is set and every value read is 0.
type flat struct {
	b     []byte
	bad   bool
	steps int // tables that may still be visited: shared ones could make a small buffer a huge tree
	dicts map[int64]int
	// What follows is for whoever asks which column a dictionary belongs to.
	column int
	owners map[int64][]int
}

func newFlat(b []byte) *flat { return &flat{b: b, steps: len(b)} }

func (f *flat) bytes(at, n int) []byte {
	if f.bad || at < 0 || n < 0 || at > len(f.b)-n {
		f.bad = true
		return make([]byte, 8)
	}
	return f.b[at : at+n]
}

func (f *flat) u8(at int) byte    { return f.bytes(at, 1)[0] }
func (f *flat) u16(at int) int    { return int(binary.LittleEndian.Uint16(f.bytes(at, 2))) }
func (f *flat) u32(at int) int    { return int(binary.LittleEndian.Uint32(f.bytes(at, 4))) }
func (f *flat) i32(at int) int    { return int(int32(binary.LittleEndian.Uint32(f.bytes(at, 4)))) }
func (f *flat) i64(at int) int64  { return int64(binary.LittleEndian.Uint64(f.bytes(at, 8))) }
func (f *flat) follow(at int) int { return at + f.u32(at) }

// field gives the position of a table's field, or 0 when the table does not have it.
func (f *flat) field(table, slot int) int {
	vtable := table - f.i32(table)
	if 4+2*slot+2 > f.u16(vtable) {
		return 0
	}
	off := f.u16(vtable + 4 + 2*slot)
	if off == 0 || f.bad {
		return 0
	}
	return table + off
}

// table gives the table that a field points to, or 0 when it is absent.
func (f *flat) table(table, slot int) int {
	at := f.field(table, slot)
	if at == 0 {
		return 0
	}
	if f.steps--; f.steps < 0 {
		f.bad = true
	}
	return f.follow(at)
}

// vector gives the first element and the number of elements of size bytes that a field points to.
func (f *flat) vector(table, slot, size int) (first, n int) {
	at := f.field(table, slot)
	if at == 0 {
		return 0, 0
	}
	at = f.follow(at)
	n = f.u32(at)
	if f.bad || n > (len(f.b)-at-4)/size {
		f.bad = true
		return 0, 0
	}
	return at + 4, n
}

// each calls visit for every table of a vector of tables.
func (f *flat) each(table, slot int, visit func(table int)) {
	first, n := f.vector(table, slot, 4)
	for i := 0; i < n && !f.bad; i++ {
		if f.steps--; f.steps < 0 {
			f.bad = true
			return
		}
		visit(f.follow(first + 4*i))
	}
}

// keyValues checks a vector of pairs of strings.
func (f *flat) keyValues(table, slot int) {
	f.each(table, slot, func(pair int) {
		f.vector(pair, 0, 1)
		f.vector(pair, 1, 1)
	})
}

// Values of the enumeration Type.
const (
	flatUnion      = 14
	flatBinaryView = 23
	flatUtf8View   = 24
)

const flatDepth = 64

// schema checks a Schema table and counts the view columns that a record batch of it has, nested ones included, and, in f.dicts, those that
// the batch of each dictionary has. Every one takes a count of buffers from the batch, and the library does not look whether it is there.
func (f *flat) schema(table int) (views int) {
	f.dicts, f.owners, f.column = map[int64]int{}, map[int64][]int{}, 0
	f.each(table, 1, func(field int) {
		views += f.schemaField(field, flatDepth)
		f.column++
	})
	f.keyValues(table, 2)
	return views
}

func (f *flat) schemaField(table, depth int) (views int) {
	if depth == 0 {
		f.bad = true
		return 0
	}
	f.vector(table, 0, 1)
	kind := byte(0)
	if at := f.field(table, 2); at != 0 {
		kind = f.u8(at)
	}
	if typ := f.table(table, 3); typ != 0 && kind == flatUnion {
		f.vector(typ, 1, 4)
	}
	if kind == flatBinaryView || kind == flatUtf8View {
		views = 1
	}
	f.each(table, 5, func(child int) { views += f.schemaField(child, depth-1) })
	f.keyValues(table, 6)
	if encoding := f.table(table, 4); encoding != 0 {
		id := int64(0)
		if at := f.field(encoding, 0); at != 0 {
			id = f.i64(at)
		}
		f.dicts[id] = max(f.dicts[id], views)
		f.owners[id] = append(f.owners[id], f.column)
		return 0
	}
	return views
}

// recordBatch checks a RecordBatch table against the length of its body and gives the number of its counts of view buffers.
func (f *flat) recordBatch(table int, body int64) (counts int) {
	if at := f.field(table, 0); at != 0 {
		if rows := f.i64(at); rows < 0 || rows > math.MaxInt32 {
			f.bad = true
		}
	}
	first, n := f.vector(table, 1, 16)
	for i := 0; i < n && !f.bad; i++ {
		f.bad = f.i64(first+16*i) < 0 || f.i64(first+16*i+8) < 0
	}
	first, buffers := f.vector(table, 2, 16)
	for i := 0; i < buffers && !f.bad; i++ {
		at, size := f.i64(first+16*i), f.i64(first+16*i+8)
		f.bad = at < 0 || size < 0 || size > body || at > body-size
	}
	first, counts = f.vector(table, 4, 8)
	for i := 0; i < counts && !f.bad; i++ {
		n := f.i64(first + 8*i)
		f.bad = n < 0 || n > int64(buffers)
	}
	return counts
}

// messageKind is the type of an IPC message.
type messageKind byte

const (
	schemaMessage     messageKind = 1
	dictionaryMessage messageKind = 2
	batchMessage      messageKind = 3
)

// messageInfo is what reading a message needs to know of it.
type messageInfo struct {
	kind  messageKind
	body  int64
	dict  int64 // of a dictionary message
	delta bool
	views int           // of a schema: view columns; of a batch or dictionary: counts of view buffers
	dicts map[int64]int // of a schema: view columns of each dictionary
	// owners are, of a schema, the columns that each dictionary belongs to; a nested one counts as its column of the table.
	owners map[int64][]int
}

// checkMessage checks the metadata of an IPC message.
func checkMessage(meta []byte) (messageInfo, error) {
	f := newFlat(meta)
	root := f.follow(0)
	var m messageInfo
	if at := f.field(root, 1); at != 0 {
		m.kind = messageKind(f.u8(at))
	}
	if at := f.field(root, 3); at != 0 {
		m.body = f.i64(at)
	}
	f.keyValues(root, 4)
	switch header := f.table(root, 2); m.kind {
	case schemaMessage:
		m.views = f.schema(header)
		m.dicts, m.owners = f.dicts, f.owners
	case batchMessage:
		m.views = f.recordBatch(header, m.body)
	case dictionaryMessage:
		if at := f.field(header, 0); at != 0 {
			m.dict = f.i64(at)
		}
		if at := f.field(header, 2); at != 0 {
			m.delta = f.u8(at) != 0
		}
		m.views = f.recordBatch(f.table(header, 1), m.body)
	default:
		f.bad = true
	}
	if f.bad || m.body < 0 {
		return m, errFlat
	}
	return m, nil
}

// fileBlock is where a file's footer says that a message lies.
type fileBlock struct{ at, meta, body int64 }

// checkFooter checks the footer of an IPC file and gives its schema as the metadata of a message, its dictionaries and its batches.
func checkFooter(footer []byte) (schema []byte, dicts, batches []fileBlock, err error) {
	f := newFlat(footer)
	root := f.follow(0)
	table := f.table(root, 1)
	f.schema(table)
	f.keyValues(root, 4)
	blocks := func(slot int) (out []fileBlock) {
		first, n := f.vector(root, slot, 24)
		for i := range n {
			at := first + 24*i
			out = append(out, fileBlock{f.i64(at), int64(f.i32(at + 8)), f.i64(at + 16)})
		}
		return out
	}
	dicts, batches = blocks(2), blocks(3)
	version := 0
	if at := f.field(root, 0); at != 0 {
		version = f.u16(at)
	}
	if f.bad || table == 0 {
		return nil, nil, nil, errFlat
	}
	return schemaMessageOf(footer, table, version), dicts, batches, nil
}

// schemaMessageOf makes the metadata of a schema message out of a footer and the position of the Schema table in it. Offsets of FlatBuffers are
// relative and lead forward, so a Message table put ahead of the footer can point into it.
func schemaMessageOf(footer []byte, schema, version int) []byte {
	const (
		vtable = 4
		table  = 16
		header = table + 8
		ahead  = 32 // a multiple of 8, so that the footer keeps its alignment
	)
	m := make([]byte, ahead, ahead+len(footer))
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	put32(m, table)
	put16(m[vtable:], 4+3*2)            // its own size: three slots
	put16(m[vtable+2:], header+4-table) // the table's size
	put16(m[vtable+4:], 4)              // slot 0, version
	put16(m[vtable+6:], 6)              // slot 1, type of the header
	put16(m[vtable+8:], header-table)   // slot 2, header
	put32(m[table:], table-vtable)
	put16(m[table+4:], uint16(version))
	m[table+6] = byte(schemaMessage)
	put32(m[header:], uint32(ahead+schema-header))
	return append(m, footer...)
}

// checkStoredSchema checks the Arrow schema that Parquet files keep as an IPC message in base64.
func checkStoredSchema(text string) error {
	msg, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		if msg, err = base64.RawStdEncoding.DecodeString(text); err != nil {
			return errors.New("not base64")
		}
	}
	meta, err := cutMessage(msg)
	if err != nil {
		return err
	}
	m, err := checkMessage(meta)
	if err == nil && m.kind != schemaMessage {
		err = errFlat
	}
	return err
}

// cutMessage gives the metadata of the message at the start of b, which may lack the continuation mark, as before version 0.15.
func cutMessage(b []byte) ([]byte, error) {
	f := newFlat(b)
	size, at := f.u32(0), 4
	if size == math.MaxUint32 {
		size, at = f.u32(4), 8
	}
	meta := f.bytes(at, size)
	if f.bad {
		return nil, errFlat
	}
	return meta, nil
}
