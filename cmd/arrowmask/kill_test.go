//go:build unix

package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Killing the program at any moment leaves nothing under the output's name, or
// the complete file. What it leaves under a temporary name is removed by the
// next run.
func TestKill(t *testing.T) {
	for _, tt := range []struct{ out, mode string }{{"out.parquet", rewriteAuto}, {"out.parquet", rewriteAll}, {"out.csv", rewriteAuto}} {
		t.Run(tt.out+" "+tt.mode, func(t *testing.T) { killed(t, tt.out, tt.mode) })
	}
}

func killed(t *testing.T, name, mode string) {
	dir := t.TempDir()
	in, out := someCustomers(t), filepath.Join(dir, name)
	args := []string{"mask", in, "-o", out, "--batch-rows", "500", "-q", "--rewrite", mode, "--set", "name=mask({col})", "--set", "email=mask_hash({col})"}
	start := time.Now()
	arrowmask(t, args...)
	took := time.Since(start)
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var killed, complete int
	for i := range 9 {
		if err := os.Remove(out); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		cmd := exec.Command(program, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Spread over the run, a little beyond its end, at random within each part.
		time.Sleep(time.Duration((float64(i) + rand.Float64()) / 8 * float64(took)))
		_ = cmd.Process.Kill() // it may be done
		_ = cmd.Wait()
		got, err := os.ReadFile(out)
		switch {
		case os.IsNotExist(err):
			killed++
		case err != nil:
			t.Fatal(err)
		case !bytes.Equal(got, want):
			t.Fatalf("kill %d left %d bytes under the output's name, a complete file has %d", i, len(got), len(want))
		default:
			complete++
		}
	}
	t.Logf("%d runs were killed in time, %d were done; a run takes %v", killed, complete, took)
	if killed < 2 {
		t.Errorf("only %d of 9 runs were killed before they were done", killed)
	}
	arrowmask(t, append(args, "--overwrite")...)
	noFiles(t, dir, name)
}

// A signal to stop ends the run at once, also while it waits for input, with
// its own exit status and without a file.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, format := range []string{"csv", "parquet"} { // read at once; copied first
			dir := t.TempDir()
			cmd := exec.Command(program, "mask", "-", "--from", format, "-o", filepath.Join(dir, "out.csv"), "--set", "a=mask({col})", "-q", "--batch-rows", "10")
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errOut bytes.Buffer
			cmd.Stderr = &errOut
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(stdin, "a,b\n"+strings.Repeat("x,y\n", 1000)); err != nil {
				t.Fatal(err)
			}
			if format == "csv" { // wait until the output is being written
				for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
					if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
						break
					}
					if time.Now().After(deadline) {
						t.Fatal("no temporary file was made")
					}
				}
			} else {
				time.Sleep(200 * time.Millisecond)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				_ = cmd.Process.Kill()
				t.Fatalf("%v did not end the run while it waited for %s", sig, format)
			}
			r := result{code: cmd.ProcessState.ExitCode(), err: errOut.String()}
			if r.code != exitSignal+int(sig) {
				t.Errorf("%v, %s: exit %d: %s", sig, format, r.code, r.err)
			}
			checkOneLine(t, r)
			noFiles(t, dir)
		}
	}
}
