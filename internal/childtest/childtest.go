// Package childtest runs a test in a process of its own, for what is fixed when
// a process starts: the mode of Go's cryptographic module, a variable that is
// read once.
package childtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Run runs one top-level test of this test binary in a new process, with its
// environment and more ("NAME=value", which goes before), and returns what it
// printed. The test fails unless the child's passes. Where Go has no FIPS mode
// in a build of this kind and the child asks for it, the test is skipped with
// Go's reason.
func Run(t *testing.T, test string, env ...string) string {
	t.Helper()
	out, err := run(test, env)
	if strings.Contains(out, "panic: fips140: FIPS 140-3 mode is") {
		line, _, _ := strings.Cut(out, "\n")
		t.Skipf("Go refuses FIPS mode in this build: %s", line)
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", env, err, out)
	}
	return out
}

// run is Run, with an error when the child's test does not pass.
func run(test string, env []string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(exe, "-test.run=^"+test+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err == nil && !strings.Contains(string(out), "--- PASS: "+test+" ") {
		err = fmt.Errorf("%s was not run", test)
	}
	return string(out), err
}
