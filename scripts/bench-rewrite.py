"""Compares masking a Parquet file by arrowmask and by DuckDB's COPY.

Makes a file of 20 columns, then masks some of them with both, in turns, several
times, and prints the median wall time, CPU time and peak memory of each.

usage: bench-rewrite.py PATH_TO_ARROWMASK [--rows N] [--threads N...] [--rounds N] [--cases NAME...]
"""

import argparse
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


NAMES = ["email"] + [f"text{i}" for i in range(1, 19)] + ["country"]


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


def measure(command):
    """Wall seconds, CPU seconds and peak resident MB of a command."""
    start = time.monotonic()
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]}: exit {child.returncode}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    p = argparse.ArgumentParser()
    p.add_argument("arrowmask")
    p.add_argument("--rows", type=int, default=2_000_000)
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--cases", nargs="+", help="names of the cases to run; all when left out")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        a = pathlib.Path(tmp) / "in.parquet"
        # In another process: a child's peak memory counts from that of its parent.
        maker = multiprocessing.get_context("spawn").Process(target=make, args=(a, o.rows))
        maker.start()
        maker.join()
        text = NAMES
        cases = {"0 of 20": [], "1 of 20": ["email"], "5 of 20": text[:5], "10 of 20": text[:10], "20 of 20": text, "8 values": ["country"]}
        print(f"{o.rows} rows, {a.stat().st_size / 1e6:.0f} MB")
        print(f"{'columns masked':16}{'threads':>8}{'':>4}{'wall s':>8}{'CPU s':>8}{'MB':>6}   {'DuckDB wall s':>14}{'CPU s':>8}{'MB':>6}   {'wall ratio':>10}{'CPU ratio':>10}")
        for name in o.cases or cases:
            columns = cases[name]
            for threads in o.threads:
                sets = [x for c in columns for x in ("--set", f"{c}=sha256({{col}})")] or ["--pass-through"]
                ours = [o.arrowmask, "mask", str(a), "-o", f"{tmp}/ours.parquet", "--overwrite", "-q", "--threads", str(threads), *sets]
                theirs = [sys.executable, "-c", DUCKDB, str(a), f"{tmp}/theirs.parquet", str(threads), *columns]
                env = dict(os.environ, GOMAXPROCS=str(threads))
                runs = {"ours": [], "theirs": []}
                for _ in range(o.rounds):
                    os.environ.update(env)
                    runs["ours"].append(measure(ours))
                    runs["theirs"].append(measure(theirs))
                (w, c, m), (dw, dc, dm) = ([statistics.median(x) for x in zip(*runs[k])] for k in ("ours", "theirs"))
                print(f"{name:16}{threads:8}{'':4}{w:8.2f}{c:8.2f}{m:6.0f}   {dw:14.2f}{dc:8.2f}{dm:6.0f}   {w / dw:10.2f}{c / dc:10.2f}", flush=True)


if __name__ == "__main__":
    main()
