package kernels

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

var newStd = [numAlgs]func() hash.Hash{
	MD5: md5.New, SHA1: sha1.New, SHA224: sha256.New224, SHA256: sha256.New,
	SHA384: sha512.New384, SHA512: sha512.New, SHA512_256: sha512.New512_256,
}

var table = func() (t [numAlgs][]*Backend) {
	for _, alg := range Algs() {
		mk := newStd[alg]
		t[alg] = []*Backend{{Alg: alg, Name: "std", Lanes: 1, sum: func(dst []byte, col *Column, lo, hi int, mac *macKey) {
			h := mk
			if mac != nil {
				h = func() hash.Hash { return hmac.New(mk, mac.key) }
			}
			d := h()
			out := dst[:0]
			for i := lo; i < hi; i++ {
				d.Reset()
				d.Write(col.Row(i))
				out = d.Sum(out)
			}
		}}}
	}
	return t
}()
