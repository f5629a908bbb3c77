package fips

import (
	"crypto/fips140"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// inputs is all that the decision depends on.
type inputs struct {
	module   bool   // Go's cryptographic module runs in FIPS mode
	enforced bool   // and refuses everything else
	kernel   bool   // the operating system's kernel does
	env      string // value of EnvFIPS, empty when not set
}

// decide puts the inputs together. The variable may turn the mode on, and off
// against the kernel but not against Go's module: that cannot be turned off
// once the process runs. In an error the mode is on, lest a caller that does
// not look at Err use what may be forbidden.
func decide(in inputs) State {
	s := State{Enabled: true, Enforced: in.enforced}
	switch {
	case in.module:
		s.Source = "go module"
	case in.kernel && in.env != "off":
		s.Source = "kernel"
	case in.env != "":
		s.Source = EnvFIPS
	default:
		s.Source = "off"
	}
	switch in.env {
	case "":
		s.Enabled = in.module || in.kernel
	case "on":
	case "off":
		s.Enabled = in.module
		if in.module {
			s.Err = fmt.Errorf("%w: %s=off, but Go's cryptographic module runs in FIPS mode (GODEBUG=fips140)", ErrConfig, EnvFIPS)
		}
	default:
		s.Err = fmt.Errorf("%w: %s must be on or off, not %q", ErrConfig, EnvFIPS, in.env)
	}
	return s
}

func read() inputs {
	return inputs{
		module:   fips140.Enabled(),
		enforced: enforced(),
		kernel:   kernelFlag(os.ReadFile("/proc/sys/crypto/fips_enabled")),
		env:      os.Getenv(EnvFIPS),
	}
}

// kernelFlag reads the kernel's switch: "0" is off. Systems without the file
// have no such switch; a file that cannot be read counts as on.
func kernelFlag(text []byte, err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return err != nil || strings.TrimSpace(string(text)) != "0"
}
