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
	if testing.Short() {
		t.Skip("links and disassembles a test binary; not with -short")
	}
	used := asmtest.Extensions(t)
	backends := map[string]cpu.Set{}
	for _, b := range assembly() {
		backends[b.Name] = b.Needs
	}
	for name, function := range map[string]string{"avx512": "compressAVX512", "avx2": "compressAVX2"} {
		if needs := used[function]; needs == 0 || backends[name] != needs {
			t.Errorf("%s lists %s, its code uses %s", name, backends[name], needs)
		}
	}
	if len(used) != 2 || len(backends) != 2 {
		t.Errorf("machine code of functions that belong to no backend: %v", used)
	}
}

// TestB06ReservedRegisters: no assembly touches a register of the runtime's.
func TestB06ReservedRegisters(t *testing.T) { asmtest.ReservedRegisters(t, "*_amd64.s") }
