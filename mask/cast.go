package mask

import (
	"fmt"
	"unicode/utf8"
)

// castName is the function whose only argument has a type after it:
// cast(mask({col}) AS char(5)).
const castName = "cast"

// sqlType is a type that cast names.
type sqlType struct {
	name   string // in lower case
	kind   Kind
	length int // of char and varchar; -1 for none
}

func (t sqlType) String() string {
	if t.length < 0 {
		return t.name
	}
	return fmt.Sprintf("%s(%d)", t.name, t.length)
}

// castKinds are the types of cast. Those without a rule of their own take only
// a column of the same type or one that is NULL throughout.
var castKinds = map[string]Kind{
	"varchar": Text, "string": Text, "char": Text, "text": Text, "varbinary": Binary, "binary": Binary,
	"tinyint": Int8, "smallint": Int16, "int": Int32, "integer": Int32, "bigint": Int64,
	"date": Date32, "timestamp": Timestamp, "boolean": Bool, "float": Float32, "real": Float32, "double": Float64, "decimal": Decimal,
}

// castCall compiles a cast.
func (c *compiler) castCall(e *Expr) (*node, error) {
	arg, err := c.node(e.args[0])
	if err != nil {
		return nil, err
	}
	return c.cast(arg, Type{Kind: e.typ.kind}, e.typ.length, e.typ.name == "char")
}

// cast gives the answer of a step another type. length is that of CHAR and
// VARCHAR, 0 for none.
func (c *compiler) cast(arg *node, to Type, length int, pad bool) (*node, error) {
	n := &node{name: castName, arg: arg, out: to, mayNull: arg.mayNull}
	_, allNULL := arg.op.(allNull)
	switch from := arg.out; {
	case from.Kind == Null || allNULL:
		n.nothing(to)
		n.ref = func(Value) (Value, error) { return Value{Kind: to.Kind, Null: true}, nil }
	case from.Kind == Text && to.Kind == Text && length > 0:
		cut := cutText{length: length, pad: pad, bytes: c.rules.charBytes}
		n.op, n.ref = textStep{op: rowText{cut}, out: to}, cut.ref
	case from == to && arg.op != nil:
		return arg, nil // what a step answers is fresh already
	case from == to:
		return c.source(arg)
	case from.integer() && to.integer():
		step := castInt{from: from, to: to, strict: !c.rules.castWraps}
		n.op, n.ref = step, step.ref
	default:
		return nil, fmt.Errorf("%s: %w: %s as %s", castName, ErrType, from, to)
	}
	return n, nil
}

// cutText is the cast to CHAR(n) and VARCHAR(n): at most length characters,
// padded with blanks to just as many for CHAR.
type cutText struct {
	length     int
	pad, bytes bool
}

// cut is the bytes that stay and the blanks that follow.
func (c cutText) cut(row []byte) (stay, blanks int) {
	if c.bytes {
		stay = min(len(row), c.length)
		blanks = c.length - stay
	} else {
		stay, _ = forward(row, c.length)
		blanks = c.length - utf8.RuneCount(row[:stay])
	}
	if !c.pad {
		blanks = 0
	}
	return stay, blanks
}

func (c cutText) size(row []byte) int {
	stay, blanks := c.cut(row)
	return stay + blanks
}

func (c cutText) write(dst, row []byte) int {
	stay, blanks := c.cut(row)
	copy(dst, row[:stay])
	for i := range blanks {
		dst[stay+i] = ' '
	}
	return stay + blanks
}
