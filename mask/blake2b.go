package mask

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

// BLAKE2b (RFC 7693 and the BLAKE2 specification) of 32 bytes with a salt, as
// OpenSearch masks fields. Only what that needs is here: no key, no tree.
const (
	blakeSize  = 32
	blakeBlock = 128
	blakeSalt  = 16 // bytes of a salt that count, and the least that is taken
)

var blakeIV = [8]uint64{
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

// blakeSigma is the order of the message words in the rounds; the last two
// rounds begin again.
var blakeSigma = [10][16]uint8{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

// blake is BLAKE2b under a salt: the state from which every digest begins.
// Read-only.
type blake struct {
	start [8]uint64
	// salt and legacy are what the state was made of, for the row version.
	salt   secret
	legacy bool
}

// newBlake puts the salt where it belongs or, in the legacy form, where
// OpenSearch put it by mistake at first: into the personalisation.
func newBlake(salt secret, legacy bool) *blake {
	b := &blake{start: blakeIV, salt: salt, legacy: legacy}
	b.start[0] ^= 1<<24 | 1<<16 | blakeSize // parameters: depth 1, fanout 1, no key
	at := 4
	if legacy {
		at = 6
	}
	b.start[at] ^= binary.LittleEndian.Uint64(salt())
	b.start[at+1] ^= binary.LittleEndian.Uint64(salt()[8:])
	return b
}

// Size is the bytes of a digest.
func (b *blake) Size() int { return blakeSize }

// Sum writes the digests of the rows lo to hi.
func (b *blake) Sum(dst []byte, col *kernels.Column, lo, hi int) error {
	for i := lo; i < hi; i++ {
		b.sum(dst[(i-lo)*blakeSize:][:blakeSize], col.Row(i))
	}
	return nil
}

func (b *blake) sum(dst, msg []byte) {
	h, done := b.start, uint64(0)
	var block [blakeBlock]byte
	for len(msg) > blakeBlock {
		copy(block[:], msg)
		done += blakeBlock
		blakeCompress(&h, &block, done, false)
		msg = msg[blakeBlock:]
	}
	clear(block[copy(block[:], msg):])
	blakeCompress(&h, &block, done+uint64(len(msg)), true)
	for i := range blakeSize / 8 {
		binary.LittleEndian.PutUint64(dst[8*i:], h[i])
	}
}

func blakeCompress(h *[8]uint64, block *[blakeBlock]byte, bytes uint64, last bool) {
	var m [16]uint64
	for i := range m {
		m[i] = binary.LittleEndian.Uint64(block[8*i:])
	}
	var v [16]uint64
	copy(v[:8], h[:])
	copy(v[8:], blakeIV[:])
	v[12] ^= bytes
	if last {
		v[14] = ^v[14]
	}
	for round := range 12 {
		s := &blakeSigma[round%10]
		for i := range 4 { // columns
			blakeMix(&v, i, 4+i, 8+i, 12+i, m[s[2*i]], m[s[2*i+1]])
		}
		for i := range 4 { // diagonals
			blakeMix(&v, i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[i+8]
	}
}

func blakeMix(v *[16]uint64, a, b, c, d int, x, y uint64) {
	v[a] += v[b] + x
	v[d] = bits.RotateLeft64(v[d]^v[a], -32)
	v[c] += v[d]
	v[b] = bits.RotateLeft64(v[b]^v[c], -24)
	v[a] += v[b] + y
	v[d] = bits.RotateLeft64(v[d]^v[a], -16)
	v[c] += v[d]
	v[b] = bits.RotateLeft64(v[b]^v[c], -63)
}

// blakeHash records the use of a BLAKE2b. FIPS does not approve it.
func (c *compiler) blakeHash(n *node) (summer, error) {
	if fips.Enabled() {
		return nil, fips.NotApproved(n.name)
	}
	c.prog.uses = append(c.prog.uses, Use{Function: n.name, Alg: "blake2b-256", Backend: "generic", Keyed: true, KeyID: n.set.keyID})
	return n.set.blake, nil
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
	if len(salt()) < blakeSalt {
		return fmt.Errorf("%w: the salt %q is shorter than %d bytes", ErrKey, s.keyID, blakeSalt)
	}
	if len(salt()) > blakeSalt {
		c.note(fmt.Sprintf("Only the first %d bytes of the salt count.", blakeSalt))
	}
	s.key, s.blake = salt, newBlake(salt, legacy)
	return nil
}
