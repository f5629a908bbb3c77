package overhead

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/minio/blake2b-simd"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/mask"
)

// TestBlake2bOfEveryLength: arrowmask's BLAKE2b is minio's under a salt, under
// the same as personalisation, and under a salt of zeros, which is none.
func TestBlake2bOfEveryLength(t *testing.T) {
	if fips.Enabled() {
		t.Skip("BLAKE2b is refused in FIPS mode")
	}
	salt, zeros := []byte(setupSalt), make([]byte, 16)
	keys := mask.NewKeyring()
	for name, key := range map[string][]byte{"salt": salt, "zeros": zeros} {
		if err := keys.Add(name, key); err != nil {
			t.Fatal(err)
		}
	}
	var in []string
	for n := range 700 {
		in = append(in, strings.Repeat("0123456789abcdefg", 42)[n%17:][:n])
	}
	column := textColumn(in)
	defer column.Release()
	for expr, config := range map[string]blake2b.Config{
		"blake2b({col}, 'salt')":           {Size: 32, Salt: salt},
		"blake2b({col}, 'salt', 'legacy')": {Size: 32, Person: salt},
		"blake2b({col}, 'zeros')":          {Size: 32},
	} {
		for _, backend := range []string{"", "avx2", "generic"} {
			f, err := arrowudf.Compile(expr, arrow.BinaryTypes.String, arrowudf.Options{Keys: keys, Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			out, err := f.Call(t.Context(), column)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range in {
				h, err := blake2b.New(&config)
				if err != nil {
					t.Fatal(err)
				}
				h.Write([]byte(s))
				want := h.Sum(nil)
				if got, err := hex.DecodeString(out.(*array.String).Value(i)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s of %d bytes by %q: %x, want %x", expr, len(s), f.Uses()[0].Backend, got, want)
				}
			}
			out.Release()
		}
	}
}
