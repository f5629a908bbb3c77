package policy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/arrowmask/arrowmask/mask"
)

// RowFilter is a filter compiled for the columns of one table. It is
// read-only and safe for any goroutine.
type RowFilter struct {
	columns []int // of the table, in the order of the inputs of Eval
	types   []mask.Type
	root    boolNode
	bools   int // scratch slots of each kind
	ints    int
	floats  int
	pool    *statePool
}

// Columns are the indexes of the columns that Eval wants, in its order. The
// caller must not change them.
func (f *RowFilter) Columns() []int { return f.columns }

// valueType is what an expression yields.
type valueType uint8

const (
	typeNull valueType = iota
	typeBool
	typeInt
	typeDecimal // a literal only
	typeFloat
	typeText
	typeDate
	typeDays // an interval literal only
	typeOther
)

var typeNames = [...]string{"NULL", "a boolean", "an integer", "a decimal number", "a floating-point number", "text", "a date", "an interval", "a type without comparison"}

// Compile checks the filter against the columns of a table: names, types and
// literals. Column names ignore letter case unless that leaves two candidates.
// A name in front ("t.a") must be one of the last parts of the table's name.
// The error wraps ErrFilter.
//
// Comparisons are exact: an integer column against a decimal literal, or
// against a floating-point column, compares the numbers and not roundings of
// them. Text compares by bytes, as UTF-8 sorts. A text literal against a
// number or a date must spell one. NaN compares as NULL, since engines
// disagree about it.
func (f *Filter) Compile(t *Table) (*RowFilter, error) {
	if !f.Bound() {
		return nil, fmt.Errorf("%w: it has unbound parameters", ErrFilter)
	}
	c := &filterCompiler{table: t, out: &RowFilter{}, used: make(map[int]int), nodes: make(map[int]operand)}
	root, err := c.boolean(f.root)
	if err == nil && (c.out.ints+c.out.floats > maxNumberSlots || c.out.bools > maxBoolSlots) {
		err = errors.New("too many terms")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: table %s: %s", ErrFilter, t.Name(), err)
	}
	c.out.root = root
	c.out.pool = newStatePool(c.out)
	return c.out, nil
}

// Bounds of the scratch that a filter may ask for: 8 MiB of numbers and 5 MiB
// of truth. Lists of literals need none.
const (
	maxNumberSlots = 1000
	maxBoolSlots   = 20000
)

type filterCompiler struct {
	table *Table
	out   *RowFilter
	used  map[int]int     // column index -> input
	nodes map[int]operand // by input: a column is read once a chunk
}

func (c *filterCompiler) boolSlot() int  { c.out.bools++; return c.out.bools - 1 }
func (c *filterCompiler) intSlot() int   { c.out.ints++; return c.out.ints - 1 }
func (c *filterCompiler) floatSlot() int { c.out.floats++; return c.out.floats - 1 }

// operand is a compiled value: a literal, or a node.
type operand struct {
	typ   valueType
	lit   bool
	n     int64    // typeInt, typeDate, typeDays, typeBool
	text  string   // typeText
	dec   *big.Rat // typeDecimal
	input int      // column, for typeText, typeBool and typeOther
	ints  intNode
	flts  floatNode
}

func (c *filterCompiler) column(name string) (int, error) {
	cols := c.table.Columns()
	find := func(name string) (int, int) {
		hit, n := -1, 0
		for i := range cols {
			if cols[i].Name == name {
				return i, 1
			}
			if strings.EqualFold(cols[i].Name, name) {
				hit, n = i, n+1
			}
		}
		return hit, n
	}
	i, n := find(name)
	if n == 0 {
		// "words.count", "db.words.count": the table's own name in front.
		path := c.table.Path()
		for k := len(path) - 1; k >= 0 && n == 0; k-- {
			prefix := strings.Join(path[k:], ".") + "."
			if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
				i, n = find(name[len(prefix):])
			}
		}
	}
	switch {
	case n == 0:
		return 0, fmt.Errorf("no column %q", name)
	case n > 1:
		return 0, fmt.Errorf("column %q is ambiguous but for letter case", name)
	}
	return i, nil
}

func (c *filterCompiler) inputOf(i int) int {
	in, ok := c.used[i]
	if !ok {
		in = len(c.out.columns)
		c.used[i] = in
		c.out.columns = append(c.out.columns, i)
		c.out.types = append(c.out.types, c.table.Columns()[i].Type)
	}
	return in
}

