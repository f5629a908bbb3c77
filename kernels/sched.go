package kernels

import (
	"encoding/binary"
	"runtime"
	"sync"
	"unsafe"

	"github.com/arrowmask/arrowmask/internal/race"
)

// laneKernel is an algorithm in the form that works on several rows side by
// side, and what the scheduler must know of it. One lane holds one row.
//
// The scheduler takes a column in chunks. Rows of a chunk are put in order of
// their number of blocks (a counting sort), so that the rows of a group start
// and end together; what is left over of each length is run with lanes that
// are refilled as their rows end. A few long rows among short ones go to the
// best single-stream code, by a cost model, instead of keeping the other lanes
// waiting.
type laneKernel struct {
	alg   Alg
	lanes int // rows of a group
	// full is the length of a digest before it is cut (SHA-224: 32).
	full int
	// word is the position in laneState of word w of a lane's chaining value,
	// in units of the algorithm's words.
	word func(w, lane int) int

	// run hashes groups rows by lanes, or brings chaining values forward: see
	// the generated functions.
	run func(dst *byte, state *[512]byte, refs *[2]uint64, stage *byte, body, tail, groups int, text *byte, fixed *[640]byte, open *[160]byte, ahead int)
	// pack1 and pack2 write the padded end of n rows to the staging area, as
	// one block a row or two. Unless exact is set they read to the end of the
	// last block, whatever the row's length.
	pack1, pack2 packFunc
	exact        bool
	// opens says that run can read the last bytes of rows of one length where
	// they lie: see openBlock.
	opens bool
	// expand writes a block to the form in which run takes it as fixed.
	expand func(to *fixedBlock, block []byte)
	// gather32 fills references from 32-bit offsets, n a multiple of four.
	gather32 func(refs *[2]uint64, offsets *int32, base uintptr, n, stride int) (shortest, longest int32)

	// single hashes row by row in the best single-stream code.
	single func(dst []byte, col *Column, lo, hi int, mac *macKey)
	// cost weighs single against run.
	cost laneCost
	// fewer is a kernel of fewer lanes that is sooner done with few rows; nil
	// where there is none.
	fewer *laneKernel
	// worth is the least number of rows that small need weigh.
	worth int
	// maxRow is maxLaneRow, but in tests.
	maxRow int
	// start is what plain digests start from, in every lane.
	start [512]byte
}

type packFunc = func(dst *byte, refs *[2]uint64, n, skip, extra, step int)

// laneCost is what the scheduler's choices rest on: measured times in
// nanoseconds. Only their ratios matter, and those differ little between
// processors.
type laneCost struct {
	step  int // one block of a whole group
	block int // one block in single
	row   int // one row in single, besides its blocks
}

// rowRef is a row as the assembly sees it: the address of its bytes; its
// length in the low half of the second word and the place of its digest in the
// output in the high half. Addresses are kept as numbers: the column keeps the
// memory alive for the time of a call, and nothing stays behind after it.
type rowRef [2]uint64

func newRowRef(at uintptr, length, out int) rowRef {
	return rowRef{uint64(at), uint64(length) | uint64(out)<<32}
}

func (r rowRef) len() int { return int(uint32(r[1])) }
func (r rowRef) out() int { return int(r[1] >> 32) }

const (
	// chunkRows is how many rows are put in order at a time: enough to fill
	// the lanes with rows of one length, few enough to stay in the L1 cache.
	chunkRows = 512
	// stageSize is the staging area for padded blocks, in bytes.
	stageSize = 8 << 10
	// maxClass is the largest number of blocks that has a class of its own.
	// Longer rows are few to a chunk or long enough to be run one by one.
	maxClass = 32
	// maxLaneRow is the longest row that goes into a lane: its length must fit
	// a rowRef, and beyond it one stream is as good.
	maxLaneRow = 1 << 30
	// maxLanes is the largest lane count of any kernel.
	maxLanes = 32
	// minBatch is the largest number of rows that may not be worth the lanes,
	// however few there are.
	minBatch = 4
	// keyedRow is what crypto/hmac spends on a row, in blocks, besides the
	// row's own: the second pass, and restoring the key's states twice.
	keyedRow = 6
	// refillTime and refillRow are what schedule spends on uneven rows besides
	// their blocks, at all and on a row, in nanoseconds.
	refillTime, refillRow = 400, 60
	// nearRow is what a row at the end of a buffer costs more, in nanoseconds.
	nearRow = 12
	// stepTime is what inStep spends besides its blocks, in nanoseconds.
	stepTime = 55
	// spillSize is room for copies of rows that lie at the very end of a
	// buffer, where a packer would read beyond it.
	spillSize = 8 << 10
)

// laneScratch is what a call needs besides its arguments. The areas that held
// bytes of rows are cleared before it goes back to the pool.
type laneScratch struct {
	live  [512]byte // chaining values of refill; first, so that it is aligned
	stage [stageSize + maxBlock]byte
	spill [spillSize]byte
	tails [maxLanes][2 * maxBlock]byte
	cut   [(chunkRows + 1) * MaxSize]byte // digests on the way to dst
	inner [chunkRows*MaxSize + 2*maxBlock]byte

	refs, sorted, rest [chunkRows + maxLanes]rowRef
	starts             [maxClass + 2]int32
	odd                [maxLanes]rowRef // a group that is not full
	lanesAt            [maxLanes]rowRef // where the lanes of refill are

	last endings

	// How much of each area may hold something, in bytes.
	staged, spilled, innerUsed, cutUsed int
}

var laneScratches = sync.Pool{New: func() any { return new(laneScratch) }}

