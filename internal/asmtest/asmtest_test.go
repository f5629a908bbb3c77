package asmtest

import (
	"testing"

	"github.com/arrowmask/arrowmask/internal/cpu"
)

func TestExtension(t *testing.T) {
	for _, c := range []struct {
		mnemonic, operands string
		want               cpu.Set
	}{
		{"mov", "rax,QWORD PTR [rsi]", 0},
		{"sha256rnds2", "xmm2,xmm1,xmm0", cpu.SHA},
		{"pshufb", "xmm3,xmm14", cpu.SSSE3},
		{"vpaddd", "xmm1,xmm2,xmm3", cpu.AVX},
		{"vpaddd", "ymm1,ymm2,ymm3", cpu.AVX2},
		{"vpaddd", "zmm1,zmm2,zmm3", cpu.AVX512F},
		{"vpaddd", "zmm0,zmm0,DWORD PTR [rax]{1to16}", cpu.AVX512F},
		{"vpaddd", "ymm1,ymm2,ymm17", cpu.AVX512F | cpu.AVX512VL},
		{"vpshufb", "zmm1,zmm2,zmm3", cpu.AVX512F | cpu.AVX512BW},
		{"vmovdqu", "ymm1,YMMWORD PTR [rax]", cpu.AVX},
		{"vinserti128", "ymm1,ymm1,XMMWORD PTR [rax],0x1", cpu.AVX2},
		{"vmovdqu64", "xmm16,XMMWORD PTR [rax]", cpu.AVX512F | cpu.AVX512VL},
		{"vextracti32x4", "XMMWORD PTR [rdi],zmm1,0x2", cpu.AVX512F},
		{"bzhi", "r12,r10,rdx", cpu.BMI2},
	} {
		if got, ok := extension(c.mnemonic, c.operands); !ok || got != c.want {
			t.Errorf("%s %s: %v, %v; want %v", c.mnemonic, c.operands, got, ok, c.want)
		}
	}
	if _, ok := extension("vaesenc", "xmm1,xmm2,xmm3"); ok {
		t.Error("an instruction that is in no table passes")
	}
}

func TestReservedPattern(t *testing.T) {
	for line, bad := range map[string]bool{
		"	MOVQ R14, AX":        true,
		"	LEAQ 8(R15), AX":     true,
		"	ADDQ $8, BP":         true,
		"	SUBQ $64, SP":        true,
		"	PUSHQ AX":            true,
		"	LEAQ 63(SP), R13":    false,
		"	MOVQ dst+0(FP), DI":  false,
		"	VPADDD Y14, Y15, Y1": false,
		"	BSWAPQ BX":           false,
		"	MOVL 12(R8), AX":     false,
		"	PSHUFB X14, X3":      false,
	} {
		if got := reserved.MatchString(line); got != bad {
			t.Errorf("%q: %v, want %v", line, got, bad)
		}
	}
}
