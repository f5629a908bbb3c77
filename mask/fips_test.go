package mask

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/internal/childtest"
)

const fipsChild = "ARROWMASK_TEST_FIPS_CHILD"

// TestB14FIPS runs TestFIPSChild in processes of their own, as the module's
// mode is fixed at start.
func TestB14FIPS(t *testing.T) {
	for _, mode := range []string{"off", "on", "only"} {
		t.Run(mode, func(t *testing.T) {
			kernel := "" // whatever the kernel of this machine says
			if mode == "off" {
				kernel = "off"
			}
			childtest.Run(t, "TestFIPSChild", "GODEBUG=fips140="+mode, fipsChild+"="+mode, fips.EnvFIPS+"="+kernel, "ARROWMASK_BACKEND=")
		})
	}
}

func TestFIPSChild(t *testing.T) {
	mode := os.Getenv(fipsChild)
	if mode == "" {
		t.Skip("run by TestB14FIPS in a process of its own")
	}
	on := mode != "off"
	if fips.Enabled() != on {
		t.Fatalf("FIPS mode %v under fips140=%s", fips.Enabled(), mode)
	}
	for src, name := range map[string]string{
		"md5({col})": "md5", "sha1({col})": "sha1", "sha({col})": "sha", "digest({col}, 'md5')": "digest", "digest({col}, 'sha1')": "digest",
		"md5(sha256({col}))": "md5", "sha256(sha1({col}))": "sha1",
	} {
		_, err := compileErr(src, text, Options{})
		if !on && err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if on && (!errors.Is(err, fips.ErrNotApproved) || !strings.HasPrefix(err.Error(), name+":")) {
			t.Errorf("%s: %v", src, err)
		}
	}
	// The same answers in every mode, by the standard library when it is on.
	for src, want := range map[string]string{
		"mask_hash({col})":                      "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90",
		"sha256({col})":                         "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90",
		"sha2({col}, 0)":                        "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90",
		"hex(digest({col}, 'sha256'), 'lower')": "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90",
		"mask_hmac({col})":                      "2dd2f2c15d968e91fdd83796ed29235f78b230b849bb74b0acbf197ac7f9d6a6",
		"sha2({col}, 224)":                      "",
		"sha384({col})":                         "",
		"mask_hash({col}, 'sha512')":            "",
		"sha512_256({col})":                     "",
		"mask({col})":                           "XxxxXxxxxx-nnn",
	} {
		p := compile(t, src, text)
		got := one(t, src, str("TestString-123"))
		if want != "" && string(got.Bytes) != want {
			t.Errorf("%s: %s, want %s", src, got.Bytes, want)
		}
		for _, u := range p.Uses() {
			if on && u.Backend != "std" {
				t.Errorf("%s goes through %s", src, u.Backend)
			}
		}
	}
	// What the dialects make of FIPS mode.
	for _, c := range []struct {
		dialect, src string
		refused      bool
		chars        int
	}{
		{"safe", "sha2({col}, 224)", false, 56}, {"hive", "sha2({col}, 256)", false, 64}, {"spark", "sha2({col}, 0)", false, 64},
		{"hive", "sha2({col}, 1)", on, 40}, {"hive", "md5({col})", on, 32}, {"spark", "sha1({col})", on, 40}, {"impala", "md5({col})", on, 32},
		{"impala", "sha2({col}, 224)", on, 56}, {"impala", "sha2({col}, 256)", on, 64}, {"impala", "sha2({col}, 384)", false, 96}, {"impala-utf8", "sha2({col}, 512)", false, 128},
		{"hive", "mask_hash({col})", false, 64}, {"hive", "mask_hash({col}, 'sha512')", false, 128},
		{"impala", "mask_hash({col})", false, map[bool]int{false: 64, true: 128}[on]},
		{"spark-2.4-reverted", "mask_hash({col})", on, 32},
		{"opensearch", "mask_hash({col}, NULL, 'k1')", on, 64}, {"safe", "blake2b({col}, 'k1')", on, 64}, {"opensearch", "mask_hash({col}, 'SHA-256')", false, 64},
	} {
		p, err := compileErr(c.src, text, Options{Dialect: c.dialect, Keys: testKeys(t)})
		if c.refused {
			if !errors.Is(err, fips.ErrNotApproved) {
				t.Errorf("%s in %s: %v", c.src, c.dialect, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s in %s: %v", c.src, c.dialect, err)
			continue
		}
		if got, err := p.EvalRow(str("a")); err != nil || len(got.Bytes) != c.chars {
			t.Errorf("%s in %s: %s, %v", c.src, c.dialect, got.spell(), err)
		}
		if got, err := in(t, c.dialect, c.src, str("a")); err != nil || len(got.Bytes) != c.chars {
			t.Errorf("%s in %s: %s, %v", c.src, c.dialect, got.spell(), err)
		}
	}
	_, err := compileErr("sha256({col})", text, Options{Backend: "generic"})
	if on != errors.Is(err, fips.ErrNotApproved) {
		t.Errorf("a backend by name: %v", err)
	}
}
