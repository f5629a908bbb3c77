package kernels

// table holds every algorithm's backends in order of preference. Assembly
// comes first; of the portable ones the order is that of measured speed on
// short rows: sha256simd spends less per row than std, generic is last because
// it is written for reading.
var table = func() (t [numAlgs][]*Backend) {
	for _, alg := range Algs() {
		t[alg] = append(t[alg], assembly(alg)...)
		if alg == SHA256 {
			t[alg] = append(t[alg], newSimd())
		}
		t[alg] = append(t[alg], newStd(alg), newGeneric(alg))
	}
	return t
}()
