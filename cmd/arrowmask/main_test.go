package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/internal/samplegen"
)

// program is the program under test, which the tests run as a user does: this
// binary, which is the program when asProgram is set. Linking another one would
// take longer than most tests.
var program string

const asProgram = "TEST_AS_PROGRAM"

// scratch is a folder that all tests share.
var scratch string

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	var err1, err2 error
	program, err1 = os.Executable()
	scratch, err2 = os.MkdirTemp("", "arrowmask-test")
	if err := errors.Join(err1, err2, os.Setenv(asProgram, "1")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// result is what a run of the program left behind.
type result struct {
	code     int
	out, err string
}

// call is a run of the program that is being set up.
type call struct {
	t     *testing.T
	stdin io.Reader
	env   []string
	dir   string
}

// do runs the program. A run that hangs or dies of a panic fails the test.
func (c call) do(args ...string) result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = c.stdin, &out, &errOut, c.dir
	cmd.Env = append(cleanEnv(), c.env...)
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("arrowmask %q: %v", args, err)
	}
	r := result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
	if strings.Contains(r.err, "panic:") || strings.Contains(r.err, "goroutine ") {
		c.t.Fatalf("arrowmask %q panicked:\n%s", args, r.err)
	}
	return r
}

// cleanEnv is the environment without the settings that the program reads.
func cleanEnv() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ARROWMASK_") && !strings.HasPrefix(e, "GODEBUG=") {
			env = append(env, e)
		}
	}
	return env
}

// arrowmask runs the program and wants it to succeed.
func arrowmask(t *testing.T, args ...string) result {
	t.Helper()
	r := call{t: t}.do(args...)
	if r.code != 0 {
		t.Fatalf("arrowmask %q: exit %d: %s", args, r.code, r.err)
	}
	return r
}

// refused runs the program and wants it to fail with one clear line that
// holds every one of the texts.
func (c call) refused(code int, texts []string, args ...string) {
	c.t.Helper()
	r := c.do(args...)
	if r.code != code {
		c.t.Errorf("arrowmask %q: exit %d, want %d: %s", args, r.code, code, r.err)
	}
	checkOneLine(c.t, r)
	for _, text := range texts {
		if !strings.Contains(r.err, text) {
			c.t.Errorf("arrowmask %q: error %q does not say %q", args, r.err, text)
		}
	}
}

func checkOneLine(t *testing.T, r result) {
	t.Helper()
	if !strings.HasPrefix(r.err, "arrowmask: ") || strings.Count(r.err, "\n") != 1 || !strings.HasSuffix(r.err, "\n") {
		t.Errorf("want one line that begins with the program's name, got %q", r.err)
	}
}

// shared finds a file of the reference data that lies beside the repository.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the reference data is not there: %v", err)
	}
	return path
}

// customers is the sample file.
var customers = filepath.Join("..", "..", "testdata", "samples", "customers.parquet")

// Shorter samples, each in three row groups.
var (
	some = sample("some.parquet", 20_000)
	few  = sample("few.parquet", 4_000)
)

func sample(name string, rows int) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path := filepath.Join(scratch, name)
		f, err := os.Create(path)
		if err != nil {
			return "", err
		}
		// The Parquet writer closes the file.
		return path, samplegen.WriteParquet(f, samplegen.Options{Rows: rows, RowGroup: rows/3 + rows/60})
	})
}

// someCustomers has 20,000 rows.
func someCustomers(t *testing.T) string { return made(t, some) }

// fewCustomers has 4,000 rows.
func fewCustomers(t *testing.T) string { return made(t, few) }

func made(t *testing.T, sample func() (string, error)) string {
	t.Helper()
	path, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// noFiles fails when a folder holds anything but the named files.
func noFiles(t *testing.T, dir string, except ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found := false
		for _, name := range except {
			found = found || e.Name() == name
		}
		if !found {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}
