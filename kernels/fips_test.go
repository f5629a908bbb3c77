package kernels

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/childtest"
)

// TestB14FIPSModes runs this binary under each setting of Go's cryptographic
// module: nothing panics, md5 and sha1 of the standard library come as a typed
// error when they are refused, sha256 says the same in all three.
func TestB14FIPSModes(t *testing.T) {
	const child = "ARROWMASK_KERNELS_TEST_FIPS"
	if os.Getenv(child) != "" {
		col := Offsets32([]byte("abc"), []int32{0, 3})
		for _, alg := range Algs() {
			b := find(All(alg), "std")
			out := make([]byte, alg.Size())
			err := New(b).Sum(out, &col, 0, 1)
			_, byName := ByName(alg, "std")
			_, err2 := Active(alg)
			fmt.Printf("%s: %x refused=%v,%v active=%v\n", alg, out[:4],
				errors.Is(err, ErrUnsupportedBackend), errors.Is(byName, ErrUnsupportedBackend), err2)
			if !alg.SHA2() {
				continue
			}
			for _, n := range []int{0, 13, 14} {
				h, err := NewHMAC(b, make([]byte, n))
				if err == nil {
					err = h.Sum(out, &col, 0, 1)
				}
				fmt.Printf("hmac-%s key of %d: ErrKey=%v nil=%v\n", alg, n, errors.Is(err, ErrKey), err == nil)
			}
		}
		return
	}
	for _, mode := range []string{"off", "on", "only"} {
		t.Run("fips140="+mode, func(t *testing.T) { checkMode(t, child, mode) })
	}
}

func checkMode(t *testing.T, child, mode string) {
	out := childtest.Run(t, "TestB14FIPSModes", child+"=1", "GODEBUG=fips140="+mode, EnvBackend+"=")
	legacy, short := "90015098 refused=false,false", "ErrKey=false nil=true"
	sha1 := "a9993e36 refused=false,false"
	if mode == "only" {
		legacy, short = "00000000 refused=true,true", "ErrKey=true nil=false"
		sha1 = legacy
	}
	for _, line := range []string{
		"md5: " + legacy + " active=<nil>", "sha1: " + sha1 + " active=<nil>",
		"sha224: 23097d22 refused=false,false active=<nil>", "sha256: ba7816bf refused=false,false active=<nil>",
		"sha384: cb00753f refused=false,false active=<nil>", "sha512: ddaf35a1 refused=false,false active=<nil>",
		"sha512_256: 53048e26 refused=false,false active=<nil>",
		"hmac-sha256 key of 0: " + short, "hmac-sha512 key of 13: " + short,
		"hmac-sha256 key of 14: ErrKey=false nil=true",
	} {
		if !strings.Contains(out, line+"\n") {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}
