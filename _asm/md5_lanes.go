package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	_ = register("md5_avx2", func() { md5Lanes(avx2, 3) })
	_ = register("md5_avx512", func() { md5Lanes(avx512, 1) })
)

// md5Lanes writes MD5 (RFC 1321) over nv registers of rows. A step depends on
// the one before; with several registers, or with the next group's loads
// already under way, the units have other work meanwhile.
func md5Lanes(s isa, nv int) {
	perVec := s.size() / 4
	k := &lanes{
		name:  "md5" + s.suffix(),
		lanes: nv * perVec, block: 64,
		zeroUpper: true,
	}
	k.doc = []string{
		fmt.Sprintf("%s hashes groups of %d rows with MD5.", k.name, k.lanes),
		fmt.Sprintf("Word w of lane i is 32-bit word %d*w+i of state.", k.lanes),
	}
	// Memory: the block's words, then the chaining value.
	k.mem = nv * 20 * s.size()
	word := func(v, g int) Mem { return s.vecMem(k, v*16+g) }
	saved := func(v, i int) Mem { return s.vecMem(k, nv*16+v*4+i) }

	constants, times := md5Constants(), perVec
	if s.wide {
		times = 1 // broadcast by the instruction
	} else {
		for i := 48; i < 64; i++ {
			constants[i]-- // see function I below
		}
	}
	table := table32("md5Constants"+s.suffix(), times, constants...)

	state := func(v, i int) vec { return 4*v + i }
	t := func(v int) vec { return 4*nv + v }      // one a stream
	u := func(v int) vec { return 4*nv + nv + v } // carried between steps of H, if there is room
	carry := 6*nv <= 16
	// With AVX-512 the words stay in registers 16 to 31.
	place := make([]vec, 16)
	wordRegs := []vec{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 14, 15}
	stateMem := func(v, i int) Mem { return Mem{Base: rState, Disp: 4*k.lanes*i + v*s.size()} }

	k.once = func() {}
	k.load = func() {
		for v := range nv {
			for i := range 4 {
				s.load(stateMem(v, i), state(v, i))
			}
		}
	}
	save := func() {
		for v := range nv {
			for i := range 4 {
				s.store(state(v, i), saved(v, i))
			}
		}
	}
	addSaved := func() {
		for v := range nv {
			for i := range 4 {
				VPADDD(saved(v, i), s.r(state(v, i)), s.r(state(v, i)))
			}
		}
	}
	// variable j of stream v in step i, a to d.
	variable := func(v, i, j int) reg.VecPhysical { return s.r(state(v, (j-i)&3)) }
	// step is step i of stream v after the word and the constant are in a.
	step := func(v, i int) {
		shift := [4][4]int{{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}[i/16][i%4]
		a, b, c, d := variable(v, i, 0), variable(v, i, 1), variable(v, i, 2), variable(v, i, 3)
		t := s.r(t(v))
		if s.wide {
			// Truth tables of B, C, D as the operands: F G H I.
			table8 := []uint8{0xca, 0xe4, 0x96, 0x39}[i/16]
			VMOVDQA64(b, t)
			VPTERNLOGD(U8(table8), d, c, t)
			VPADDD(t, a, a)
			VPROLD(U8(shift), a, a)
			VPADDD(b, a, a)
			return
		}
		switch i / 16 {
		case 0: // F = D ^ (B & (C ^ D))
			VPXOR(c, d, t)
			VPAND(b, t, t)
			VPXOR(d, t, t)
			VPADDD(t, a, a)
		case 1: // G = (B & D) | (C & ~D); the terms share no bit
			VPANDN(c, d, t)
			VPADDD(t, a, a)
			VPAND(b, d, t)
			VPADDD(t, a, a)
		case 2: // H = B ^ C ^ D; every second time B ^ C is known as C ^ D
			switch {
			case !carry:
				VPXOR(c, d, t)
				VPXOR(b, t, t)
			case i%2 == 0:
				VPXOR(b, c, s.r(u(v)))
				VPXOR(d, s.r(u(v)), t)
			default:
				VPXOR(b, s.r(u(v)), t)
			}
			VPADDD(t, a, a)
		case 3: // I = C ^ (B | ~D) = ~(C ^ (D & ~B)); subtracting x adds ~x + 1
			VPANDN(d, b, t)
			VPXOR(c, t, t)
			VPSUBD(t, a, a)
		}
		if shift == 16 {
			VPSHUFB(md5Swap16(), a, a)
		} else {
			VPSLLD(U8(shift), a, t)
			VPSRLD(U8(32-shift), a, a)
			VPOR(t, a, a)
		}
		VPADDD(b, a, a)
	}
	if s.wide {
		k.open = func() {
			save()
			s.openWords(k, 4, wordRegs, 0, 8, 9)
		}
	}
	k.fixed = func() {
		save()
		for i := range 64 {
			for v := range nv {
				a := variable(v, i, 0)
				if s.wide {
					VPADDD_BCST(Mem{Base: rTmp, Disp: 4 * i}, a, a)
				} else {
					VPBROADCASTD(Mem{Base: rTmp, Disp: 4 * i}, s.r(t(v)))
					VPADDD(s.r(t(v)), a, a)
				}
				step(v, i)
			}
		}
		addSaved()
	}
	k.round = func() {
		save()
		for v := range nv {
			if s.wide {
				s.words32(k, v*perVec, 4, wordRegs, func(w int, r vec) { place[w] = r })
				continue
			}
			// The chaining value is in memory too: every register is free.
			s.words32(k, v*perVec, 2, []vec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, func(w int, r vec) { s.store(r, word(v, w)) })
		}
		if !s.wide {
			for v := range nv {
				for i := range 4 {
					s.load(saved(v, i), state(v, i))
				}
			}
		}
		if s.wide {
			Label("rounds")
		}
		for i := range 64 {
			g := [4]int{i, 5*i + 1, 3*i + 5, 7 * i}[i/16] & 15
			for v := range nv {
				a := variable(v, i, 0)
				if s.wide {
					VPADDD(s.r(place[g]), a, a)
					VPADDD_BCST(table.Offset(4*i), a, a)
				} else {
					VPADDD(word(v, g), a, a)
					VPADDD(table.Offset(32*i), a, a)
				}
				step(v, i)
			}
		}
		addSaved()
	}
	k.digest = func() {
		for v := range nv {
			rows, _ := s.transpose32([4]vec{state(v, 0), state(v, 1), state(v, 2), state(v, 3)}, [2]vec{t(0), t(0) + 1})
			for j, r := range rows {
				for p := range s.parts() {
					s.unpiece(r, p, k.out(v*perVec+4*p+j)(0))
				}
			}
		}
	}
	k.save = func() {
		for v := range nv {
			for i := range 4 {
				s.store(state(v, i), stateMem(v, i))
			}
		}
	}
	k.emit()
}

// md5Swap16 is the table that rotates 32-bit words by 16 bits.
var swap16 Mem

func md5Swap16() Mem {
	if swap16.Symbol.Name == "" {
		swap16 = table64("md5Swap16", 1, 0x0504070601000302, 0x0d0c0f0e09080b0a, 0x0504070601000302, 0x0d0c0f0e09080b0a)
	}
	return swap16
}
