// Package asciimask replaces the ASCII characters of a buffer by their class:
// upper-case letter, lower-case letter, digit, other. It knows nothing of rows:
// a run of any number of them is masked in one call.
package asciimask

// Keep, as a replacement, leaves the characters of a class as they are.
const Keep = -1

// Mask is what the classes become. It is read-only and safe for any goroutine.
type Mask struct {
	// table is the answer for every byte; only the lower half is used.
	table [256]byte
	// and, or: the answer for byte b of class c is b&and[c] | or[c].
	and, or [16]byte
}

// The classes as the assembly numbers them; classAVX2 in _asm counts alike.
const (
	other = iota
	digit
	upper
	lower
	numClasses
)

// New is the mask with these replacements, each an ASCII character or Keep. It
// reports false when one is neither: such a mask is not for this package.
func New(upperRep, lowerRep, digitRep, otherRep rune) (*Mask, bool) {
	m := &Mask{}
	for c, r := range [numClasses]rune{other: otherRep, digit: digitRep, upper: upperRep, lower: lowerRep} {
		switch {
		case r == Keep:
			m.and[c] = 0xff
		case r >= 0 && r < 0x80:
			m.or[c] = byte(r)
		default:
			return nil, false
		}
	}
	for b := range m.table[:0x80] {
		c := classOf(byte(b))
		m.table[b] = byte(b)&m.and[c] | m.or[c]
	}
	return m, true
}

func classOf(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return digit
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= 'a' && b <= 'z':
		return lower
	}
	return other
}

// Table is what each ASCII byte becomes; the upper half means nothing. It must
// only be read.
func (m *Mask) Table() *[256]byte { return &m.table }

// Apply masks the ASCII bytes at the start of src into dst and returns how many
// they are: it stops at the first byte with its top bit set, or where the
// shorter of the two ends. Of dst nothing else is written. dst and src must not
// overlap. Nothing is allocated.
func (m *Mask) Apply(dst, src []byte) int { return active.Apply(m, dst, src) }
