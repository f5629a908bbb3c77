package kernelbench

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math/rand/v2"

	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// Column makes rows of letters and digits in Arrow's layout; length is asked
// for the length of each. The same seed makes the same rows.
func Column(rows int, seed uint64, length func(*rand.Rand) int) (data []byte, offsets []int32) {
	rng := rand.New(rand.NewPCG(seed, 1))
	offsets = make([]int32, rows+1)
	for i := range rows {
		offsets[i+1] = offsets[i] + int32(length(rng))
	}
	data = make([]byte, offsets[rows])
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for i := range data {
		data[i] = letters[rng.IntN(len(letters))]
	}
	return data, offsets
}

// width is how many bytes a row of output takes.
func width(alg kernels.Alg, raw bool) int {
	if raw {
		return alg.Size()
	}
	return 2 * alg.Size()
}

// chunk is how many rows a caller hashes before it encodes them: the digests
// stay in the L1 cache.
const chunk = 512

// Hasher is what a caller of package kernels does with a column: chunk by chunk
// the digests, as they are or as lower-case hex text. It has its own scratch,
// for one goroutine at a time.
type Hasher struct {
	Hash *kernels.Hash
	Raw  bool
	sums [chunk * kernels.MaxSize]byte
}

// Digest writes rows lo to hi of a column to out, which has the exact length.
// Nothing is allocated.
func (h *Hasher) Digest(out []byte, col *kernels.Column, lo, hi int) error {
	if h.Raw {
		return h.Hash.Sum(out, col, lo, hi)
	}
	for ; lo < hi; lo += chunk {
		n := min(chunk, hi-lo)
		sums := h.sums[:n*h.Hash.Size()]
		text := out[:2*len(sums)]
		if err := h.Hash.SumAhead(sums, text, col, lo, lo+n); err != nil {
			return err
		}
		hexenc.Lower(text, sums)
		out = out[len(text):]
	}
	return nil
}

// RowLoop is what a program without this library would do: row after row, the
// standard library's one-shot function, and encoding/hex unless the digests
// stay raw. Row i is data[offsets[i]:offsets[i+1]]. The digests go to out, one
// after the other; what is left of out is returned.
func RowLoop(out []byte, alg kernels.Alg, raw bool, data []byte, offsets []int32) []byte {
	if len(offsets) == 0 {
		return out
	}
	start := offsets[0]
	switch alg {
	case kernels.MD5:
		for _, end := range offsets[1:] {
			d := md5.Sum(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	case kernels.SHA1:
		for _, end := range offsets[1:] {
			d := sha1.Sum(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	case kernels.SHA224:
		for _, end := range offsets[1:] {
			d := sha256.Sum224(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	case kernels.SHA256:
		for _, end := range offsets[1:] {
			d := sha256.Sum256(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	case kernels.SHA384:
		for _, end := range offsets[1:] {
			d := sha512.Sum384(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	case kernels.SHA512:
		for _, end := range offsets[1:] {
			d := sha512.Sum512(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	case kernels.SHA512_256:
		for _, end := range offsets[1:] {
			d := sha512.Sum512_256(data[start:end])
			out, start = Put(out, d[:], raw), end
		}
	}
	return out
}

// Put writes a digest as bytes or as text and returns what is left of out.
func Put(out, digest []byte, raw bool) []byte {
	if raw {
		return out[copy(out, digest):]
	}
	return out[hex.Encode(out, digest):]
}
