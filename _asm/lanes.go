package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Registers with one meaning in every lane kernel. R14 and R15 belong to the
// Go runtime and linker, BP to the unwinder: none of them is touched.
var (
	rTmp    = reg.RAX // free for every step
	rOff    = reg.RBX // offset of the current block in every lane's input
	rLeft   = reg.RCX // blocks left in this phase
	rPend   = reg.RDX // blocks of the tail phase that is still to come
	rDst    = reg.RDI
	rState  = reg.RSI
	rRefs   = reg.R8
	rStage  = reg.R9
	rBody   = reg.R10
	rAhead  = reg.R11
	rGroups = reg.R12
	rMem    = reg.R13 // scratch on the stack, aligned to 64 bytes
)

// refSize is the size of kernels.rowRef: address, length, output offset.
const (
	refSize = 16
	refLen  = 8
	refOut  = 12
)

// lanes describes a kernel that hashes groups of rows side by side. Every
// row of a call has the same number of blocks: body of them are read where the
// row lies, the next tail, with the padding, from the staging area. A tail of
// -1 is a block that is read where the row lies and padded on the way, as open
// says, which is a kernels.openBlock. One more block follows if fixed is not
// nil: one that is the same for all rows, a kernels.fixedBlock.
//
// Rows that lie one after the other are asked into the cache ahead bytes before
// it is their turn. With ahead 0 each row is asked for on its own: the next
// block while one is worked on, and the first ones of the next group.
//
// With dst, each group starts from the chaining values at state and writes its
// digests; with text besides, the lines that their text will go to, twice as
// long, are asked into the cache. With dst nil the chaining values are read from state, brought
// forward and written back, and nothing else.
type lanes struct {
	name  string
	doc   []string
	lanes int // rows of a group
	block int // bytes of a block
	mem   int // bytes of scratch that the functions below use, at mem(0)

	once      func() // constants, before the first group
	load      func() // chaining values from state
	round     func() // one block: row j at lane(j)
	fixed     func() // one block whose words are in the table at rTmp
	open      func() // words of the open block at rLeft, of the row's length in rPend; nil if there is none
	digest    func() // digests of the group to dst, row j at out(j)
	save      func() // chaining values to state
	zeroUpper bool
}

// The parts of a kernels.openBlock.
const (
	openShuffle = 128
	openLength  = 144
	openBytes   = 152
)

// prefetch asks for as many bytes as a block of the group has, ahead of the
// group: in the order in which they lie, which the processor's own prefetchers
// understand.
func (k *lanes) prefetch() {
	IMUL3Q(U8(uint8(k.lanes)), rOff, rTmp)
	ADDQ(Mem{Base: rRefs}, rTmp)
	for line := 0; line < k.lanes*k.block; line += 64 {
		PREFETCHT0(Mem{Base: rTmp, Index: rAhead, Scale: 1, Disp: line})
	}
}

// memAt is scratch memory of the kernel's own.
func (k *lanes) memAt(disp int) Mem {
	return Mem{Base: rMem, Disp: 8*k.lanes + pad64(8*k.lanes) + disp}
}

func pad64(n int) int { return -n & 63 }

// lane loads the address of lane j's input, less rOff, to rTmp and is the
// operand for its byte disp.
func (k *lanes) lane(j int) func(disp int) Mem {
	MOVQ(Mem{Base: rMem, Disp: 8 * j}, rTmp)
	return func(disp int) Mem { return Mem{Base: rTmp, Index: rOff, Scale: 1, Disp: disp} }
}

// out loads the place of row j's digest in dst to rTmp and is the operand for
// its byte disp.
func (k *lanes) out(j int) func(disp int) Mem {
	MOVL(Mem{Base: rRefs, Disp: refSize*j + refOut}, reg.EAX)
	return func(disp int) Mem { return Mem{Base: rDst, Index: rTmp, Scale: 1, Disp: disp} }
}

