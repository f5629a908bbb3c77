package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vec is a vector register by number; isa says how wide it is.
type vec = int

// isa is the instruction set that a vector kernel is written for: AVX2 with 16
// registers of 256 bits, or AVX-512 with 32 of 512 bits. The few operations
// in which the two differ are methods.
type isa struct{ wide bool }

var (
	avx2   = isa{}
	avx512 = isa{wide: true}
)

var (
	xs = []reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23, reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29, reg.X30, reg.X31,
	}
	ys = []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}
	zs = []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}
)

// size is the width of a register in bytes.
func (s isa) size() int {
	if s.wide {
		return 64
	}
	return 32
}

func (s isa) r(v vec) reg.VecPhysical {
	if s.wide {
		return zs[v]
	}
	return ys[v]
}

// suffix names the instruction set in a function's name.
func (s isa) suffix() string {
	if s.wide {
		return "AVX512"
	}
	return "AVX2"
}

func (s isa) load(m Mem, v vec) {
	if s.wide {
		VMOVDQU64(m, zs[v])
	} else {
		VMOVDQU(m, ys[v])
	}
}

func (s isa) store(v vec, m Mem) {
	if s.wide {
		VMOVDQU64(zs[v], m)
	} else {
		VMOVDQU(ys[v], m)
	}
}

// parts is the number of 128-bit parts of a register.
func (s isa) parts() int { return s.size() / 16 }

// piece loads 16 bytes into part p of v; part 0 clears the others.
func (s isa) piece(m Mem, p int, v vec) {
	switch {
	case p == 0 && v < 16:
		VMOVDQU(m, xs[v])
	case p == 0:
		VMOVDQU64(m, xs[v])
	case s.wide:
		VINSERTI32X4(U8(p), m, zs[v], zs[v])
	default:
		VINSERTI128(U8(1), m, ys[v], ys[v])
	}
}

// unpiece stores part p of v.
func (s isa) unpiece(v, p int, m Mem) {
	switch {
	case p == 0 && v < 16:
		VMOVDQU(xs[v], m)
	case p == 0:
		VMOVDQU64(xs[v], m)
	case s.wide:
		VEXTRACTI32X4(U8(p), zs[v], m)
	default:
		VEXTRACTI128(U8(1), ys[v], m)
	}
}

// transpose32 turns 4x4 words of 32 bits around, in every 128-bit part alike.
// v and t are overwritten; out holds the four words and t what is free then.
func (s isa) transpose32(v [4]vec, t [2]vec) (out [4]vec, free [2]vec) {
	a, b, c, d := v[0], v[1], v[2], v[3]
	VPUNPCKLDQ(s.r(b), s.r(a), s.r(t[0]))     // a0 b0 a1 b1
	VPUNPCKHDQ(s.r(b), s.r(a), s.r(a))        // a2 b2 a3 b3
	VPUNPCKLDQ(s.r(d), s.r(c), s.r(t[1]))     // c0 d0 c1 d1
	VPUNPCKHDQ(s.r(d), s.r(c), s.r(c))        // c2 d2 c3 d3
	VPUNPCKLQDQ(s.r(t[1]), s.r(t[0]), s.r(b)) // a0 b0 c0 d0
	VPUNPCKHQDQ(s.r(t[1]), s.r(t[0]), s.r(d)) // a1 b1 c1 d1
	VPUNPCKLQDQ(s.r(c), s.r(a), s.r(t[0]))    // a2 b2 c2 d2
	VPUNPCKHQDQ(s.r(c), s.r(a), s.r(a))       // a3 b3 c3 d3
	return [4]vec{b, d, t[0], a}, [2]vec{c, t[1]}
}

// transpose64 is transpose32 for 2x2 words of 64 bits.
func (s isa) transpose64(v [2]vec, t vec) (out [2]vec, free vec) {
	VPUNPCKLQDQ(s.r(v[1]), s.r(v[0]), s.r(t))
	VPUNPCKHQDQ(s.r(v[1]), s.r(v[0]), s.r(v[0]))
	return [2]vec{t, v[0]}, v[1]
}

// words32 loads one block of the rows from base on, one row a lane, and hands
// each word's register to keep. Byte q*16+4*i of a row belongs to word 4*q+i.
// regs is room to work in: 4*pieces registers and two more; pieces of the
// block's four 16-byte pieces are worked on at a time.
func (s isa) words32(k *lanes, base, pieces int, regs []vec, keep func(word int, v vec)) {
	t := [2]vec{regs[4*pieces], regs[4*pieces+1]}
	for q0 := 0; q0 < 4; q0 += pieces {
		v := regs[:4*pieces]
		for p := range s.parts() {
			for j := range 4 {
				row := k.lane(base + 4*p + j)
				for q := range pieces {
					s.piece(row(16*(q0+q)), p, v[4*q+j])
				}
			}
		}
		for q := range pieces {
			var w [4]vec
			w, t = s.transpose32([4]vec(v[4*q:4*q+4]), t)
			for i, r := range w {
				keep(4*(q0+q)+i, r)
			}
		}
		regs = others(regs, t)
	}
}

