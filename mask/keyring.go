package mask

import (
	"fmt"
	"io"
	"slices"
)

// MinKeyLen is the shortest key in bytes that a keyring takes: 112 bits, the
// least that NIST SP 800-131A lets HMAC use.
const MinKeyLen = 14

// Keyring holds keys by handle. Expressions, options and errors name a key by
// its handle; the key itself is never printed by any verb of fmt. Fill it
// first: it may be read by any number of goroutines, but not while it grows.
type Keyring struct {
	keys map[string]secret
}

// secret gives the key. It is a function because that is what fmt, which looks
// into every other value however it is wrapped, cannot look into.
type secret func() []byte

// NewKeyring is an empty keyring.
func NewKeyring() *Keyring { return &Keyring{} }

// Add stores a copy of key under a handle. The error wraps ErrKey: an empty or
// repeated handle, or a key shorter than MinKeyLen.
func (k *Keyring) Add(name string, key []byte) error {
	if name == "" {
		return fmt.Errorf("%w: empty handle", ErrKey)
	}
	if _, ok := k.keys[name]; ok {
		return fmt.Errorf("%w: handle %q given twice", ErrKey, name)
	}
	if len(key) < MinKeyLen {
		return fmt.Errorf("%w: key %q is shorter than %d bytes", ErrKey, name, MinKeyLen)
	}
	if k.keys == nil {
		k.keys = make(map[string]secret)
	}
	key = slices.Clone(key)
	k.keys[name] = func() []byte { return key }
	return nil
}

// Names lists the handles in order.
func (k *Keyring) Names() []string {
	if k == nil {
		return nil
	}
	names := make([]string, 0, len(k.keys))
	for name := range k.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// find is the key of a handle; with no handle, the only key there is.
func (k *Keyring) find(name string) (string, secret, error) {
	names := k.Names()
	if name == "" {
		if len(names) != 1 {
			return "", nil, fmt.Errorf("%w: no handle given and the keyring holds %d keys", ErrKey, len(names))
		}
		name = names[0]
	}
	if !slices.Contains(names, name) {
		return "", nil, fmt.Errorf("%w: no key has the handle %q", ErrKey, name)
	}
	return name, k.keys[name], nil
}

const redacted = "Keyring(redacted)"

// String tells nothing of the keys.
func (k Keyring) String() string { return redacted }

// GoString tells nothing of the keys.
func (k Keyring) GoString() string { return redacted }

// Format tells nothing of the keys, whatever the verb.
func (k Keyring) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }
