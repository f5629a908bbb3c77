package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// An output that takes no more bytes fails the run.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"parquet", "arrow", "arrow-stream", "csv"} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skipf("no device to stand for a full disk: %v", err)
		}
		var errOut bytes.Buffer
		cmd := exec.Command(program, "mask", someCustomers(t), "-o", "-", "--to", format, "--set", "name=mask({col})")
		cmd.Stdout, cmd.Stderr = full, &errOut
		err = cmd.Run()
		full.Close()
		r := result{code: cmd.ProcessState.ExitCode(), err: errOut.String()}
		if err == nil || r.code != exitFailed {
			t.Errorf("%s: exit %d: %s", format, r.code, r.err)
		}
		checkOneLine(t, r)
	}
}
