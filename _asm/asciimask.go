package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	_ = register("asciimask_avx2", asciimaskAVX2)
	_ = register("asciimask_avx512", asciimaskAVX512)
)

// classAVX2 are the classes in the order of their numbers; class 0 is every
// other character.
var classAVX2 = []struct{ lo, hi byte }{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}

// asciimaskAVX2 finds the class of 32 bytes by three range compares, and what
// the class keeps of the byte and puts in its place by two byte shuffles.
func asciimaskAVX2() {
	TEXT("maskAVX2", NOSPLIT, "func(dst, src *byte, n int, and, or *[16]byte) int")
	Doc("maskAVX2 masks n bytes, n at least 32, and returns how many it wrote: all,",
		"or those before the block of 32 that has a byte that is not ASCII.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	and, or := YMM(), YMM()
	p := GP64()
	Load(Param("and"), p)
	VBROADCASTI128(Mem{Base: p}, and)
	Load(Param("or"), p)
	VBROADCASTI128(Mem{Base: p}, or)

	// A range compare is one addition that brings the last character to 127,
	// so that what is above it turns negative, and one signed comparison.
	// Neither minds what becomes of bytes that are not ASCII.
	var shifts, limits, numbers []reg.VecVirtual
	constant := func(name string, b byte) reg.VecVirtual {
		y := YMM()
		VPBROADCASTQ(table64(name, 1, uint64(b)*0x0101010101010101), y)
		return y
	}
	for i, c := range classAVX2 {
		id := string(rune('0' + i + 1))
		shifts = append(shifts, constant("asciimaskShift"+id, 127-c.hi))
		limits = append(limits, constant("asciimaskLimit"+id, 126-(c.hi-c.lo)))
		numbers = append(numbers, constant("asciimaskClass"+id, byte(i+1)))
	}

	i := GP64()
	XORQ(i, i)
	last := GP64() // where the last block begins
	LEAQ(Mem{Base: n, Disp: -32}, last)
	x, class, t := YMM(), YMM(), YMM()
	top := GP32()

	Label("next")
	VMOVDQU(Mem{Base: src, Index: i, Scale: 1}, x)
	VPMOVMSKB(x, top)
	TESTL(top, top)
	JNZ(LabelRef("stop"))
	for c := range classAVX2 {
		to := class
		if c > 0 {
			to = t
		}
		VPADDB(shifts[c], x, to)
		VPCMPGTB(limits[c], to, to)
		VPAND(numbers[c], to, to)
		if c > 0 {
			VPOR(t, class, class)
		}
	}
	VPSHUFB(class, and, t)
	VPAND(t, x, x)
	VPSHUFB(class, or, t)
	VPOR(t, x, x)
	VMOVDQU(x, Mem{Base: dst, Index: i, Scale: 1})
	ADDQ(U8(32), i)
	CMPQ(i, last)
	JLE(LabelRef("next"))
	CMPQ(i, n)
	JEQ(LabelRef("stop"))
	// Step back so that the last 32 bytes are left. When they are not all
	// ASCII, what counts is what was written before.
	done := GP64()
	MOVQ(i, done)
	MOVQ(last, i)
	VMOVDQU(Mem{Base: src, Index: i, Scale: 1}, x)
	VPMOVMSKB(x, top)
	TESTL(top, top)
	JZ(LabelRef("next"))
	MOVQ(done, i)
	Label("stop")
	VZEROUPPER()
	Store(i, ReturnIndex(0))
	RET()
}

// asciimaskAVX512 looks 64 bytes up in a table of 128 at once; what does not
// fill a register, and what lies before a byte that is not ASCII, is loaded
// and stored under a mask.
func asciimaskAVX512() {
	TEXT("maskAVX512", NOSPLIT, "func(dst, src *byte, n int, table *[256]byte) int")
	Doc("maskAVX512 masks n bytes and returns how many it wrote: all, or those before",
		"the first that is not ASCII.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	p := GP64()
	Load(Param("table"), p)
	lo, hi, x := ZMM(), ZMM(), ZMM()
	VMOVDQU8(Mem{Base: p}, lo)
	VMOVDQU8(Mem{Base: p, Disp: 64}, hi)
	kTop, kPart := K(), K()
	top, part, i := GP64(), GP64(), GP64()
	XORQ(i, i)

	Label("next")
	CMPQ(n, U8(64))
	JLT(LabelRef("tail"))
	VMOVDQU8(Mem{Base: src, Index: i, Scale: 1}, x)
	VPMOVB2M(x, kTop)
	KMOVQ(kTop, top)
	TESTQ(top, top)
	JNZ(LabelRef("stop"))
	VPERMI2B(hi, lo, x)
	VMOVDQU8(x, Mem{Base: dst, Index: i, Scale: 1})
	ADDQ(U8(64), i)
	SUBQ(U8(64), n)
	JMP(LabelRef("next"))

	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	MOVQ(I64(-1), part)
	BZHIQ(n, part, part)
	KMOVQ(part, kPart)
	VMOVDQU8_Z(Mem{Base: src, Index: i, Scale: 1}, kPart, x)
	VPMOVB2M(x, kTop)
	KMOVQ(kTop, top)
	TESTQ(top, top)
	JZ(LabelRef("store"))

	// The bytes below the lowest top bit are ASCII.
	Label("stop")
	TZCNTQ(top, n)
	MOVQ(I64(-1), part)
	BZHIQ(n, part, part)
	KMOVQ(part, kPart)

	Label("store")
	VPERMI2B(hi, lo, x)
	VMOVDQU8(x, kPart, Mem{Base: dst, Index: i, Scale: 1})
	ADDQ(n, i)
	Label("done")
	VZEROUPPER()
	Store(i, ReturnIndex(0))
	RET()
}