// openWords loads the open block of the rows, one row a lane, and leaves its
// words where words32 or words64 do with the same registers: regs is room for
// all pieces of the block, then for the transposition. perPart is the number
// of rows, and of words, in 128 bits. order is the register that puts a word's
// bytes in order, or 0. a and b are work space.
//
// A piece that all rows fill is loaded as it is. The one that the rows end in
// comes as the rows' last sixteen bytes, which a shuffle puts in place, and the
// padding is added. Words of nothing but padding are in the open block.
func (s isa) openWords(k *lanes, perPart int, regs []vec, order, a, b vec) {
	pieces := k.block / 16
	v := regs[:perPart*pieces]
	free := regs[perPart*pieces:]
	load := func(q int, at Mem) {
		for p := range s.parts() {
			for j := range perPart {
				MOVQ(Mem{Base: rRefs, Disp: refSize * (perPart*p + j)}, rTmp)
				s.piece(at, p, v[perPart*q+j])
			}
		}
	}
	for q := range pieces {
		label := func(what string) string { return fmt.Sprintf("%s%d", what, q) }
		rows := v[perPart*q : perPart*q+perPart]
		CMPQ(Mem{Base: rLeft, Disp: openBytes}, I8(int8(16*q)))
		JLE(LabelRef(label("padding")))
		if q < pieces-1 {
			CMPQ(Mem{Base: rLeft, Disp: openBytes}, I8(int8(16*q+16)))
			JL(LabelRef(label("end")))
			load(q, Mem{Base: rTmp, Index: rOff, Scale: 1, Disp: 16 * q})
			if order != 0 {
				for _, r := range rows {
					VPSHUFB(s.r(order), s.r(r), s.r(r))
				}
			}
			JMP(LabelRef(label("words")))
		}
		Label(label("end"))
		load(q, Mem{Base: rTmp, Index: rPend, Scale: 1, Disp: -16})
		VBROADCASTI32X4(Mem{Base: rLeft, Disp: openShuffle}, s.r(a))
		VBROADCASTI32X4(Mem{Base: rLeft, Disp: 16 * q}, s.r(b))
		for _, r := range rows {
			VPSHUFB(s.r(a), s.r(r), s.r(r))
			VPORD(s.r(b), s.r(r), s.r(r))
		}
		Label(label("words"))
		var words []vec
		if perPart == 4 {
			w, t := s.transpose32([4]vec(rows), [2]vec(free))
			words, free = w[:], t[:]
		} else {
			w, t := s.transpose64([2]vec(rows), free[0])
			words, free = w[:], []vec{t}
		}
		JMP(LabelRef(label("next")))
		Label(label("padding"))
		for i, w := range words {
			if perPart == 4 {
				VPBROADCASTD(Mem{Base: rLeft, Disp: 16*q + 4*i}, s.r(w))
			} else {
				VPBROADCASTQ(Mem{Base: rLeft, Disp: 16*q + 8*i}, s.r(w))
			}
		}
		Label(label("next"))
	}
}

// others is the registers of all less those of t, and those last.
func others(all []vec, t [2]vec) []vec {
	var out []vec
	for _, r := range all {
		if r != t[0] && r != t[1] {
			out = append(out, r)
		}
	}
	return append(out, t[0], t[1])
}

// vecMem is register-sized memory at slot i of the kernel's own.
func (s isa) vecMem(k *lanes, i int) Mem { return k.memAt(i * s.size()) }

// words64 is words32 for blocks of 128 bytes in words of 64 bits: eight
// pieces, 2*pieces registers and one more.
func (s isa) words64(k *lanes, pieces int, regs []vec, keep func(word int, v vec)) {
	v, t := slices.Clone(regs[:2*pieces]), regs[2*pieces]
	for q0 := 0; q0 < 8; q0 += pieces {
		for p := range s.parts() {
			for j := range 2 {
				row := k.lane(2*p + j)
				for q := range pieces {
					s.piece(row(16*(q0+q)), p, v[2*q+j])
				}
			}
		}
		for q := range pieces {
			w, free := s.transpose64([2]vec{v[2*q], v[2*q+1]}, t)
			keep(2*(q0+q), w[0])
			keep(2*(q0+q)+1, w[1])
			// The register that is free now takes the place of the one used.
			v[2*q], v[2*q+1], t = w[0], w[1], free
		}
	}
}
