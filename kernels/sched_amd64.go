//go:build !purego

package kernels

import (
	"encoding/binary"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// What the instructions of each tier need; internal/cpu adds the operating
// system's part. gather32AVX2 belongs to every tier.
const (
	needsAVX2   = cpu.AVX | cpu.AVX2
	needsAVX512 = needsAVX2 | cpu.AVX512F | cpu.AVX512VL | cpu.AVX512BW | cpu.BMI2
	needsSHANI  = needsAVX2 | cpu.SHA | cpu.SSSE3 | cpu.SSE41 | cpu.SSE2
)

// packer is an instruction set's way to pad rows.
type packer struct {
	exact, opens                    bool
	le64, le128, be64, be128, be256 packFunc
}

var (
	packAVX2   = packer{false, false, pack64LEAVX2, pack128LEAVX2, pack64BEAVX2, pack128BEAVX2, pack256BEAVX2}
	packAVX512 = packer{true, true, pack64LEAVX512, pack128LEAVX512, pack64BEAVX512, pack128BEAVX512, pack256BEAVX512}
)

// with sets the kernel's packing functions.
func (k laneKernel) with(p packer) laneKernel {
	k.exact, k.opens, k.gather32 = p.exact, p.opens, gather32AVX2
	switch {
	case k.alg == MD5:
		k.pack1, k.pack2 = p.le64, p.le128
	case k.alg.wide():
		k.pack1, k.pack2 = p.be128, p.be256
	default:
		k.pack1, k.pack2 = p.be64, p.be128
	}
	return k
}

// before makes the backend take over from a kernel of many lanes where there
// are few rows.
func (b *Backend) before(many laneKernel) laneKernel {
	if b.Available() {
		many.fewer = b.kernel
	}
	return many
}

// assembly is the list of this architecture's own kernels for an algorithm,
// best first.
func assembly(alg Alg) []*Backend {
	switch alg {
	case MD5:
		return []*Backend{
			newLanes("avx512", needsAVX512, laneKernel{alg: alg, lanes: 16, full: 16, word: rowWord(16), run: md5AVX512, cost: costs(alg, 75)}.with(packAVX512)),
			newLanes("avx2", needsAVX2, laneKernel{alg: alg, lanes: 24, full: 16, word: rowWord(24), run: md5AVX2, expand: expandMD5AVX2, cost: costs(alg, 175)}.with(packAVX2)),
		}
	case SHA1:
		shani := newLanes("shani", needsSHANI, laneKernel{alg: alg, lanes: 3, full: 20, word: sha1NIWord, run: sha1SHANI, expand: expandSHA1NI, cost: costs(alg, 76)}.with(packAVX2))
		return []*Backend{
			newLanes("avx512", needsAVX512, shani.before(laneKernel{alg: alg, lanes: 16, full: 20, word: rowWord(16), run: sha1AVX512, cost: costs(alg, 115)}.with(packAVX512))),
			newLanes("avx2", needsAVX2, shani.before(laneKernel{alg: alg, lanes: 16, full: 20, word: rowWord(16), run: sha1AVX2, cost: costs(alg, 250)}.with(packAVX2))),
			shani,
		}
	case SHA224, SHA256:
		shani := newLanes("shani", needsSHANI, laneKernel{alg: alg, lanes: 2, full: 32, word: sha256NIWord, run: sha256SHANI, cost: costs(alg, 48)}.with(packAVX2))
		return []*Backend{
			newLanes("avx512", needsAVX512, shani.before(laneKernel{alg: alg, lanes: 16, full: 32, word: rowWord(16), run: sha256AVX512, cost: costs(alg, 230)}.with(packAVX512))),
			shani,
			newLanes("avx2", needsAVX2, laneKernel{alg: alg, lanes: 8, full: 32, word: rowWord(8), run: sha256AVX2, cost: costs(alg, 300)}.with(packAVX2)),
		}
	default:
		return []*Backend{
			newLanes("avx512", needsAVX512, laneKernel{alg: alg, lanes: 8, full: 64, word: rowWord(8), run: sha512AVX512, cost: costs(alg, 280)}.with(packAVX512)),
			newLanes("avx2", needsAVX2, laneKernel{alg: alg, lanes: 4, full: 64, word: rowWord(4), run: sha512AVX2, cost: costs(alg, 350)}.with(packAVX2)),
		}
	}
}

// costs are the scheduler's figures for a kernel that takes step nanoseconds
// for a block of a whole group, as measured on a server processor that has all
// tiers. The standard library is much slower without the SHA instructions.
func costs(alg Alg, step int) laneCost {
	c := laneCost{step: step}
	sha := cpu.Features().Has(cpu.SHA)
	switch {
	case alg == MD5:
		c.block, c.row = 70, 18
	case alg.wide():
		c.block, c.row = 164, 50
	case alg == SHA1 && sha:
		c.block, c.row = 29, 50
	case alg == SHA1:
		c.block, c.row = 95, 30
	case sha:
		c.block, c.row = 33, 30
	default:
		c.block, c.row = 150, 40
	}
	return c
}

// rowWord is where kernels that keep a word of all rows together have a row's
// words.
func rowWord(lanes int) func(w, lane int) int {
	return func(w, lane int) int { return w*lanes + lane }
}

// expandMD5AVX2 is the common form but for the last sixteen words, which are
// one less: the kernel subtracts a complement there.
func expandMD5AVX2(to *fixedBlock, block []byte) {
	expandSums(MD5)(to, block)
	for i := 48; i < 64; i++ {
		putWord(to, i, binary.NativeEndian.Uint32(to[4*i:])-1)
	}
}

// expandSHA1NI writes words without constants, which the SHA instructions know,
// four of them from the last to the first.
func expandSHA1NI(to *fixedBlock, block []byte) {
	var w [80]uint32
	sha1Schedule(&w, block)
	for i, x := range w {
		putWord(to, i^3, x)
	}
}

// sha1NIWord is where the SHA instructions want the words of a chaining value:
// D C B A 0 0 0 E.
func sha1NIWord(w, lane int) int {
	return 8*lane + [5]int{3, 2, 1, 0, 7}[w]
}

// sha256NIWord is the same for SHA-256: F E B A H G D C.
func sha256NIWord(w, lane int) int {
	return 8*lane + [8]int{3, 2, 7, 6, 1, 0, 5, 4}[w]
}
