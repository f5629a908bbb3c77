package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var _ = register("pack_avx2", packAVX2)

// packWindow is the longest piece that a packer writes, in bytes.
const packWindow = 256

// packAVX2 writes the packers, which turn row references into padded blocks.
//
// What lies behind a row's end is cut off by a window that slides over a table
// of ones and zeros; the one bit of the padding comes from the same window
// over a table with a single 0x80. No branch depends on a row's length.
func packAVX2() {
	ones := GLOBL("packOnes", RODATA|NOPTR)
	for i := 0; i < 2*packWindow; i += 8 {
		if i < packWindow {
			DATA(i, U64(0xffffffffffffffff))
		} else {
			DATA(i, U64(0))
		}
	}
	mark := GLOBL("packMark", RODATA|NOPTR)
	for i := 0; i < 2*packWindow; i += 8 {
		if i == packWindow {
			DATA(i, U64(0x80))
		} else {
			DATA(i, U64(0))
		}
	}
	for _, f := range []struct {
		size   int
		little bool
	}{{64, true}, {128, true}, {64, false}, {128, false}, {256, false}} {
		emitPack(ones, mark, f.size, f.little)
	}
}

// emitPack writes the packer for pieces of size bytes.
func emitPack(ones, mark Mem, size int, little bool) {
	order, word := "BE", "big"
	if little {
		order, word = "LE", "little"
	}
	name := fmt.Sprintf("pack%d%sAVX2", size, order)
	TEXT(name, NOSPLIT, "func(dst *byte, refs *[2]uint64, n, skip, extra int)")
	Doc(
		fmt.Sprintf("%s writes the last %d bytes of n padded messages to dst, one after the", name, size),
		"other: what is left of each row after skip bytes, the one bit, zeros, and",
		fmt.Sprintf("the message's length in bits, %s-endian; extra bytes count as hashed", word),
		fmt.Sprintf("before the row. It reads %d bytes from skip on, whatever the row's length.", size),
	)
	Pragma("noescape")
	var (
		dst, refs, n, skip, extra = reg.RDI, reg.RSI, reg.RCX, reg.R8, reg.R9
		onesAt, markAt            = reg.R10, reg.R11
		row, left, bits           = reg.RAX, reg.RDX, reg.RBX
		onesWin, markWin          = reg.R12, reg.R13
	)
	Load(Param("dst"), dst)
	Load(Param("refs"), refs)
	Load(Param("n"), n)
	Load(Param("skip"), skip)
	Load(Param("extra"), extra)
	LEAQ(ones.Offset(packWindow), onesAt)
	LEAQ(mark.Offset(packWindow), markAt)
	TESTQ(n, n)
	JZ(LabelRef("done"))

	Label("next")
	MOVQ(Mem{Base: refs}, row)
	ADDQ(skip, row)
	MOVL(Mem{Base: refs, Disp: refLen}, left.As32())
	LEAQ(Mem{Base: left, Index: extra, Scale: 1}, bits)
	SHLQ(U8(3), bits)
	if !little {
		BSWAPQ(bits)
	}
	SUBQ(skip, left)
	MOVQ(onesAt, onesWin)
	SUBQ(left, onesWin)
	MOVQ(markAt, markWin)
	SUBQ(left, markWin)
	v := []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7}[:size/32]
	for i, y := range v {
		VMOVDQU(Mem{Base: row, Disp: 32 * i}, y)
		VPAND(Mem{Base: onesWin, Disp: 32 * i}, y, y)
		VPOR(Mem{Base: markWin, Disp: 32 * i}, y, y)
		VMOVDQU(y, Mem{Base: dst, Disp: 32 * i})
	}
	MOVQ(bits, Mem{Base: dst, Disp: size - 8})
	ADDQ(U8(refSize), refs)
	ADDQ(U32(uint32(size)), dst)
	DECQ(n)
	JNZ(LabelRef("next"))
	Label("done")
	VZEROUPPER()
	RET()
}
