//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

// rules is behind a handle of arrowmask_policy_new.
type rules struct {
	handle
	ranger   *ranger.Rules
	snapshot *policy.Snapshot
}

// rulesOptions is the JSON of arrowmask_policy_new.
type rulesOptions struct {
	ServiceType string `json:"service_type"`
	Service     string `json:"service"`
	AccessType  string `json:"access_type"`
	Roles       string `json:"roles"`
	Users       string `json:"users"`
	Tags        string `json:"tags"`
	Dialect     string `json:"dialect"`
	Zone        string `json:"zone"`
}

// optional parses options that may be NULL.
func optional(text *C.char, into any) error {
	if text == nil {
		return nil
	}
	return parseJSON(C.GoString(text), into)
}

// content copies n bytes of C's.
func content(p unsafe.Pointer, n C.size_t) ([]byte, error) {
	if p == nil || n > 1<<30 {
		return nil, fmt.Errorf("%w: content is missing or longer than 1 GiB", mask.ErrArgument)
	}
	return C.GoBytes(p, C.int(n)), nil
}

//export am_go_policy_new
func am_go_policy_new(options *C.char, body unsafe.Pointer, n C.size_t, out *C.arrowmask_handle) C.int {
	r := &rules{}
	return create(out, r, func() error {
		var o rulesOptions
		if err := optional(options, &o); err != nil {
			return err
		}
		file, err := content(body, n)
		if err != nil {
			return err
		}
		opts := ranger.Options{
			ServiceType: o.ServiceType, Service: o.Service, AccessType: o.AccessType, Dialect: o.Dialect,
			Roles: []byte(o.Roles), Users: []byte(o.Users), Tags: []byte(o.Tags),
		}
		if o.Zone != "" {
			if opts.Zone, err = time.LoadLocation(o.Zone); err != nil {
				return fmt.Errorf("%w: options: unknown zone", mask.ErrArgument)
			}
		}
		loaded, err := ranger.Load(file, opts)
		if err != nil {
			return err
		}
		r.ranger, r.snapshot = loaded, policy.NewSnapshot(loaded)
		return nil
	})
}

// planRequest is the JSON of arrowmask_policy_plan.
type planRequest struct {
	User   string            `json:"user"`
	Groups []string          `json:"groups"`
	Roles  []string          `json:"roles"`
	Attrs  map[string]string `json:"attrs"`
	Table  string            `json:"table"`
	Owner  string            `json:"owner"`
	Time   string            `json:"time"`
	// AllowUnmatched leaves out checkMatched.
	AllowUnmatched bool `json:"allow_unmatched"`
}

// checkMatched refuses a plan that leaves something clear because a name does
// not match: a policy for the table that finds no column there, or a table that
// no policy knows.
func (r *rules) checkMatched(p *policy.Plan, t *policy.Table) error {
	if err := p.CheckMatched(); err != nil {
		return err
	}
	// A service need not have row filters.
	filters, err := r.ranger.ListFilters(t.Path())
	if err != nil && !errors.Is(err, ranger.ErrRequest) || len(filters) > 0 {
		return err
	}
	for _, f := range t.Fields() {
		masks, err := r.ranger.ListMasks(t.Path(), f.Name)
		if err != nil || len(masks) > 0 {
			return err
		}
	}
	return fmt.Errorf("%w: no policy masks or filters table %s for anybody", policy.ErrUnmatched, t.Name())
}

//export am_go_policy_plan
func am_go_policy_plan(h C.arrowmask_handle, request *C.char, schema *C.struct_ArrowSchema, plan *unsafe.Pointer, n *C.size_t) C.int {
	return withObject(h, func(r *rules) error {
		if request == nil || plan == nil || n == nil {
			return fmt.Errorf("request, plan or size: %w", errNull)
		}
		if r.snapshot == nil {
			return policy.ErrNoRules
		}
		var q planRequest
		if err := parseJSON(C.GoString(request), &q); err != nil {
			return err
		}
		var at time.Time
		if q.Time != "" {
			var err error
			if at, err = time.Parse(time.RFC3339, q.Time); err != nil {
				return fmt.Errorf("%w: time is not as in 2006-01-02T15:04:05Z", mask.ErrArgument)
			}
		}
		columns, err := cdata.ImportSchema((*cdata.Schema)(unsafe.Pointer(schema)))
		if err != nil {
			return err
		}
		table, err := policy.NewTable(policy.SplitName(q.Table), q.Owner, arrowudf.Columns(columns))
		if err != nil {
			return err
		}
		p, err := r.snapshot.Plan(policy.NewIdentity(q.User, q.Groups, q.Roles, q.Attrs), table, at)
		if err != nil {
			return err
		}
		if !q.AllowUnmatched {
			if err := r.checkMatched(p, table); err != nil {
				return err
			}
		}
		set, err := policy.NewSet(p)
		if err != nil {
			return err
		}
		b := set.Bytes()
		block := C.am_malloc(C.size_t(max(len(b), 1)))
		if block == nil {
			return cdata.ErrMemory
		}
		copy(unsafe.Slice((*byte)(block), len(b)), b)
		*plan, *n = block, C.size_t(len(b))
		return nil
	})
}

// masker is behind a handle of arrowmask_masker_new.
type masker struct {
	handle
	*arrowudf.Masker
	export *cdata.Exporter
}

// maskerOptions is the JSON of arrowmask_masker_new.
type maskerOptions struct {
	Table   string `json:"table"`
	Threads int    `json:"threads"`
	Large   bool   `json:"large"`
	Backend string `json:"backend"`
}

//export am_go_masker_new
func am_go_masker_new(options *C.char, keys C.arrowmask_handle, plan unsafe.Pointer, n C.size_t, schema *C.struct_ArrowSchema, out *C.arrowmask_handle) C.int {
	m := &masker{}
	return create(out, m, func() error {
		var o maskerOptions
		if err := optional(options, &o); err != nil {
			return err
		}
		ring, err := keysOf(keys)
		if err != nil {
			return err
		}
		encoded, err := content(plan, n)
		if err != nil {
			return err
		}
		set, err := policy.Decode(encoded)
		if err != nil {
			return err
		}
		columns, err := cdata.ImportSchema((*cdata.Schema)(unsafe.Pointer(schema)))
		if err != nil {
			return err
		}
		if o.Table == "" && len(set.Plans()) == 1 {
			o.Table = set.Plans()[0].Table
		}
		table, err := policy.NewTable(policy.SplitName(o.Table), "", arrowudf.Columns(columns))
		if err != nil {
			return err
		}
		p := set.Plan(table)
		if p == nil {
			return fmt.Errorf("%w: no plan for table %q with these columns", policy.ErrSchema, o.Table)
		}
		mem := newAllocator()
		m.export = mem.exporter()
		m.Masker, err = arrowudf.NewMasker(p, columns, arrowudf.Options{Threads: o.Threads, Large: o.Large, Backend: o.Backend, Keys: ring, Mem: mem})
		return err
	})
}
