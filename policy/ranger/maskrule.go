package ranger

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// The mask types with a meaning of their own; their names ignore letter case.
const (
	maskNone   = "MASK_NONE"
	maskNull   = "MASK_NULL"
	maskCustom = "CUSTOM"
)

// maskRule is how a mask item is carried out: leave the column, apply an
// expression, or not at all (err closes the column).
type maskRule struct {
	exempt bool
	expr   template
	names  bool // it names columns other than as {col}
	err    error
}

// nullExpr answers NULL for every row.
const nullExpr = "mask_null({col})"

// standardMasks maps the SQL templates that Trino's and Presto's definitions
// use to expressions over {col} with the same effect on text: letters and
// digits replaced, or every character but four; upper-case hex.
var standardMasks = map[string]string{
	"cast(regexp_replace(regexp_replace(regexp_replace({col},'([A-Z])', 'X'),'([a-z])','x'),'([0-9])','0') as {type})": "mask({col},'X','x','0')",
	"cast(regexp_replace({col}, '(.*)(.{4}$)', x -> regexp_replace(x[1], '.', 'X') || x[2]) as {type})":                "mask_show_last_n({col},4,'X','X','X','X')",
	"cast(regexp_replace({col}, '(^.{4})(.*)', x -> x[1] || regexp_replace(x[2], '.', 'X')) as {type})":                "mask_show_first_n({col},4,'X','X','X','X')",
	"cast(to_hex(sha256(to_utf8({col}))) as {type})":                                                                   "hex(digest({col},'sha256'))",
	"date_trunc('year', {col})": "mask({col},'x','x','x',-1,'1',1,0,-1)",
}

var (
	castToType = regexp.MustCompile(`(?is)^\s*cast\s*\((.*)\s+as\s+\{(?:type|colType)\}\s*\)\s*$`)
	spaces     = regexp.MustCompile(`\s+`)
)

// newMaskRule carries out a mask type. types are looked up in order, the
// service's first.
func newMaskRule(it *item, dialect string, types ...[]maskType) maskRule {
	switch {
	case strings.EqualFold(it.maskType, maskNone):
		return maskRule{exempt: true}
	case strings.EqualFold(it.maskType, maskNull):
		return maskRule{expr: template{{text: nullExpr}}}
	case it.maskType == maskCustom:
		if strings.TrimSpace(it.valueExpr) == "" {
			return maskRule{expr: template{{text: nullExpr}}}
		}
		return exprRule(it.valueExpr, dialect)
	}
	for _, list := range types {
		for _, t := range list {
			if t.name != it.maskType {
				continue
			}
			if strings.TrimSpace(t.transformer) == "" {
				return maskRule{err: closedf("the service definition does not say what mask type %s does", it.maskType)}
			}
			if e, ok := standardMasks[spaces.ReplaceAllString(strings.TrimSpace(t.transformer), " ")]; ok {
				return maskRule{expr: template{{text: e}}}
			}
			return exprRule(t.transformer, dialect)
		}
	}
	return maskRule{err: closedf("mask type %s is not in the service definition", it.maskType)}
}

// exprRule reads an expression of a policy. A cast to the column's own type
// around it changes nothing: masks keep the type.
func exprRule(src, dialect string) maskRule {
	if m := castToType.FindStringSubmatch(src); m != nil {
		src = m[1]
	}
	src = strings.ReplaceAll(src, "{field}", "{col}")
	t, err := newTemplate(src)
	if err != nil {
		return maskRule{err: closedf("%v", err)}
	}
	r := maskRule{expr: t}
	// Whether it suits the table's columns shows when there is a table. What is
	// put in for ${{..}} is no name, so that the names are known now.
	e, err := mask.ParseSQL(t.sample())
	if err == nil {
		var columns []string
		e, err = e.Rename(func(name string) (string, error) {
			columns = append(columns, name)
			return name, nil
		})
		r.names = len(columns) > 0
	}
	// A column alone may be the masked one under its name.
	if err == nil && !t.moving() && !(r.names && e.IsColumn()) {
		err = policy.CheckMask(&policy.Mask{Expr: e.String(), Dialect: dialect}, mask.Type{Kind: mask.Text}, nil)
	}
	if err != nil && !errors.Is(err, mask.ErrType) {
		r.err = closedf("mask expression %q: %v", clip(src), err)
	}
	return r
}

// build is the mask of a field with the template's expressions replaced, and
// every column that it names as the table spells it.
func (r *maskRule) build(dialect string, v *env, t *policy.Table, f *policy.Field) (*policy.Mask, error) {
	if r.err != nil || r.exempt {
		return nil, r.err
	}
	text, err := r.expr.bind(v)
	if err == nil {
		text, err = r.spell(text, t, f)
	}
	if err != nil {
		return nil, closedf("%v", err)
	}
	return &policy.Mask{Expr: text, Dialect: dialect}, nil
}

