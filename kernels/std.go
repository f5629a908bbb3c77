package kernels

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"sync"
)

// newStd is the standard library, row by row: the FIPS route and one of the
// oracles in tests. Hashers are reused, so a call allocates nothing. MD5 takes
// the one-shot function instead, which is the faster of the two there.
func newStd(alg Alg) *Backend {
	b := &Backend{Alg: alg, Name: "std", Lanes: 1, prepare: prepareStd}
	if enforced && !alg.SHA2() {
		b.refused = "Go's cryptographic module refuses " + alg.String() + " under GODEBUG=fips140=only"
	}
	plain := &hasherPool{sync.Pool{New: func() any { return stdHash[alg]() }}}
	b.sum = func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		switch {
		case mac != nil:
			mac.std.sum(dst, col, lo, hi)
		case alg == MD5:
			for i := lo; i < hi; i++ {
				d := md5.Sum(col.Row(i))
				dst = dst[copy(dst, d[:]):]
			}
		default:
			plain.sum(dst, col, lo, hi)
		}
	}
	return b
}

var stdHash = [numAlgs]func() hash.Hash{
	MD5: md5.New, SHA1: sha1.New, SHA224: sha256.New224, SHA256: sha256.New,
	SHA384: sha512.New384, SHA512: sha512.New, SHA512_256: sha512.New512_256,
}

// hasherPool holds hashers for reuse, all of one algorithm and one key.
type hasherPool struct{ pool sync.Pool }

func (p *hasherPool) sum(dst []byte, col *Column, lo, hi int) {
	h := p.pool.Get().(hash.Hash)
	out := dst[:0]
	for i := lo; i < hi; i++ {
		h.Reset()
		h.Write(col.Row(i))
		out = h.Sum(out)
	}
	// The end of the last row still lies in the hasher's block buffer.
	h.Reset()
	h.Write(zeros[:h.BlockSize()-1])
	p.pool.Put(h)
}

var zeros [maxBlock]byte
