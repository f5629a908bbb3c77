package ranger

import (
	"fmt"
	"slices"
	"strings"
)

// level is one level of a resource: a database, a table, a column.
type level struct {
	name    string
	parent  string
	matcher string // class name; only its last part counts
	opts    options
}

// options of a level's matcher; the zero value is not the default, see
// defaultOptions.
type options struct {
	wildCard   bool
	ignoreCase bool
	quoted     bool // a request value in quotes compares with its letter case
	quoteChars string
	tokens     bool
	start      string
	end        string
	escape     string
	prefix     string
	exprs      bool // ${{..}} is evaluated
}

var defaultOptions = options{
	wildCard: true, ignoreCase: true, quoteChars: `"`,
	tokens: true, start: "{", end: "}", escape: `\`, exprs: true,
}

func readOptions(o object, base options) options {
	out := base
	out.wildCard = o.boolean("wildCard", base.wildCard)
	out.ignoreCase = o.boolean("ignoreCase", base.ignoreCase)
	out.quoted = o.boolean("quotedCaseSensitive", base.quoted)
	out.tokens = o.boolean("replaceTokens", base.tokens)
	out.exprs = o.boolean("replaceReqExpressions", base.exprs)
	text := func(key string, dst *string) {
		if o.has(key) {
			*dst = o.scalar(key)
		}
	}
	text("quoteChars", &out.quoteChars)
	text("tokenDelimiterStart", &out.start)
	text("tokenDelimiterEnd", &out.end)
	text("tokenDelimiterEscape", &out.escape)
	text("tokenDelimiterPrefix", &out.prefix)
	if out.tokens && (len(out.start) != 1 || len(out.end) != 1 || len(out.escape) != 1) {
		o.errf("", "token delimiters are one character each")
		out.tokens = false
	}
	return out
}

const defaultMatcher = "RangerDefaultResourceMatcher"

// supported reports whether the level's matcher is the plain one; path and URL
// matchers, and a service's own, are not for columns.
func (l *level) supported() bool {
	return l.matcher == "" || strings.HasSuffix(l.matcher, defaultMatcher)
}

// access is an access type and what it brings with it.
type access struct {
	name    string
	implied []string
}

// maskType is a kind of mask a service offers.
type maskType struct {
	name        string
	transformer string // SQL template over {col}, "" without
}

// typeDef is what a service definition says about masks, or about filters.
type typeDef struct {
	levels   []level
	accesses []string
	masks    []maskType
}

// condition kinds, by the class that evaluates them.
type conditionDef struct {
	name, evaluator string
}

// serviceDef is a service definition.
type serviceDef struct {
	name       string
	levels     []level
	accesses   []access
	mask       typeDef
	filter     typeDef
	conditions map[string]conditionDef
	tagsFile   string // serviceTagsFileName of the tag enricher, as tests use it
}

func readServiceDef(o object) *serviceDef {
	d := &serviceDef{name: o.str("name"), conditions: map[string]conditionDef{}}
	for _, r := range o.objects("resources") {
		d.levels = append(d.levels, level{
			name: r.str("name"), parent: r.str("parent"), matcher: r.str("matcher"),
			opts: readOptions(r.object("matcherOptions"), defaultOptions),
		})
	}
	for _, a := range o.objects("accessTypes") {
		d.accesses = append(d.accesses, access{a.str("name"), a.strs("impliedGrants")})
	}
	for _, c := range o.objects("policyConditions") {
		def := conditionDef{c.str("name"), c.str("evaluator")}
		d.conditions[def.name] = def
	}
	for _, e := range o.objects("contextEnrichers") {
		if strings.HasSuffix(e.str("enricher"), "RangerTagEnricher") {
			d.tagsFile = e.object("enricherOptions").scalar("serviceTagsFileName")
		}
	}
	d.mask = d.readTypeDef(o.object("dataMaskDef"))
	d.filter = d.readTypeDef(o.object("rowFilterDef"))
	return d
}

// readTypeDef lays the levels of dataMaskDef or rowFilterDef over the base
// levels of the same name: what is given replaces, option by option.
func (d *serviceDef) readTypeDef(o object) typeDef {
	var t typeDef
	for _, r := range o.objects("resources") {
		l := level{name: r.str("name"), opts: defaultOptions}
		if i := slices.IndexFunc(d.levels, func(b level) bool { return b.name == l.name }); i >= 0 {
			l = d.levels[i]
		}
		if p := r.str("parent"); p != "" {
			l.parent = p
		}
		if m := r.str("matcher"); m != "" {
			l.matcher = m
		}
		l.opts = readOptions(r.object("matcherOptions"), l.opts)
		t.levels = append(t.levels, l)
	}
	for _, a := range o.objects("accessTypes") {
		t.accesses = append(t.accesses, a.str("name"))
	}
	for _, m := range o.objects("maskTypes") {
		t.masks = append(t.masks, maskType{m.str("name"), m.str("transformer")})
	}
	return t
}

// chains are the ways from a root level down to each level, shortest first.
// Levels that do not lead back to a root belong to none.
func chains(levels []level) [][]level {
	var out [][]level
	for i := range levels {
		var up []level
		for l := &levels[i]; l != nil && len(up) <= len(levels); {
			up = append(up, *l)
			if l.parent == "" {
				slices.Reverse(up)
				out = append(out, up)
				break
			}
			k := slices.IndexFunc(levels, func(p level) bool { return p.name == l.parent })
			if k < 0 {
				break
			}
			l = &levels[k]
		}
	}
	slices.SortStableFunc(out, func(a, b []level) int { return len(a) - len(b) })
	return out
}

// leaf reports whether no level has this one as its parent.
func leaf(levels []level, name string) bool {
	return !slices.ContainsFunc(levels, func(l level) bool { return l.parent == name })
}

// depth is how many levels name a table: the longest way to a column, less it.
func (d *serviceDef) depth() int {
	n := 0
	for _, c := range chains(d.mask.levels) {
		n = max(n, len(c)-1)
	}
	for _, c := range chains(d.filter.levels) {
		n = max(n, len(c))
	}
	return n
}

// names lists the names of a chain, for messages.
func names(chain []level) string {
	var out []string
	for _, l := range chain {
		out = append(out, l.name)
	}
	return strings.Join(out, ".")
}

// implied is an access type and everything that it brings, one level deep.
func (d *serviceDef) implied(name string) []string {
	for _, a := range d.accesses {
		if a.name == name {
			return append([]string{name}, a.implied...)
		}
	}
	return []string{name}
}

func (d *serviceDef) knowsAccess(name string) bool {
	return slices.ContainsFunc(d.accesses, func(a access) bool { return a.name == name })
}

// check finds what would make the definition decide nothing without a word.
func (d *serviceDef) check() error {
	if d.name == "" {
		return fmt.Errorf("%w: it has no name", ErrServiceDef)
	}
	if len(d.levels) == 0 {
		return fmt.Errorf("%w %q: no resources", ErrServiceDef, d.name)
	}
	for _, l := range d.levels {
		if l.name == "" {
			return fmt.Errorf("%w %q: a resource without a name", ErrServiceDef, d.name)
		}
	}
	return nil
}
