package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

var (
	_ = register("sha256_avx2", func() { sha2Lanes(avx2, sha256) })
	_ = register("sha256_avx512", func() { sha2Lanes(avx512, sha256) })
	_ = register("sha512_avx2", func() { sha2Lanes(avx2, sha512) })
	_ = register("sha512_avx512", func() { sha2Lanes(avx512, sha512) })
)

// sha2 is a member of the family: FIPS 180-4, sections 4.1.2 and 4.1.3.
type sha2 struct {
	name   string
	bits   int    // of a word
	rounds int    //
	big0   [3]int // rotations of the function Sigma0
	big1   [3]int
	small0 [3]int // two rotations and a shift of sigma0
	small1 [3]int
}

var (
	sha256 = sha2{"sha256", 32, 64, [3]int{2, 13, 22}, [3]int{6, 11, 25}, [3]int{7, 18, 3}, [3]int{17, 19, 10}}
	sha512 = sha2{"sha512", 64, 80, [3]int{28, 34, 39}, [3]int{14, 18, 41}, [3]int{1, 8, 7}, [3]int{19, 61, 6}}
)

// sha2Lanes writes SHA-256 or SHA-512 over a register of rows. Sixteen rounds
// are unrolled: after them the words and the variables are back where they
// were, and the code stays small enough for the processor's cache of decoded
// instructions.
func sha2Lanes(s isa, f sha2) {
	bytes := f.bits / 8
	n := s.size() / bytes
	k := &lanes{
		name:  f.name + s.suffix(),
		lanes: n, block: 16 * bytes, zeroUpper: true,
		mem: 25 * s.size(),
	}
	k.doc = []string{
		fmt.Sprintf("%s hashes groups of %d rows with %s.", k.name, n, map[int]string{32: "SHA-256", 64: "SHA-512"}[f.bits]),
		fmt.Sprintf("Word w of lane i is %d-bit word %d*w+i of state.", f.bits, n),
	}
	saved := func(i int) Mem { return s.vecMem(k, i) }
	wordMem := func(i int) Mem { return s.vecMem(k, 8+i) }
	passes := s.vecMem(k, 24) // passes of sixteen rounds still to come
	stateMem := func(i int) Mem { return Mem{Base: rState, Disp: i * s.size()} }

	times := n
	if s.wide {
		times = 1
	}
	var constants Mem
	swapWords := []uint64{0x0405060700010203, 0x0c0d0e0f08090a0b}
	if f.bits == 64 {
		constants = table64(f.name+"Constants"+s.suffix(), times, sha512Constants()...)
		swapWords = []uint64{0x0001020304050607, 0x08090a0b0c0d0e0f}
	} else {
		constants = table32(f.name+"Constants"+s.suffix(), times, sha256Constants()...)
	}
	for len(swapWords)*8 < s.size() {
		swapWords = append(swapWords, swapWords...)
	}
	swapTable := table64(f.name+"Swap"+s.suffix(), 1, swapWords...)
	var rotate8 Mem
	if f.bits == 64 && !s.wide {
		rotate8 = table64("sha512Rotate8", 1, 0x0007060504030201, 0x080f0e0d0c0b0a09, 0x0007060504030201, 0x080f0e0d0c0b0a09)
	}

	// Registers 0 to 7 are the variables a to h, the next ones work space.
	// With AVX-512, 15 is the byte order and 16 to 31 are the words.
	const t0, t1, t2, order = 8, 9, 10, 15
	// The majority of a, b, c is ((a ^ b) & (b ^ c)) ^ b, and a ^ b is b ^ c in
	// the next round: two registers take turns.
	xors := [2]vec{11, 12}
	place := make([]vec, 16)

	wordRegs := []vec{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 13, 14}

	swap := func(v vec) {
		if s.wide {
			VPSHUFB(s.r(order), s.r(v), s.r(v))
		} else {
			VPSHUFB(swapTable, s.r(v), s.r(v))
		}
	}
	ops := wordOps{s, f.bits, rotate8}
	word := func(i int) Op {
		if s.wide {
			return s.r(place[i&15])
		}
		return wordMem(i & 15)
	}

	k.once = func() {
		if s.wide {
			s.load(swapTable, order)
		}
	}
	k.load = func() {
		for i := range 8 {
			s.load(stateMem(i), i)
		}
	}
	// round is one round after the word and its constant are in h.
	round := func(i int) {
		v := func(x int) vec { return (x - i) & 7 }
		a, b, c, d, e, ff, g, h := v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7)
		if s.wide {
			VMOVDQA64(s.r(e), s.r(t1))
			VPTERNLOGD(U8(0xca), s.r(g), s.r(ff), s.r(t1)) // e ? f : g
			ops.add(s.r(t1), h)
		} else {
			VPXOR(s.r(ff), s.r(g), s.r(t1))
			VPAND(s.r(e), s.r(t1), s.r(t1))
			VPXOR(s.r(g), s.r(t1), s.r(t1))
			ops.add(s.r(t1), h)
		}
		ops.sigma(s.r(e), f.big1, false, t0, t1, t2)
		ops.add(s.r(t0), h)
		ops.add(s.r(h), d)
		if s.wide {
			VMOVDQA64(s.r(a), s.r(t1))
			VPTERNLOGD(U8(0xe8), s.r(c), s.r(b), s.r(t1)) // majority
			ops.add(s.r(t1), h)
		} else {
			bc, ab := xors[i%2], xors[(i+1)%2]
			VPXOR(s.r(a), s.r(b), s.r(ab))
			VPAND(s.r(ab), s.r(bc), s.r(t1))
			VPXOR(s.r(b), s.r(t1), s.r(t1))
			ops.add(s.r(t1), h)
		}
		ops.sigma(s.r(a), f.big0, false, t0, t1, t2)
		ops.add(s.r(t0), h)
	}
	schedule := func(i int) {
		// W(t+16) = W(t) + sigma0(W(t+1)) + W(t+9) + sigma1(W(t+14))
		w := t2
		if s.wide {
			w = place[i]
			ops.sigma(word(i+1), f.small0, true, t0, t1, t2)
			ops.add(s.r(t0), w)
			ops.add(word(i+9), w)
			ops.sigma(word(i+14), f.small1, true, t0, t1, t2)
			ops.add(s.r(t0), w)
			return
		}
		s.load(wordMem((i+1)&15), 13)
		ops.sigma(s.r(13), f.small0, true, t0, t1, w)
		s.load(wordMem(i), w)
		ops.add(s.r(t0), w)
		ops.add(word(i+9), w)
		s.load(wordMem((i+14)&15), 13)
		ops.sigma(s.r(13), f.small1, true, t0, t1, 14)
		ops.add(s.r(t0), w)
		s.store(w, wordMem(i))
	}
	addWord := func(i int) {
		h := (7 - i) & 7
		ops.add(word(i), h)
		ops.addConstant(Mem{Base: rTmp, Disp: i * times * bytes}, h)
	}
	save := func() {
		for i := range 8 {
			s.store(i, saved(i))
		}
	}
	// differences is where the majority of the first round starts from.
	differences := func() {
		if !s.wide {
			VPXOR(s.r(1), s.r(2), s.r(xors[0]))
		}
	}
	addSaved := func() {
		for i := range 8 {
			ops.add(saved(i), i)
		}
	}
	k.round = func() {
		save()
		keep := func(w int, r vec) {
			swap(r)
			if s.wide {
				place[w] = r
			} else {
				s.store(r, wordMem(w))
			}
		}
		switch {
		case s.wide && f.bits == 32:
			s.words32(k, 0, 4, wordRegs, keep)
		case s.wide:
			s.words64(k, 8, wordRegs[:17], keep)
		case f.bits == 32:
			s.words32(k, 0, 2, []vec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, keep)
		default:
			s.words64(k, 4, []vec{0, 1, 2, 3, 4, 5, 6, 7, 8}, keep)
		}
		if !s.wide {
			for i := range 8 {
				s.load(saved(i), i)
			}
		}
		if s.wide {
			Label("rounds")
		}
		differences()
		LEAQ(constants, rTmp)
		MOVQ(U32(uint32(f.rounds/16-1)), passes)
		Label("pass")
		for i := range 16 {
			addWord(i)
			round(i)
			schedule(i)
		}
		ADDQ(U32(uint32(16*times*bytes)), rTmp)
		DECQ(passes)
		JNZ(LabelRef("pass"))
		for i := range 16 {
			addWord(i)
			round(i)
		}
		addSaved()
	}
	if s.wide {
		k.open = func() {
			save()
			perPart := 16 / bytes
			s.openWords(k, perPart, wordRegs[:16+perPart/2], order, t0, t1)
		}
	}
	k.fixed = func() {
		save()
		differences()
		MOVQ(U32(uint32(f.rounds/16)), passes)
		Label("fixedPass")
		for i := range 16 {
			ops.addScalar(Mem{Base: rTmp, Disp: i * bytes}, (7-i)&7, t0)
			round(i)
		}
		ADDQ(U32(uint32(16*bytes)), rTmp)
		DECQ(passes)
		JNZ(LabelRef("fixedPass"))
		addSaved()
	}
	k.digest = func() {
		for i := range 8 {
			swap(i)
		}
		if f.bits == 32 {
			t := [2]vec{t0, t1}
			for half := range 2 {
				var rows [4]vec
				h := 4 * half
				rows, t = s.transpose32([4]vec{h, h + 1, h + 2, h + 3}, t)
				for j, r := range rows {
					for p := range s.parts() {
						s.unpiece(r, p, k.out(4*p+j)(16*half))
					}
				}
			}
			return
		}
		t := t0
		for pair := range 4 {
			var rows [2]vec
			rows, t = s.transpose64([2]vec{2 * pair, 2*pair + 1}, t)
			for j, r := range rows {
				for p := range s.parts() {
					s.unpiece(r, p, k.out(2*p+j)(16*pair))
				}
			}
		}
	}
	k.save = func() {
		for i := range 8 {
			s.store(i, stateMem(i))
		}
	}
	k.emit()
}

