package kat

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

// call is a vector of package mask.
type call struct {
	vector  *Vector
	dialect string
	expr    string
	in      mask.Type
	value   mask.Value
	want    Token
	keys    *mask.Keyring

	char  bool   // the column is a CHAR
	cast  string // type of a cast around the function; "" for none
	extra string // arguments that stand for a setting
	out   mask.Kind
}

// function runs one vector of package mask: with both evaluators, and on every
// backend where it takes a digest.
func (r *runner) function(v *Vector) {
	c, reason := newCall(v)
	if reason != "" {
		r.report.skip(v, reason)
		return
	}
	defer func() {
		if reason == "" {
			r.report.done(v)
		}
	}()
	prog, err := c.compile("")
	if errors.Is(err, fips.ErrNotApproved) && c.want.Tag != TagError {
		reason = "not approved in FIPS mode"
		r.report.skip(v, reason)
		return
	}
	if err != nil || c.want.Tag == TagError {
		r.refused(c, prog, err)
		return
	}
	uses := prog.Uses()
	if len(uses) == 0 {
		r.check(c, prog, "")
		return
	}
	names := r.common(uses)
	if len(names) == 0 {
		reason = "no chosen backend computes " + uses[0].Alg
		r.report.skip(v, reason)
		return
	}
	for _, name := range names {
		prog, err := c.compile(name)
		if err != nil {
			r.report.fail(v, name, "compile", c.want.String(), err.Error())
			continue
		}
		r.check(c, prog, name)
	}
}

// newCall makes a call of a vector, or says why it cannot be made.
func newCall(v *Vector) (*call, string) {
	c := &call{vector: v, dialect: v.Dialect}
	if reason := c.modes(); reason != "" {
		return nil, reason
	}
	if reason := c.chooseDialect(); reason != "" {
		return nil, reason
	}
	if len(v.Expected) != 1 {
		return nil, "more than one answer"
	}
	c.want = v.Expected[0]
	switch c.want.Tag {
	case TagNull, TagInt, TagText, TagBytes, TagDate, TagError:
	default:
		return nil, fmt.Sprintf("no function answers with %s", c.want.Tag)
	}
	var ok bool
	if c.in, ok = sqlType(v.Type); !ok {
		return nil, fmt.Sprintf("type %s is not offered", v.Type)
	}
	c.char = strings.HasPrefix(strings.ToUpper(v.Type), "CHAR(")
	if c.value, ok = cell(c.in, v.Args[0]); !ok {
		return nil, fmt.Sprintf("no %s value can be made of %s", v.Type, v.Args[0].Tag)
	}
	if strings.Contains(v.Function, "(") {
		if len(v.Args) != 1 {
			return nil, "a whole expression with arguments beside it"
		}
		c.expr = v.Function
		return c, ""
	}
	offered := func(s mask.Signature) bool { return s.Name == strings.ToLower(v.Function) }
	list, err := mask.FunctionsOf(c.dialect)
	if err != nil {
		return nil, err.Error()
	}
	if !slices.ContainsFunc(list, offered) {
		return nil, fmt.Sprintf("function %s is not offered", v.Function)
	}
	var b strings.Builder
	b.WriteString(v.Function + "({col}")
	for _, a := range v.Args[1:] {
		lit, ok := literal(a)
		if !ok {
			return nil, fmt.Sprintf("the grammar has no literal for %s", a.Tag)
		}
		b.WriteString(", " + lit)
	}
	b.WriteString(c.extra + ")")
	c.expr = b.String()
	if c.cast != "" {
		c.expr = "cast(" + c.expr + " AS " + c.cast + ")"
	}
	return c, ""
}

// kin are engines that are no dialects of their own: their vectors hold in the
// dialect named, for the functions named ("" for all).
var kin = map[string]struct{ dialect, functions string }{
	"databricks":       {"spark", ""},
	"datafusion-spark": {"spark", ""},
	"spark-fix-48973":  {"spark-codepoint", ""},
	"velox-spark":      {"spark-codepoint", ""},
	"codepoint":        {"spark-codepoint", "mask"},
	"dremio":           {"hive", "mask mask_first_n mask_last_n mask_show_first_n mask_show_last_n mask_hash"},
	"hetuengine":       {"hive", "mask_last_n mask_show_last_n mask_hash"},
	"maxcompute":       {"hive", "mask_hash"},
	"duckdb":           {"safe", "md5 sha1 sha256 sha512"},
	"questdb":          {"safe", "md5 sha1"},
}

// chooseDialect settles the dialect; it gives the reason when there is none.
func (c *call) chooseDialect() string {
	if k, ok := kin[c.dialect]; ok && (k.functions == "" || slices.Contains(strings.Fields(k.functions), c.vector.Function)) {
		c.dialect = k.dialect
	}
	if _, err := mask.FunctionsOf(c.dialect); err != nil {
		return fmt.Sprintf("dialect %s is not offered", c.vector.Dialect)
	}
	return ""
}

