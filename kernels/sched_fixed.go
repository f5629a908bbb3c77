package kernels

import "encoding/binary"

// fixedBlock is a block that is the same for every row of a group: nothing but
// padding, behind rows of one length. Its message schedule is worked out once,
// here, and the kernels need neither load it nor compute it a lane: word t is
// what round t adds, with the round's constant, in the order of the rounds.
type fixedBlock = [640]byte

// ending is what the last blocks of rows of one length depend on. It tells
// nothing of the rows' bytes.
type ending struct {
	of     *laneKernel
	length int // of a row
	extra  int // bytes of the message before it
}

// mixedLengths is the length of rows that are not all of one length.
const mixedLengths = -1

// minFixed is how many rows pay for working out a schedule.
const minFixed = 16

// same is the length of all rows, or mixedLengths.
func same(rows []rowRef) int {
	length := rows[0].len()
	for _, r := range rows {
		if r.len() != length {
			return mixedLengths
		}
	}
	return length
}

// openBlock is how the last block with bytes of rows of one length is to be
// padded by the kernel that reads it, at these places:
//
//	0    the words of the padded block, in the order of the processor's bytes,
//	     with zeros for the row's bytes
//	128  for the 16 bytes that the row ends in: which of the row's last 16 bytes
//	     comes where, 0x80 for none
//	144  the row's length
//	152  how many of its bytes are in this block, at least one
type openBlock = [160]byte

// endings are the blocks that a scratch area was last used with.
type endings struct {
	fixedOf, openOf ending
	fixed           fixedBlock
	open            openBlock
}

const (
	// openTail is the number of tail blocks that says that there is an open one.
	openTail = -1
	// minOpen is the shortest row that an open block can be made of.
	minOpen = 16
)

// parts says how the blocks of a class of rows come to the kernel.
type parts struct {
	body  int // blocks that are read where the row lies
	tail  int // blocks that pack writes to the staging area, or openTail
	open  *openBlock
	fixed *fixedBlock // one more, nil if there is none
	pack  packFunc
	over  int // bytes that pack writes beyond the last row's blocks
}

// parts takes the blocks of n rows apart. Rows of one length have as much as
// can be in the body, and a last block without a byte of theirs is fixed.
func (j *job) parts(blocks, length, n int) parts {
	block := j.alg.BlockSize()
	if length == mixedLengths {
		if blocks == 1 {
			return parts{tail: 1, pack: j.pack1}
		}
		return parts{body: blocks - 2, tail: 2, pack: j.pack2}
	}
	body := length / block
	switch {
	case j.opens && length%block > 0 && length >= minOpen && n >= minFixed:
		p := parts{body: body, tail: openTail, open: j.opening(length)}
		if body < blocks-1 {
			p.fixed = j.padding(length)
		}
		return p
	case body == blocks-1 && (length%block > 0 || blocks == 1 || n < minFixed):
		return parts{body: body, tail: 1, pack: j.pack1}
	case body == blocks-1:
		return parts{body: body, fixed: j.padding(length)}
	case n < minFixed:
		return parts{body: body, tail: 2, pack: j.pack2}
	default:
		// The second of the packer's blocks is the fixed one: the next row
		// writes over it.
		return parts{body: body, tail: 1, pack: j.pack2, over: block, fixed: j.padding(length)}
	}
}

// padding is the fixed block behind rows of the given length.
func (j *job) padding(length int) *fixedBlock {
	if of := (ending{j.laneKernel, length, j.extra}); j.last.fixedOf != of {
		var buf, zeros [2 * maxBlock]byte
		block := j.alg.BlockSize()
		end := j.alg.pad(&buf, zeros[:length%block], uint64(length+j.extra))
		j.expand(&j.last.fixed, end[len(end)-block:])
		j.last.fixedOf = of
	}
	return &j.last.fixed
}

// opening is the open block of rows of the given length.
func (j *job) opening(length int) *openBlock {
	o := &j.last.open
	if of := (ending{j.laneKernel, length, j.extra}); j.last.openOf != of {
		var buf, zeros [2 * maxBlock]byte
		block, last := j.alg.BlockSize(), j.wordSize()-1
		bytes := length % block
		// inWord is where the processor has byte i of the block.
		inWord := func(i int) int { return i }
		if j.alg != MD5 {
			inWord = func(i int) int { return i ^ last }
		}
		for i, b := range j.alg.pad(&buf, zeros[:bytes], uint64(length+j.extra))[:block] {
			o[inWord(i)] = b
		}
		for i := range 16 {
			from := byte(0x80)
			if i < bytes%16 {
				from = byte(16 - bytes%16 + i)
			}
			o[128+inWord(i)] = from
		}
		binary.NativeEndian.PutUint64(o[144:], uint64(length))
		binary.NativeEndian.PutUint64(o[152:], uint64(bytes))
		j.last.openOf = of
	}
	return o
}

// expandSums is laneKernel.expand in the common form: the sum of the word and
// the constant of each round.
func expandSums(alg Alg) func(to *fixedBlock, block []byte) {
	switch {
	case alg == MD5:
		return func(to *fixedBlock, block []byte) {
			for i, k := range md5K {
				putWord(to, i, binary.LittleEndian.Uint32(block[4*md5Word(i):])+k)
			}
		}
	case alg == SHA1:
		return func(to *fixedBlock, block []byte) {
			var w [80]uint32
			sha1Schedule(&w, block)
			for i, x := range w {
				putWord(to, i, x+sha1K[i/20])
			}
		}
	case alg.wide():
		return func(to *fixedBlock, block []byte) {
			var w [80]uint64
			sha512Schedule(&w, block)
			for i, x := range w {
				binary.NativeEndian.PutUint64(to[8*i:], x+k512[i])
			}
		}
	default:
		return func(to *fixedBlock, block []byte) {
			var w [64]uint32
			sha256Schedule(&w, block)
			for i, x := range w {
				putWord(to, i, x+k256[i])
			}
		}
	}
}

func putWord(to *fixedBlock, i int, x uint32) { binary.NativeEndian.PutUint32(to[4*i:], x) }
