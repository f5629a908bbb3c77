package mask

import (
	"encoding/binary"
	"math/bits"
)

// Bitmaps hold a bit a row, least significant bit first; 1 is a value, 0 NULL.

// countZeros is the number of zero bits among n from bit off on.
func countZeros(b []byte, off, n int) int {
	zeros, end := n, off+n
	for ; off < end && off&7 != 0; off++ {
		zeros -= int(b[off>>3] >> (off & 7) & 1)
	}
	for ; end-off >= 64; off += 64 {
		zeros -= bits.OnesCount64(binary.LittleEndian.Uint64(b[off>>3:]))
	}
	for ; off < end; off++ {
		zeros -= int(b[off>>3] >> (off & 7) & 1)
	}
	return zeros
}

// copyBits copies n bits of src from bit off on to the start of dst and clears
// the rest of dst's last byte. dst holds just the bytes that n bits need.
func copyBits(dst, src []byte, off, n int) {
	src, shift := src[off>>3:], off&7
	for i := range dst {
		v := src[i] >> shift
		if shift != 0 && i+1 < len(src) {
			v |= src[i+1] << (8 - shift)
		}
		dst[i] = v
	}
	if n&7 != 0 {
		dst[len(dst)-1] &= 1<<(n&7) - 1
	}
}

// bitmapSize is the bytes that n bits need.
func bitmapSize(n int) int { return (n + 7) / 8 }
