package main

import (
	"math"
	"math/big"
)

// primes are the first n primes.
func primes(n int) []int64 {
	var p []int64
	for c := int64(2); len(p) < n; c++ {
		if big.NewInt(c).ProbablyPrime(0) {
			p = append(p, c)
		}
	}
	return p
}

// sha512Constants are the first 64 bits of the fractional parts of the cube
// roots of the first eighty primes (FIPS 180-4, section 4.2.3).
func sha512Constants() []uint64 {
	k := make([]uint64, 80)
	for i, p := range primes(80) {
		// floor(cbrt(p * 2^192)) = cbrt(p) * 2^64, found by bisection.
		n := new(big.Int).Lsh(big.NewInt(p), 192)
		lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), 68)
		for {
			mid := new(big.Int).Rsh(new(big.Int).Add(lo, hi), 1)
			if mid.Cmp(lo) == 0 {
				break
			}
			if new(big.Int).Exp(mid, big.NewInt(3), nil).Cmp(n) <= 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		k[i] = new(big.Int).And(lo, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
	return k
}

// sha256Constants are the upper halves of the first 64 of those (section 4.2.2).
func sha256Constants() []uint32 {
	k := make([]uint32, 64)
	for i := range k {
		k[i] = uint32(sha512Constants()[i] >> 32)
	}
	return k
}

// md5Constants are floor(2^32 * |sin(i)|) for i from 1 to 64 (RFC 1321,
// section 3.4).
func md5Constants() []uint32 {
	k := make([]uint32, 64)
	for i := range k {
		k[i] = uint32(math.Floor(math.Abs(math.Sin(float64(i+1))) * (1 << 32)))
	}
	return k
}
