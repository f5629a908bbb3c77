package policy

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Identity is who asks. Build one with NewIdentity, once per connection: it is
// immutable, safe to share, and carries the hash that makes looking up a
// cached plan cheap.
type Identity struct {
	user   string
	groups []string
	roles  []string
	attrs  map[string]string
	keys   []string // of attrs, sorted
	hash   uint64
}

// seed is fixed for the life of the process: hashes are compared, never stored.
var seed = maphash.MakeSeed()

// NewIdentity copies what it is given. Groups and roles are sets: order and
// repetition do not matter. attrs are the user's attributes; they override
// those of a user store.
func NewIdentity(user string, groups, roles []string, attrs map[string]string) *Identity {
	id := &Identity{user: user, groups: set(groups), roles: set(roles), attrs: make(map[string]string, len(attrs))}
	for k, v := range attrs {
		id.attrs[k] = v
		id.keys = append(id.keys, k)
	}
	slices.Sort(id.keys)
	var h maphash.Hash
	h.SetSeed(seed)
	add := func(s string) {
		h.WriteString(s)
		h.WriteByte(0)
	}
	add(id.user)
	for _, g := range id.groups {
		add(g)
	}
	h.WriteByte(1)
	for _, r := range id.roles {
		add(r)
	}
	h.WriteByte(1)
	for _, k := range id.keys {
		add(k)
		add(id.attrs[k])
	}
	id.hash = h.Sum64()
	return id
}

// set is a sorted copy without repetitions and empty strings.
func set(in []string) []string {
	out := slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

// User is the name of the user.
func (id *Identity) User() string { return id.user }

// Groups are sorted and distinct. The caller must not change them.
func (id *Identity) Groups() []string { return id.groups }

// Roles are sorted and distinct. The caller must not change them.
func (id *Identity) Roles() []string { return id.roles }

// Attr is an attribute of the user.
func (id *Identity) Attr(name string) (string, bool) {
	v, ok := id.attrs[name]
	return v, ok
}

// AttrNames are the names of the attributes, sorted. The caller must not
// change them.
func (id *Identity) AttrNames() []string { return id.keys }

func (id *Identity) equal(o *Identity) bool {
	if id == o {
		return true
	}
	if id.hash != o.hash || id.user != o.user || !slices.Equal(id.groups, o.groups) ||
		!slices.Equal(id.roles, o.roles) || !slices.Equal(id.keys, o.keys) {
		return false
	}
	for _, k := range id.keys {
		if id.attrs[k] != o.attrs[k] {
			return false
		}
	}
	return true
}

// String names the user and the groups, for reports.
func (id *Identity) String() string {
	if len(id.groups) == 0 {
		return id.user
	}
	return id.user + " (" + strings.Join(id.groups, ", ") + ")"
}
