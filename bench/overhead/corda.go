package overhead

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
)

// corda is the report on Corda's serialisation: the schema was built and
// written with every object. Records of 24 fields, 3 of them masked by a hash,
// go into Arrow streams in batches.
//
//	arrowmask     masked batches into one stream: its schema is written once
//	plan-id       the same, with the id of the plan in the stream's metadata
//	new-writer    a new stream, with its schema, for every batch
//	from-records  batches built of Go structs first, then as arrowmask
//	json          encoding/json of the structs, one at a time, hashed row by row

// cordaRecord is one object.
type cordaRecord struct {
	F0, F1, F2, F3, F4, F5, F6, F7         string
	F8, F9, F10, F11, F12, F13, F14, F15   string
	F16, F17, F18, F19, F20, F21, F22, F23 string
}

func (r *cordaRecord) fields() [cordaFields]*string {
	return [cordaFields]*string{
		&r.F0, &r.F1, &r.F2, &r.F3, &r.F4, &r.F5, &r.F6, &r.F7, &r.F8, &r.F9, &r.F10, &r.F11,
		&r.F12, &r.F13, &r.F14, &r.F15, &r.F16, &r.F17, &r.F18, &r.F19, &r.F20, &r.F21, &r.F22, &r.F23,
	}
}

// mask hashes the first fields, as a row at a time does it.
func (r *cordaRecord) mask() {
	for i, f := range r.fields() {
		if i < cordaMasked {
			d := sha256.Sum256([]byte(*f))
			*f = hex.EncodeToString(d[:])
		}
	}
}

const cordaFields, cordaMasked = 24, 3

// cordaRows is how many records are written: a few batches at least.
func cordaRows(batch int) int { return max(4096, 4*batch) }

func corda(b *bench) error {
	sizes := []int{16, 256, 4096}
	if b.quick {
		sizes = sizes[1:2]
	}
	var table [][]string
	for _, n := range sizes {
		c, err := newCorda(cordaRows(n))
		if err != nil {
			return err
		}
		lines, err := c.cell(b, n)
		if err != nil {
			return fmt.Errorf("batches of %d rows: %w", n, err)
		}
		table = append(table, lines...)
	}
	key := result.Keys("work", "Corda", "figure", "records")
	for _, r := range []struct {
		side, unit string
		x          float64
	}{
		{"schema-each", "records/s", 2800}, {"schema-each", "B/row", 3869}, {"schema-each", "%schema", 90},
		{"json", "records/s", 99500}, {"json", "B/row", 1065},
	} {
		k := append(key[:len(key):len(key)], result.Key{Name: "of", Value: r.unit})
		if err := b.reported(k, r.side, r.unit, r.x); err != nil {
			return err
		}
	}
	b.table("Corda: records of 24 fields, 3 of them hashed, written out", []string{"rows a batch", "side", "krows/s", "B/row", "schemas", "schema bytes", "of all"}, table,
		"json and from-records begin with Go structs, the others with Arrow batches.",
		"The report: 2800 records/s of 3869 bytes with a schema each (90 % of the bytes), 99500 records/s of 1065 bytes as JSON; with the schema kept 8 to 10 times as fast.")
	return nil
}

type cordaData struct {
	records []cordaRecord
	schema  *arrow.Schema
	masker  *arrowudf.Masker
	tagged  *arrowudf.Masker // of a schema that carries the plan's id
	out     bytes.Buffer
}

func newCorda(rows int) (*cordaData, error) {
	c := &cordaData{records: make([]cordaRecord, rows)}
	rng := random(3869)
	for i := range c.records {
		for _, f := range c.records[i].fields() {
			*f = texts(rng, 1, 8, 24)[0]
		}
	}
	fields := make([]arrow.Field, cordaFields)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("F%d", i), Type: arrow.BinaryTypes.String}
	}
	c.schema = arrow.NewSchema(fields, nil)
	table, err := policy.NewTable([]string{"c", "db", "states"}, "", arrowudf.Columns(c.schema))
	if err != nil {
		return nil, err
	}
	var policies []object
	for i := range cordaMasked {
		policies = append(policies, exprPolicy(i, "states", fmt.Sprintf("F%d", i), "mask_hash({col})"))
	}
	rules, err := loadRules(1, policies)
	if err != nil {
		return nil, err
	}
	if c.masker, err = bind(rules, table, c.schema); err != nil {
		return nil, err
	}
	set, err := policy.NewSet(c.masker.Plan())
	if err != nil {
		return nil, err
	}
	md := arrow.NewMetadata([]string{"plan"}, []string{set.Hash().String()})
	c.tagged, err = bind(rules, table, arrow.NewSchema(fields, &md))
	return c, err
}

// batch is records as a batch.
func (c *cordaData) batch(schema *arrow.Schema, lo, hi int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Reserve(hi - lo)
	for i := lo; i < hi; i++ {
		for k, f := range c.records[i].fields() {
			b.Field(k).(*array.StringBuilder).Append(*f)
		}
	}
	return b.NewRecord()
}

