package kernels

import (
	"crypto/hmac"
	"fmt"
	"sync"
)

// macKey is a prepared HMAC key: what does not depend on the message, worked
// out once. Which fields are set depends on the backend's prepare function.
type macKey struct {
	// inner and outer are the chaining values after the first block, K0 ^ ipad
	// and K0 ^ opad.
	inner, outer state
	// lanes is the same in the form of a lane backend.
	lanes *laneStates
	// std holds hashers of crypto/hmac with the key.
	std *hasherPool
}

// NewHMAC binds a backend's algorithm to a key, for HMAC (RFC 2104, FIPS
// 198-1). The algorithm must be of the SHA-2 family. The key may have any
// length; what is needed of it is copied, and the caller may wipe it on return.
//
// Errors wrap ErrUnknownAlg, ErrUnsupportedBackend, or ErrKey: Go's
// cryptographic module refuses keys of less than 112 bits under
// GODEBUG=fips140=only. No error text tells anything of the key but its length.
func NewHMAC(b *Backend, key []byte) (*Hash, error) {
	if !b.Alg.SHA2() {
		return nil, fmt.Errorf("%w: HMAC is not offered over %s", ErrUnknownAlg, b.Alg)
	}
	if r := b.Reason(); r != "" {
		return nil, fmt.Errorf("%w: %s of %s: %s", ErrUnsupportedBackend, b.Name, b.Alg, r)
	}
	prepare := b.prepare
	if prepare == nil {
		prepare = prepareStates
	}
	mac, err := prepare(b.Alg, key)
	if err != nil {
		return nil, err
	}
	h := New(b)
	h.mac, h.row = mac, nil
	return h, nil
}

// prepareStates works the two key blocks of FIPS 198-1, section 4, into the
// states that every message starts from. No copy of the key remains.
func prepareStates(alg Alg, key []byte) (*macKey, error) {
	f := genericBlocks[alg]
	s := new(scratch)
	var k0 [maxBlock]byte
	if len(key) <= alg.BlockSize() {
		copy(k0[:], key)
	} else {
		s.row(k0[:alg.Size()], alg, f, key, nil)
	}
	mac := &macKey{inner: initial[alg], outer: initial[alg]}
	block := s.end[:alg.BlockSize()]
	for i := range block {
		block[i] = k0[i] ^ 0x36 // ipad
	}
	f(&mac.inner, block)
	for i := range block {
		block[i] = k0[i] ^ 0x5c // opad
	}
	f(&mac.outer, block)
	clear(k0[:])
	*s = scratch{}
	return mac, nil
}

// minEnforcedKey is the shortest key, in bytes, that Go's cryptographic module
// takes when it is enforced: 112 bits.
const minEnforcedKey = 112 / 8

// prepareStd leaves everything to crypto/hmac, which works the key in once per
// hasher and keeps the states.
func prepareStd(alg Alg, key []byte) (*macKey, error) {
	if enforced && len(key) < minEnforcedKey {
		return nil, fmt.Errorf("%w: %d bytes, GODEBUG=fips140=only asks for at least %d", ErrKey, len(key), minEnforcedKey)
	}
	own := append([]byte(nil), key...)
	return &macKey{std: &hasherPool{sync.Pool{New: func() any { return hmac.New(stdHash[alg], own) }}}}, nil
}
