package kernels

import (
	"math/big"
	"testing"
)

// primes lists the first n primes.
func primes(n int) (p []int64) {
	for c := int64(2); len(p) < n; c++ {
		if big.NewInt(c).ProbablyPrime(0) {
			p = append(p, c)
		}
	}
	return p
}

// TestConstantsByFormula works the constants out as FIPS 180-4 defines them:
// the first 64 bits of the fractional parts of roots of primes.
func TestConstantsByFormula(t *testing.T) {
	p := primes(80)
	for i, want := range k512 {
		// The integer cube root of p * 2^192 is the root of p, times 2^64.
		n := new(big.Int).Lsh(big.NewInt(p[i]), 192)
		lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), 80)
		for one := big.NewInt(1); new(big.Int).Sub(hi, lo).Cmp(one) > 0; {
			mid := new(big.Int).Add(lo, hi)
			mid.Rsh(mid, 1)
			if cube := new(big.Int).Exp(mid, big.NewInt(3), nil); cube.Cmp(n) <= 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		if got := new(big.Int).And(lo, new(big.Int).SetUint64(^uint64(0))).Uint64(); got != want {
			t.Errorf("k512[%d] is %#x, want %#x", i, want, got)
		}
	}
	for i, prime := range p[:16] {
		root := new(big.Int).Sqrt(new(big.Int).Lsh(big.NewInt(prime), 128))
		got := root.And(root, new(big.Int).SetUint64(^uint64(0))).Uint64()
		want := append(root512[:], root384[:]...)[i]
		if got != want {
			t.Errorf("root %d is %#x, want %#x", i, want, got)
		}
	}
}

// TestSHA512_256Initial runs the generation function of FIPS 180-4, section
// 5.3.6.
func TestSHA512_256Initial(t *testing.T) {
	var s scratch
	s.st = initial[SHA512]
	for i := range s.st.w64 {
		s.st.w64[i] ^= 0xa5a5a5a5a5a5a5a5
	}
	sha512Generic(&s.st.w64, SHA512.pad(&s.end, []byte("SHA-512/256"), 11))
	if s.st.w64 != initial[SHA512_256].w64 {
		t.Errorf("%x, want %x", initial[SHA512_256].w64, s.st.w64)
	}
}

// TestPad: FIPS 180-4, section 5.1, for every tail: whole blocks, the message,
// one bit, zeros, the length in bits.
func TestPad(t *testing.T) {
	for _, alg := range Algs() {
		block := alg.BlockSize()
		for n := range block {
			tail := make([]byte, n)
			for i := range tail {
				tail[i] = 0xFF
			}
			var buf [2 * maxBlock]byte
			for i := range buf {
				buf[i] = 0xEE // what an earlier row left
			}
			total := uint64(1)<<61 + uint64(n) // its bits do not fit 64
			p := alg.pad(&buf, tail, total)
			if want := (n + 1 + block/8 + block - 1) / block * block; len(p) != want {
				t.Fatalf("%s, tail of %d: %d bytes, want %d", alg, n, len(p), want)
			}
			length := new(big.Int).Lsh(new(big.Int).SetUint64(total), 3)
			field := make([]byte, block/8)
			length.And(length, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(block)), big.NewInt(1))).FillBytes(field)
			if alg == MD5 {
				for i, j := 0, len(field)-1; i < j; i, j = i+1, j-1 {
					field[i], field[j] = field[j], field[i]
				}
			}
			want := append(append(tail, 0x80), make([]byte, len(p)-n-1-len(field))...)
			if want = append(want, field...); string(p) != string(want) {
				t.Fatalf("%s, tail of %d: %x, want %x", alg, n, p, want)
			}
		}
	}
}
