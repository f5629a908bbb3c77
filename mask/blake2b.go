package mask

import (
	"fmt"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/internal/blake2b"
	"github.com/arrowmask/arrowmask/kernels"
)

// blake is BLAKE2b (RFC 7693) of 32 bytes under a salt, as OpenSearch masks
// fields. Read-only.
type blake struct {
	begin *blake2b.State // of every digest
	// salt and legacy are what the state was made of, for the row version.
	salt   secret
	legacy bool
}

// newBlake puts the salt where it belongs or, in the legacy form, where
// OpenSearch put it by mistake at first: into the personalisation.
func newBlake(salt secret, legacy bool) *blake {
	b := &blake{salt: salt, legacy: legacy}
	if b.begin = blake2b.Begin(salt(), nil); legacy {
		b.begin = blake2b.Begin(nil, salt())
	}
	return b
}

// blakeSum is a blake by a backend.
type blakeSum struct {
	begin   *blake2b.State
	backend *blake2b.Backend
}

func (b blakeSum) Size() int { return blake2b.Size }

func (b blakeSum) Sum(dst []byte, col *kernels.Column, lo, hi int) error {
	b.backend.Sum(b.begin, dst, col, lo, hi)
	return nil
}

// blakeHash chooses the backend of a BLAKE2b and records its use: the one that
// is chosen for SHA-512, whose words have the same size. FIPS does not approve
// BLAKE2b.
func (c *compiler) blakeHash(n *node) (summer, error) {
	if fips.Enabled() {
		return nil, fips.NotApproved(n.name)
	}
	name := c.backend
	if name == "" {
		b, err := kernels.Active(kernels.SHA512)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		name = b.Name
	}
	b := blake2b.Choose(name)
	c.prog.uses = append(c.prog.uses, Use{Function: n.name, Alg: "blake2b-256", Backend: b.Name, Keyed: true, KeyID: n.set.keyID})
	return blakeSum{n.set.blake.begin, b}, nil
}

// legacyHash is OpenSearch's name of the form with the salt in the wrong place.
const legacyHash = "blake2b_legacy_default"

// salted makes the settings of a BLAKE2b under the salt that a handle names; a
// salt has 16 bytes, more are not looked at.
func (c *compiler) salted(s *settings, handle string, legacy bool) (err error) {
	var salt secret
	if s.keyID, salt, err = c.keys.find(handle); err != nil {
		return err
	}
	if len(salt()) < blake2b.SaltSize {
		return fmt.Errorf("%w: the salt %q is shorter than %d bytes", ErrKey, s.keyID, blake2b.SaltSize)
	}
	if len(salt()) > blake2b.SaltSize {
		c.note(fmt.Sprintf("Only the first %d bytes of the salt count.", blake2b.SaltSize))
	}
	s.key, s.blake = salt, newBlake(salt, legacy)
	return nil
}
