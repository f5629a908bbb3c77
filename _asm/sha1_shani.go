package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var _ = register("sha1_shani", sha1SHANI)

// sha1SHANI writes SHA-1 over three rows in the SHA instructions, which hide
// each other's latency. Registers hold a stream's variables and its latest
// message words; the three before those wait in memory.
func sha1SHANI() {
	type stream struct {
		abcd  reg.VecPhysical
		e     [2]reg.VecPhysical // take turns: E of this group of rounds, of the next
		words [2]reg.VecPhysical // take turns: the words of this group, of the last
	}
	streams := []stream{
		{reg.X0, [2]reg.VecPhysical{reg.X1, reg.X2}, [2]reg.VecPhysical{reg.X3, reg.X4}},
		{reg.X5, [2]reg.VecPhysical{reg.X6, reg.X7}, [2]reg.VecPhysical{reg.X8, reg.X9}},
		{reg.X10, [2]reg.VecPhysical{reg.X11, reg.X12}, [2]reg.VecPhysical{reg.X13, reg.X14}},
	}
	reverse := table64("sha1NIReverse", 1, 0x08090a0b0c0d0e0f, 0x0001020304050607)

	k := &lanes{
		name: "sha1SHANI",
		doc: []string{
			"sha1SHANI hashes groups of three rows with SHA-1 in the SHA instructions.",
			"The chaining value of a row is 32 bytes at state: words D C B A 0 0 0 E.",
		},
		lanes: 3, block: 64, mem: 3 * (2 + 4) * 16,
	}
	saved := func(s, i int) Mem { return k.memAt(16 * (6*s + i)) }
	words := func(s, g int) Mem { return k.memAt(16 * (6*s + 2 + g&3)) }
	stateMem := func(s, i int) Mem { return Mem{Base: rState, Disp: 32*s + 16*i} }

	k.once = func() {}
	k.load = func() {
		for i, s := range streams {
			MOVOU(stateMem(i, 0), s.abcd)
			MOVOU(stateMem(i, 1), s.e[0])
		}
	}
	save := func() {
		for i, s := range streams {
			MOVOA(s.abcd, saved(i, 0))
			MOVOA(s.e[0], saved(i, 1))
		}
	}
	// rounds are the four rounds of group g on words w.
	rounds := func(s stream, g int, w Op) {
		e, next := s.e[g&1], s.e[1-g&1]
		if g == 0 {
			PADDD(w, e)
		} else {
			SHA1NEXTE(w, e)
		}
		MOVO(s.abcd, next)
		SHA1RNDS4(U8(g/5), e, s.abcd)
	}
	addSaved := func() {
		for i, s := range streams {
			SHA1NEXTE(saved(i, 1), s.e[0])
			PADDD(saved(i, 0), s.abcd)
		}
	}
	k.fixed = func() {
		save()
		w := streams[0].words[0]
		for g := range 20 {
			MOVOU(Mem{Base: rTmp, Disp: 16 * g}, w)
			for _, s := range streams {
				rounds(s, g, w)
			}
		}
		addSaved()
	}
	k.round = func() {
		save()
		for g := range 20 { // groups of four rounds
			for i, s := range streams {
				w, last := s.words[g&1], s.words[1-g&1]
				if g < 4 {
					MOVOU(k.lane(i)(16*g), w)
					PSHUFB(reverse, w)
				} else {
					MOVOA(words(i, g-4), w)
					SHA1MSG1(words(i, g-3), w)
					PXOR(words(i, g-2), w)
					SHA1MSG2(last, w)
				}
				if g < 19 {
					MOVOA(w, words(i, g))
				}
				rounds(s, g, w)
			}
		}
		addSaved()
	}
	k.digest = func() {
		for i, s := range streams {
			PSHUFB(reverse, s.abcd)
			PEXTRD(U8(3), s.e[0], reg.R11L)
			BSWAPL(reg.R11L)
			out := k.out(i)
			MOVOU(s.abcd, out(0))
			MOVL(reg.R11L, out(16))
		}
		Load(Param("ahead"), rAhead)
	}
	k.save = func() {
		for i, s := range streams {
			MOVOU(s.abcd, stateMem(i, 0))
			MOVOU(s.e[0], stateMem(i, 1))
		}
	}
	k.emit()
}
