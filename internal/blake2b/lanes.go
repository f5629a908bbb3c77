package blake2b

import (
	"encoding/binary"
	"sync"

	"github.com/arrowmask/arrowmask/kernels"
)

// width is the number of rows that are worked on side by side.
const width = 8

// lanes are what a compression function works on: words of width rows, those of
// one number side by side, in the order that the assembly knows.
type lanes [wordsOfRow][width]uint64

// The words of a row: the state, which the function brings forward; the block;
// the bytes up to the end of the block; all ones if it is the row's last.
const (
	wordState  = 0
	wordBlock  = wordState + 8
	wordCount  = wordBlock + block/8
	wordLast   = wordCount + 1
	wordsOfRow = wordLast + 1
)

// work is what one goroutine needs.
type work struct {
	lanes lanes
	rest  [width][]byte // what is left of a lane's row
	out   [width][]byte // where its digest goes; nil for an idle lane
}

var works = sync.Pool{New: func() any { return new(work) }}

// sumLanes keeps every lane busy: one whose row ends takes the next row. Rows
// of any length go side by side.
func sumLanes(compress func(*lanes), s *State, dst []byte, col *kernels.Column, lo, hi int) {
	w := works.Get().(*work)
	busy, next := 0, lo
	for lane := range min(width, hi-lo) {
		w.begin(lane, s, col.Row(next), dst[(next-lo)*Size:])
		busy, next = busy+1, next+1
	}
	for busy > 0 {
		for lane := range width {
			w.block(lane)
		}
		compress(&w.lanes)
		for lane := range width {
			if w.out[lane] == nil || w.lanes[wordLast][lane] == 0 {
				continue
			}
			if w.end(lane); next == hi {
				busy--
				continue
			}
			w.begin(lane, s, col.Row(next), dst[(next-lo)*Size:])
			next++
		}
	}
	*w = work{} // nothing of the rows stays behind
	works.Put(w)
}

// begin gives a row to a lane.
func (w *work) begin(lane int, s *State, row, dst []byte) {
	w.rest[lane], w.out[lane] = row, dst[:Size:Size]
	for i, x := range s {
		w.lanes[wordState+i][lane] = x
	}
	w.lanes[wordCount][lane] = 0
}

// end writes the digest of a lane, which is idle then.
func (w *work) end(lane int) {
	for i := range Size / 8 {
		binary.LittleEndian.PutUint64(w.out[lane][8*i:], w.lanes[wordState+i][lane])
	}
	w.out[lane] = nil
}

// block takes the next block of a lane's row; an idle lane gets zeros.
func (w *work) block(lane int) {
	b, l := w.rest[lane], &w.lanes
	m := (*[block / 8][width]uint64)(l[wordBlock:])
	if len(b) > block {
		for i := range m {
			m[i][lane] = binary.LittleEndian.Uint64(b[8*i:])
		}
		l[wordCount][lane] += block
		l[wordLast][lane] = 0
		w.rest[lane] = b[block:]
		return
	}
	l[wordCount][lane] += uint64(len(b))
	l[wordLast][lane] = ^uint64(0)
	w.rest[lane] = nil
	i := 0
	for ; len(b) >= 8; i++ {
		m[i&15][lane] = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	if len(b) > 0 {
		m[i&15][lane] = partial(b)
		i++
	}
	for ; i < len(m); i++ {
		m[i][lane] = 0
	}
}

// partial is the word of one to seven bytes.
func partial(b []byte) uint64 {
	n := len(b)
	if n >= 4 {
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4))
	}
	return uint64(b[0]) | uint64(b[n/2])<<(8*(n/2)) | uint64(b[n-1])<<(8*(n-1))
}
