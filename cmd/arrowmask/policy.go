package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/pflag"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/v18"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

// maxPolicies bounds what is read as a policy file or one beside it.
const maxPolicies = 1 << 28

// storeFlags are the files beside the policies.
type storeFlags struct{ roles, users, tags, serviceDef string }

func (o *storeFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.tags, "tags", "", "`file` of tags on columns and tables (ServiceTags)")
	f.StringVar(&o.roles, "roles", "", "`file` that says which roles users and groups have")
	f.StringVar(&o.users, "user-store", "", "`file` of attributes of users and groups")
	f.StringVar(&o.serviceDef, "service-def", "", "service definition for policies without one: a `file`, or hive, trino, presto, nestedstructure")
}

// policyFlags ask for a plan by policies instead of --set.
type policyFlags struct {
	stores   storeFlags
	file     string
	user     string
	groups   []string
	roles    []string
	owner    string
	attrs    []string
	resource string
	at       string
	strict   bool
	set      *pflag.FlagSet
}

func (o *policyFlags) register(f *pflag.FlagSet) {
	o.set = f
	f.StringVar(&o.file, "policy", "", "mask by the Ranger policies in this `file` instead of --set")
	f.StringVar(&o.user, "user", "", "with --policy: the `name` of who is to see the output")
	f.StringArrayVar(&o.groups, "group", nil, "with --policy: a `name` of a group of the user, once a group")
	f.StringArrayVar(&o.roles, "role", nil, "with --policy: a `name` of a role of the user, besides those of --roles")
	f.StringVar(&o.owner, "owner", "", "with --policy: the `name` of the owner of the table")
	f.StringArrayVar(&o.attrs, "attr", nil, "with --policy: an attribute of the user, `NAME=VALUE`")
	f.StringVar(&o.resource, "resource", "", "with --policy: what the table is called there, `DB.TABLE`")
	f.StringVar(&o.at, "at", "", "with --policy: the `time` of access, as 2026-01-31T12:00:00Z or '2026-01-31 12:00:00' (default: now)")
	f.BoolVar(&o.strict, "fail-on-unmatched", true, "with --policy: refuse when a policy for the table names a column that it lacks or is disabled, or when none is for the table")
	o.stores.register(f)
}

// check refuses what is wrong whatever the policies say.
func (o *policyFlags) check(sets []string) error {
	if o.file == "" {
		for _, name := range []string{"user", "group", "role", "owner", "attr", "resource", "at", "fail-on-unmatched", "tags", "roles", "user-store", "service-def", "audit"} {
			if o.set.Changed(name) {
				return usagef("--%s goes with --policy", name)
			}
		}
		return nil
	}
	switch {
	case len(sets) > 0:
		return usagef("--set and --policy together: which of them counts for a column cannot be said")
	case o.user == "":
		return usagef("--policy needs --user: who is to see the output")
	case o.resource == "":
		return usagef("--policy needs --resource: what the table is called there, as db.table")
	}
	_, err := o.time()
	if err == nil {
		_, err = o.attributes()
	}
	return err
}

// time is the time of access; without a zone it is local.
func (o *policyFlags) time() (time.Time, error) {
	if o.at == "" {
		return time.Now(), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, o.at); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, o.at, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--at %q: want a time as 2026-01-31T12:00:00Z or '2026-01-31 12:00:00'", o.at)
}

func (o *policyFlags) attributes() (map[string]string, error) {
	attrs := make(map[string]string, len(o.attrs))
	for _, a := range o.attrs {
		name, value, found := strings.Cut(a, "=")
		if !found || name == "" {
			return nil, usagef("--attr %q: want NAME=VALUE", a)
		}
		if _, twice := attrs[name]; twice {
			return nil, usagef("--attr gives %q twice", name)
		}
		attrs[name] = value
	}
	return attrs, nil
}

// question is what a run asks of the policies, ready to be asked about a table.
type question struct {
	*policyFlags
	rules *ranger.Rules
	who   *policy.Identity
	when  time.Time
}

// load reads the policies and what lies beside them; nil without --policy.
func (o *policyFlags) load(dialect string) (*question, error) {
	if o.file == "" {
		return nil, nil
	}
	if err := checkDialect(dialect); err != nil {
		return nil, err
	}
	body, opts, err := o.stores.read(o.file, dialect)
	if err != nil {
		return nil, err
	}
	q := &question{policyFlags: o}
	if q.rules, err = ranger.Load(body, opts); err != nil {
		return nil, fmt.Errorf("policies %s: %w", o.file, err)
	}
	if q.when, err = o.time(); err != nil {
		return nil, err
	}
	attrs, err := o.attributes()
	if err != nil {
		return nil, err
	}
	q.who = policy.NewIdentity(o.user, o.groups, o.roles, attrs)
	return q, nil
}

func checkDialect(name string) error {
	if !slices.Contains(mask.Dialects(), strings.ToLower(name)) {
		return usagef("--dialect %q: want one of %s", name, strings.Join(mask.Dialects(), ", "))
	}
	return nil
}

// read reads the policy file and those beside it.
func (o *storeFlags) read(file, dialect string) (body []byte, opts ranger.Options, err error) {
	if body, err = readPolicies(file); err != nil {
		return nil, opts, err
	}
	opts.Dialect = dialect
	for _, f := range []struct {
		name string
		to   *[]byte
	}{{o.roles, &opts.Roles}, {o.users, &opts.Users}, {o.tags, &opts.Tags}} {
		if f.name == "" {
			continue
		}
		if *f.to, err = readPolicies(f.name); err != nil {
			return nil, opts, err
		}
	}
	if o.serviceDef == "" {
		return body, opts, nil
	}
	def, err := readPolicies(o.serviceDef)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(o.serviceDef, "./\\") {
		opts.ServiceType, err = o.serviceDef, nil
	}
	if err == nil {
		body, err = withServiceDef(body, def)
	}
	if err != nil {
		return nil, opts, fmt.Errorf("--service-def: %w", err)
	}
	return body, opts, nil
}

