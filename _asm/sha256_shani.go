package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var _ = register("sha256_shani", sha256SHANI)

// sha256SHANI writes SHA-256 over two rows in the SHA instructions.
// SHA256RNDS2 takes four cycles and one of them a cycle or two can start: two
// independent rows hide the latency of each other.
func sha256SHANI() {
	type stream struct {
		abef, cdgh reg.VecPhysical
		m          [4]reg.VecPhysical
	}
	streams := []stream{
		{reg.X1, reg.X2, [4]reg.VecPhysical{reg.X3, reg.X4, reg.X5, reg.X6}},
		{reg.X7, reg.X8, [4]reg.VecPhysical{reg.X9, reg.X10, reg.X11, reg.X12}},
	}
	wk, t, swap := reg.X0, reg.X13, reg.X14
	k256 := table32("sha256NIConstants", 1, sha256Constants()...)
	swapTable := table64("sha256NISwap", 1, 0x0405060700010203, 0x0c0d0e0f08090a0b)

	k := &lanes{
		name: "sha256SHANI",
		doc: []string{
			"sha256SHANI hashes groups of two rows with SHA-256 in the SHA instructions.",
			"The chaining value of a row is 32 bytes at state: words F E B A H G D C.",
		},
		lanes: 2, block: 64, mem: 64,
	}
	k.once = func() { MOVOU(swapTable, swap) }
	k.load = func() {
		for i, s := range streams {
			MOVOU(Mem{Base: rState, Disp: 32 * i}, s.abef)
			MOVOU(Mem{Base: rState, Disp: 32*i + 16}, s.cdgh)
		}
	}
	save := func() {
		for i, s := range streams {
			MOVOA(s.abef, k.memAt(32*i))
			MOVOA(s.cdgh, k.memAt(32*i+16))
		}
	}
	addSaved := func() {
		for i, s := range streams {
			PADDD(k.memAt(32*i), s.abef)
			PADDD(k.memAt(32*i+16), s.cdgh)
		}
	}
	k.fixed = func() {
		save()
		for r := range 16 {
			// Both streams add the same words: one copy of each half is enough.
			MOVOU(Mem{Base: rTmp, Disp: 16 * r}, wk)
			for _, s := range streams {
				SHA256RNDS2(wk, s.abef, s.cdgh)
			}
			PSHUFD(U8(0x0e), wk, wk)
			for _, s := range streams {
				SHA256RNDS2(wk, s.cdgh, s.abef)
			}
		}
		addSaved()
	}
	k.round = func() {
		for i, s := range streams {
			row := k.lane(i)
			for q, m := range s.m {
				MOVOU(row(16*q), m)
				PSHUFB(swap, m)
			}
		}
		save()
		for r := range 16 {
			for _, s := range streams {
				m0, m1, m2, m3 := s.m[r&3], s.m[(r+1)&3], s.m[(r+2)&3], s.m[(r+3)&3]
				MOVO(m0, wk)
				PADDD(k256.Offset(16*r), wk)
				SHA256RNDS2(wk, s.abef, s.cdgh)
				PSHUFD(U8(0x0e), wk, wk)
				SHA256RNDS2(wk, s.cdgh, s.abef)
				if r < 12 {
					SHA256MSG1(m1, m0)
					MOVO(m3, t)
					PALIGNR(U8(4), m2, t)
					PADDD(t, m0)
					SHA256MSG2(m3, m0)
				}
			}
		}
		addSaved()
	}
	k.digest = func() {
		for i, s := range streams {
			PSHUFD(U8(0x1b), s.abef, s.abef) // A B E F
			PSHUFD(U8(0xb1), s.cdgh, s.cdgh) // G H C D
			MOVO(s.abef, t)                  //
			PBLENDW(U8(0xf0), s.cdgh, t)     // A B C D
			PALIGNR(U8(8), s.abef, s.cdgh)   // E F G H
			PSHUFB(swap, t)
			PSHUFB(swap, s.cdgh)
			out := k.out(i)
			MOVOU(t, out(0))
			MOVOU(s.cdgh, out(16))
		}
	}
	k.save = func() {
		for i, s := range streams {
			MOVOU(s.abef, Mem{Base: rState, Disp: 32 * i})
			MOVOU(s.cdgh, Mem{Base: rState, Disp: 32*i + 16})
		}
	}
	k.emit()
}
