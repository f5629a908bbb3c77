// Package blake2b computes BLAKE2b (RFC 7693) with digests of 32 bytes and a salt
// for many rows at once. There is no key and no tree.
package blake2b

import "encoding/binary"

const (
	Size     = 32 // bytes of a digest
	SaltSize = 16 // bytes of a salt, and of a personalisation
	block    = 128
)

// State is the chaining value that every digest under one salt begins with. It
// is read-only and safe for any goroutine.
type State [8]uint64

var iv = State{
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

// sigma is the order of the message words in the rounds; the last two rounds
// begin again.
var sigma = [12][16]uint8{
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
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
}

// Begin is the state under a salt and a personalisation, of SaltSize bytes each;
// none counts as zeros.
func Begin(salt, person []byte) *State {
	s := iv
	s[0] ^= 1<<24 | 1<<16 | Size // parameters: depth 1, fanout 1, no key
	for i, p := range [2][]byte{salt, person} {
		if p != nil {
			s[4+2*i] ^= binary.LittleEndian.Uint64(p)
			s[5+2*i] ^= binary.LittleEndian.Uint64(p[8:])
		}
	}
	return &s
}