func (c *cordaData) cell(b *bench, size int) ([][]string, error) {
	batches := make([]arrow.Record, 0, len(c.records)/size)
	for lo := 0; lo < len(c.records); lo += size {
		batches = append(batches, c.batch(c.schema, lo, lo+size))
	}
	defer func() {
		for _, x := range batches {
			x.Release()
		}
	}()
	given := func(i int) arrow.Record { batches[i].Retain(); return batches[i] }
	built := func(i int) arrow.Record { return c.batch(c.schema, i*size, (i+1)*size) }
	sides := []struct {
		name string
		run  func() error
	}{
		{result.Ours, func() error { return c.stream(b, c.masker, len(batches), given) }},
		{"plan-id", func() error { return c.stream(b, c.tagged, len(batches), given) }},
		{"new-writer", func() error { return c.streams(b, len(batches), given) }},
		{"from-records", func() error { return c.stream(b, c.masker, len(batches), built) }},
		{"json", c.json},
	}
	counts := make([]Streams, len(sides))
	rowBytes := make([]float64, len(sides))
	ways := make([]way, len(sides))
	for i, s := range sides {
		if err := s.run(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		rowBytes[i] = float64(c.out.Len()) / float64(len(c.records))
		extra := map[string]float64{"bytes_row": rowBytes[i]}
		if s.name != "json" {
			var err error
			if counts[i], err = CountStreams(c.out.Bytes()); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			extra["schemas"], extra["schema_bytes"], extra["schema_percent"] = float64(counts[i].Schemas), float64(counts[i].SchemaBytes), 100*counts[i].SchemaShare()
		}
		if err := c.check(s.name == "json"); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		ways[i] = way{name: s.name, ops: len(c.records), run: s.run, extra: extra}
	}
	// Of one stream per batch, each has the schema bytes of one.
	one, each := counts[0], counts[2]
	if one.Schemas != 1 || each.Schemas != len(batches) || each.SchemaBytes != len(batches)*one.SchemaBytes || each.BatchBytes != one.BatchBytes || counts[1].Schemas != 1 {
		return nil, fmt.Errorf("%d schemas of %d bytes in one stream, %d of %d in %d", one.Schemas, one.SchemaBytes, each.Schemas, each.SchemaBytes, each.Streams)
	}
	records, err := b.measure(result.Keys("work", "Corda", "rows", size), "ns/row", ways...)
	if err != nil {
		return nil, err
	}
	b.budget("O8", fmt.Sprintf("schemas-in-a-stream-of-batches-of-%d", size), "schemas", 1, float64(one.Schemas))
	var lines [][]string
	for i, r := range records {
		line := []string{strconv.Itoa(size), r.Side, result.Figure(1e6 / r.Median), result.Figure(rowBytes[i]), "-", "-", "-"}
		if r.Side != "json" {
			line[4], line[5], line[6] = strconv.Itoa(counts[i].Schemas), strconv.Itoa(counts[i].SchemaBytes), fmt.Sprintf("%.3f %%", 100*counts[i].SchemaShare())
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// stream masks batches into one stream.
func (c *cordaData) stream(b *bench, m *arrowudf.Masker, n int, batch func(int) arrow.Record) error {
	c.out.Reset()
	w := ipc.NewWriter(&c.out, ipc.WithSchema(m.Schema()))
	for i := range n {
		if err := c.put(b, m, w, batch(i)); err != nil {
			return err
		}
	}
	return w.Close()
}

// streams masks every batch into a stream of its own.
func (c *cordaData) streams(b *bench, n int, batch func(int) arrow.Record) error {
	c.out.Reset()
	for i := range n {
		w := ipc.NewWriter(&c.out, ipc.WithSchema(c.masker.Schema()))
		if err := c.put(b, c.masker, w, batch(i)); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// put masks a batch, which it takes over, into a stream.
func (c *cordaData) put(b *bench, m *arrowudf.Masker, w *ipc.Writer, batch arrow.Record) error {
	defer batch.Release()
	out, err := m.Mask(b.ctx, batch)
	if err != nil {
		return err
	}
	defer out.Release()
	return w.Write(out)
}

// json masks and encodes one record at a time.
func (c *cordaData) json() error {
	c.out.Reset()
	enc := json.NewEncoder(&c.out)
	for i := range c.records {
		r := c.records[i]
		r.mask()
		if err := enc.Encode(&r); err != nil {
			return err
		}
	}
	return nil
}

// check reads what was written and compares it with the records, masked one at
// a time.
func (c *cordaData) check(asJSON bool) error {
	var got []cordaRecord
	if asJSON {
		dec := json.NewDecoder(bytes.NewReader(c.out.Bytes()))
		for dec.More() {
			var r cordaRecord
			if err := dec.Decode(&r); err != nil {
				return err
			}
			got = append(got, r)
		}
	} else {
		in := bytes.NewReader(c.out.Bytes())
		for in.Len() > 0 {
			r, err := ipc.NewReader(in)
			if err != nil {
				return err
			}
			for r.Next() {
				for row := range int(r.Record().NumRows()) {
					var rec cordaRecord
					for k, f := range rec.fields() {
						*f = r.Record().Column(k).(*array.String).Value(row)
					}
					got = append(got, rec)
				}
			}
			if err := r.Err(); err != nil {
				return err
			}
			r.Release()
		}
	}
	if len(got) != len(c.records) {
		return fmt.Errorf("%d records of %d", len(got), len(c.records))
	}
	for i := range got {
		want := c.records[i]
		want.mask()
		if got[i] != want {
			return fmt.Errorf("record %d differs", i)
		}
	}
	return nil
}
