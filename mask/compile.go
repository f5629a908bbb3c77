package mask

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// Program is a compiled expression; read-only, safe for any goroutine.
type Program struct {
	in    []Column
	used  []bool // which of them occur
	root  *node
	uses  []Use
	notes []string
}

// node is one step of a program. A source (the column or a literal) has no
// arg; everything else works on the result of arg.
type node struct {
	name    string // for errors: "mask_hash", "{col}"
	fn      *function
	set     settings
	arg     *node
	lit     *Value  // of a literal
	col     int     // number of the column, of one
	also    []*node // further arguments, of a step over several columns
	out     Type
	mayNull bool  // of its own doing
	op      op    // nil for a source
	reads   *node // what op is given, where it does the work of arg too; nil: arg

	rules *rules
	ref   func(Value) (Value, error) // the row version, where the function's name does not say it

	refRows func([]Value) (Value, error) // the same of a step over several columns
}

// op is the column version of a step.
type op interface {
	// eval computes all rows of in, which was checked.
	eval(r *run, in *Vector) (*Vector, error)
}

// compiler holds what the steps of one expression have in common.
type compiler struct {
	in      []Column
	rules   *rules
	keys    *Keyring
	backend string
	char    bool
	prog    *Program

	// Of the call whose arguments are being read.
	value Type
	form  form
}

// Column names a column and gives its type.
type Column struct {
	Name string
	Type Type
}

// defaultColumn is the name of the column in an expression over one.
const defaultColumn = "col"

// Compile checks an expression against the type of its column and chooses
// every function, rule and backend once. in is the type of {col}; for an
// expression without {col} it only gives a NULL literal its type, and the zero
// Type is allowed. Errors wrap ErrUnknownFunction, ErrArgument, ErrType,
// ErrDialect, ErrKey, or those of fips and kernels.
func Compile(e *Expr, in Type, o Options) (*Program, error) {
	return CompileColumns(e, []Column{{Name: defaultColumn, Type: in}}, o)
}

// CompileColumns is Compile for an expression over several columns (see
// ParseColumns). A column that the expression names must be there exactly
// once; others are allowed. The first one is what a NULL literal takes its type
// from. Errors also wrap ErrColumn.
func CompileColumns(e *Expr, in []Column, o Options) (*Program, error) {
	if err := fips.Err(); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, fmt.Errorf("%w: no expression", ErrArgument)
	}
	d, err := dialect(o.Dialect)
	if err != nil {
		return nil, err
	}
	c := &compiler{in: in, rules: d, keys: o.Keys, backend: o.Backend, char: o.Char,
		prog: &Program{in: slices.Clone(in), used: make([]bool, len(in))}}
	n, err := c.node(e)
	if err != nil {
		return nil, err
	}
	if n.op == nil {
		if n, err = c.source(n); err != nil {
			return nil, err
		}
	}
	c.prog.root = n
	slices.Reverse(c.prog.uses)
	return c.prog, nil
}

// node compiles innermost first.
func (c *compiler) node(e *Expr) (*node, error) {
	switch e.kind {
	case exprColumn:
		return c.columnNode(e)
	case exprCall:
		return c.call(e)
	default:
		return literalNode(e), nil
	}
}

// first is the type of the first column.
func (c *compiler) first() Type {
	if len(c.in) == 0 {
		return Type{}
	}
	return c.in[0].Type
}

func (c *compiler) columnNode(e *Expr) (*node, error) {
	name, at := e.what(), -1
	for i, col := range c.in {
		if col.Name != e.name {
			continue
		}
		if at >= 0 {
			return nil, fmt.Errorf("%s: %w: there are several", name, ErrColumn)
		}
		at = i
	}
	if at < 0 {
		return nil, fmt.Errorf("%s: %w: there is none", name, ErrColumn)
	}
	t := c.in[at].Type
	switch k := t.Kind; {
	case k == Invalid || k > Nested:
		return nil, fmt.Errorf("%s: %w: the column has no type", name, ErrType)
	case k == Nested:
		return nil, fmt.Errorf("%s: %w: %s", name, ErrType, t)
	}
	c.prog.used[at] = true
	return &node{name: name, out: t, col: at}, nil
}

// literalNode types an integer as SQL does: 32 bits when they are enough.
func literalNode(e *Expr) *node {
	n := &node{name: "literal", lit: &Value{Int: e.num}}
	switch e.kind {
	case exprString:
		n.lit.Kind, n.lit.Bytes = Text, []byte(e.text)
	case exprInt:
		n.lit.Kind = Int64
		if e.num == int64(int32(e.num)) {
			n.lit.Kind = Int32
		}
	case exprBool:
		n.lit.Kind = Bool
	default:
		n.lit.Kind, n.lit.Null, n.mayNull = Null, true, true
	}
	n.out = Type{Kind: n.lit.Kind}
	return n
}