// wipe clears what the rows left behind.
func (s *laneScratch) wipe() {
	clear(s.stage[:s.staged])
	clear(s.spill[:s.spilled])
	clear(s.inner[:s.innerUsed])
	clear(s.cut[:s.cutUsed])
	s.staged, s.spilled, s.innerUsed, s.cutUsed = 0, 0, 0, 0
}

// sum is Backend.sum over the kernel.
func (k *laneKernel) sum(dst []byte, col *Column, lo, hi int, mac *macKey) {
	k.sumAhead(dst, nil, col, lo, hi, mac)
}

// sumAhead is sum for Hash.SumAhead; text may be nil.
func (k *laneKernel) sumAhead(dst, text []byte, col *Column, lo, hi int, mac *macKey) {
	switch {
	case hi-lo > max(k.lanes, minBatch):
		k.schedule(dst, text, col, lo, hi, mac)
	case mac != nil:
		k.smallKeyed(dst, col, lo, hi, mac)
	case hi-lo < k.worth:
		k.single(dst, col, lo, hi, nil)
	default:
		k.small(dst, col, lo, hi)
	}
}

// schedule hashes rows chunk by chunk.
func (k *laneKernel) schedule(dst, text []byte, col *Column, lo, hi int, mac *macKey) {
	size := k.alg.Size()
	s := laneScratches.Get().(*laneScratch)
	for lo < hi {
		n := min(hi-lo, chunkRows)
		k.chunk(s, dst[:n*size], text, col, lo, n, mac)
		dst = dst[n*size:]
		if text != nil {
			text = text[2*n*size:]
		}
		lo += n
	}
	s.wipe()
	laneScratches.Put(s)
	runtime.KeepAlive(col)
}

// addr is the address of a slice's bytes as a number; of a slice without
// capacity it is that of some byte that is never read as a row's.
func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// blocks is the number of blocks of a padded message of length bytes: one byte
// of padding and the length field, of 8 bytes or 16, must fit too.
func (k *laneKernel) blocks(length int) int {
	if k.alg.wide() {
		return (length+16)>>7 + 1
	}
	return (length+8)>>6 + 1
}

// broadcast sets every lane of to to the chaining value st.
func (k *laneKernel) broadcast(to *[512]byte, st *state) {
	for lane := range k.lanes {
		for w := range k.words() {
			if k.alg.wide() {
				binary.NativeEndian.PutUint64(to[8*k.word(w, lane):], st.w64[w])
			} else {
				binary.NativeEndian.PutUint32(to[4*k.word(w, lane):], st.w32[w])
			}
		}
	}
}

// words is the number of words of a chaining value.
func (k *laneKernel) words() int { return k.full / k.wordSize() }

func (k *laneKernel) wordSize() int {
	if k.alg.wide() {
		return 8
	}
	return 4
}

// job is one pass of the scheduler over a chunk's rows.
type job struct {
	*laneKernel
	*laneScratch
	col   *Column
	lo    int    // row of col with output place 0
	out   []byte // digests, full bytes each
	mac   *macKey
	start *[512]byte // what every row starts from
	extra int        // bytes that start has taken already
	line  bool       // the rows lie one after the other
	text  *byte      // where the digests' text will go; nil if nobody said
}

// chunk hashes rows lo to lo+n of col.
func (k *laneKernel) chunk(s *laneScratch, dst, text []byte, col *Column, lo, n int, mac *macKey) {
	size := k.alg.Size()
	j := job{laneKernel: k, laneScratch: s, col: col, lo: lo, out: dst, mac: mac, start: &k.start}
	var ahead *byte
	if len(text) > 0 && size == k.full {
		ahead = &text[0]
	}
	j.text = ahead
	if size != k.full {
		s.cutUsed = max(s.cutUsed, n*k.full)
		j.out = s.cut[:n*k.full]
	}
	if mac != nil {
		s.innerUsed = max(s.innerUsed, n*k.full)
		j.out, j.extra, j.start = s.inner[:n*k.full], k.alg.BlockSize(), &mac.lanes.inner
		j.text = nil // the digests of the first pass become no text
	}
	j.hash(n)
	if race.Enabled {
		for i := range n {
			race.Read(col.Row(lo + i))
		}
		race.Write(dst)
	}
	if mac != nil {
		j.text = ahead
		j.outer(dst, n)
	}
	if size != k.full {
		cutDigests(dst, s.cut[:n*k.full], size)
	}
}

// cutDigests copies the first size bytes of each of the digests in full: 28 of
// 32 for SHA-224, 48 or 32 of 64.
func cutDigests(dst, full []byte, size int) {
	switch size {
	case 28:
		for ; len(full) > 0; dst, full = dst[28:], full[32:] {
			*(*[28]byte)(dst) = [28]byte(full)
		}
	case 48:
		for ; len(full) > 0; dst, full = dst[48:], full[64:] {
			*(*[48]byte)(dst) = [48]byte(full)
		}
	case 32:
		for ; len(full) > 0; dst, full = dst[32:], full[64:] {
			*(*[32]byte)(dst) = [32]byte(full)
		}
	}
}

// outer is the second pass of HMAC, over the digests of the first (FIPS 198-1,
// section 4, steps 7 to 9). Every one of them fits a block.
func (j *job) outer(dst []byte, n int) {
	for i := range n {
		j.refs[i] = newRowRef(addr(j.inner[i*j.full:]), j.alg.Size(), i*j.full)
	}
	j.out = dst
	if j.alg.Size() != j.full {
		j.out = j.cut[:n*j.full]
	}
	j.start = &j.mac.lanes.outer
	j.class(j.refs[:n], n, 1, j.alg.Size())
}
