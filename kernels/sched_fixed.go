package kernels

import "encoding/binary"

// fixedBlock is a block that is the same for every row of a group: nothing but
// padding, behind rows of one length. Its message schedule is worked out once,
// here, and the kernels need neither load it nor compute it a lane: word t is
// what round t adds, with the round's constant, in the order of the rounds.
type fixedBlock = [640]byte

// fixed is the fixed block that a scratch area was last used with. It tells of
// a length, not of rows.
type fixed struct {
	of    *laneKernel
	total int // length of the message
	block fixedBlock
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

// parts says how the blocks of a class of rows come to the kernel.
type parts struct {
	body  int         // blocks that are read where the row lies
	tail  int         // blocks that pack writes to the staging area
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

// padding is the last block of messages of extra bytes and a row of the given
// length, which reaches no further than into the block before.
func (j *job) padding(length int) *fixedBlock {
	f := &j.laneScratch.fixed
	if total := length + j.extra; f.of != j.laneKernel || f.total != total {
		var buf, zeros [2 * maxBlock]byte
		end := j.alg.pad(&buf, zeros[:length%j.alg.BlockSize()], uint64(total))
		j.expand(&f.block, end[len(end)-j.alg.BlockSize():])
		f.of, f.total = j.laneKernel, total
	}
	return &f.block
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
