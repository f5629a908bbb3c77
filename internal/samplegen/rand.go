package samplegen

// rng is splitmix64 (Steele, Lea and Flood 2014). The sample must come out
// alike under every Go release, so it does not lean on math/rand.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 to n-1.
func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }

// percent is true in p of 100 draws.
func (r *rng) percent(p int) bool { return r.below(100) < p }

// digits appends n decimal digits.
func (r *rng) digits(b []byte, n int) []byte {
	for range n {
		b = append(b, byte('0'+r.below(10)))
	}
	return b
}