func readPolicies(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPolicies+1))
	if err == nil && len(b) > maxPolicies {
		err = fmt.Errorf("%s: longer than %d bytes", name, maxPolicies)
	}
	return b, err
}

// withServiceDef puts a service definition into a policy file that has none; a
// bare list of policies becomes an object. Without def it only makes sure that
// the file has none.
func withServiceDef(body, def []byte) ([]byte, error) {
	top := map[string]json.RawMessage{}
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' {
		if def == nil {
			return body, nil
		}
		top["policies"] = trimmed
	} else if err := json.Unmarshal(body, &top); err != nil {
		return nil, err
	}
	if top["serviceDef"] != nil {
		return nil, errors.New("the policy file has a service definition of its own")
	}
	if def == nil {
		return body, nil
	}
	if !json.Valid(def) {
		return nil, errors.New("not JSON")
	}
	top["serviceDef"] = def
	return json.Marshal(top)
}

// table is how the policies know a file's columns.
func (q *question) table(schema *arrow.Schema) (*policy.Table, error) {
	return policy.NewTable(policy.SplitName(q.resource), q.owner, v18.Columns(schema))
}

// decide asks for the plan and makes sure that it may be trusted.
func (q *question) decide(schema *arrow.Schema) (*policy.Plan, error) {
	t, err := q.table(schema)
	if err != nil {
		return nil, err
	}
	p, err := policy.NewSnapshot(q.rules).Plan(q.who, t, q.when)
	if err != nil {
		return nil, err
	}
	return p, q.checkMatched(p, t)
}

// checkMatched refuses a plan that leaves something clear because a name does
// not match: a policy for the table that finds no column there, or a table that
// no policy knows.
func (q *question) checkMatched(p *policy.Plan, t *policy.Table) error {
	if !q.strict {
		return nil
	}
	if err := p.CheckMatched(); err != nil {
		return fmt.Errorf("%w; --fail-on-unmatched=false goes on without", err)
	}
	known, err := q.known(t)
	if err != nil || known {
		return err
	}
	return fmt.Errorf("%w: no policy in %s masks or filters table %s for anybody; --fail-on-unmatched=false lets it pass", policy.ErrUnmatched, q.file, t.Name())
}

// known reports whether any policy masks or filters anything of a table for
// anybody.
func (q *question) known(t *policy.Table) (bool, error) {
	// A service need not have row filters.
	filters, err := q.rules.ListFilters(t.Path())
	if err != nil && !errors.Is(err, ranger.ErrRequest) || len(filters) > 0 {
		return len(filters) > 0, err
	}
	for _, f := range t.Fields() {
		masks, err := q.rules.ListMasks(t.Path(), f.Name)
		if err != nil || len(masks) > 0 {
			return len(masks) > 0, err
		}
	}
	return false, nil
}

// policyPlan is where a plan by policies comes from.
type policyPlan struct {
	*question
	decided *policy.Plan
	hash    policy.Hash
}

// plan is newPlan by policies.
func (q *question) plan(schema *arrow.Schema, opts arrowudf.Options) (*plan, error) {
	decided, err := q.decide(schema)
	if err != nil {
		return nil, err
	}
	m, err := v18.NewMasker(decided, schema, opts)
	if err != nil {
		return nil, err
	}
	set, err := policy.NewSet(decided)
	if err != nil {
		return nil, err
	}
	p := &plan{in: schema, masks: m, policies: &policyPlan{q, decided, set.Hash()}}
	for i := range decided.Masks {
		c := &decided.Masks[i]
		column := &maskedColumn{
			index: c.Index, name: c.Name, source: c.Mask.Expr, policy: newPolicyRef(c.Why),
			in: schema.Field(c.Index), out: m.Schema().Field(c.Index), fn: m.Func(i), rows: m.ColumnsFunc(i),
		}
		switch {
		case column.fn != nil:
			column.source, column.notes = column.fn.Expr(), column.fn.Notes()
		case column.rows != nil:
			column.source, column.notes = column.rows.Expr(), column.rows.Notes()
		}
		p.masked = append(p.masked, column)
	}
	return p, nil
}

// warn says which policies touched nothing.
func (p *policyPlan) warn(w io.Writer) {
	for _, u := range p.decided.Unmatched {
		fmt.Fprintf(w, "arrowmask: warning: policy %d %q matches nothing: %s\n", u.Why.PolicyID, u.Why.Policy, u.Detail)
	}
}

// whyNot gives the reason why a column is passed through.
func (p *policyPlan) whyNot(index int) string {
	for i := range p.decided.Exempt {
		if c := &p.decided.Exempt[i]; c.Index == index && len(c.Path) == 0 {
			return "passed through on purpose: " + c.Why.String()
		}
	}
	return "no policy decides: passed through"
}

// runPolicy is run by policies. It leaves a record of the run, whatever comes
// of it.
func (m *masking) runPolicy(ctx context.Context, out, errOut io.Writer) error {
	log, err := openAudit(m.audit)
	if err != nil {
		return err
	}
	defer log.close()
	m.log = log
	run := m.runBatches
	if copies, _ := m.copiesChunks(); copies {
		run = m.runRewrite
	}
	if err := run(ctx, out, errOut); err != nil {
		return errors.Join(err, log.write(m.auditRecord(err)))
	}
	return nil
}
