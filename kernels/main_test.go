package kernels_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash"
	"os"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/kernels"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m)) }

// oracle is the standard library's hash of each algorithm.
var oracle = map[kernels.Alg]func() hash.Hash{
	kernels.MD5: md5.New, kernels.SHA1: sha1.New,
	kernels.SHA224: sha256.New224, kernels.SHA256: sha256.New,
	kernels.SHA384: sha512.New384, kernels.SHA512: sha512.New, kernels.SHA512_256: sha512.New512_256,
}

// want is the digests of all rows by the oracle, or with a key the HMACs.
func want(alg kernels.Alg, key []byte, rows [][]byte) []byte {
	h := oracle[alg]()
	if key != nil {
		h = hmac.New(oracle[alg], key)
	}
	var out []byte
	for _, r := range rows {
		h.Reset()
		h.Write(r)
		out = h.Sum(out)
	}
	return out
}

// sum is Hash.Sum over the whole column into a fresh buffer that holds
// something else before.
func sum(t testing.TB, h *kernels.Hash, col *kernels.Column) []byte {
	t.Helper()
	dst := bytes.Repeat([]byte{0xEE}, col.Len()*h.Size())
	if err := h.Sum(dst, col, 0, col.Len()); err != nil {
		t.Fatal(err)
	}
	return dst
}

// diff fails the test when two runs of digests are not equal and names the
// first row.
func diff(t testing.TB, what string, size int, got, want []byte, rows [][]byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d bytes of digests, want %d", what, len(got), len(want))
	}
	for i := 0; i < len(want); i += size {
		if !bytes.Equal(got[i:i+size], want[i:i+size]) {
			t.Fatalf("%s: row %d of %d, %d bytes long: %x, want %x", what, i/size, len(rows), len(rows[i/size]), got[i:i+size], want[i:i+size])
		}
	}
}

// message is n bytes that depend on seed and look alike nowhere.
func message(n, seed int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 12345
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// messages makes a row of each length.
func messages(lengths ...int) [][]byte {
	rows := make([][]byte, len(lengths))
	for i, n := range lengths {
		rows[i] = message(n, i)
	}
	return rows
}

func upTo(n int) []int {
	all := make([]int, n+1)
	for i := range all {
		all[i] = i
	}
	return all
}

// boundaries are the lengths around which padding and blocks change.
var boundaries = []int{0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 183, 184, 191, 192, 239, 240, 255, 256, 257}

// offsets32 lays rows out behind a gap of before bytes, so that the first
// offset is not 0, with more bytes after the last row.
func offsets32(rows [][]byte, before int) kernels.Column {
	data := bytes.Repeat([]byte{0xDD}, before)
	offsets := []int32{int32(before)}
	for _, r := range rows {
		data = append(data, r...)
		offsets = append(offsets, int32(len(data)))
	}
	return kernels.Offsets32(append(data, 0xDD, 0xDD, 0xDD), offsets)
}

func offsets64(rows [][]byte, before int) kernels.Column {
	data := bytes.Repeat([]byte{0xDD}, before)
	offsets := []int64{int64(before)}
	for _, r := range rows {
		data = append(data, r...)
		offsets = append(offsets, int64(len(data)))
	}
	return kernels.Offsets64(append(data, 0xDD), offsets)
}

// views spreads rows over three buffers, not in order.
func views(rows [][]byte) kernels.Column {
	all := make([]kernels.View, len(rows))
	buffers := [][]byte{{0xDD}, nil, {0xDD, 0xDD}}
	for i, r := range rows {
		v := &all[i]
		binary.LittleEndian.PutUint32(v[0:], uint32(len(r)))
		if len(r) <= kernels.ViewInline {
			copy(v[4:], r)
			continue
		}
		b := i * 7 % 3
		copy(v[4:8], r)
		binary.LittleEndian.PutUint32(v[8:], uint32(b))
		binary.LittleEndian.PutUint32(v[12:], uint32(len(buffers[b])))
		buffers[b] = append(buffers[b], r...)
	}
	return kernels.Views(all, buffers)
}

// selected hides rows among others, back to front, and picks them again.
func selected(rows [][]byte) kernels.Column {
	var all [][]byte
	pick := make([]int32, len(rows))
	for i := len(rows) - 1; i >= 0; i-- {
		pick[i] = int32(len(all) + 1)
		all = append(all, []byte("not this row"), rows[i])
	}
	return offsets32(all, 3).Select(pick)
}

// layouts is the same rows in every layout that fits them.
func layouts(rows [][]byte) map[string]kernels.Column {
	all := map[string]kernels.Column{
		"offsets32":     offsets32(rows, 5),
		"offsets64":     offsets64(rows, 1),
		"views":         views(rows),
		"selected":      selected(rows),
		"views twice":   views(append(rows[:len(rows):len(rows)], rows...)).Select(firstRows(len(rows))),
		"from offset 0": offsets32(rows, 0),
	}
	if len(rows) == 0 {
		return all
	}
	width := len(rows[0])
	for _, r := range rows {
		if len(r) != width {
			return all
		}
	}
	all["fixed"] = kernels.FixedWidth(bytes.Join(rows, nil), width, len(rows))
	return all
}

func firstRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}
