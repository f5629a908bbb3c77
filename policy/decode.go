package policy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/arrowmask/arrowmask/mask"
)

// maxAhead is for how many entries of a list there is room before any is read:
// the bytes may claim more than they hold.
const maxAhead = 1024

// decoder reads with every bound checked. Its methods return zero values after
// the first error, which is kept.
type decoder struct {
	b       []byte
	at      int
	err     error
	strings []string
	masks   []*Mask
	filters []*Filter
	reasons []*Reason
}

// Decode reads the encoding of a Set and checks all of it: the structure, every
// number against its table, every mask and filter against its grammar, and
// that the bytes are the one encoding of what they say. The error wraps
// ErrEncoding. What it allocates is bounded by the length of b.
func Decode(b []byte) (*Set, error) {
	d := &decoder{b: slices.Clone(b)}
	plans := d.set()
	if d.err == nil && d.at != len(d.b) {
		d.fail("bytes after the end")
	}
	if d.err != nil {
		return nil, d.err
	}
	// One set has one encoding: anything else was not made by encode.
	if !slices.Equal(encode(plans), d.b) || !slices.IsSortedFunc(plans, comparePlans) {
		d.fail("not in canonical form")
		return nil, d.err
	}
	return &Set{plans: plans, bytes: d.b, hash: hashOf(d.b)}, nil
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: byte %d: %s", ErrEncoding, d.at, what)
		d.at = len(d.b)
	}
}

func (d *decoder) uint() int {
	n, size := binary.Uvarint(d.b[d.at:])
	if size <= 0 || n > 1<<31-1 {
		d.fail("malformed number")
		return 0
	}
	d.at += size
	return int(n)
}

func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.b[d.at:])
	if size <= 0 {
		d.fail("malformed number")
		return 0
	}
	d.at += size
	return n
}

// count reads the length of a list whose entries take at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > (len(d.b)-d.at)/size {
		d.fail("list longer than the bytes")
		return 0
	}
	return n
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b)-d.at {
		d.fail("text longer than the bytes")
		return nil
	}
	d.at += n
	return d.b[d.at-n : d.at]
}

func pick[T any](d *decoder, table []T) (out T) {
	i := d.uint()
	if d.err == nil && i >= len(table) {
		d.fail("number outside of its table")
	}
	if d.err == nil {
		out = table[i]
	}
	return out
}

func (d *decoder) str() string { return pick(d, d.strings) }

func (d *decoder) set() []*Plan {
	if string(d.bytes(len(encodingMagic))) != encodingMagic {
		d.fail("no plan encoding")
		return nil
	}
	if v := d.uint(); d.err == nil && v != encodingVersion {
		d.fail(fmt.Sprintf("format version %d", v))
	}
	n := d.count(1)
	d.strings = make([]string, 0, min(n, maxAhead))
	for range n {
		d.strings = append(d.strings, string(d.bytes(d.uint())))
	}
	for range d.count(2) {
		m := &Mask{Expr: d.str(), Dialect: d.str()}
		if d.err == nil {
			// The columns' types are not known here: the masker checks them.
			if err := CheckMask(m, mask.Type{Kind: mask.Text}, nil); err != nil && !errors.Is(err, mask.ErrType) {
				d.fail(err.Error())
			}
		}
		d.masks = append(d.masks, m)
	}
	for range d.count(1) {
		f, err := ParseFilter(d.str(), canonical)
		if d.err == nil && err != nil {
			d.fail(err.Error())
		}
		d.filters = append(d.filters, f)
	}
	for range d.count(6) {
		d.reasons = append(d.reasons, &Reason{PolicyID: d.varint(), Policy: d.str(), Item: d.uint(), Kind: d.str(), Tag: d.str(), Zone: d.str()})
	}
	plans := make([]*Plan, 0, d.count(16))
	for range cap(plans) {
		plans = append(plans, d.plan())
		if d.err != nil {
			return nil
		}
	}
	return plans
}

func (d *decoder) plan() *Plan {
	p := &Plan{Table: d.str(), Version: d.str(), Columns: d.uint()}
	copy(p.Fingerprint[:], d.bytes(8))
	if i := d.uint(); i > len(d.filters) {
		d.fail("number outside of its table")
	} else if i > 0 {
		p.Filter = d.filters[i-1]
	}
	if i := d.uint(); i > len(d.reasons) {
		d.fail("number outside of its table")
	} else if i > 0 {
		p.FilterWhy = d.reasons[i-1]
	}
	if p.Filter != nil && p.FilterWhy == nil {
		d.fail("filter without a reason")
	}
	p.Masks = d.columns(p.Columns, true)
	p.Exempt = d.columns(p.Columns, false)
	for range d.count(2) {
		if why := pick(d, d.reasons); why != nil {
			p.Unmatched = append(p.Unmatched, Unmatched{Why: *why, Detail: d.str()})
		}
	}
	return p
}

func (d *decoder) columns(limit int, masked bool) (out []ColumnMask) {
	last, n := 0, d.count(3)
	if n > 0 {
		out = make([]ColumnMask, 0, min(n, maxAhead))
	}
	for range n {
		step := d.uint()
		c := ColumnMask{Index: last + step/2}
		if c.Index >= limit {
			d.fail("column outside of the table")
		}
		last = c.Index
		if step%2 == 1 {
			for range d.count(1) {
				c.Path = append(c.Path, d.uint())
			}
			if len(c.Path) == 0 {
				d.fail("empty path")
			}
		}
		c.Name = d.str()
		if masked {
			c.Mask = pick(d, d.masks)
		}
		c.Why = pick(d, d.reasons)
		if d.err != nil {
			return nil
		}
		if len(out) > 0 && compareColumns(out[len(out)-1], c) >= 0 {
			d.fail("columns out of order")
			return nil
		}
		out = append(out, c)
	}
	return out
}

func compareColumns(a, b ColumnMask) int {
	if c := cmp.Compare(a.Index, b.Index); c != 0 {
		return c
	}
	return slices.Compare(a.Path, b.Path)
}
