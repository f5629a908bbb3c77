package policy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/mask"
)

// The encoding of a Set, all integers as unsigned varints:
//
//	magic "AMPL", format version
//	strings: count, then length and bytes of each; sorted, distinct
//	masks:   count, then expression and dialect of each, as string numbers
//	filters: count, then the canonical text of each, as a string number
//	reasons: count, then policy id (zigzag), name, item, kind, tag, zone
//	plans:   count, then each plan
//
// A plan is: table, version, columns, 8 bytes of fingerprint, filter + 1 or 0,
// filter's reason + 1 or 0, masked columns, exempt columns, unmatched policies.
// A masked column is: twice its distance from the column before, plus one with
// a path, then the path with its length, name, mask, reason; an exempt one lacks
// the mask; an unmatched policy is reason and detail. Every table is
// sorted and free of repetitions, so equal sets have equal bytes, and the size
// is that of the distinct text plus a few bytes for every table and column.
const (
	encodingMagic   = "AMPL"
	encodingVersion = 1
)

type encoder struct {
	strings map[string]int
	masks   numbering[Mask, Mask]
	filters numbering[Filter, Hash]
	reasons numbering[Reason, Reason]
	b       []byte
}

// numbering gives equal values one number, in the order of the values. What is
// shared by pointer is looked at once, however often it occurs; what is equal
// and not shared, once an object.
type numbering[T any, K comparable] struct {
	seen map[*T]*numbered[T]
	keys map[K]*numbered[T]
}

type numbered[T any] struct {
	value *T // one of those that are equal
	id    int
}

func newNumbering[T any, K comparable]() numbering[T, K] {
	return numbering[T, K]{seen: map[*T]*numbered[T]{}, keys: map[K]*numbered[T]{}}
}

// add reports whether the value is new.
func (n *numbering[T, K]) add(p *T, key func(*T) K) bool {
	if _, ok := n.seen[p]; ok {
		return false
	}
	k := key(p)
	e, ok := n.keys[k]
	if !ok {
		e = &numbered[T]{value: p}
		n.keys[k] = e
	}
	n.seen[p] = e
	return !ok
}

// sort numbers the values and lists them.
func (n *numbering[T, K]) sort(compare func(a, b *T) int) []*numbered[T] {
	all := make([]*numbered[T], 0, len(n.keys))
	for _, e := range n.keys {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *numbered[T]) int { return compare(a.value, b.value) })
	for i, e := range all {
		e.id = i
	}
	return all
}

func (n *numbering[T, K]) id(p *T) int { return n.seen[p].id }

func encode(plans []*Plan) []byte {
	e := &encoder{strings: map[string]int{}, masks: newNumbering[Mask, Mask](), filters: newNumbering[Filter, Hash](), reasons: newNumbering[Reason, Reason]()}
	for _, p := range plans {
		e.collect(p)
	}
	str := make([]string, 0, len(e.strings))
	for s := range e.strings {
		str = append(str, s)
	}
	slices.Sort(str)
	for i, s := range str {
		e.strings[s] = i
	}
	masks := e.masks.sort(func(a, b *Mask) int {
		return cmp.Or(strings.Compare(a.Expr, b.Expr), strings.Compare(a.Dialect, b.Dialect))
	})
	filters := e.filters.sort(func(a, b *Filter) int { return strings.Compare(a.text, b.text) })
	reasons := e.reasons.sort(func(a, b *Reason) int { return compareReasons(*a, *b) })

	e.b = append(e.b, encodingMagic...)
	e.uint(encodingVersion)
	e.uint(len(str))
	for _, s := range str {
		e.uint(len(s))
		e.b = append(e.b, s...)
	}
	e.uint(len(masks))
	for _, m := range masks {
		e.str(m.value.Expr)
		e.str(m.value.Dialect)
	}
	e.uint(len(filters))
	for _, f := range filters {
		e.str(f.value.text)
	}
	e.uint(len(reasons))
	for _, n := range reasons {
		r := n.value
		e.b = binary.AppendVarint(e.b, r.PolicyID)
		e.str(r.Policy)
		e.uint(r.Item)
		e.str(r.Kind)
		e.str(r.Tag)
		e.str(r.Zone)
	}
	e.uint(len(plans))
	for _, p := range plans {
		e.plan(p)
	}
	return e.b
}

func compareReasons(a, b Reason) int {
	return cmp.Or(cmp.Compare(a.PolicyID, b.PolicyID), a.Item-b.Item, strings.Compare(a.Policy, b.Policy), strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Tag, b.Tag), strings.Compare(a.Zone, b.Zone))
}

func (e *encoder) collect(p *Plan) {
	add := func(ss ...string) {
		for _, s := range ss {
			e.strings[s] = 0
		}
	}
	reason := func(r *Reason) {
		if e.reasons.add(r, func(r *Reason) Reason { return *r }) {
			add(r.Policy, r.Kind, r.Tag, r.Zone)
		}
	}
	add(p.Table, p.Version)
	for i := range p.Masks {
		c := &p.Masks[i]
		add(c.Name)
		if e.masks.add(c.Mask, func(m *Mask) Mask { return *m }) {
			add(c.Mask.Expr, c.Mask.Dialect)
		}
		reason(c.Why)
	}
	for i := range p.Exempt {
		add(p.Exempt[i].Name)
		reason(p.Exempt[i].Why)
	}
	for i := range p.Unmatched {
		reason(&p.Unmatched[i].Why)
		add(p.Unmatched[i].Detail)
	}
	if p.Filter != nil && e.filters.add(p.Filter, func(f *Filter) Hash { return f.hash }) {
		add(p.Filter.text)
	}
	if p.FilterWhy != nil {
		reason(p.FilterWhy)
	}
}

func (e *encoder) uint(n int)   { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) str(s string) { e.uint(e.strings[s]) }

func (e *encoder) plan(p *Plan) {
	e.str(p.Table)
	e.str(p.Version)
	e.uint(p.Columns)
	e.b = append(e.b, p.Fingerprint[:]...)
	if p.Filter == nil {
		e.uint(0)
	} else {
		e.uint(e.filters.id(p.Filter) + 1)
	}
	if p.FilterWhy == nil {
		e.uint(0)
	} else {
		e.uint(e.reasons.id(p.FilterWhy) + 1)
	}
	e.columns(p.Masks)
	e.columns(p.Exempt)
	e.uint(len(p.Unmatched))
	for i := range p.Unmatched {
		e.uint(e.reasons.id(&p.Unmatched[i].Why))
		e.str(p.Unmatched[i].Detail)
	}
}

func (e *encoder) columns(list []ColumnMask) {
	e.uint(len(list))
	last := 0
	for i := range list {
		c := &list[i]
		if step := 2 * (c.Index - last); len(c.Path) == 0 {
			e.uint(step)
		} else {
			e.uint(step + 1)
			e.uint(len(c.Path))
			for _, k := range c.Path {
				e.uint(k)
			}
		}
		last = c.Index
		e.str(c.Name)
		if c.Mask != nil {
			e.uint(e.masks.id(c.Mask))
		}
		e.uint(e.reasons.id(c.Why))
	}
}

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
	for range d.count(1) {
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
	last := 0
	for range d.count(3) {
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
	return cmp.Or(a.Index-b.Index, slices.Compare(a.Path, b.Path))
}