// source makes a step of an expression that is only {col} or a literal: the
// output must be a fresh copy.
func (c *compiler) source(n *node) (*node, error) {
	top := &node{name: n.name, arg: n, out: n.out}
	switch k := n.out.Kind; {
	case k == Null:
		// A NULL literal masks the column away; it takes the column's type.
		to := c.first()
		if to.Kind == Nested {
			return nil, fmt.Errorf("NULL: %w: %s", ErrType, to)
		}
		if to.Kind != Invalid {
			top.out = to
		}
		top.op, top.mayNull = allNull{top.out}, true
	case k == Text || k == Binary && n.out.Width == 0:
		top.op = textStep{op: copyText{}, out: n.out}
	case n.out.size() > 0:
		top.op = copyFixed{}
	case k == Bool && n.lit != nil:
		top.op = literalBit{}
	default:
		return nil, fmt.Errorf("%s: %w: %s cannot be copied", n.name, ErrType, n.out)
	}
	if n.lit == nil {
		c.note(n.name + " leaves the column as it is: nothing is masked.")
	}
	return top, nil
}

func (c *compiler) call(e *Expr) (*node, error) {
	if e.name == castName {
		return c.castCall(e)
	}
	f := lookup(e.name)
	if f == nil {
		return nil, fmt.Errorf("%w: %q at byte %d", ErrUnknownFunction, e.name, e.pos)
	}
	if f.rows {
		return c.rowCall(f, e)
	}
	if !c.rules.has(f) {
		return nil, fmt.Errorf("%w: %q at byte %d: the dialect %s does not have it", ErrUnknownFunction, e.name, e.pos, c.rules.name)
	}
	args := e.args
	if least, most := f.arity(c.rules); len(args) < least || len(args) > most {
		return nil, fmt.Errorf("%s: %w: takes %s, got %d", f.name, ErrArgument, span(least, most), len(args))
	}
	if f.valueLast && args[0].kind == exprString {
		args = []*Expr{args[1], args[0]}
	}
	arg, err := c.node(args[0])
	if err != nil {
		return nil, err
	}
	n := &node{name: f.name, fn: f, arg: arg, set: f.preset, mayNull: arg.mayNull, rules: c.rules}
	if f.name == "sha2" && len(args) == 2 && args[1].kind == exprColumn && !c.rules.constLength {
		return c.sha2Column(n, args[0], args[1])
	}
	if err := c.readArgs(n, args[1:]); err != nil {
		return nil, err
	}
	if arg.out.Kind == Null {
		n.op, n.out = allNull{arg.out}, arg.out
		n.mayNull = true
		return n, nil
	}
	return n, f.build(c, n)
}

// readArgs puts the arguments after the value into the settings of a call.
func (c *compiler) readArgs(n *node, args []*Expr) error {
	f := n.fn
	for i, a := range args {
		if a.kind != exprCall && a.kind != exprColumn {
			continue
		}
		if !f.masks || !c.rules.args.columns {
			return fmt.Errorf("%s: %w %d (%s): must be a literal, not %s", f.name, ErrArgument, i+2, f.paramName(i), a.what())
		}
		args = slices.Clone(args)
		args[i] = &Expr{kind: exprNull, pos: a.pos} // NULL is the default there
		c.note(fmt.Sprintf("%s: %s as argument %d is not looked at, the default counts.", f.name, a.what(), i+2))
	}
	if f.repeats && len(args)%len(f.params) != 0 {
		return fmt.Errorf("%s: %w: the arguments after the value come in groups of %d", f.name, ErrArgument, len(f.params))
	}
	c.value = n.arg.out
	forms := ""
	if f.masks && c.rules.args.forms && c.value.Kind != Null {
		if c.rules.mask.of(c.value) == refuse {
			return n.wrongType()
		}
		var err error
		if forms, err = overload(c.value, f.counts, args); err != nil {
			return fmt.Errorf("%s: %w: %w", f.name, ErrArgument, err)
		}
	}
	params := f.params
	if f.repeats { // the parameters over and over
		for len(params) < len(args) {
			params = append(params, f.params...)
		}
	}
	for i, p := range params {
		var a *Expr
		if i < len(args) {
			a = args[i]
		}
		if c.form = formAny; i < len(forms) {
			c.form = form(forms[i])
		}
		if err := p.read(&n.set, a, c); err != nil {
			if errors.Is(err, ErrKey) || errors.Is(err, fips.ErrNotApproved) {
				return fmt.Errorf("%s: argument %d (%s): %w", f.name, i+2, p.name, err)
			}
			return fmt.Errorf("%s: %w %d (%s): %w", f.name, ErrArgument, i+2, p.name, err)
		}
	}
	return nil
}

