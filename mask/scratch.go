package mask

import (
	"sync"

	"github.com/arrowmask/arrowmask/kernels"
)

// scratch is what one goroutine needs for one chunk.
type scratch struct {
	lens [chunkRows]int
	rows [chunkRows]int32
	col  kernels.Column
	used int // bytes of sums to clear
	sums [chunkRows * kernels.MaxSize]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

// put hands the scratch back, empty of everything that came from the rows.
func (s *scratch) put() {
	s.col = kernels.Column{}
	clear(s.sums[:s.used])
	s.used = 0
	scratches.Put(s)
}
