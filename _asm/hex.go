package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	_ = register("hex_ssse3", hexSSSE3)
	_ = register("hex_avx2", hexAVX2)
)

// The encoders split bytes into halves, take the characters from a table of
// sixteen by a byte shuffle, and interleave them. What is left at the end is
// done by a step over the last bytes again.
func hexSSSE3() {
	TEXT("encodeSSSE3", NOSPLIT, "func(dst, src *byte, n int, chars *[16]byte)")
	Doc("encodeSSSE3 writes n bytes as text, n at least 16.")
	Pragma("noescape")
	dst, src, n := loadHexArgs()
	mask := table64("hexMaskSSSE3", 1, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f)
	MOVOU(Mem{Base: reg.RAX}, reg.X0)
	MOVOU(mask, reg.X1)
	step := func() {
		MOVOU(Mem{Base: src}, reg.X2)
		MOVO(reg.X2, reg.X3)
		PSRLW(U8(4), reg.X3)
		PAND(reg.X1, reg.X2)
		PAND(reg.X1, reg.X3)
		MOVO(reg.X0, reg.X4)
		PSHUFB(reg.X2, reg.X4) // low halves
		MOVO(reg.X0, reg.X5)
		PSHUFB(reg.X3, reg.X5) // high halves
		MOVO(reg.X5, reg.X6)
		PUNPCKLBW(reg.X4, reg.X5)
		PUNPCKHBW(reg.X4, reg.X6)
		MOVOU(reg.X5, Mem{Base: dst})
		MOVOU(reg.X6, Mem{Base: dst, Disp: 16})
	}
	Label("next")
	step()
	ADDQ(U8(16), src)
	ADDQ(U8(32), dst)
	SUBQ(U8(16), n)
	CMPQ(n, U8(16))
	JGE(LabelRef("next"))
	TESTQ(n, n)
	JZ(LabelRef("done"))
	// Step back so that the last 16 bytes are left.
	LEAQ(Mem{Base: src, Index: n, Scale: 1, Disp: -16}, src)
	LEAQ(Mem{Base: dst, Index: n, Scale: 2, Disp: -32}, dst)
	step()
	Label("done")
	RET()
}

func hexAVX2() {
	TEXT("encodeAVX2", NOSPLIT, "func(dst, src *byte, n int, chars *[16]byte)")
	Doc("encodeAVX2 writes n bytes as text, n at least 32.")
	Pragma("noescape")
	dst, src, n := loadHexArgs()
	mask := table64("hexMaskAVX2", 1, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f, 0x0f0f0f0f0f0f0f0f)
	VBROADCASTI128(Mem{Base: reg.RAX}, reg.Y0)
	VMOVDQU(mask, reg.Y1)
	step := func() {
		// Each 128-bit part is interleaved in itself: quarters 0 2 1 3 first,
		// and the characters come out in order.
		VPERMQ(U8(0xd8), Mem{Base: src}, reg.Y2)
		VPSRLW(U8(4), reg.Y2, reg.Y3)
		VPAND(reg.Y1, reg.Y2, reg.Y2)
		VPAND(reg.Y1, reg.Y3, reg.Y3)
		VPSHUFB(reg.Y2, reg.Y0, reg.Y2) // low halves
		VPSHUFB(reg.Y3, reg.Y0, reg.Y3) // high halves
		VPUNPCKLBW(reg.Y2, reg.Y3, reg.Y4)
		VPUNPCKHBW(reg.Y2, reg.Y3, reg.Y5)
		VMOVDQU(reg.Y4, Mem{Base: dst})
		VMOVDQU(reg.Y5, Mem{Base: dst, Disp: 32})
	}
	Label("next")
	// Text is written faster than the cache takes its lines in: ask for them a
	// kibibyte ahead. Beyond the end lies what the next call will write, most
	// often; asking reads nothing that a program can see, and never faults.
	PREFETCHT0(Mem{Base: dst, Disp: 1024})
	step()
	ADDQ(U8(32), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(32), n)
	CMPQ(n, U8(32))
	JGE(LabelRef("next"))
	TESTQ(n, n)
	JZ(LabelRef("done"))
	// Step back so that the last 32 bytes are left.
	LEAQ(Mem{Base: src, Index: n, Scale: 1, Disp: -32}, src)
	LEAQ(Mem{Base: dst, Index: n, Scale: 2, Disp: -64}, dst)
	step()
	Label("done")
	VZEROUPPER()
	RET()
}

func loadHexArgs() (dst, src, n reg.GPPhysical) {
	Load(Param("dst"), reg.RDI)
	Load(Param("src"), reg.RSI)
	Load(Param("n"), reg.RCX)
	Load(Param("chars"), reg.RAX)
	return reg.RDI, reg.RSI, reg.RCX
}
