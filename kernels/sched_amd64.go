//go:build !purego

package kernels

import "github.com/arrowmask/arrowmask/internal/cpu"

// What the instructions of each tier need; internal/cpu adds the operating
// system's part. Every tier packs rows with packAVX2.
const (
	needsAVX2  = cpu.AVX | cpu.AVX2
	needsSHANI = needsAVX2 | cpu.SHA | cpu.SSSE3 | cpu.SSE41 | cpu.SSE2
)

// assembly is the list of this architecture's own kernels for an algorithm,
// best first.
func assembly(alg Alg) []*Backend {
	switch alg {
	case SHA224, SHA256:
		return []*Backend{newLanes("shani", needsSHANI, laneKernel{
			alg: alg, lanes: 2, full: 32,
			word: shaniWord, run: sha256SHANI, pack1: pack64BEAVX2, pack2: pack128BEAVX2,
			cost: laneCost{step: 60, block: 45, row: 60, batch: 100},
		})}
	}
	return nil
}

// shaniWord is where the SHA instructions want the words of a chaining value:
// F E B A H G D C.
func shaniWord(w, lane int) int {
	return 8*lane + [8]int{3, 2, 7, 6, 1, 0, 5, 4}[w]
}