// wordOps are operations on words of 32 or 64 bits.
type wordOps struct {
	s       isa
	bits    int
	rotate8 Mem // byte shuffle that rotates 64-bit words right by 8
}

func (o wordOps) add(x Op, to vec) {
	if o.bits == 64 {
		VPADDQ(x, o.s.r(to), o.s.r(to))
	} else {
		VPADDD(x, o.s.r(to), o.s.r(to))
	}
}

// addConstant adds a table entry: one word with AVX-512, repeated without.
func (o wordOps) addConstant(m Mem, to vec) {
	switch {
	case !o.s.wide:
		o.add(m, to)
	case o.bits == 64:
		VPADDQ_BCST(m, o.s.r(to), o.s.r(to))
	default:
		VPADDD_BCST(m, o.s.r(to), o.s.r(to))
	}
}

// addScalar adds one word of memory to every lane; t is work space.
func (o wordOps) addScalar(m Mem, to, t vec) {
	switch {
	case o.s.wide:
		o.addConstant(m, to)
	case o.bits == 64:
		VPBROADCASTQ(m, o.s.r(t))
		o.add(o.s.r(t), to)
	default:
		VPBROADCASTD(m, o.s.r(t))
		o.add(o.s.r(t), to)
	}
}

func (o wordOps) right(n int, x Op, to vec) {
	if o.bits == 64 {
		VPSRLQ(U8(n), x, o.s.r(to))
	} else {
		VPSRLD(U8(n), x, o.s.r(to))
	}
}

