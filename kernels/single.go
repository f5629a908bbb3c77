package kernels

import "sync"

// compress works whole blocks into a chaining value: the one part of an
// algorithm that differs between single-stream backends. It keeps neither
// argument.
type compress func(st *state, blocks []byte)

// maxCall bounds the bytes that one call of a compress function gets: an
// assembly function cannot be preempted, so it must return soon.
const maxCall = 64 << 10

// scratch is what one call needs besides its arguments. It is cleared before
// it goes back to the pool: nothing of the caller's stays in it.
type scratch struct {
	st     state
	end    [2 * maxBlock]byte
	digest [MaxSize]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// single makes the sum function of a backend that hashes one message at a
// time with a compress function.
func single(alg Alg, f compress) func([]byte, *Column, int, int, *macKey) {
	return func(dst []byte, col *Column, lo, hi int, mac *macKey) {
		s := scratches.Get().(*scratch)
		size := alg.Size()
		for i := lo; i < hi; i++ {
			s.row(dst[:size], alg, f, col.Row(i), mac)
			dst = dst[size:]
		}
		*s = scratch{}
		scratches.Put(s)
	}
}

// row writes the digest of one message, or with mac its HMAC.
func (s *scratch) row(dst []byte, alg Alg, f compress, msg []byte, mac *macKey) {
	if mac == nil {
		s.st = initial[alg]
		s.finish(dst, alg, f, msg, 0)
		return
	}
	// FIPS 198-1, section 4: H((K0 ^ opad) || H((K0 ^ ipad) || text)). The two
	// blocks of the key are already in the states.
	block := uint64(alg.BlockSize())
	inner := s.digest[:alg.Size()]
	s.st = mac.inner
	s.finish(inner, alg, f, msg, block)
	s.st = mac.outer
	s.finish(dst, alg, f, inner, block)
}

// finish works msg and the padding into the state and writes the digest.
// before is the number of bytes that the state has already taken.
func (s *scratch) finish(dst []byte, alg Alg, f compress, msg []byte, before uint64) {
	total := before + uint64(len(msg))
	for len(msg) > maxCall {
		f(&s.st, msg[:maxCall])
		msg = msg[maxCall:]
	}
	if n := len(msg) &^ (alg.BlockSize() - 1); n > 0 {
		f(&s.st, msg[:n])
		msg = msg[n:]
	}
	f(&s.st, alg.pad(&s.end, msg, total))
	s.st.store(dst, alg)
}
