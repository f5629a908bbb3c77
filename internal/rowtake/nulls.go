package rowtake

import "fmt"

// Nulls is n rows that are all NULL; a union, which has no NULL of its own,
// holds NULLs of its first child.
func Nulls(s *Shape, n int, mem Memory) (*Data, error) {
	t := &taker{mem: mem}
	out, err := t.nulls(s, n)
	if err != nil {
		t.free()
		return nil, err
	}
	return out, nil
}

func (t *taker) nulls(s *Shape, n int) (*Data, error) {
	out := &Data{Len: n, Nulls: n}
	switch s.Layout {
	case Null:
		out.Buffers = [][]byte{nil}
		return out, nil
	case SparseUnion, DenseUnion:
		return t.nullUnion(s, n)
	case RunEnds:
		return t.nullRun(s, n)
	}
	out.Buffers = [][]byte{t.zeroed((n + 7) / 8)}
	add := func(sizes ...int) {
		for _, size := range sizes {
			out.Buffers = append(out.Buffers, t.zeroed(size))
		}
	}
	inner := func(n int) error {
		for _, c := range s.Children {
			d, err := t.nulls(c, n)
			if err != nil {
				return err
			}
			out.Children = append(out.Children, d)
		}
		return nil
	}
	switch s.Layout {
	case Bits:
		add((n + 7) / 8)
	case Fixed:
		add(n * s.Width)
	case Offsets32:
		add((n+1)*4, 0)
	case Offsets64:
		add((n+1)*8, 0)
	case Views:
		add(n * viewBytes)
	case List32:
		add((n + 1) * 4)
		return out, inner(0)
	case List64:
		add((n + 1) * 8)
		return out, inner(0)
	case ListView32:
		add(n*4, n*4)
		return out, inner(0)
	case ListView64:
		add(n*8, n*8)
		return out, inner(0)
	case FixedList:
		return out, inner(n * s.Width)
	case Struct:
		return out, inner(n)
	case Dictionary:
		add(n * s.Width)
		return out, inner(0)
	default:
		return nil, fmt.Errorf("%w: unknown layout %d", ErrData, s.Layout)
	}
	return out, nil
}

func (t *taker) nullUnion(s *Shape, n int) (*Data, error) {
	if len(s.Children) == 0 || len(s.Codes) != len(s.Children) {
		return nil, fmt.Errorf("%w: union without children", ErrData)
	}
	codes := t.alloc(n)
	for i := range codes {
		codes[i] = byte(s.Codes[0])
	}
	out := &Data{Len: n, Buffers: [][]byte{nil, codes}}
	if s.Layout == DenseUnion {
		o := t.alloc(n * 4)
		for i := range n {
			put[int32](o, i, int64(i))
		}
		out.Buffers = append(out.Buffers, o)
	}
	for i, c := range s.Children {
		rows := n
		if s.Layout == DenseUnion && i > 0 {
			rows = 0
		}
		d, err := t.nulls(c, rows)
		if err != nil {
			return nil, err
		}
		out.Children = append(out.Children, d)
	}
	return out, nil
}

// nullRun is one run.
func (t *taker) nullRun(s *Shape, n int) (*Data, error) {
	if len(s.Children) != 2 {
		return nil, fmt.Errorf("%w: run-end encoded column without run ends", ErrData)
	}
	runs := min(n, 1)
	if most := 1<<(8*min(s.Width, 7)-1) - 1; n > most {
		return nil, fmt.Errorf("%w: %d rows in one run", ErrTooLarge, n)
	}
	ends := t.alloc(runs * s.Width)
	if runs > 0 {
		putIndex(ends, s.Width, 0, uint64(n))
	}
	values, err := t.nulls(s.Children[1], runs)
	if err != nil {
		return nil, err
	}
	return &Data{Len: n, Buffers: [][]byte{nil}, Children: []*Data{{Len: runs, Buffers: [][]byte{nil, ends}}, values}}, nil
}
