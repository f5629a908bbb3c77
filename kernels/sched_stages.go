package kernels

// Stage is one of the steps that a backend takes with a chunk of rows, on its
// own, to be timed.
type Stage struct {
	Name string // "gather", "pack" or "compress"
	Run  func()
}

// Stages takes a chunk of col apart into the backend's steps; the times of all
// together are what Hash.Sum spends on it, but for the choices between them.
// It is for measurements: the digests go nowhere. Packing is nothing where the
// kernel itself pads the rows. The column must have passed
// Validate. There are none for a backend that takes row after row, or for a
// chunk whose rows are not all of one number of blocks, one or two. rows says
// how many rows one call of every step works on.
func (b *Backend) Stages(col *Column) (stages []Stage, rows int) {
	k := b.kernel
	rows = min(col.Len(), chunkRows)
	if k == nil || rows == 0 {
		return nil, 0
	}
	s := new(laneScratch)
	j := &job{laneKernel: k, laneScratch: s, col: col, out: make([]byte, (rows+maxLanes)*k.full), start: &k.start}
	g := j.gather(rows)
	if g.rest > 0 || g.rows != rows || g.least != g.most || g.most > 2 {
		return nil, 0
	}
	for n := rows; n%k.lanes > 0; n++ {
		s.refs[n] = s.refs[rows-1]
	}
	groups := (rows + k.lanes - 1) / k.lanes
	block := k.alg.BlockSize()
	p := j.parts(g.most, g.same, rows)
	stage := make([]byte, (groups*k.lanes+1)*g.most*block)
	first := (*[2]uint64)(&s.refs[0])
	return []Stage{
		{"gather", func() {
			s.spilled = 0
			j.gather(rows)
		}},
		{"pack", func() {
			if p.tail > 0 {
				p.pack(&stage[0], first, rows, p.body*block, 0, p.tail*block)
			}
		}},
		{"compress", func() {
			k.run(&j.out[0], &k.start, first, &stage[0], p.body, p.tail, groups, nil, p.fixed, p.open, 0)
		}},
	}, rows
}
