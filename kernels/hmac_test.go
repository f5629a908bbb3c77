package kernels_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/backendtest"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestHMACAgainstStandardLibrary takes keys around the block and digest sizes,
// where they are padded, taken as they are, or hashed first.
func TestHMACAgainstStandardLibrary(t *testing.T) {
	rows := messages(append(upTo(130), boundaries...)...)
	backendtest.RunKeyed(t, func(t *testing.T, b *kernels.Backend) {
		for _, n := range []int{0, 1, 13, 14, 16, 31, 32, 63, 64, 65, 127, 128, 129, 1000} {
			key := message(n, n)
			h, err := kernels.NewHMAC(b, key)
			if err != nil {
				t.Fatal(err)
			}
			expect := want(b.Alg, key, rows)
			clear(key) // the key was copied
			for name, col := range layouts(rows) {
				diff(t, fmt.Sprintf("key of %d bytes, %s", n, name), b.Alg.Size(), sum(t, h, &col), expect, rows)
			}
		}
	})
}

// TestHMACKeysDoNotMix: hashes with different keys share nothing, in any order
// of use, and a plain hash of the same backend neither.
func TestHMACKeysDoNotMix(t *testing.T) {
	rows := messages(0, 10, 64, 100)
	col := offsets32(rows, 0)
	backendtest.RunKeyed(t, func(t *testing.T, b *kernels.Backend) {
		keys := [][]byte{message(32, 1), message(32, 2), nil}
		hashes := []*kernels.Hash{hmacOf(t, b, keys[0]), hmacOf(t, b, keys[1]), kernels.New(b)}
		for range 3 {
			for i, h := range hashes {
				diff(t, h.String(), b.Alg.Size(), sum(t, h, &col), want(b.Alg, keys[i], rows), rows)
			}
		}
	})
}

func hmacOf(t testing.TB, b *kernels.Backend, key []byte) *kernels.Hash {
	t.Helper()
	h, err := kernels.NewHMAC(b, key)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestPrintingShowsNoKey tries every way that fmt has of looking into a value.
func TestPrintingShowsNoKey(t *testing.T) {
	key := []byte("KEYKEYKEYKEYKEYKEY")
	forms := []string{"KEYKEY", fmt.Sprint([]byte("KEYKEY"))[1:16], fmt.Sprintf("%x", "KEYKEY"), fmt.Sprintf("%X", "KEYKEY")}
	backendtest.RunKeyed(t, func(t *testing.T, b *kernels.Backend) {
		h := hmacOf(t, b, key)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			for _, text := range []string{
				fmt.Sprintf(verb, h), fmt.Sprintf(verb, *h), fmt.Sprintf(verb, []any{h}), fmt.Sprintf(verb, struct{ H *kernels.Hash }{h}),
			} {
				for _, secret := range forms {
					if strings.Contains(text, secret) {
						t.Errorf("%s shows the key: %s", verb, text)
					}
				}
			}
		}
		if got, want := h.String(), "hmac-"+b.Alg.String()+"/"+b.Name; got != want {
			t.Errorf("String: %q, want %q", got, want)
		}
	})
}

// TestErrors: what is refused, with which sentinel, and that nothing is written.
func TestErrors(t *testing.T) {
	col := offsets32(messages(1, 2, 3), 0)
	backendtest.Run(t, func(t *testing.T, b *kernels.Backend) {
		h := kernels.New(b)
		size := h.Size()
		for _, c := range []struct{ room, lo, hi int }{
			{3*size - 1, 0, 3}, {0, 0, 1}, {3 * size, -1, 2}, {3 * size, 2, 1}, {9 * size, 0, 4}, {9 * size, 4, 4},
		} {
			dst := bytes.Repeat([]byte{0xA5}, c.room)
			if err := h.Sum(dst, &col, c.lo, c.hi); !errors.Is(err, kernels.ErrBuffer) {
				t.Errorf("%+v: %v", c, err)
			}
			if bytes.Count(dst, []byte{0xA5}) != len(dst) {
				t.Errorf("%+v: bytes were written", c)
			}
		}
		if _, err := kernels.NewHMAC(b, make([]byte, 32)); !b.Alg.SHA2() && !errors.Is(err, kernels.ErrUnknownAlg) {
			t.Errorf("HMAC: %v", err)
		}
	})
}
