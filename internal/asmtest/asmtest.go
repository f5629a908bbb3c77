// Package asmtest looks into assembly: which processor extensions the machine
// code of a function uses, and whether its source keeps its hands off the
// registers that belong to the Go runtime.
package asmtest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

// Extensions disassembles the assembly functions of the package in the current
// folder and says what each one needs. Names come without the package. The
// test is skipped, with the reason, where GNU objdump is missing.
func Extensions(t *testing.T) map[string]cpu.Set {
	t.Helper()
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("no objdump to disassemble with: ", err)
	}
	// The running test binary may have been stripped; one that is kept is not.
	bin := filepath.Join(t.TempDir(), "package.test")
	if out, err := exec.Command("go", "test", "-c", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	text, err := exec.Command(objdump, "-d", "-M", "intel", "--no-show-raw-insn", bin).Output()
	if err != nil {
		t.Fatal("objdump: ", err)
	}
	module, err := exec.Command("go", "list", ".").Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	return parse(t, text, strings.TrimSpace(string(module))+".")
}

// parse goes over the listing. A function in assembly has the suffix .abi0.
func parse(t *testing.T, listing []byte, prefix string) map[string]cpu.Set {
	needs := map[string]cpu.Set{}
	name := ""
	for sc := bufio.NewScanner(bytes.NewReader(listing)); sc.Scan(); {
		line := sc.Text()
		if strings.HasSuffix(line, ">:") {
			name = ""
			if _, symbol, ok := strings.Cut(line, "<"+prefix); ok {
				if f, ok := strings.CutSuffix(symbol, ".abi0>:"); ok {
					name = f
					needs[name] = 0
				}
			}
			continue
		}
		at, code, ok := strings.Cut(line, ":\t")
		if name == "" || !ok || strings.TrimSpace(at) == "" {
			continue
		}
		code, _, _ = strings.Cut(code, "#")
		mnemonic, operands, _ := strings.Cut(strings.TrimSpace(code), " ")
		need, ok := extension(mnemonic, operands)
		if !ok {
			t.Errorf("%s: no entry for the instruction %q", name, code)
		}
		needs[name] |= need
	}
	return needs
}

// base are instructions that every amd64 processor has; none touches a vector
// register.
var base = words(`add and bswap call cmovl cmp dec imul int3 ja jae jb jbe je jg jge jl jle jmp jne
	lea mov movabs movslq movsxd nop pop prefetcht0 prefetcht1 push ret sar shl shr sub test xchg xor`)

// legacy are the vector instructions without a v, by extension.
var legacy = map[cpu.Set]map[string]bool{
	cpu.SSE2:  words(`movaps movups movdqa movdqu movq movd paddd pand por pxor pshufd psrlw punpcklbw punpckhbw`),
	cpu.SSSE3: words(`palignr pshufb`),
	cpu.SSE41: words(`pblendw pextrd pextrq pinsrd`),
	cpu.SHA:   words(`sha1msg1 sha1msg2 sha1nexte sha1rnds4 sha256msg1 sha256msg2 sha256rnds2`),
	cpu.BMI2:  words(`bzhi rorx sarx shlx shrx mulx`),
	cpu.BMI1:  words(`andn blsr tzcnt`),
}