// emit writes the function.
func (k *lanes) emit() {
	TEXT(k.name, 0, "func(dst *byte, state *[512]byte, refs *[2]uint64, stage *byte, body, tail, groups int, text *byte, fixed *[640]byte, open *[160]byte, ahead int)")
	Doc(k.doc...)
	Pragma("noescape")
	size := 8*k.lanes + pad64(8*k.lanes) + k.mem + 64
	AllocLocal(size)
	for _, p := range []struct {
		name string
		r    reg.GPPhysical
	}{{"dst", rDst}, {"state", rState}, {"refs", rRefs}, {"stage", rStage}, {"body", rBody}, {"ahead", rAhead}, {"groups", rGroups}} {
		Load(Param(p.name), p.r)
	}
	LEAQ(Mem{Base: reg.StackPointer, Disp: 63}, rMem)
	ANDQ(I8(-64), rMem)
	k.once()

	Label("group")
	TESTQ(rGroups, rGroups)
	JZ(LabelRef("done"))
	k.load()
	XORL(reg.EBX, reg.EBX)
	Load(Param("tail"), rPend)
	MOVQ(rBody, rLeft)
	TESTQ(rBody, rBody)
	JZ(LabelRef("tail"))
	Comment("The body of every row lies where its reference says.")
	for j := range k.lanes {
		MOVQ(Mem{Base: rRefs, Disp: refSize * j}, rTmp)
		MOVQ(rTmp, Mem{Base: rMem, Disp: 8 * j})
	}
	TESTQ(rAhead, rAhead)
	JNZ(LabelRef("ahead"))
	CMPQ(rGroups, U8(1))
	JE(LabelRef("along"))
	for j := range k.lanes {
		MOVQ(Mem{Base: rRefs, Disp: refSize * (k.lanes + j)}, rTmp)
		for line := 0; line < k.block; line += 64 {
			PREFETCHT0(Mem{Base: rTmp, Disp: line})
		}
	}
	JMP(LabelRef("along"))

	Label("ahead")
	TESTQ(rAhead, rAhead)
	JZ(LabelRef("along"))
	k.prefetch()
	JMP(LabelRef("block"))

	Label("along")
	for j := range k.lanes {
		MOVQ(Mem{Base: rMem, Disp: 8 * j}, rTmp)
		for line := 64; line <= k.block; line += 64 {
			PREFETCHT0(Mem{Base: rTmp, Index: rOff, Scale: 1, Disp: k.block + line - 1})
		}
	}

	Label("block")
	k.round()
	ADDQ(I8b(k.block), rOff)
	DECQ(rLeft)
	JNZ(LabelRef("ahead"))
	TESTQ(rPend, rPend)
	JZ(LabelRef("finish"))

	Label("tail")
	if k.open != nil {
		TESTQ(rPend, rPend)
		JLT(LabelRef("open"))
	}
	Comment("The tails of the group lie one after the other in the staging area.")
	MOVQ(rPend, rLeft)
	SHLQ(I8(log2(k.block)), rPend)
	SUBQ(rOff, rStage)
	for j := range k.lanes {
		MOVQ(rStage, Mem{Base: rMem, Disp: 8 * j})
		ADDQ(rPend, rStage)
	}
	ADDQ(rOff, rStage)
	XORL(reg.EDX, reg.EDX)
	JMP(LabelRef("ahead"))

	if k.open != nil {
		Label("open")
		TESTQ(rAhead, rAhead)
		JZ(LabelRef("openWords"))
		k.prefetch()
		Label("openWords")
		Load(Param("open"), rLeft)
		MOVQ(Mem{Base: rLeft, Disp: openLength}, rPend)
		k.open()
		MOVQ(U32(1), rLeft)
		XORL(reg.EDX, reg.EDX)
		JMP(LabelRef("rounds"))
	}

	Label("finish")
	Load(Param("fixed"), rTmp)
	TESTQ(rTmp, rTmp)
	JZ(LabelRef("end"))
	k.fixed()
	Label("end")
	TESTQ(rDst, rDst)
	JZ(LabelRef("save"))
	k.digest()
	Load(Param("text"), rLeft)
	TESTQ(rLeft, rLeft)
	JZ(LabelRef("advance"))
	for j := range k.lanes {
		MOVL(Mem{Base: rRefs, Disp: refSize*j + refOut}, reg.EAX)
		for line := 0; line < k.block; line += 64 {
			PREFETCHT1(Mem{Base: rLeft, Index: rTmp, Scale: 2, Disp: line})
		}
	}
	Label("advance")
	ADDQ(U32(uint32(refSize*k.lanes)), rRefs)
	DECQ(rGroups)
	JMP(LabelRef("group"))
	Label("save")
	k.save()
	Label("done")
	if k.zeroUpper {
		VZEROUPPER()
	}
	RET()
}

// I8b is an immediate of a block size; 128 does not fit a signed byte.
func I8b(n int) Op {
	if n < 128 {
		return I8(int8(n))
	}
	return I32(int32(n))
}

func log2(n int) int8 {
	for i := int8(0); i < 63; i++ {
		if 1<<i == n {
			return i
		}
	}
	panic(fmt.Sprintf("%d is no power of two", n))
}

// table32 emits 32-bit words, each repeated times times in a row, as read-only
// data and is an operand on its start.
func table32(name string, times int, words ...uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	i := 0
	for _, w := range words {
		for range times {
			DATA(4*i, U32(w))
			i++
		}
	}
	return m
}

// table64 is table32 for 64-bit words.
func table64(name string, times int, words ...uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	i := 0
	for _, w := range words {
		for range times {
			DATA(8*i, U64(w))
			i++
		}
	}
	return m
}