// spell writes the columns that an expression for f names as the table does.
func (r *maskRule) spell(text string, t *policy.Table, f *policy.Field) (string, error) {
	if !r.names {
		return text, nil
	}
	e, err := mask.ParseSQL(text)
	if err == nil {
		e, err = e.Rename(func(name string) (string, error) { return findColumn(t, f, name) })
	}
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// findColumn is how a mask of f calls the column that SQL calls name: in the
// same letter case, or the only one in another. Which of two it would be in the
// engine cannot be said.
func findColumn(t *policy.Table, f *policy.Field, name string) (string, error) {
	columns := t.Columns()
	at := slices.IndexFunc(columns, func(c policy.Column) bool { return c.Name == name })
	for i := range columns {
		if at >= 0 && columns[at].Name == name {
			break
		}
		if strings.EqualFold(columns[i].Name, name) {
			if at >= 0 {
				return "", fmt.Errorf("the mask reads column %q, and several differ from it in letter case only", name)
			}
			at = i
		}
	}
	if at < 0 {
		return "", fmt.Errorf("the mask reads column %q, which the table does not have", name)
	}
	if at == f.Index && len(f.Path) == 0 {
		return policy.TargetColumn, nil
	}
	found := columns[at].Name
	if found == policy.TargetColumn || strings.ContainsAny(found, "{}\x00") {
		return "", fmt.Errorf("the mask reads column %q, whose name cannot stand in an expression", name)
	}
	return found, nil
}

// template is text with ${{..}} in it.
type template []templatePart

type templatePart struct {
	text   string
	script *script // nil: text
	quote  byte    // the quote that the script stands in, 0 for none
}

func newTemplate(src string) (template, error) {
	var out template
	var quote byte
	for {
		i := strings.Index(src, "${{")
		text := src
		if i >= 0 {
			text = src[:i]
		}
		for k := 0; k < len(text); k++ {
			switch c := text[k]; {
			case quote != 0 && c == quote:
				quote = 0
			case quote == 0 && (c == '\'' || c == '"'):
				quote = c
			}
		}
		if text != "" {
			out = append(out, templatePart{text: text})
		}
		if i < 0 {
			return out, nil
		}
		end := strings.Index(src[i:], "}}")
		if end < 0 {
			return nil, fmt.Errorf("${{ without }} in %q", clip(src))
		}
		s, err := parseScript(src[i+3 : i+end])
		if err != nil {
			return nil, err
		}
		out = append(out, templatePart{script: s, quote: quote})
		src = src[i+end+2:]
	}
}

// sample is the text with a value for each of its expressions that is good in
// quotes and outside of them.
func (t template) sample() string {
	var b strings.Builder
	for i := range t {
		if t[i].script != nil {
			b.WriteByte('0')
		}
		b.WriteString(t[i].text)
	}
	return b.String()
}

func (t template) moving() bool {
	for i := range t {
		if t[i].script != nil {
			return true
		}
	}
	return false
}

var integer = regexp.MustCompile(`^-?\d{1,18}$`)

// bind puts values in so that they stay values: within quotes with the quote
// doubled, outside of quotes only an integer.
func (t template) bind(v *env) (string, error) {
	return t.render(v, func(p *templatePart, value string) (string, error) {
		if p.quote != 0 {
			q := string(p.quote)
			return strings.ReplaceAll(value, q, q+q), nil
		}
		if !integer.MatchString(value) {
			return "", fmt.Errorf("the value of ${{%s}} is no integer and not in quotes", clip(p.script.src))
		}
		return value, nil
	})
}

func (t template) render(v *env, put func(*templatePart, string) (string, error)) (string, error) {
	if len(t) == 1 && t[0].script == nil {
		return t[0].text, nil
	}
	var b strings.Builder
	for i := range t {
		p := &t[i]
		if p.script == nil {
			b.WriteString(p.text)
			continue
		}
		value, err := p.script.text(v)
		if err == nil {
			value, err = put(p, value)
		}
		if err != nil {
			return "", err
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// filterRule is how a filter item is carried out.
type filterRule struct {
	filter *policy.Filter
	always bool // true of every row: an exemption
	err    error
}

func newFilterRule(src string, syn policy.Syntax) filterRule {
	if strings.TrimSpace(src) == "" {
		return filterRule{err: closedf("an empty filter expression; write 1 = 1 to keep every row")}
	}
	f, err := policy.ParseFilter(src, syn)
	if err != nil {
		return filterRule{err: closedf("%v", err)}
	}
	for _, p := range f.Params() {
		if _, err := parseScript(p); err != nil {
			return filterRule{err: closedf("%v", err)}
		}
	}
	return filterRule{filter: f, always: f.String() == "1=1" || f.String() == "true"}
}

// filterBinder gives a filter's parameters their values.
type filterBinder struct {
	v     *env
	today func() int64
}

func (b filterBinder) Text(src string) (string, error) {
	s, err := parseScript(src)
	if err != nil {
		return "", err
	}
	return s.text(b.v)
}

func (b filterBinder) List(src string) ([]string, error) {
	s, err := parseScript(src)
	if err != nil {
		return nil, err
	}
	return s.list(b.v)
}

func (b filterBinder) User() (string, error) { return b.v.user, nil }
func (b filterBinder) Today() (int64, error) { return b.today(), nil }
