package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An output that takes no more bytes fails the run.
func TestDeviceFull(t *testing.T) {
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
		if err == nil || r.code != exitFailed || !strings.Contains(r.err, "standard output: no space left") {
			t.Errorf("%s: exit %d: %s", format, r.code, r.err)
		}
		checkOneLine(t, r)
	}
}

// A disk that becomes full, a small file system in memory, ends the run with one
// line that names the output and says why. Nothing is left, under no name, and a
// file that was to be replaced stays.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	const sizes = "64k 600k"
	// The mount is the script's own and ends with it. Root may mount; others may
	// where the system lets them have a name space.
	script := fmt.Sprintf(`mount -t tmpfs -o size=64k none %[2]q || exit 99
for size in %[3]s; do
	mount -o remount,size=$size none %[2]q
	for mode in auto all; do
		for out in out.parquet out.arrow out.arrows out.csv; do
			echo "$size $mode $out"
			%[1]q mask %[4]q -o %[2]q/$out -q --rewrite $mode --set 'email=mask_hash({col})' 2>&1
			echo "exit $?"
			ls -A %[2]q
			echo old > %[2]q/$out
			%[1]q mask %[4]q -o %[2]q/$out -q --rewrite $mode --set 'email=mask_hash({col})' --overwrite 2>/dev/null
			echo "exit $?, $(ls -A %[2]q), $(cat %[2]q/$out)"
			rm %[2]q/$out
		done
	done
done`, program, disk, sizes, someCustomers(t))
	cmd := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", script)
	cmd.Env = cleanEnv()
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "mount") && err != nil || cmd.ProcessState == nil {
		t.Skipf("no file system of a small size can be mounted here: %v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	runs := 0
	for ; len(lines) >= 4; lines = lines[4:] {
		name := lines[0][strings.LastIndex(lines[0], " ")+1:]
		want := fmt.Sprintf("arrowmask: %s: cannot be written: ", filepath.Join(disk, name))
		if !strings.HasPrefix(lines[1], want) || !strings.HasSuffix(lines[1], "no space left on device") || lines[2] != "exit 1" || lines[3] != "exit 1, "+name+", old" {
			t.Fatalf("%s: got\n%s", lines[0], strings.Join(lines[1:], "\n"))
		}
		runs++
	}
	if err != nil || runs != 2*2*4 || len(lines) > 0 {
		t.Errorf("%d runs, %v: %q", runs, err, lines)
	}
}
