package fips

import (
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/childtest"
)

func TestDecide(t *testing.T) {
	const env = "ARROWMASK_FIPS"
	for _, c := range []struct {
		in      inputs
		enabled bool
		source  string
		bad     bool
	}{
		{inputs{}, false, "off", false},
		{inputs{env: "on"}, true, env, false},
		{inputs{env: "off"}, false, env, false},
		{inputs{kernel: true}, true, "kernel", false},
		{inputs{kernel: true, env: "on"}, true, "kernel", false},
		{inputs{kernel: true, env: "off"}, false, env, false},
		{inputs{module: true}, true, "go module", false},
		{inputs{module: true, env: "on"}, true, "go module", false},
		{inputs{module: true, env: "off"}, true, "go module", true},
		{inputs{module: true, kernel: true}, true, "go module", false},
		{inputs{module: true, kernel: true, env: "off"}, true, "go module", true},
		{inputs{module: true, enforced: true}, true, "go module", false},
		{inputs{module: true, enforced: true, env: "off"}, true, "go module", true},
		{inputs{env: "1"}, true, env, true},
		{inputs{env: "ON"}, true, env, true},
		{inputs{env: " on"}, true, env, true},
		{inputs{kernel: true, env: "maybe"}, true, "kernel", true},
		{inputs{module: true, env: "maybe"}, true, "go module", true},
	} {
		t.Run(fmt.Sprintf("%+v", c.in), func(t *testing.T) {
			got := decide(c.in)
			if got.Enabled != c.enabled || got.Source != c.source || got.Enforced != c.in.enforced {
				t.Errorf("got %+v, want enabled %v, source %q", got, c.enabled, c.source)
			}
			if (got.Err != nil) != c.bad || c.bad && !errors.Is(got.Err, ErrConfig) {
				t.Errorf("error %v, want one: %v", got.Err, c.bad)
			}
		})
	}
}

func TestKernelFlag(t *testing.T) {
	for _, c := range []struct {
		text string
		err  error
		want bool
	}{
		{"0\n", nil, false},
		{"0", nil, false},
		{"1\n", nil, true},
		{"", nil, true},
		{"", fmt.Errorf("open: %w", fs.ErrNotExist), false},
		{"", fmt.Errorf("open: %w", fs.ErrPermission), true},
	} {
		if got := kernelFlag([]byte(c.text), c.err); got != c.want {
			t.Errorf("%q, %v: %v", c.text, c.err, got)
		}
	}
}

func TestNotApproved(t *testing.T) {
	err := NotApproved("md5")
	if !errors.Is(err, ErrNotApproved) || !strings.Contains(err.Error(), "md5") {
		t.Error(err)
	}
}

// TestProcess starts this test binary again under each setting of GODEBUG and
// of the variable and compares what the process says of itself.
func TestProcess(t *testing.T) {
	const child = "ARROWMASK_FIPS_TEST_CHILD"
	if os.Getenv(child) != "" {
		s := Current()
		fmt.Printf("state: enabled=%v enforced=%v source=%s bad=%v md5panics=%v\n",
			Enabled(), s.Enforced, s.Source, errors.Is(Err(), ErrConfig), md5Panics())
		return
	}
	if kernelFlag(os.ReadFile("/proc/sys/crypto/fips_enabled")) {
		t.Skip("the kernel's FIPS flag is on: the expectations below are those of a machine without it")
	}
	for _, c := range []struct{ godebug, env, want string }{
		{"off", "", "enabled=false enforced=false source=off bad=false md5panics=false"},
		{"off", "on", "enabled=true enforced=false source=ARROWMASK_FIPS bad=false md5panics=false"},
		{"off", "off", "enabled=false enforced=false source=ARROWMASK_FIPS bad=false md5panics=false"},
		{"off", "yes", "enabled=true enforced=false source=ARROWMASK_FIPS bad=true md5panics=false"},
		{"on", "", "enabled=true enforced=false source=go module bad=false md5panics=false"},
		{"on", "off", "enabled=true enforced=false source=go module bad=true md5panics=false"},
		{"only", "", "enabled=true enforced=true source=go module bad=false md5panics=true"},
		{"only", "off", "enabled=true enforced=true source=go module bad=true md5panics=true"},
	} {
		t.Run(c.godebug+"/"+c.env, func(t *testing.T) {
			out := childtest.Run(t, "TestProcess", child+"=1", "GODEBUG=fips140="+c.godebug, EnvFIPS+"="+c.env)
			if !strings.Contains(out, "state: "+c.want+"\n") {
				t.Errorf("want %s, got:\n%s", c.want, out)
			}
		})
	}
}

func md5Panics() (panics bool) {
	defer func() { panics = recover() != nil }()
	md5.Sum(nil)
	return false
}