// modes reads the mode column; it gives the reason when one is not offered.
func (c *call) modes() string {
	for _, m := range c.vector.modes() {
		name, value, _ := strings.Cut(m, ":")
		switch {
		case name == "key":
			handle, digits, _ := strings.Cut(value, "=")
			key, err := hex.DecodeString(digits)
			if err != nil {
				return "the key is not hex"
			}
			if c.keys == nil {
				c.keys = mask.NewKeyring()
			}
			if err := c.keys.Add(handle, key); err != nil {
				return err.Error()
			}
		case m == "fips=any", m == "any":
		case m == "fips=on" && fips.Enabled(), m == "fips=off" && !fips.Enabled():
		case m == "fips=on", m == "fips=off":
			return "needs " + m
		case m == "utf8_mode=true" && c.dialect == "impala":
			c.dialect = "impala-utf8"
		case m == "utf8_mode=false" && c.dialect == "impala", m == "4.x" && c.dialect == "hive":
		case strings.HasPrefix(m, "ranger="): // tells where the arguments come from
		case m == "cast_to_column_type":
			c.cast = strings.ToLower(c.vector.Type)
		case strings.HasPrefix(m, "hive.masking.algo="):
			c.extra = ", '" + strings.TrimPrefix(m, "hive.masking.algo=") + "'"
		default:
			return fmt.Sprintf("mode %s is not offered", name)
		}
	}
	if fips.Enabled() && strings.HasPrefix(c.dialect, "impala") && c.vector.Function == "mask_hash" && !strings.Contains(c.vector.Mode, "fips=") {
		return "needs fips=off" // another digest there
	}
	return ""
}

func (c *call) compile(backend string) (*mask.Program, error) {
	e, err := mask.Parse(c.expr)
	if err != nil {
		return nil, err
	}
	return mask.Compile(e, c.in, mask.Options{Dialect: c.dialect, Keys: c.keys, Backend: backend, Char: c.char})
}

// errorClasses are what "error:CLASS" may name; another class takes any error.
var errorClasses = map[string]error{
	"args":     mask.ErrArgument,
	"fips":     fips.ErrNotApproved,
	"function": mask.ErrUnknownFunction,
	"key":      mask.ErrKey,
	"syntax":   mask.ErrSyntax,
	"type":     mask.ErrType,
	"value":    mask.ErrValue,
}

// refused checks the error of an expression. err is nil when it compiled; then
// the value itself must be refused, by both evaluators.
func (r *runner) refused(c *call, prog *mask.Program, err error) {
	where := "compile"
	if err == nil && c.want.Tag == TagError {
		where = "row reference"
		if _, err = prog.EvalRow(c.value); err != nil && errors.Is(err, mask.ErrValue) {
			where = "column"
			_, err = prog.Eval(r.ctx, c.layouts()[0].build(c.in, c.neighbours()), mask.EvalOptions{})
		}
	}
	got := "no error"
	if err != nil {
		got = err.Error()
	}
	if c.want.Tag == TagError && err != nil {
		class, known := errorClasses[c.want.Text]
		if !known || errors.Is(err, class) {
			return
		}
	}
	r.report.fail(c.vector, "", where, c.want.String(), got)
}

// common lists the names of backends that compute every digest of a program.
func (r *runner) common(uses []mask.Use) []string {
	var names []string
	for i, u := range uses {
		have := []string{""} // of a digest that package kernels does not have
		if alg, err := kernels.ParseAlg(u.Alg); err == nil {
			have = nil
			for _, b := range r.backends[alg] {
				have = append(have, b.Name)
			}
		}
		if i == 0 {
			names = have
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(have, n) })
	}
	return names
}

// sqlType is the type of package mask for a SQL type; VARCHAR(10) counts as
// VARCHAR.
func sqlType(s string) (mask.Type, bool) {
	name, _, _ := strings.Cut(strings.ToUpper(s), "(")
	k, ok := kinds[name]
	return mask.Type{Kind: k}, ok
}

var kinds = map[string]mask.Kind{
	"STRING": mask.Text, "VARCHAR": mask.Text, "CHAR": mask.Text, "TEXT": mask.Text,
	"BINARY": mask.Binary, "VARBINARY": mask.Binary, "BLOB": mask.Binary,
	"TINYINT": mask.Int8, "SMALLINT": mask.Int16, "INT": mask.Int32, "INTEGER": mask.Int32, "BIGINT": mask.Int64,
	"UINT8": mask.Uint8, "UINT16": mask.Uint16, "UINT32": mask.Uint32, "UINT64": mask.Uint64,
	"DATE": mask.Date32, "DATE64": mask.Date64, "TIMESTAMP": mask.Timestamp,
	"BOOLEAN": mask.Bool, "FLOAT": mask.Float32, "DOUBLE": mask.Float64, "DECIMAL": mask.Decimal,
	"NULL": mask.Null, "VOID": mask.Null,
}

const msPerDay = 1000 * secondsPerDay

// cell is the value of the column.
func cell(t mask.Type, tok Token) (mask.Value, bool) {
	v := mask.Value{Kind: t.Kind, Bytes: tok.Bytes, Int: tok.Int}
	switch tok.Tag {
	case TagNull:
		return mask.Value{Kind: t.Kind, Null: true}, true
	case TagText, TagBytes, TagPattern, TagRepeat:
		return v, t.Kind == mask.Text || t.Kind == mask.Binary
	case TagInt:
		return v, t.Kind >= mask.Int8 && t.Kind <= mask.Uint64
	case TagDate:
		if t.Kind == mask.Date64 {
			v.Int *= msPerDay
		}
		return v, t.Kind == mask.Date32 || t.Kind == mask.Date64
	case TagBool:
		return v, t.Kind == mask.Bool
	case TagFloat, TagDecimal, TagTimestamp:
		// Their masks answer NULL whatever the value is.
		return v, t.Kind == mask.Float32 || t.Kind == mask.Float64 || t.Kind == mask.Decimal || t.Kind == mask.Timestamp
	}
	return v, false
}

// literal is an argument in the grammar of expressions.
func literal(t Token) (string, bool) {
	switch t.Tag {
	case TagNull:
		return "NULL", true
	case TagInt:
		return strconv.FormatInt(t.Int, 10), true
	case TagBool:
		return t.Text, true
	case TagColumn:
		return "{col}", true // any argument that is no literal
	case TagText:
		return "'" + strings.ReplaceAll(string(t.Bytes), "'", "''") + "'", true
	}
	return "", false
}
