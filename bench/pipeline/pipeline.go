// Package pipeline times whole commands: `arrowmask mask` on a Parquet file of 20
// columns beside DuckDB writing the same table, by wall time, processor time and
// peak memory. The work is done by scripts/bench-rewrite.sh, which compares the
// two tables before a time counts and says how it measures.
package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/suite"
)

const name = "pipeline"

type job struct {
	rows, rounds int
	cases        []string
}

// jobs are the files and what is masked of them, in so many rounds. The larger
// file is what is asked for, and long enough for a round to be a mean over a
// minute; the curve over the columns is drawn from the smaller one. The script
// spreads the rounds over the whole run.
var jobs = []job{
	{200_000, 3, []string{"0", "1", "5", "10", "20", "8-values"}},
	{10_000_000, 1, []string{"1", "10"}},
}

// Run builds the command line and times it.
func Run(ctx context.Context, o suite.Options) error {
	work, err := os.MkdirTemp("", "arrowmask-pipeline")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary := filepath.Join(work, "arrowmask")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/arrowmask")
	build.Dir = o.Root
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	script := filepath.Join(o.Root, "scripts", "bench-rewrite.sh")
	// Its help is printed once what it needs is installed.
	if _, why := rival.Prepare(exec.CommandContext(ctx, script, binary, "--help")); why != "" {
		return o.Out.Skip(name, "duckdb", why)
	}
	var fit []job
	for _, j := range jobs {
		args := append([]string{binary, "--check"}, j.arguments(0)...)
		if _, why := rival.Prepare(exec.CommandContext(ctx, script, args...)); why == "" {
			fit = append(fit, j)
		} else if err := o.Out.Skip(name, "duckdb", why); err != nil {
			return err
		}
	}
	if len(fit) == 0 {
		return nil
	}
	records := filepath.Join(work, "records.jsonl")
	args := []string{binary, "--out", records}
	for _, j := range fit {
		args = append(args, j.arguments(o.Rounds)...)
	}
	cmd := exec.CommandContext(ctx, script, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// An interrupt lets it end what it started and remove its files.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(script), err)
	}
	f, err := os.Open(records)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = o.Out.WriteJSON(f)
	return err
}

// arguments are a job's for the script; rounds other than 0 replace its own.
func (j job) arguments(rounds int) []string {
	return append([]string{"--job", strconv.Itoa(j.rows), strconv.Itoa(cmp.Or(rounds, j.rounds))}, j.cases...)
}
