//go:build !purego

package blake2b

import (
	"testing"

	"github.com/arrowmask/arrowmask/internal/asmtest"
	"github.com/arrowmask/arrowmask/internal/cpu"
)

// TestB01Disassembly: the machine code of every backend uses the extensions
// that the backend says it needs.
func TestB01Disassembly(t *testing.T) {
	needs := map[string]cpu.Set{}
	for _, b := range assembly() {
		needs[b.Name] = b.Needs
	}
	asmtest.Backends(t, needs, map[string][]string{"avx512": {"compressAVX512"}, "avx2": {"compressAVX2"}})
}

// TestB06ReservedRegisters: no assembly touches a register of the runtime's.
func TestB06ReservedRegisters(t *testing.T) { asmtest.ReservedRegisters(t, "*_amd64.s") }
