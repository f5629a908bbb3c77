package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	_ = register("sha1_avx2", func() { sha1Lanes(avx2, 2) })
	_ = register("sha1_avx512", func() { sha1Lanes(avx512, 1) })
)

// sha1Lanes writes SHA-1 (FIPS 180-4, section 6.1) over nv registers of rows.
func sha1Lanes(s isa, nv int) {
	n := s.size() / 4
	k := &lanes{
		name:  "sha1" + s.suffix(),
		lanes: nv * n, block: 64, zeroUpper: true,
		mem: nv * 21 * s.size(),
	}
	k.doc = []string{
		fmt.Sprintf("%s hashes groups of %d rows with SHA-1.", k.name, k.lanes),
		fmt.Sprintf("Word w of lane i is 32-bit word %d*w+i of state.", k.lanes),
	}
	wordMem := func(v, i int) Mem { return s.vecMem(k, 16*v+i&15) }
	saved := func(v, i int) Mem { return s.vecMem(k, 16*nv+5*v+i) }
	stateMem := func(v, i int) Mem { return Mem{Base: rState, Disp: 4*k.lanes*i + v*s.size()} }

	constants := table32("sha1Constants"+s.suffix(), n, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6)
	swapWords := []uint64{0x0405060700010203, 0x0c0d0e0f08090a0b}
	for len(swapWords)*8 < s.size() {
		swapWords = append(swapWords, swapWords...)
	}
	swap := table64("sha1Swap"+s.suffix(), 1, swapWords...)

	state := func(v, i int) vec { return 5*v + i }
	t := func(v int) vec { return 5*nv + 2*v }
	u := func(v int) vec { return 5*nv + 2*v + 1 }
	const order = 15 // AVX-512: byte order; 14 is the round constant, 16 to 31 the words
	place := make([]vec, 16)
	wordRegs := []vec{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 12, 13}

	k.once = func() {
		if s.wide {
			s.load(swap, order)
		}
	}
	k.load = func() {
		for v := range nv {
			for i := range 5 {
				s.load(stateMem(v, i), state(v, i))
			}
		}
	}
	swapReg := func(v vec) {
		if s.wide {
			VPSHUFB(s.r(order), s.r(v), s.r(v))
		} else {
			VPSHUFB(swap, s.r(v), s.r(v))
		}
	}
	save := func() {
		for v := range nv {
			for i := range 5 {
				s.store(state(v, i), saved(v, i))
			}
		}
	}
	addSaved := func() {
		for v := range nv {
			for i := range 5 {
				VPADDD(saved(v, i), s.r(state(v, i)), s.r(state(v, i)))
			}
		}
	}
	// variable j of stream v in round i, a to e.
	variable := func(v, i, j int) reg.VecPhysical { return s.r(state(v, ((j-i)%5+5)%5)) }
	// step is round i of stream v after the word and the constant are in e.
	step := func(v, i int) {
		x := func(j int) reg.VecPhysical { return variable(v, i, j) }
		a, b, c, d, e := x(0), x(1), x(2), x(3), x(4)
		t, u := s.r(t(v)), s.r(u(v))
		if s.wide {
			VMOVDQA64(b, t)
			VPTERNLOGD(U8([]uint8{0xca, 0x96, 0xe8, 0x96}[i/20]), d, c, t)
			VPADDD(t, e, e)
			VPROLD(U8(5), a, u)
			VPADDD(u, e, e)
			VPROLD(U8(30), b, b)
			return
		}
		switch i / 20 {
		case 0: // choose: d ^ (b & (c ^ d))
			VPXOR(c, d, t)
			VPAND(b, t, t)
			VPXOR(d, t, t)
		case 2: // majority: (c & d) + (b & (c ^ d)), which share no bit
			VPAND(c, d, t)
			VPXOR(c, d, u)
			VPADDD(t, e, e)
			VPAND(b, u, t)
		default: // parity
			VPXOR(b, c, t)
			VPXOR(d, t, t)
		}
		VPADDD(t, e, e)
		VPSLLD(U8(5), a, t)
		VPSRLD(U8(27), a, u)
		VPOR(t, u, u)
		VPADDD(u, e, e)
		VPSLLD(U8(30), b, t)
		VPSRLD(U8(2), b, b)
		VPOR(t, b, b)
	}
	if s.wide {
		k.open = func() {
			save()
			s.openWords(k, 4, wordRegs, order, 8, 9)
		}
	}
	k.fixed = func() {
		save()
		for i := range 80 {
			for v := range nv {
				e := variable(v, i, 4)
				if s.wide {
					VPADDD_BCST(Mem{Base: rTmp, Disp: 4 * i}, e, e)
				} else {
					VPBROADCASTD(Mem{Base: rTmp, Disp: 4 * i}, s.r(t(v)))
					VPADDD(s.r(t(v)), e, e)
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
				s.words32(k, v*n, 4, wordRegs, func(w int, r vec) {
					swapReg(r)
					place[w] = r
				})
				continue
			}
			s.words32(k, v*n, 2, []vec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, func(w int, r vec) {
				swapReg(r)
				s.store(r, wordMem(v, w))
			})
		}
		if !s.wide {
			for v := range nv {
				for i := range 5 {
					s.load(saved(v, i), state(v, i))
				}
			}
		}
		if s.wide {
			Label("rounds")
		}
		for i := range 80 {
			if s.wide && i%20 == 0 {
				s.load(constants.Offset(i/20*s.size()), 14)
			}
			for v := range nv {
				e := variable(v, i, 4)
				if s.wide {
					w := s.r(place[i&15])
					if i >= 16 {
						VPXORD(s.r(place[(i+13)&15]), w, w)
						VPTERNLOGD(U8(0x96), s.r(place[(i+8)&15]), s.r(place[(i+2)&15]), w)
						VPROLD(U8(1), w, w)
					}
					VPADDD(w, e, e)
					VPADDD(s.r(14), e, e)
					step(v, i)
					continue
				}
				t, u := s.r(t(v)), s.r(u(v))
				if i < 16 {
					VPADDD(wordMem(v, i), e, e)
				} else {
					VMOVDQU(wordMem(v, i+13), t)
					VPXOR(wordMem(v, i+8), t, t)
					VPXOR(wordMem(v, i+2), t, t)
					VPXOR(wordMem(v, i), t, t)
					VPSRLD(U8(31), t, u)
					VPADDD(t, t, t)
					VPOR(u, t, t)
					VMOVDQU(t, wordMem(v, i))
					VPADDD(t, e, e)
				}
				VPADDD(constants.Offset(i/20*s.size()), e, e)
				step(v, i)
			}
		}
		addSaved()
	}
	k.digest = func() {
		for v := range nv {
			for i := range 5 {
				swapReg(state(v, i))
			}
			s.store(state(v, 4), saved(v, 4))
			rows, _ := s.transpose32([4]vec{state(v, 0), state(v, 1), state(v, 2), state(v, 3)}, [2]vec{t(v), u(v)})
			for j, r := range rows {
				for p := range s.parts() {
					row := 4*p + j
					out := k.out(v*n + row)
					s.unpiece(r, p, out(0))
					MOVL(saved(v, 4).Offset(4*row), reg.R11L)
					MOVL(reg.R11L, out(16))
				}
			}
		}
		Load(Param("ahead"), rAhead)
	}
	k.save = func() {
		for v := range nv {
			for i := range 5 {
				s.store(state(v, i), stateMem(v, i))
			}
		}
	}
	k.emit()
}
