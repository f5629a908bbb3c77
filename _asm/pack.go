package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	_ = register("pack_avx2", packAVX2)
	_ = register("pack_avx512", packAVX512)
	_ = register("gather_avx2", gatherAVX2)
)

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
	mark := markTable("packMark")
	for _, f := range packers {
		emitPack(avx2, ones, mark, f.size, f.little)
	}
}

// packAVX512 writes the same packers with masked loads, which touch nothing but
// the row.
func packAVX512() {
	mark := markTable("packMarkAVX512")
	for _, f := range packers {
		emitPack(avx512, Mem{}, mark, f.size, f.little)
	}
}

// packers are the kinds of pieces: one block or two, and the order of the
// bytes in the length.
var packers = []struct {
	size   int
	little bool
}{{64, true}, {128, true}, {64, false}, {128, false}, {256, false}}

// markTable has a single 0x80 in the middle.
func markTable(name string) Mem {
	mark := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 2*packWindow; i += 8 {
		if i == packWindow {
			DATA(i, U64(0x80))
		} else {
			DATA(i, U64(0))
		}
	}
	return mark
}

// emitPack writes the packer for pieces of size bytes.
func emitPack(s isa, ones, mark Mem, size int, little bool) {
	order, word := "BE", "big"
	if little {
		order, word = "LE", "little"
	}
	name := fmt.Sprintf("pack%d%s%s", size, order, s.suffix())
	reads := "It reads nothing but the rows."
	if !s.wide {
		reads = fmt.Sprintf("It reads %d bytes from skip on, whatever the row's length.", size)
	}
	TEXT(name, NOSPLIT, "func(dst *byte, refs *[2]uint64, n, skip, extra, step int)")
	Doc(
		fmt.Sprintf("%s writes the last %d bytes of n padded messages to dst, step bytes", name, size),
		"apart: what is left of each row after skip bytes, the one bit, zeros, and the",
		fmt.Sprintf("message's length in bits, %s-endian; extra bytes count as hashed before the", word),
		"row. With a smaller step each message overwrites the end of the one before. "+reads,
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
	step, err := Param("step").Resolve()
	if err != nil {
		panic(err)
	}
	if s.wide {
		MOVQ(I32(-1), onesAt)
	} else {
		LEAQ(ones.Offset(packWindow), onesAt)
	}
	// A piece of one register needs no table for the one bit: it goes where the
	// mask's ones end.
	single := s.wide && size == s.size()
	const marks = 31 // 0x80 in every byte
	if single {
		MOVL(U32(0x80808080), row.As32())
		VPBROADCASTD(row.As32(), s.r(marks))
	} else {
		LEAQ(mark.Offset(packWindow), markAt)
	}
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
	if !single {
		MOVQ(markAt, markWin)
		SUBQ(left, markWin)
	}
	if !s.wide {
		MOVQ(onesAt, onesWin)
		SUBQ(left, onesWin)
	}
	for i := range size / s.size() {
		at := i * s.size()
		if s.wide {
			// The mask has a one for each of the row's bytes in this piece.
			if i > 0 {
				XORL(onesWin.As32(), onesWin.As32())
				SUBQ(U8(64), left)
				CMOVQLT(onesWin, left)
			}
			BZHIQ(left, onesAt, onesWin)
			KMOVQ(onesWin, reg.K1)
			VMOVDQU8_Z(Mem{Base: row, Disp: at}, reg.K1, s.r(i))
			if single {
				LEAQ(Mem{Base: onesWin, Disp: 1}, markWin)
				KMOVQ(markWin, reg.K2)
				VMOVDQU8(s.r(marks), reg.K2, s.r(i))
			} else {
				VPORQ(Mem{Base: markWin, Disp: at}, s.r(i), s.r(i))
			}
		} else {
			VMOVDQU(Mem{Base: row, Disp: at}, s.r(i))
			VPAND(Mem{Base: onesWin, Disp: at}, s.r(i), s.r(i))
			VPOR(Mem{Base: markWin, Disp: at}, s.r(i), s.r(i))
		}
		s.store(i, Mem{Base: dst, Disp: at})
	}
	MOVQ(bits, Mem{Base: dst, Disp: size - 8})
	ADDQ(U8(refSize), refs)
	ADDQ(step.Addr, dst)
	DECQ(n)
	JNZ(LabelRef("next"))
	Label("done")
	VZEROUPPER()
	RET()
}

// gatherAVX2 writes the loop that turns 32-bit offsets into row references,
// four at a time.
func gatherAVX2() {
	TEXT("gather32AVX2", NOSPLIT, "func(refs *[2]uint64, offsets *int32, base uintptr, n, stride int) (shortest, longest int32)")
	Doc(
		"gather32AVX2 writes the references of n rows, n a positive multiple of four:",
		"row i is the bytes from base+offsets[i] to base+offsets[i+1], its digest goes to",
		"i*stride. It returns the lengths of the shortest and the longest row.",
	)
	Pragma("noescape")
	refs, offsets, n := reg.RDI, reg.RSI, reg.RCX
	Load(Param("refs"), refs)
	Load(Param("offsets"), offsets)
	Load(Param("n"), n)
	Load(Param("base"), reg.RAX)
	Load(Param("stride"), reg.RDX)
	count := table32("gatherCount", 1, 0, 1, 2, 3)
	base, out, step, shortest, longest := reg.Y0, reg.X1, reg.X2, reg.X3, reg.X4
	VMOVQ(reg.RAX, reg.X0)
	VPBROADCASTQ(reg.X0, base)
	VMOVD(reg.EDX, step)
	VPBROADCASTD(step, step)
	VPMULLD(count, step, out)
	VPSLLD(U8(2), step, step)
	VPCMPEQD(shortest, shortest, shortest)
	VPSRLD(U8(1), shortest, shortest)
	VPXOR(longest, longest, longest)

	Label("next")
	start, length := reg.X5, reg.X6
	VMOVDQU(Mem{Base: offsets}, start)
	VMOVDQU(Mem{Base: offsets, Disp: 4}, length)
	VPSUBD(start, length, length)
	VPMINSD(length, shortest, shortest)
	VPMAXSD(length, longest, longest)
	VPMOVSXDQ(start, reg.Y5)
	VPADDQ(base, reg.Y5, reg.Y5) // addresses 0 1 2 3
	VPUNPCKLDQ(out, length, reg.X7)
	VPUNPCKHDQ(out, length, reg.X8)
	VINSERTI128(U8(1), reg.X8, reg.Y7, reg.Y7) // lengths and places 0 1 2 3
	VPADDD(step, out, out)
	VPUNPCKLQDQ(reg.Y7, reg.Y5, reg.Y8) // references 0 2
	VPUNPCKHQDQ(reg.Y7, reg.Y5, reg.Y9) // references 1 3
	VMOVDQU(reg.X8, Mem{Base: refs})
	VMOVDQU(reg.X9, Mem{Base: refs, Disp: 16})
	VEXTRACTI128(U8(1), reg.Y8, Mem{Base: refs, Disp: 32})
	VEXTRACTI128(U8(1), reg.Y9, Mem{Base: refs, Disp: 48})
	ADDQ(U8(16), offsets)
	ADDQ(U8(64), refs)
	SUBQ(U8(4), n)
	JNZ(LabelRef("next"))

	for _, r := range []struct {
		x       reg.VecPhysical
		name    string
		combine func(ops ...Op)
	}{{shortest, "shortest", VPMINSD}, {longest, "longest", VPMAXSD}} {
		VPSHUFD(U8(0x4e), r.x, reg.X5)
		r.combine(reg.X5, r.x, r.x)
		VPSHUFD(U8(0xb1), r.x, reg.X5)
		r.combine(reg.X5, r.x, r.x)
		VMOVD(r.x, reg.EAX)
		Store(reg.EAX, Return(r.name))
	}
	VZEROUPPER()
	RET()
}
