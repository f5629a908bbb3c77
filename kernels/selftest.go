package kernels

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// knownAnswers are what a backend must say before it is used: the digest of
// "abc" (RFC 1321, appendix A.5; the examples of FIPS 180-4), the digest of the
// digests of all self-test rows, and the same of their HMACs under
// selfTestKey. The latter two were computed with Python's hashlib and hmac.
var knownAnswers = [numAlgs]struct{ abc, rows, keyed string }{
	MD5: {
		abc:  "900150983cd24fb0d6963f7d28e17f72",
		rows: "2d718d99b2fbf90fab24e525f7ef27af",
	},
	SHA1: {
		abc:  "a9993e364706816aba3e25717850c26c9cd0d89d",
		rows: "17ebd1aa12e83a68df6f477c2fc6d8892173c71b",
	},
	SHA224: {
		abc:   "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
		rows:  "0f98cc79d9623c02f52edf02e97d76ace05c4d09113c74541fdf7550",
		keyed: "ff3666b86f2d1296ef5af2d9276cc823b809b5f837fbf510cacb8af7",
	},
	SHA256: {
		abc:   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		rows:  "5d81e59ee9e6b6da4ad7d32e1e7a603a4cd170165026273cd928dc528bfd77bd",
		keyed: "b13af4c2ea1ad471b38bdb050d0b135557e554c507c60ad66a8ccadf7c381a8c",
	},
	SHA384: {
		abc:   "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
		rows:  "47eefff8c986097cec6fcf5e4237bc80e6ae1b26eb5a345e36a69098453f6e11e21106cbc6508e900defe0c24976f869",
		keyed: "bd88ce75a5e04f9ba714799680b2e715c54e73a74860fd99583488207b79513fce6dbf758cd637efbe0a1f53defde01a",
	},
	SHA512: {
		abc:   "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
		rows:  "f2745f703e5a75bbe0137210952d97dcfcc60c2672fb51e9cdba1ccc6fb09066947b4602dbc3702fcc6ccc1425f9d39739fc6bef2ad0a2cecc2b05d77ac8934a",
		keyed: "38ad87b1eacc7b54ed34f3fa434d49213c7b5be0e981510bec741fc12deafd86c5828830cd5ff77c17149b2a6dfa16439ef5a639f912ff6b71ce36802ff20661",
	},
	SHA512_256: {
		abc:   "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
		rows:  "8c7f01c3e2902e8a1853d643df3f39579235e59e357eceef1fd369a0c2d31ed2",
		keyed: "bc9488982d6888f346ad8bd3ed673f9a0cf91f726b25e488e60b0db50b1d13d5",
	},
}

// selfTestKey is long enough for fips140=only.
const selfTestKey = "self-test key of the backends"

// selfTestRows is a batch that exercises every lane: 97 rows of mixed lengths
// from 0 to 276, that cross all block boundaries of short messages and are not
// sorted, then 32 rows of 32 bytes, that fill all lanes alike. Byte j of row i
// is (i+j) mod 251.
func selfTestRows() *Column {
	var data []byte
	offsets := []int32{0}
	row := func(seed, n int) {
		for j := range n {
			data = append(data, byte((seed+j)%251))
		}
		offsets = append(offsets, int32(len(data)))
	}
	for i := range 97 {
		row(i, i*89%277)
	}
	for i := range 32 {
		row(i, 32)
	}
	col := Offsets32(data, offsets)
	return &col
}

// selfTest runs the known answers on the backend the first time it is asked
// and remembers the outcome. The error wraps ErrSelfTest.
func (b *Backend) selfTest() error {
	b.tested.Do(func() { b.testErr = b.runSelfTest() })
	return b.testErr
}

func (b *Backend) runSelfTest() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = b.failed(fmt.Sprintf("panic: %v", r))
		}
	}()
	want := knownAnswers[b.Alg]
	abc := Offsets32([]byte("abc"), []int32{0, 3})
	out, err := digests(New(b), &abc)
	if err != nil {
		return b.failed(err.Error())
	}
	if hex.EncodeToString(out) != want.abc {
		return b.failed("wrong digest of abc")
	}
	rows := selfTestRows()
	if got, err := digestOfDigests(New(b), rows); err != nil || got != want.rows {
		return b.failed("wrong digests of a batch")
	}
	if err := b.pieces(rows); err != nil {
		return err
	}
	if want.keyed == "" {
		return nil
	}
	h, err := NewHMAC(b, []byte(selfTestKey))
	if err != nil {
		return b.failed(err.Error())
	}
	if got, err := digestOfDigests(h, rows); err != nil || got != want.keyed {
		return b.failed("wrong HMACs of a batch")
	}
	return nil
}

// pieces checks that rows in small pieces, which a backend may hash in another
// way, have the digests that they have as one batch.
func (b *Backend) pieces(rows *Column) error {
	h := New(b)
	whole, err := digests(h, rows)
	if err != nil {
		return b.failed(err.Error())
	}
	part := make([]byte, len(whole))
	for lo, n := 0, 1; lo < rows.Len(); lo, n = lo+n, n%9+1 {
		hi := min(lo+n, rows.Len())
		if err := h.Sum(part[lo*h.Size():], rows, lo, hi); err != nil {
			return b.failed(err.Error())
		}
	}
	if !bytes.Equal(part, whole) {
		return b.failed("wrong digests of a small batch")
	}
	return nil
}

func (b *Backend) failed(what string) error {
	return fmt.Errorf("%w: %s of %s: %s", ErrSelfTest, b.Name, b.Alg, what)
}

func digests(h *Hash, rows *Column) ([]byte, error) {
	out := make([]byte, rows.Len()*h.Size())
	return out, h.Sum(out, rows, 0, rows.Len())
}

// digestOfDigests is the hex text of the plain digest of all rows' digests,
// one after the other.
func digestOfDigests(h *Hash, rows *Column) (string, error) {
	all, err := digests(h, rows)
	if err != nil {
		return "", err
	}
	one := FixedWidth(all, len(all), 1)
	out, err := digests(New(h.backend), &one)
	return hex.EncodeToString(out), err
}
