// Package pipeline times whole commands: `arrowmask mask` on a Parquet file of 20
// columns beside DuckDB writing the same table, by wall time, processor time and
// peak memory. The work is done by scripts/bench-rewrite.sh, which compares the
// two tables before a time counts.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/suite"
)

const name = "pipeline"

// jobs are the files and what is masked of them, in so many rounds. The curve
// over the columns is drawn from the smaller one; the larger shows whether size
// changes anything.
var jobs = []struct {
	rows, rounds int
	cases        []string
}{
	{500_000, 3, []string{"0", "1", "5", "10", "20", "8-values"}},
	{10_000_000, 1, []string{"1"}},
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
	for _, job := range jobs {
		records := filepath.Join(work, "records.jsonl")
		args := []string{binary, "--rows", strconv.Itoa(job.rows), "--rounds", strconv.Itoa(cmp.Or(o.Rounds, job.rounds)), "--out", records, "--cases"}
		cmd := exec.CommandContext(ctx, script, append(args, job.cases...)...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%d rows: %w", job.rows, err)
		}
		if err := write(o.Out, records, job.rows); err != nil {
			return err
		}
	}
	return nil
}

// write takes the records of a file of so many rows over, and empties them.
func write(out *result.Writer, file string, rows int) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%d rows: no records", rows)
	}
	if err != nil {
		return err
	}
	defer os.Remove(file)
	defer f.Close()
	records, err := result.Decode(f)
	if err != nil {
		return err
	}
	for _, r := range records {
		r.Case = append(r.Case, result.Key{Name: "rows", Value: strconv.Itoa(rows)})
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return nil
}
