package engines

import (
	"context"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/arrowmask/arrowmask/bench/rival"
	"github.com/arrowmask/arrowmask/bench/suite"
)

// engine is one side, and the program that has it.
type engine struct {
	side    string
	module  string        // of py/; empty where it is no Python
	threads int           // at most
	rows    int           // that suffice, where a row takes long; 0 is all
	turn    time.Duration // at least, where its runs differ much; 0 is as for all

	command []string // gets the number of threads as its last argument
	env     []string
	why     string // it cannot be had
}

var all = []engine{
	{side: "arrowmask-python", module: "arrowmask_side", threads: 2},
	{side: "duckdb", threads: 2},
	{side: "chdb", module: "chdb_side", threads: 2},
	{side: "polars-hash", module: "polars_side", threads: 2},
	{side: "datafusion", module: "datafusion_side", threads: 2},
	{side: "spark", module: "spark_side", threads: 2, turn: 200 * time.Millisecond},
	{side: "hashlib", module: "hashlib_loop", threads: 1, rows: 1 << 17},
}

// prepare builds and installs what the engines need, and says of each what it is
// started by or why it cannot be.
func prepare(ctx context.Context, o suite.Options) ([]engine, error) {
	out := filepath.Join(o.Bench, "out") // kept from run to run, wherever the records go
	here := filepath.Join(o.Bench, "engines")
	lib := filepath.Join(out, "lib")
	python, noPython := rival.Prepare(exec.CommandContext(ctx, filepath.Join(here, "venv.sh"), filepath.Join(out, "venv"), lib))

	duckdb := filepath.Join(out, "bin", "duckdb")
	build := exec.CommandContext(ctx, "go", "build", "-o", duckdb, "./engines/duckdb")
	build.Dir = o.Bench
	_, noDuckDB := rival.Prepare(build)

	have := make([]engine, len(all))
	for i, e := range all {
		if e.module == "" {
			e.command, e.why = []string{duckdb}, noDuckDB
		} else {
			e.command, e.why = []string{python, filepath.Join(here, "py", "main.py"), e.module}, noPython
			e.env = []string{
				"PYTHONPATH=" + filepath.Join(o.Root, "python"),
				"ARROWMASK_LIBRARY=" + filepath.Join(lib, "libarrowmask.so"),
				"PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore",
			}
		}
		have[i] = e
	}
	return have, nil
}
