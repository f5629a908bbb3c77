package mask

import (
	"encoding/binary"
	"math/bits"
)

// numberRows is the rows of fixed width worked on at a time; a multiple of 8.
const numberRows = 4096

// intMask replaces the digits of a window of each integer. Positions run from
// the left, the sign is not one, zero is one digit. The result wraps at the
// width of the type, as in Hive (GenericUDFMask): the least value of a signed
// type has no positive counterpart there, so that its kept digits count
// against the masked ones.
type intMask struct {
	width  int // bytes
	signed bool
	window window
	n      int
	number uint64
}

func newIntMask(t Type, s *settings) *intMask {
	return &intMask{width: t.size(), signed: kinds[t.Kind].signed, window: s.window, n: s.n, number: uint64(s.number)}
}

func (m *intMask) eval(r *run, in *Vector) (*Vector, error) {
	out := &Vector{Type: in.Type, Len: in.Len}
	r.copyNulls(out, in)
	out.Data = r.bytes(in.Len * m.width)
	err := r.each(in.Len, numberRows, func(_, lo, hi int) error {
		m.rows(out.Data[lo*m.width:hi*m.width], in.Data[lo*m.width:hi*m.width])
		clearNulls(out.Data, in, lo, hi, m.width)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// clearNulls zeroes what was computed under NULLs.
func clearNulls(data []byte, in *Vector, lo, hi, width int) {
	if in.Nulls == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		if in.IsNull(i) {
			clear(data[i*width : (i+1)*width])
		}
	}
}

func (m *intMask) rows(dst, src []byte) {
	le := binary.LittleEndian
	switch m.width {
	case 1:
		for i := range src {
			dst[i] = byte(m.mask(uint64(src[i]), 56))
		}
	case 2:
		for i := 0; i < len(src); i += 2 {
			le.PutUint16(dst[i:], uint16(m.mask(uint64(le.Uint16(src[i:])), 48)))
		}
	case 4:
		for i := 0; i < len(src); i += 4 {
			le.PutUint32(dst[i:], uint32(m.mask(uint64(le.Uint32(src[i:])), 32)))
		}
	default:
		for i := 0; i < len(src); i += 8 {
			le.PutUint64(dst[i:], m.mask(le.Uint64(src[i:]), 0))
		}
	}
}

// mask is the masked value; the caller drops what lies above its width.
// unused is the bits of raw above the type's width.
func (m *intMask) mask(raw uint64, unused int) uint64 {
	size, negative := raw, false
	if m.signed {
		if v := int64(raw<<unused) >> unused; v < 0 {
			size, negative = uint64(-v), true
		}
	}
	// The window from the left becomes places low to high from the right.
	digits := digitCount(size)
	n := min(m.n, digits)
	low, high := 0, digits
	switch m.window {
	case windowFirst:
		low = digits - n
	case windowLast:
		high = n
	case windowShowFirst:
		high = digits - n
	case windowShowLast:
		low = n
	}
	masked := m.number * (ones[high] - ones[low])
	kept := uint64(0)
	switch {
	case low == digits:
		kept = size
	case low > 0:
		kept = size % pow10[low]
	}
	if high < digits {
		kept += size / pow10[high] * pow10[high]
	}
	if !negative {
		return kept + masked
	}
	if least := uint64(1) << (63 - unused); size == least {
		return kept - masked
	}
	return -kept - masked
}

// maxDigits is the digits of the greatest 64-bit value.
const maxDigits = 20

// pow10[k] is 10^k; ones[k] is k ones in a row.
var pow10, ones = func() (p [maxDigits]uint64, o [maxDigits + 1]uint64) {
	p[0] = 1
	for k := 1; k < maxDigits; k++ {
		p[k] = p[k-1] * 10
	}
	for k := 1; k <= maxDigits; k++ {
		o[k] = o[k-1]*10 + 1
	}
	return p, o
}()

// digitCount is the number of decimal digits; zero has one. 1233/4096 is just
// above log10(2), so that the estimate from the bits is right or one short.
func digitCount(v uint64) int {
	n := bits.Len64(v) * 1233 >> 12
	if v >= pow10[n] {
		n++
	}
	return max(n, 1)
}
