//go:build !purego

package hexenc

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
	for _, c := range []struct {
		backend string
		needs   cpu.Set
	}{
		{"ssse3", used["encodeSSSE3"]},
		{"avx2", used["encodeAVX2"] | used["encodeSSSE3"]},
	} {
		if c.needs == 0 || backends[c.backend] != c.needs {
			t.Errorf("%s lists %s, its code uses %s", c.backend, backends[c.backend], c.needs)
		}
	}
	if len(used) != 2 {
		t.Errorf("machine code of functions that belong to no backend: %v", used)
	}
}

// TestB06ReservedRegisters: no assembly touches a register of the runtime's.
func TestB06ReservedRegisters(t *testing.T) { asmtest.ReservedRegisters(t, "*_amd64.s") }
