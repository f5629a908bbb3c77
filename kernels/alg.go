// Package kernels computes message digests of many rows at once.
//
// A caller describes a column as plain buffers (Column), picks a Backend for
// an algorithm, binds both in a Hash and asks for the digests of a range of
// rows. There is no Arrow in here and no validity bitmap: the layer above says
// which rows count, by a selection.
package kernels

import "fmt"

// Alg is a digest algorithm.
type Alg uint8

// The algorithms, in the order of their published documents: RFC 1321 for MD5,
// FIPS 180-4 for the rest.
const (
	MD5 Alg = iota
	SHA1
	SHA224
	SHA256
	SHA384
	SHA512
	SHA512_256
	numAlgs
)

// MaxSize is the size in bytes of the longest digest.
const MaxSize = 64

var algs = [numAlgs]struct {
	name        string
	size, block int
}{
	MD5:        {"md5", 16, 64},
	SHA1:       {"sha1", 20, 64},
	SHA224:     {"sha224", 28, 64},
	SHA256:     {"sha256", 32, 64},
	SHA384:     {"sha384", 48, 128},
	SHA512:     {"sha512", 64, 128},
	SHA512_256: {"sha512_256", 32, 128},
}

// Algs lists every algorithm.
func Algs() []Alg {
	all := make([]Alg, numAlgs)
	for i := range all {
		all[i] = Alg(i)
	}
	return all
}

// ParseAlg finds an algorithm by its name, as String spells it.
func ParseAlg(name string) (Alg, error) {
	for i, a := range algs {
		if a.name == name {
			return Alg(i), nil
		}
	}
	return 0, fmt.Errorf("%w: %q", ErrUnknownAlg, name)
}

// String is the algorithm's name in lower case: "md5", "sha256", "sha512_256".
func (a Alg) String() string {
	if a >= numAlgs {
		return fmt.Sprintf("Alg(%d)", uint8(a))
	}
	return algs[a].name
}

// Size is the length of a digest in bytes.
func (a Alg) Size() int { return algs[a].size }

// BlockSize is the length of a message block in bytes, 64 or 128.
func (a Alg) BlockSize() int { return algs[a].block }

// SHA2 reports whether the algorithm belongs to the SHA-2 family, which is
// what HMAC is offered over.
func (a Alg) SHA2() bool { return a >= SHA224 && a < numAlgs }