func (c *filterCompiler) value(e *expr) (operand, error) {
	switch e.op {
	case opNull:
		return operand{typ: typeNull, lit: true}, nil
	case opBool:
		return operand{typ: typeBool, lit: true, n: e.n}, nil
	case opInt:
		return operand{typ: typeInt, lit: true, n: e.n}, nil
	case opDecimal:
		r, _ := new(big.Rat).SetString(e.text)
		return operand{typ: typeDecimal, lit: true, dec: r}, nil
	case opText:
		return operand{typ: typeText, lit: true, text: e.str()}, nil
	case opDate:
		return operand{typ: typeDate, lit: true, n: e.n}, nil
	case opDays:
		return operand{typ: typeDays, lit: true, n: e.n}, nil
	case opColumn:
		return c.columnValue(e.text)
	case opNeg, opAdd, opSub, opMul, opDiv, opMod:
		return c.arithmetic(e)
	}
	return operand{}, fmt.Errorf("a condition stands where a value is wanted")
}

func (c *filterCompiler) columnValue(name string) (operand, error) {
	i, err := c.column(name)
	if err != nil {
		return operand{}, err
	}
	in := c.inputOf(i)
	v, ok := c.nodes[in]
	if !ok {
		v = c.columnNode(in, c.table.Columns()[i].Type.Kind)
		c.nodes[in] = v
	}
	return v, nil
}

func (c *filterCompiler) columnNode(in int, k mask.Kind) operand {
	switch k {
	case mask.Text:
		return operand{typ: typeText, input: in}
	case mask.Bool:
		return operand{typ: typeBool, input: in}
	case mask.Int8, mask.Int16, mask.Int32, mask.Int64, mask.Uint8, mask.Uint16, mask.Uint32, mask.Uint64:
		return operand{typ: typeInt, input: in, ints: &intColumn{input: in, kind: k, slot: c.intSlot()}}
	case mask.Date32, mask.Date64:
		return operand{typ: typeDate, input: in, ints: &intColumn{input: in, kind: k, slot: c.intSlot()}}
	case mask.Float32, mask.Float64:
		return operand{typ: typeFloat, input: in, flts: &floatColumn{input: in, kind: k, slot: c.floatSlot()}}
	case mask.Null:
		return operand{typ: typeNull, lit: true}
	}
	return operand{typ: typeOther, input: in}
}

func mismatch(a, b valueType) error {
	return fmt.Errorf("%s cannot be compared or combined with %s", typeNames[a], typeNames[b])
}

// arithmetic on integers must not overflow, which Eval checks; with a float on
// either side it is floating point.
func (c *filterCompiler) arithmetic(e *expr) (operand, error) {
	a, err := c.value(e.kids[0])
	if err != nil {
		return operand{}, err
	}
	if e.op == opNeg {
		return c.combine(opSub, operand{typ: typeInt, lit: true}, a)
	}
	b, err := c.value(e.kids[1])
	if err != nil {
		return operand{}, err
	}
	return c.combine(e.op, a, b)
}

func (c *filterCompiler) combine(o op, a, b operand) (operand, error) {
	if a.typ == typeNull || b.typ == typeNull {
		return operand{typ: typeNull, lit: true}, nil
	}
	bad := fmt.Errorf("%s between %s and %s is not part of the grammar", opSigns[o], typeNames[a.typ], typeNames[b.typ])
	// Dates: date +- days, days + date, date - date.
	switch {
	case a.typ == typeDate && (b.typ == typeDays || b.typ == typeInt) && (o == opAdd || o == opSub),
		b.typ == typeDate && (a.typ == typeDays || a.typ == typeInt) && o == opAdd:
		return c.ints(o, a, b, typeDate), nil
	case a.typ == typeDate && b.typ == typeDate && o == opSub:
		return c.ints(o, a, b, typeInt), nil
	case a.typ == typeDate || b.typ == typeDate || a.typ == typeDays || b.typ == typeDays:
		return operand{}, bad
	}
	numeric := func(x operand) bool { return x.typ == typeInt || x.typ == typeFloat || x.typ == typeDecimal }
	if !numeric(a) || !numeric(b) {
		return operand{}, bad
	}
	if a.typ == typeFloat || b.typ == typeFloat {
		if o == opMod {
			return operand{}, bad
		}
		return operand{typ: typeFloat, flts: &floatArith{op: o, a: c.toFloat(a), b: c.toFloat(b), slot: c.floatSlot()}}, nil
	}
	if a.typ == typeDecimal || b.typ == typeDecimal {
		return operand{}, fmt.Errorf("a decimal number combined with an integer has no exact type here")
	}
	if o == opDiv {
		return operand{}, fmt.Errorf("/ of two integers means different things in different engines")
	}
	return c.ints(o, a, b, typeInt), nil
}

