//go:build !purego

package kernels

import "github.com/arrowmask/arrowmask/internal/cpu"

// What the instructions of each tier need; internal/cpu adds the operating
// system's part. Every tier packs rows with packAVX2.
const (
	needsAVX2   = cpu.AVX | cpu.AVX2
	needsAVX512 = needsAVX2 | cpu.AVX512F | cpu.AVX512VL | cpu.AVX512BW
	needsSHANI  = needsAVX2 | cpu.SHA | cpu.SSSE3 | cpu.SSE41 | cpu.SSE2
)

// assembly is the list of this architecture's own kernels for an algorithm,
// best first.
func assembly(alg Alg) []*Backend {
	switch alg {
	case MD5:
		return []*Backend{newLanes("avx512", needsAVX512, laneKernel{
			alg: alg, lanes: 16, full: 16,
			word: rowWord(16), run: md5AVX512, pack1: pack64LEAVX2, pack2: pack128LEAVX2,
			cost: laneCost{step: 100, block: 100, row: 40, batch: 100},
		}), newLanes("avx2", needsAVX2, laneKernel{
			alg: alg, lanes: 16, full: 16,
			word: rowWord(16), run: md5AVX2, pack1: pack64LEAVX2, pack2: pack128LEAVX2,
			cost: laneCost{step: 150, block: 100, row: 40, batch: 100},
		})}
	case SHA1:
		return []*Backend{newLanes("avx512", needsAVX512, laneKernel{
			alg: alg, lanes: 16, full: 20,
			word: rowWord(16), run: sha1AVX512, pack1: pack64BEAVX2, pack2: pack128BEAVX2,
			cost: laneCost{step: 120, block: 50, row: 40, batch: 100},
		}), newLanes("avx2", needsAVX2, laneKernel{
			alg: alg, lanes: 16, full: 20,
			word: rowWord(16), run: sha1AVX2, pack1: pack64BEAVX2, pack2: pack128BEAVX2,
			cost: laneCost{step: 250, block: 50, row: 40, batch: 100},
		})}
	case SHA224, SHA256:
		return []*Backend{newLanes("avx512", needsAVX512, laneKernel{
			alg: alg, lanes: 16, full: 32,
			word: rowWord(16), run: sha256AVX512, pack1: pack64BEAVX2, pack2: pack128BEAVX2,
			cost: laneCost{step: 250, block: 45, row: 60, batch: 100},
		}), newLanes("shani", needsSHANI, laneKernel{
			alg: alg, lanes: 2, full: 32,
			word: shaniWord, run: sha256SHANI, pack1: pack64BEAVX2, pack2: pack128BEAVX2,
			cost: laneCost{step: 60, block: 45, row: 60, batch: 100},
		}), newLanes("avx2", needsAVX2, laneKernel{
			alg: alg, lanes: 8, full: 32,
			word: rowWord(8), run: sha256AVX2, pack1: pack64BEAVX2, pack2: pack128BEAVX2,
			cost: laneCost{step: 400, block: 45, row: 60, batch: 100},
		})}
	case SHA384, SHA512, SHA512_256:
		return []*Backend{newLanes("avx512", needsAVX512, laneKernel{
			alg: alg, lanes: 8, full: 64,
			word: rowWord(8), run: sha512AVX512, pack1: pack128BEAVX2, pack2: pack256BEAVX2,
			cost: laneCost{step: 300, block: 200, row: 60, batch: 100},
		}), newLanes("avx2", needsAVX2, laneKernel{
			alg: alg, lanes: 4, full: 64,
			word: rowWord(4), run: sha512AVX2, pack1: pack128BEAVX2, pack2: pack256BEAVX2,
			cost: laneCost{step: 400, block: 200, row: 60, batch: 100},
		})}
	}
	return nil
}

// shaniWord is where the SHA instructions want the words of a chaining value:
// F E B A H G D C.
func shaniWord(w, lane int) int {
	return 8*lane + [8]int{3, 2, 7, 6, 1, 0, 5, 4}[w]
}

// rowWord is where kernels that keep a word of all rows together have a row's
// words.
func rowWord(lanes int) func(w, lane int) int {
	return func(w, lane int) int { return w*lanes + lane }
}