func (o wordOps) left(n int, x Op, to vec) {
	if o.bits == 64 {
		VPSLLQ(U8(n), x, o.s.r(to))
	} else {
		VPSLLD(U8(n), x, o.s.r(to))
	}
}

// sigma sets t0 to the exclusive or of x rotated right by two or three
// amounts, the last a plain shift if shift is set. t1 and t2 are work space.
func (o wordOps) sigma(x Op, by [3]int, shift bool, t0, t1, t2 vec) {
	r := o.s.r
	if o.s.wide {
		rotate := func(n int, to vec) {
			if o.bits == 64 {
				VPRORQ(U8(n), x, r(to))
			} else {
				VPRORD(U8(n), x, r(to))
			}
		}
		rotate(by[0], t0)
		rotate(by[1], t1)
		if shift {
			o.right(by[2], x, t2)
		} else {
			rotate(by[2], t2)
		}
		VPTERNLOGD(U8(0x96), r(t2), r(t1), r(t0))
		return
	}
	o.right(by[0], x, t0)
	for i, n := range by {
		if i > 0 && n == 8 && o.bits == 64 {
			VPSHUFB(o.rotate8, x, r(t1))
			VPXOR(r(t1), r(t0), r(t0))
			continue
		}
		if i > 0 {
			o.right(n, x, t1)
			VPXOR(r(t1), r(t0), r(t0))
		}
		if i == 2 && shift {
			continue
		}
		o.left(o.bits-n, x, t1)
		VPXOR(r(t1), r(t0), r(t0))
	}
}