func (c *filterCompiler) ints(o op, a, b operand, t valueType) operand {
	return operand{typ: t, ints: &intArith{op: o, a: c.intOf(a), b: c.intOf(b), slot: c.intSlot()}}
}

func (c *filterCompiler) intOf(x operand) intNode {
	if x.lit {
		return &intConst{n: x.n, slot: c.intSlot()}
	}
	return x.ints
}

func (c *filterCompiler) toFloat(x operand) floatNode {
	switch {
	case x.lit && x.typ == typeInt:
		return &floatConst{f: float64(x.n), slot: c.floatSlot()}
	case x.lit:
		f, _ := x.dec.Float64()
		return &floatConst{f: f, slot: c.floatSlot()}
	case x.typ == typeInt:
		return &floatOfInt{a: x.ints, slot: c.floatSlot()}
	}
	return x.flts
}

func (c *filterCompiler) boolean(e *expr) (boolNode, error) {
	switch e.op {
	case opAnd, opOr:
		out := &logic{or: e.op == opOr, slot: c.boolSlot()}
		for _, k := range e.kids {
			n, err := c.boolean(k)
			if err != nil {
				return nil, err
			}
			out.kids = append(out.kids, n)
		}
		return out, nil
	case opNot:
		n, err := c.boolean(e.kids[0])
		return &not{kid: n, slot: c.boolSlot()}, err
	case opIsNull:
		return c.isNull(e.kids[0])
	case opEq, opNe, opLt, opLe, opGt, opGe:
		a, err := c.value(e.kids[0])
		if err != nil {
			return nil, err
		}
		b, err := c.value(e.kids[1])
		if err != nil {
			return nil, err
		}
		return c.compare(e.op, a, b)
	case opBetween:
		return c.between(e)
	case opIn:
		return c.in(e)
	case opLike:
		return c.like(e)
	}
	v, err := c.value(e)
	if err != nil {
		return nil, err
	}
	switch {
	case v.typ == typeNull:
		return c.constant(unknown), nil
	case v.typ == typeBool && v.lit:
		return c.constant(truthOf(v.n != 0)), nil
	case v.typ == typeBool:
		return &boolColumn{input: v.input, slot: c.boolSlot()}, nil
	}
	return nil, fmt.Errorf("%s stands where a condition is wanted", typeNames[v.typ])
}

func (c *filterCompiler) constant(t truth) boolNode { return &boolConst{t: t, slot: c.boolSlot()} }

func (c *filterCompiler) isNull(e *expr) (boolNode, error) {
	switch e.op.level() {
	case 1, 2, 3, 4:
		n, err := c.boolean(e)
		return &unknownOf{kid: n, slot: c.boolSlot()}, err
	}
	v, err := c.value(e)
	if err != nil {
		return nil, err
	}
	switch {
	case v.typ == typeNull:
		return c.constant(yes), nil
	case v.lit:
		return c.constant(no), nil
	case v.ints != nil:
		return &nullOfInt{a: v.ints, slot: c.boolSlot()}, nil
	case v.flts != nil:
		return &nullOfFloat{a: v.flts, slot: c.boolSlot()}, nil
	}
	return &nullOfColumn{input: v.input, slot: c.boolSlot()}, nil
}

func swap(o op) op {
	switch o {
	case opLt:
		return opGt
	case opLe:
		return opGe
	case opGt:
		return opLt
	case opGe:
		return opLe
	}
	return o
}

// holds reports whether a comparison is true of an ordering (-1, 0, 1).
func holds(o op, cmp int) bool {
	switch o {
	case opEq:
		return cmp == 0
	case opNe:
		return cmp != 0
	case opLt:
		return cmp < 0
	case opLe:
		return cmp <= 0
	case opGt:
		return cmp > 0
	}
	return cmp >= 0
}