// Vector instructions with a v: those that only AVX-512 has, by its part;
// those of AVX2 whatever the width; those of AVX at any width. All others are
// integer instructions: AVX at 128 bits, AVX2 at 256.
var (
	evexF    = words(`vmovdqa32 vmovdqa64 vmovdqu32 vmovdqu64 vporq vpord vpxord vpxorq vpandd vpandq vprold vprorq vprord vprolq vpternlogd vpternlogq vinserti32x4 vextracti32x4 vinserti64x4 vextracti64x4 vbroadcasti32x4`)
	evexBW   = words(`vmovdqu8 vmovdqu16 vpmovb2m`)
	evexVBMI = words(`vpermi2b`)
	maskBW   = words(`kmovq kmovd`)
	avx2     = words(`vinserti128 vextracti128 vbroadcasti128 vpermq vperm2i128 vpbroadcastb vpbroadcastd vpbroadcastq`)
	avx1     = words(`vmovdqu vmovdqa vmovd vmovq vzeroupper`)
	plain    = words(`vpaddb vpcmpgtb vpmovmskb vpaddd vpaddq vpand vpandn vpor vpxor vpslld vpsllq vpsrld vpsrlq vpsrlw vpsubd vpshufb vpshufd vpminsd vpmaxsd
		vpmulld vpmovsxdq vpcmpeqd vpunpckldq vpunpckhdq vpunpcklqdq vpunpckhqdq vpunpcklbw vpunpckhbw vpalignr`)
	high = regexp.MustCompile(`\b[xy]mm(1[6-9]|2\d|3[01])\b`)
)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// extension is what an instruction needs; not ok if it is not in the tables.
func extension(mnemonic, operands string) (cpu.Set, bool) {
	if base[mnemonic] && !strings.Contains(operands, "mm") {
		return 0, true
	}
	for set, names := range legacy {
		if names[mnemonic] {
			return set, true
		}
	}
	if maskBW[mnemonic] {
		return cpu.AVX512BW | cpu.AVX512F, true
	}
	zmm, ymm := strings.Contains(operands, "zmm"), strings.Contains(operands, "ymm")
	evex := zmm || evexF[mnemonic] || evexBW[mnemonic] || evexVBMI[mnemonic] || high.MatchString(operands) || strings.Contains(operands, "{")
	known := evexF[mnemonic] || evexBW[mnemonic] || evexVBMI[mnemonic] || avx2[mnemonic] || avx1[mnemonic] || plain[mnemonic]
	switch {
	case !known:
		return 0, false
	case evex:
		need := cpu.AVX512F
		if evexBW[mnemonic] || mnemonic == "vpshufb" {
			need |= cpu.AVX512BW
		}
		if evexVBMI[mnemonic] {
			need |= cpu.AVX512VBMI
		}
		if !zmm {
			need |= cpu.AVX512VL
		}
		return need, true
	case avx1[mnemonic]:
		return cpu.AVX, true
	case avx2[mnemonic] || ymm:
		return cpu.AVX2, true
	default:
		return cpu.AVX, true
	}
}

// reserved are operands that assembly must not have: R14 holds the goroutine,
// R15 is the linker's in position-independent code, BP is the unwinder's, and
// SP may only be read, as the base of a frame that the assembler declared.
var reserved = regexp.MustCompile(`\b(R14|R15|BP|R14[BWL]|R15[BWL]|BPB|SPB)\b|,\s*SP\s*$|\b(PUSH|POP)[A-Z]*\b`)

// Backends checks that the machine code of every backend uses the extensions
// that the backend says it needs: needs by its name. functions are the assembly
// functions that each runs; there must be no others. It is not run with -short.
func Backends(t *testing.T, needs map[string]cpu.Set, functions map[string][]string) {
	t.Helper()
	if testing.Short() {
		t.Skip("links and disassembles a test binary; not with -short")
	}
	used := Extensions(t)
	known := map[string]bool{}
	for name, run := range functions {
		var uses cpu.Set
		for _, f := range run {
			uses |= used[f]
			known[f] = true
		}
		if uses == 0 || needs[name] != uses {
			t.Errorf("%s lists %s, its code uses %s", name, needs[name], uses)
		}
	}
	if len(used) != len(known) || len(needs) != len(functions) {
		t.Errorf("machine code of functions that belong to no backend: %v", used)
	}
}

// ReservedRegisters fails the test for every line of the assembly files that
// match the pattern with such an operand.
func ReservedRegisters(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s (%v)", pattern, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if m := reserved.FindString(code); m != "" {
				t.Errorf("%s:%d: reserved register: %s", f, i+1, strings.TrimSpace(code))
			}
		}
	}
}
