package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	_ = register("blake2b_avx2", func() { blake2bLanes(avx2) })
	_ = register("blake2b_avx512", func() { blake2bLanes(avx512) })
)

// blakeSigma is the order of the message words in the rounds, RFC 7693 section
// 2.7; the last two rounds begin again.
var blakeSigma = [10][16]int{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

// blake2bLanes writes the compression function over eight rows, whose words lie
// side by side: h, then the message, then the counts and the marks of the last
// block, as internal/blake2b's lanes. AVX2 takes the rows in two halves.
func blake2bLanes(s isa) {
	const (
		row       = 64 // bytes of one word of all rows
		rowH      = 0
		rowM      = 8
		rowCount  = 24
		rowLast   = 25
		kept      = 11 // with AVX2 this word has no register of its own
		work      = 15 // with AVX2 the register that it comes to, and that turns work with
		workWide  = 16
		halves    = 2
		halfBytes = row / halves
	)
	name := "compress" + s.suffix()
	TEXT(name, NOSPLIT, "func(l *[26][8]uint64, iv *[8]uint64)")
	Doc(fmt.Sprintf("%s is the compression function of BLAKE2b over the rows of l.", name))
	Pragma("noescape")
	l := Load(Param("l"), GP64()).(reg.GPVirtual)
	iv := Load(Param("iv"), GP64()).(reg.GPVirtual)
	at := func(r int) Mem { return Mem{Base: l, Disp: r * row} }

	t := work
	if s.wide {
		t = workWide
	}
	v := func(i int) vec {
		switch {
		case s.wide || i < kept:
			return i
		case i == kept:
			return t
		}
		return i - 1
	}
	var spill Mem
	var rotate24, rotate16 Mem
	count := GP64()
	if !s.wide {
		spill = AllocLocal(s.size())
		rotate24 = table64("blake2bRotate24", 1, 0x0201000706050403, 0x0a09080f0e0d0c0b, 0x0201000706050403, 0x0a09080f0e0d0c0b)
		rotate16 = table64("blake2bRotate16", 1, 0x0100070605040302, 0x09080f0e0d0c0b0a, 0x0100070605040302, 0x09080f0e0d0c0b0a)
		MOVQ(U32(halves), count)
		Label("half")
	}
	add := func(x Op, to int) { VPADDQ(x, s.r(v(to)), s.r(v(to))) }
	xor := func(x Op, to int) {
		if s.wide {
			VPXORQ(x, s.r(v(to)), s.r(v(to)))
		} else {
			VPXOR(x, s.r(v(to)), s.r(v(to)))
		}
	}
	right := func(n int, i int) {
		r := s.r(v(i))
		switch {
		case s.wide:
			VPRORQ(U8(n), r, r)
		case n == 32:
			VPSHUFD(U8(0xb1), r, r)
		case n == 24:
			VPSHUFB(rotate24, r, r)
		case n == 16:
			VPSHUFB(rotate16, r, r)
		default: // 63
			VPADDQ(r, r, s.r(t))
			VPSRLQ(U8(63), r, r)
			VPXOR(s.r(t), r, r)
		}
	}

	for i := range 8 {
		s.load(at(rowH+i), v(i))
		VPBROADCASTQ(Mem{Base: iv, Disp: 8 * i}, s.r(v(8+i)))
		if 8+i == kept && !s.wide {
			s.store(t, spill)
		}
	}
	xor(at(rowCount), 12)
	xor(at(rowLast), 14)

	// mix is four of the function G at a time, step by step.
	mix := func(g [4][4]int, words []int) {
		each := func(f func(a, b, c, d int)) {
			for _, x := range g {
				f(x[0], x[1], x[2], x[3])
			}
		}
		if !s.wide {
			s.load(spill, t)
		}
		for half, turns := range [2][2]int{{32, 24}, {16, 63}} {
			for i, x := range g {
				add(at(rowM+words[2*i+half]), x[0])
			}
			each(func(a, b, _, _ int) { add(s.r(v(b)), a) })
			each(func(a, _, _, d int) { xor(s.r(v(a)), d) })
			each(func(_, _, _, d int) { right(turns[0], d) })
			each(func(_, _, c, d int) { add(s.r(v(d)), c) })
			each(func(_, b, c, _ int) { xor(s.r(v(c)), b) })
			if half == 1 && !s.wide {
				s.store(t, spill)
			}
			each(func(_, b, _, _ int) { right(turns[1], b) })
		}
	}
	for round := range 12 {
		words := blakeSigma[round%10]
		mix([4][4]int{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}}, words[:8])
		mix([4][4]int{{0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}}, words[8:])
	}

	if !s.wide {
		s.load(spill, t)
	}
	for i := range 8 {
		xor(s.r(v(8+i)), i)
		xor(at(rowH+i), i)
		s.store(v(i), at(rowH+i))
	}
	if !s.wide {
		ADDQ(U8(halfBytes), l)
		DECQ(count)
		JNZ(LabelRef("half"))
	}
	VZEROUPPER()
	RET()
}