// compare brings literals to the right, gives a text literal the type of the
// other side, and picks the kernel.
func (c *filterCompiler) compare(o op, a, b operand) (boolNode, error) {
	if a.lit && !b.lit {
		a, b, o = b, a, swap(o)
	}
	if a.typ == typeNull || b.typ == typeNull {
		return c.constant(unknown), nil
	}
	if a.typ == typeOther || b.typ == typeOther {
		return nil, mismatch(a.typ, b.typ)
	}
	if a.typ != typeText && b.typ == typeText && b.lit {
		var err error
		if b, err = spell(b.text, a.typ); err != nil {
			return nil, err
		}
	}
	if a.lit && a.typ == typeText && b.typ != typeText {
		var err error
		if a, err = spell(a.text, b.typ); err != nil {
			return nil, err
		}
	}
	if a.lit && b.lit {
		return c.compareLiterals(o, a, b)
	}
	switch {
	case a.typ == typeText && b.typ == typeText:
		if b.lit {
			return &textConst{op: o, input: a.input, want: []byte(b.text), slot: c.boolSlot()}, nil
		}
		return &textText{op: o, a: a.input, b: b.input, slot: c.boolSlot()}, nil
	case a.typ == typeBool && b.typ == typeBool:
		return c.compareBools(o, a, b)
	case a.typ == typeDate && b.typ == typeDate:
		return c.compareInts(o, a, b), nil
	case a.typ == typeInt && b.typ == typeInt:
		return c.compareInts(o, a, b), nil
	case a.typ == typeInt && b.typ == typeDecimal:
		return c.intDecimal(o, a, b.dec), nil
	case a.typ == typeInt && b.typ == typeFloat:
		return &intFloat{op: o, a: a.ints, b: b.flts, slot: c.boolSlot()}, nil
	case a.typ == typeFloat && b.typ == typeInt && !b.lit:
		return &intFloat{op: swap(o), a: b.ints, b: a.flts, slot: c.boolSlot()}, nil
	case a.typ == typeFloat && (b.typ == typeInt || b.typ == typeDecimal):
		return c.floatLiteral(o, a, b), nil
	case a.typ == typeFloat && b.typ == typeFloat:
		return &floatFloat{op: o, a: a.flts, b: b.flts, slot: c.boolSlot()}, nil
	}
	return nil, mismatch(a.typ, b.typ)
}

func (c *filterCompiler) compareInts(o op, a, b operand) boolNode {
	if b.lit {
		return &intCmpConst{op: o, a: a.ints, n: b.n, slot: c.boolSlot()}
	}
	return &intInt{op: o, a: a.ints, b: b.ints, slot: c.boolSlot()}
}

func (c *filterCompiler) compareBools(o op, a, b operand) (boolNode, error) {
	if o != opEq && o != opNe || !b.lit {
		return nil, fmt.Errorf("booleans compare with = and <> against TRUE and FALSE only")
	}
	var n boolNode = &boolColumn{input: a.input, slot: c.boolSlot()}
	if (b.n != 0) != (o == opEq) {
		n = &not{kid: n, slot: c.boolSlot()}
	}
	return n, nil
}

// intDecimal compares an integer with a number that is none: 3 < 3.5 is 3 <= 3.
func (c *filterCompiler) intDecimal(o op, a operand, r *big.Rat) boolNode {
	if o == opEq || o == opNe {
		// Never equal, but NULL stays NULL.
		return &intRange{a: a.ints, all: o == opNe, slot: c.boolSlot()}
	}
	floor := new(big.Int).Div(r.Num(), r.Denom()) // towards minus infinity: Denom > 0
	less := o == opLt || o == opLe
	if !floor.IsInt64() {
		return &intRange{a: a.ints, all: less == (floor.Sign() > 0), slot: c.boolSlot()}
	}
	if less {
		return &intCmpConst{op: opLe, a: a.ints, n: floor.Int64(), slot: c.boolSlot()}
	}
	return &intCmpConst{op: opGt, a: a.ints, n: floor.Int64(), slot: c.boolSlot()}
}

// floatLiteral compares with the nearest float, except where an integer has
// none that is equal to it.
func (c *filterCompiler) floatLiteral(o op, a, b operand) boolNode {
	if b.typ == typeInt {
		if f := float64(b.n); f < math.MaxInt64 && int64(f) == b.n {
			return &floatCmpConst{op: o, a: a.flts, f: f, slot: c.boolSlot()}
		}
		return &intFloat{op: swap(o), a: &intConst{n: b.n, slot: c.intSlot()}, b: a.flts, slot: c.boolSlot()}
	}
	f, _ := b.dec.Float64()
	return &floatCmpConst{op: o, a: a.flts, f: f, slot: c.boolSlot()}
}