func span(least, most int) string {
	switch {
	case least == most && least == 1:
		return "1 argument"
	case most == math.MaxInt:
		return fmt.Sprintf("%d arguments or more", least)
	case least == most:
		return fmt.Sprintf("%d arguments", least)
	}
	return fmt.Sprintf("%d to %d arguments", least, most)
}

// nothing makes the step answer NULL of the given type for every row.
func (n *node) nothing(t Type) {
	n.op, n.out, n.mayNull = allNull{t}, t, true
}

// wrongType is the error of a function that does not take the type.
func (n *node) wrongType() error {
	return fmt.Errorf("%s: %w: %s", n.name, ErrType, n.arg.out)
}

// hash chooses the backend of a digest and records its use.
func (c *compiler) hash(n *node) (summer, error) {
	if n.set.blake != nil {
		return c.blakeHash(n)
	}
	alg, name := n.set.alg, c.backend
	if fips.Enabled() {
		if alg == kernels.MD5 || alg == kernels.SHA1 {
			return nil, fips.NotApproved(n.name)
		}
		if name != "" && name != fipsBackend {
			return nil, fmt.Errorf("backend %q: %w", name, fips.NotApproved(n.name))
		}
		name = fipsBackend
	}
	var b *kernels.Backend
	var err error
	if name != "" {
		b, err = kernels.ByName(alg, name)
	} else if b, err = kernels.Active(alg); err == nil {
		err = hexenc.Err() // the same variable chooses the encoder
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	c.prog.uses = append(c.prog.uses, Use{Function: n.name, Alg: alg.String(), Backend: b.Name, Keyed: n.set.key != nil, KeyID: n.set.keyID})
	if n.set.key == nil {
		return kernels.New(b), nil
	}
	h, err := kernels.NewHMAC(b, n.set.key())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	return h, nil
}

// fipsBackend goes through the standard library, which is Go's cryptographic
// module.
const fipsBackend = "std"

// buildDigest is a digest that engines have too: the dialect says what it
// takes and whether it answers text or bytes.
func buildDigest(c *compiler, n *node) error {
	if c.rules.digest.of(n.arg.out) != answer {
		return n.wrongType()
	}
	if c.char && c.rules.stripChar && n.arg.fn == nil && n.arg.out.Kind == Text {
		n.arg = trimmed(n.arg)
	}
	if c.rules.rawDigest {
		return buildRawDigest(c, n)
	}
	return buildHexDigest(c, n)
}

func buildHexDigest(c *compiler, n *node) error {
	if !n.arg.out.bytes() {
		return n.wrongType()
	}
	if n.set.noAlg {
		c.note(n.name + " has no digest of that length: the answer is always NULL.")
		n.nothing(Type{Kind: Text})
		return nil
	}
	h, err := c.hash(n)
	if err != nil {
		return err
	}
	c.notePlain(n)
	n.out = Type{Kind: Text}
	n.op = textStep{op: hexDigest{hash: h, upper: n.set.upper}, out: n.out}
	return nil
}

func buildRawDigest(c *compiler, n *node) error {
	if !n.arg.out.bytes() {
		return n.wrongType()
	}
	h, err := c.hash(n)
	if err != nil {
		return err
	}
	c.notePlain(n)
	n.out = Type{Kind: Binary, Width: h.Size()}
	n.op = rawDigest{h}
	return nil
}

func buildHex(c *compiler, n *node) error {
	if !n.arg.out.bytes() {
		return n.wrongType()
	}
	if n.arg.fn == nil {
		c.note("hex only spells the bytes in another way: nothing is masked.")
	}
	n.out = Type{Kind: Text}
	n.op = textStep{op: hexText{upper: n.set.upper}, out: n.out}
	if d, ok := n.arg.op.(rawDigest); ok {
		// No column of raw digests in between.
		n.op, n.reads = textStep{op: hexDigest{hash: d.hash, upper: n.set.upper}, out: n.out}, n.arg.arg
	}
	return nil
}

// buildMaskHash is the digest as a mask. The dialect says which types it
// hashes, how the text is read, and what NULL becomes.
func buildMaskHash(c *compiler, n *node) error {
	d := c.rules
	if done, err := c.hashable(n, d.hash); done || err != nil {
		return err
	}
	n.set.upper = d.hashUpper
	if d.hashDecoded && n.arg.out.Kind == Text {
		n.arg = decoded(n.arg)
	}
	if err := buildHexDigest(c, n); err != nil || !d.nullHash {
		return err
	}
	step := n.op.(textStep)
	digest := step.op.(hexDigest)
	sum := make([]byte, digest.hash.Size())
	empty := kernels.FixedWidth(nil, 0, 1)
	if err := digest.hash.Sum(sum, &empty, 0, 1); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	digest.null = make([]byte, 2*len(sum))
	digest.encode(digest.null, sum)
	n.set.nullHash, n.mayNull = true, false
	n.op = textStep{op: digest, out: step.out, whole: true}
	return nil
}

// buildMaskHMAC is the same under a key. No engine has it, so that it is the
// same in every dialect.
func buildMaskHMAC(c *compiler, n *node) error {
	if done, err := c.hashable(n, textHash); done || err != nil {
		return err
	}
	return buildHexDigest(c, n)
}

// hashable settles the types without a digest; done is false for the others.
func (c *compiler) hashable(n *node, rules typeRules) (done bool, err error) {
	switch t := n.arg.out; rules.of(t) {
	case refuse:
		return true, n.wrongType()
	case nothing:
		c.note(fmt.Sprintf("%s of %s is always NULL: only text is hashed.", n.name, t))
		n.nothing(t)
		return true, nil
	}
	return false, nil
}

func buildUTF8(_ *compiler, n *node) error {
	if n.arg.out.Kind != Text {
		return n.wrongType()
	}
	n.out = Type{Kind: Binary}
	n.op = textStep{op: copyText{}, out: n.out}
	return nil
}

func buildTrunc(_ *compiler, n *node) error {
	n.out = n.arg.out
	if n.out.Kind != Date32 && n.out.Kind != Date64 {
		return n.wrongType()
	}
	n.op = newDateMask(n.out, &n.set, false)
	n.mayNull = n.mayNull || n.set.date.mayFail()
	return nil
}

func buildMaskNull(_ *compiler, n *node) error {
	n.nothing(n.arg.out)
	return nil
}

func buildMask(c *compiler, n *node) error {
	n.out = n.arg.out
	d := c.rules
	switch d.mask.of(n.out) {
	case refuse:
		return n.wrongType()
	case nothing:
		c.note(fmt.Sprintf("%s of %s is always NULL: the type has no mask of its own.", n.name, n.out))
		n.nothing(n.out)
		return nil
	}
	switch t := n.out; {
	case t.Kind == Text:
		step := textStep{op: newTextMask(&n.set, d), out: Type{Kind: Text}}
		n.op, n.out = step, step.out
		if d.bad == badRefused {
			n.op = strictText{step}
			n.mayNull = n.mayNull || n.set.window != windowLast && n.set.window != windowShowLast
		}
		c.noteKept(n)
		c.noteLeaks(n)
	case t.integer():
		if d.wide && kinds[t.Kind].signed && t.Kind != Int64 {
			n.arg = widened(n.arg)
			n.out = n.arg.out
		}
		n.op = newIntMask(n.out, &n.set)
	default:
		if n.set.date == (dateRule{keep, keep, keep}) {
			c.note(n.name + " was asked to keep every part of the date: nothing is masked.")
			n.op = copyFixed{}
			return nil
		}
		n.op = newDateMask(t, &n.set, d.badDate == refuse)
		n.mayNull = n.mayNull || d.badDate != refuse && n.set.date.mayFail()
	}
	return nil
}

// Out is the type of the result, known before any row is seen.
func (p *Program) Out() Type { return p.root.out }

// Nullable reports whether the result may have NULLs where the input has none.
func (p *Program) Nullable() bool { return p.root.mayNull }

// Use says which digest a program computes and how.
type Use struct {
	Function string // "mask_hash"
	Alg      string // "sha256"
	Backend  string // "std"
	Keyed    bool
	KeyID    string // handle of the key, never the key
}

// Uses lists the digests of the program, outermost first.
func (p *Program) Uses() []Use { return slices.Clone(p.uses) }

// Notes are warnings for a person, in plain words: a plain hash of short
// identifiers can be enumerated, mask_hash of an integer is always NULL.
func (p *Program) Notes() []string { return slices.Clone(p.notes) }

// maxSize bounds every buffer, so that no sum of sizes can wrap.
const maxSize = math.MaxInt / 2
