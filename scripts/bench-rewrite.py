"""Compares masking a Parquet file by arrowmask and by DuckDB's COPY.

Makes a file of 20 columns, then masks some of them with both, in turns, several
times, and prints the median wall time, CPU time and peak memory of each.

With --out it also writes one JSON record a line for every case and side, in the
form that the bench's other suites have: suite, case, side, unit, min, median,
rounds, ratio (median over arrowmask's median), and the rest under extra.

usage: bench-rewrite.py PATH_TO_ARROWMASK [options]
Options not given come from BENCH_ROWS, BENCH_ROUNDS, BENCH_OUT and BENCH_INPUT.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

DUCKDB = """
import duckdb, sys
a, b, threads, columns = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
c = duckdb.connect()
c.execute(f"SET threads={threads}")
c.execute("SET enable_progress_bar=false")
stars = ", ".join(f"sha256({x}) AS {x}" for x in columns)
replace = f"REPLACE ({stars})" if stars else ""
c.execute(f"COPY (SELECT * {replace} FROM read_parquet('{a}')) TO '{b}' (FORMAT parquet, COMPRESSION snappy)")
"""

EQUAL = """
import duckdb, sys
c = duckdb.connect()
c.execute("SET enable_progress_bar=false")
a, b = (f"read_parquet('{p}')" for p in sys.argv[1:3])
sums = "bit_xor(hash(COLUMNS(*)))"  # of every column; the order of rows is not DuckDB's to keep
sys.exit(c.execute(f"SELECT {sums} FROM {a}").fetchall() != c.execute(f"SELECT {sums} FROM {b}").fetchall())
"""

NAMES = ["email"] + [f"text{i}" for i in range(1, 19)] + ["country"]
CASES = {str(n): NAMES[:n] for n in (0, 1, 5, 10, 20)} | {"8-values": ["country"]}


def make(path, rows):
    """Twenty columns of text, one of them with 8 values."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(7)
    columns = {"email": pa.array([f"u{x}@example.com" for x in rng.integers(0, 10**9, rows)])}
    for i in range(1, 19):
        columns[f"text{i}"] = pa.array([f"v{x}" for x in rng.integers(0, 10 ** (4 + i % 6), rows)])
    columns["country"] = pa.array(np.array(["NO", "DE", "JP", "US", "FR", "BR", "IN", "CN"])[rng.integers(0, 8, rows)])
    pq.write_table(pa.table(columns), path, compression="snappy", row_group_size=122880)


def measure(command, env):
    """Wall seconds, CPU seconds and peak resident MB of a command."""
    start = time.monotonic()
    child = subprocess.Popen(command, env=env)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]}: exit {child.returncode}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def record(name, threads, side, runs, ours):
    """One line of --out; runs are tuples as measure gives them."""
    wall, cpu, memory = zip(*runs)
    middle = statistics.median(wall)
    r = {"suite": "pipeline", "case": [["job", "mask-parquet"], ["columns-of-20", name], ["threads", str(threads)]], "side": side, "unit": "s",
         "min": min(wall), "median": middle, "rounds": len(wall), "extra": {"cpu_s": statistics.median(cpu), "peak_mb": max(memory)}}
    if ours is not None:
        own_wall, own_cpu, _ = zip(*ours)
        r["ratio"] = middle / statistics.median(own_wall)
        r["extra"]["cpu_ratio"] = statistics.median(cpu) / statistics.median(own_cpu)
    return json.dumps(r)


def options():
    env = os.environ.get
    p = argparse.ArgumentParser()
    p.add_argument("arrowmask")
    p.add_argument("--rows", type=int, default=int(env("BENCH_ROWS", "2000000")))
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--rounds", type=int, default=int(env("BENCH_ROUNDS", "5")))
    p.add_argument("--cases", nargs="+", default=list(CASES), help=f"what to mask: {', '.join(CASES)}; all when left out")
    p.add_argument("--out", default=env("BENCH_OUT"), help="file to append the records to")
    p.add_argument("--input", default=env("BENCH_INPUT"), help="the file to mask: made when it is not there, and kept")
    return p.parse_args()


def main():
    o = options()
    with tempfile.TemporaryDirectory() as tmp:
        a = pathlib.Path(o.input or f"{tmp}/in.parquet")
        if not a.exists():
            # In another process: a child's peak memory counts from that of its parent.
            maker = multiprocessing.get_context("spawn").Process(target=make, args=(a, o.rows))
            maker.start()
            maker.join()
        print(f"{o.rows} rows, {a.stat().st_size / 1e6:.0f} MB")
        print(f"{'masked of 20':16}{'threads':>8}{'':>4}{'wall s':>8}{'CPU s':>8}{'MB':>6}   {'DuckDB wall s':>14}{'CPU s':>8}{'MB':>6}   {'wall ratio':>10}{'CPU ratio':>10}")
        for name in o.cases:
            for threads in o.threads:
                run_case(o, tmp, a, name, threads)


def run_case(o, tmp, a, name, threads):
    columns = CASES[name]
    sets = [x for c in columns for x in ("--set", f"{c}=sha256({{col}})")] or ["--pass-through"]
    ours = [o.arrowmask, "mask", str(a), "-o", f"{tmp}/ours.parquet", "--overwrite", "-q", "--threads", str(threads), *sets]
    theirs = [sys.executable, "-c", DUCKDB, str(a), f"{tmp}/theirs.parquet", str(threads), *columns]
    env = dict(os.environ, GOMAXPROCS=str(threads))
    runs = {"arrowmask": [], "duckdb": []}
    for i in range(o.rounds):
        sides = [("arrowmask", ours), ("duckdb", theirs)]
        for side, command in sides if i % 2 == 0 else reversed(sides):
            runs[side].append(measure(command, env))
    if threads == o.threads[0] and subprocess.call([sys.executable, "-c", EQUAL, f"{tmp}/ours.parquet", f"{tmp}/theirs.parquet"]):
        sys.exit(f"{name}: the two made different tables")
    (w, c, m), (dw, dc, dm) = ([statistics.median(x) for x in zip(*runs[k])] for k in ("arrowmask", "duckdb"))
    print(f"{name:16}{threads:8}{'':4}{w:8.2f}{c:8.2f}{m:6.0f}   {dw:14.2f}{dc:8.2f}{dm:6.0f}   {w / dw:10.2f}{c / dc:10.2f}", flush=True)
    if o.out:
        with open(o.out, "a", encoding="utf-8") as f:
            for side, all_runs in runs.items():
                print(record(name, threads, side, all_runs, None if side == "arrowmask" else runs["arrowmask"]), file=f)


if __name__ == "__main__":
    main()
