package kernels

// newGeneric is the plain Go backend: always compiled, one message at a time,
// written to be read beside the standards.
func newGeneric(alg Alg) *Backend {
	return &Backend{Alg: alg, Name: "generic", Lanes: 1, sum: single(alg, genericBlocks[alg])}
}

var genericBlocks = [numAlgs]compress{
	MD5:  func(st *state, p []byte) { md5Generic(&st.w32, p) },
	SHA1: func(st *state, p []byte) { sha1Generic(&st.w32, p) },

	SHA224: func(st *state, p []byte) { sha256Generic(&st.w32, p) },
	SHA256: func(st *state, p []byte) { sha256Generic(&st.w32, p) },

	SHA384:     func(st *state, p []byte) { sha512Generic(&st.w64, p) },
	SHA512:     func(st *state, p []byte) { sha512Generic(&st.w64, p) },
	SHA512_256: func(st *state, p []byte) { sha512Generic(&st.w64, p) },
}