// spell reads a text literal as a literal of another type.
func spell(text string, want valueType) (operand, error) {
	switch want {
	case typeInt, typeFloat, typeDecimal:
		e, err := bindNumber("", strings.TrimSpace(text))
		if err == nil && e.op == opInt {
			return operand{typ: typeInt, lit: true, n: e.n}, nil
		}
		if err == nil && e.op == opDecimal {
			if r, ok := new(big.Rat).SetString(e.text); ok {
				return operand{typ: typeDecimal, lit: true, dec: r}, nil
			}
		}
		return operand{}, fmt.Errorf("the text compared with a number spells none")
	case typeDate:
		n, ok := parseDate(text)
		if !ok {
			return operand{}, fmt.Errorf("the text compared with a date spells none")
		}
		return operand{typ: typeDate, lit: true, n: n}, nil
	}
	return operand{}, mismatch(want, typeText)
}

func (c *filterCompiler) compareLiterals(o op, a, b operand) (boolNode, error) {
	rat := func(x operand) *big.Rat {
		if x.typ == typeDecimal {
			return x.dec
		}
		return new(big.Rat).SetInt64(x.n)
	}
	numeric := func(x operand) bool { return x.typ == typeInt || x.typ == typeDecimal }
	switch {
	case numeric(a) && numeric(b):
		return c.constant(truthOf(holds(o, rat(a).Cmp(rat(b))))), nil
	case a.typ == typeText && b.typ == typeText:
		return c.constant(truthOf(holds(o, strings.Compare(a.text, b.text)))), nil
	case a.typ == b.typ && (a.typ == typeDate || a.typ == typeBool && (o == opEq || o == opNe)):
		return c.constant(truthOf(holds(o, rat(a).Cmp(rat(b))))), nil
	}
	return nil, mismatch(a.typ, b.typ)
}

// between is two comparisons, each with the value compiled for itself: but for
// columns, nodes own their scratch and are not shared.
func (c *filterCompiler) between(e *expr) (boolNode, error) {
	lo, err := c.boolean(&expr{op: opGe, kids: []*expr{e.kids[0], e.kids[1]}})
	if err != nil {
		return nil, err
	}
	hi, err := c.boolean(&expr{op: opLe, kids: []*expr{e.kids[0], e.kids[2]}})
	return &logic{kids: []boolNode{lo, hi}, slot: c.boolSlot()}, err
}

// in over text or integer literals is a set; anything else is a chain of
// comparisons.
func (c *filterCompiler) in(e *expr) (boolNode, error) {
	a, err := c.value(e.kids[0])
	if err != nil {
		return nil, err
	}
	if a.typ == typeNull {
		return c.constant(unknown), nil
	}
	texts, ints, null := true, true, false
	var items []operand
	for _, k := range e.kids[1:] {
		v, err := c.value(k)
		if err != nil {
			return nil, err
		}
		if v.typ == typeNull {
			null = true
			continue
		}
		if v.lit && v.typ == typeText && (a.typ == typeInt || a.typ == typeDate || a.typ == typeFloat) {
			if v, err = spell(v.text, a.typ); err != nil {
				return nil, err
			}
		}
		texts = texts && v.lit && v.typ == typeText
		ints = ints && v.lit && v.typ == a.typ && (v.typ == typeInt || v.typ == typeDate)
		items = append(items, v)
	}
	switch {
	case a.lit:
	case a.typ == typeText && texts:
		n := &textSet{input: a.input, set: make(map[string]struct{}, len(items)), null: null, slot: c.boolSlot()}
		for _, v := range items {
			n.set[v.text] = struct{}{}
		}
		return n, nil
	case a.ints != nil && ints:
		n := &intSet{a: a.ints, set: make(map[int64]struct{}, len(items)), null: null, slot: c.boolSlot()}
		for _, v := range items {
			n.set[v.n] = struct{}{}
		}
		return n, nil
	}
	out := &logic{or: true, slot: c.boolSlot()}
	for _, k := range e.kids[1:] {
		n, err := c.boolean(&expr{op: opEq, kids: []*expr{e.kids[0], k}})
		if err != nil {
			return nil, err
		}
		out.kids = append(out.kids, n)
	}
	return out, nil
}

func (c *filterCompiler) like(e *expr) (boolNode, error) {
	a, err := c.value(e.kids[0])
	if err != nil {
		return nil, err
	}
	p, err := c.value(e.kids[1])
	if err != nil {
		return nil, err
	}
	if a.typ == typeNull || p.typ == typeNull {
		return c.constant(unknown), nil
	}
	if a.typ != typeText || p.typ != typeText || !p.lit {
		return nil, fmt.Errorf("LIKE takes text and a literal pattern")
	}
	m, err := newLike(p.text, e.text)
	if err != nil {
		return nil, err
	}
	if a.lit {
		return c.constant(truthOf(m.match([]byte(a.text)))), nil
	}
	return &likeNode{input: a.input, m: m, slot: c.boolSlot()}, nil
}
