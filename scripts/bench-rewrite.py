"""Compares masking a Parquet file by arrowmask and by DuckDB's COPY.

Makes a file of 20 columns, then masks some of them with both, several times, and
prints the least wall time, CPU time and peak memory of each.

- The rounds of a case are spread over the whole run, so that a machine's slow
  minute is not all that one case has.
- Within a round the two take turns of a quarter of a second: while one runs, the
  other is stopped (SIGSTOP). The turn is that of the side which has written less,
  so that both are at the same part of the file, and what slows the machine for a
  while slows the same part of both. After its turn what a side has written is
  brought to the disk and out of the system's cache, so that it costs neither in
  the turns to come. A side's time is the sum of its turns.
- arrowmask's time is that of the process, from start to end. DuckDB's is that of
  the COPY statement; Python's start is not in it.
- A side that takes less than a quarter of a second runs nine times in a
  round, and the median counts.
- After the first round of a case with the first number of threads the two tables
  are compared: their numbers of rows, and every value. Of files of more than two
  million rows, the values of every tenth row group are: 1.1 of 10 million rows.

With --out it also writes one JSON record a line for every case and side, in the
form that the bench's other suites have: suite, case, side, unit, min, median,
rounds, ratio (least over arrowmask's least), and the rest under extra:
ratio_median (median of the ratios of a round), cpu_s and cpu_ratio (of the
least), peak_mb, and process_s, DuckDB's least time with Python's.

usage: bench-rewrite.py PATH_TO_ARROWMASK [options]
Options not given come from BENCH_ROWS, BENCH_ROUNDS, BENCH_OUT and BENCH_INPUT.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass

TURN = 0.25  # seconds
SHORT = 0.25  # seconds; runs that are shorter are repeated
REPEATS = 9

DUCKDB = """
import duckdb, sys, time
a, b, threads, columns = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
c = duckdb.connect()
c.execute(f"SET threads={threads}")
c.execute("SET enable_progress_bar=false")
stars = ", ".join(f"sha256({x}) AS {x}" for x in columns)
replace = f"REPLACE ({stars})" if stars else ""
start, cpu = time.monotonic(), time.process_time()
c.execute(f"COPY (SELECT * {replace} FROM read_parquet('{a}')) TO '{b}' (FORMAT parquet, COMPRESSION snappy)")
print(start, time.monotonic(), time.process_time() - cpu)
"""

EQUAL = """
import sys
import pyarrow.parquet as pq
files = [pq.ParquetFile(path) for path in sys.argv[1:3]]
step, size = int(sys.argv[3]), int(sys.argv[4])
def rows(f, first, after):
    start, groups, skipped = 0, [], None
    for i in range(f.num_row_groups):
        end = start + f.metadata.row_group(i).num_rows
        if start < after and end > first:
            groups.append(i)
            skipped = first - start if skipped is None else skipped
        start = end
    return f.read_row_groups(groups, columns=sys.argv[5:]).slice(skipped, after - first)
total = files[0].metadata.num_rows
if files[1].metadata.num_rows != total:
    sys.exit("they differ in their number of rows")
for first in range(0, total, step):
    a, b = (rows(f, first, min(first + size, total)) for f in files)
    for name in sys.argv[5:]:
        if not a.column(name).equals(b.column(name)):
            sys.exit(f"they differ in column {name} between rows {first} and {first + size}")
"""

NAMES = ["email"] + [f"text{i}" for i in range(1, 19)] + ["country"]
CASES = {str(n): NAMES[:n] for n in (0, 1, 5, 10, 20)} | {"8-values": ["country"]}
GROUP = 122880  # rows of a row group


def make(path, rows):
    """Twenty columns of text, one of them with 8 values."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    def group(first):
        n = min(GROUP, rows - first)
        rng = np.random.default_rng((7, first))

        def text(before, numbers, after=""):
            return pc.binary_join_element_wise(before, pa.array(rng.integers(0, numbers, n)).cast(pa.string()), after, "")

        columns = [text("u", 10**9, "@example.com")] + [text("v", 10 ** (4 + i % 6)) for i in range(1, 19)]
        columns.append(pa.array(["NO", "DE", "JP", "US", "FR", "BR", "IN", "CN"]).take(pa.array(rng.integers(0, 8, n))))
        return pa.table(columns, names=NAMES)

    schema = pa.schema([(name, pa.string()) for name in NAMES])
    with pq.ParquetWriter(path, schema, compression="snappy") as w, ThreadPoolExecutor(1) as ahead:
        next_group = ahead.submit(group, 0)
        for first in range(0, rows, GROUP):
            this = next_group.result()
            if first + GROUP < rows:
                next_group = ahead.submit(group, first + GROUP)
            w.write_table(this, row_group_size=GROUP)


@dataclass
class Run:
    """What one run of a side took."""

    wall: float  # seconds
    process: float  # seconds, with what is not counted
    cpu: float  # seconds
    memory: float  # peak resident MB


class Side:
    """A command that writes into a folder of its own, and runs in turns."""

    def __init__(self, command, folder, env):
        self.command, self.folder, self.env = command, folder, env
        os.makedirs(folder, exist_ok=True)
        self.turns, self.written, self.child, self.run = [], 0, None, None

    def turn(self):
        """Lets it run for a turn or to its end."""
        start = time.monotonic()
        if self.child is None:
            self.child = subprocess.Popen(self.command, env=self.env, stdout=subprocess.PIPE, text=True)
            self.fd = os.pidfd_open(self.child.pid)
        else:
            os.kill(self.child.pid, signal.SIGCONT)
        if not select.select([self.fd], [], [], TURN)[0]:
            os.kill(self.child.pid, signal.SIGSTOP)
        state = os.waitid(os.P_PID, self.child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self.turns.append((start, time.monotonic()))
        if state.si_code != os.CLD_STOPPED:
            self.end()
        self.written = 0
        for file in os.scandir(self.folder):
            fd = os.open(file, os.O_RDONLY)
            os.fdatasync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            self.written += os.fstat(fd).st_size
            os.close(fd)

    def end(self):
        os.close(self.fd)
        _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        printed = [float(x) for x in self.child.communicate()[0].split()]
        if self.child.returncode:
            sys.exit(f"{self.command[0]}: exit {self.child.returncode}")
        process = self.within(self.turns[0][0], self.turns[-1][1])
        self.run = Run(process, process, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        if printed:
            self.run.wall, self.run.cpu = self.within(printed[0], printed[1]), printed[2]

    def within(self, start, end):
        """Seconds of its turns between two times."""
        return sum(max(0, min(b, end) - max(a, start)) for a, b in self.turns)

    def kill(self):
        if self.child and self.child.returncode is None:
            self.child.kill()
            self.child.wait()


def in_turns(sides):
    """Runs them to their ends and returns them."""
    try:
        while running := [s for s in sides if not s.run]:
            min(running, key=lambda s: (s.written, len(s.turns))).turn()
    finally:
        for s in sides:
            s.kill()
    return sides


class Case:
    """A file of which some columns are masked, on so many threads."""

    def __init__(self, rows, rounds, name, threads):
        self.rows, self.rounds, self.name, self.threads = rows, rounds, name, threads
        self.runs = {"arrowmask": [], "duckdb": []}

    def due(self, index, sweeps):
        """The sweeps in which it has a round: evenly apart, other cases in others."""
        return {(index + i * sweeps // self.rounds) % sweeps for i in range(self.rounds)}

    def round(self, binary, a, check):
        with tempfile.TemporaryDirectory(dir=a.parent) as tmp:
            columns = CASES[self.name]
            sets = [x for c in columns for x in ("--set", f"{c}=sha256({{col}})")] or ["--pass-through"]
            outs = {side: f"{tmp}/{side}/out.parquet" for side in self.runs}
            commands = {
                "arrowmask": [binary, "mask", str(a), "-o", outs["arrowmask"], "-q", "--threads", str(self.threads), *sets],
                "duckdb": [sys.executable, "-c", DUCKDB, str(a), outs["duckdb"], str(self.threads), *columns],
            }
            env = dict(os.environ, GOMAXPROCS=str(self.threads))
            order = list(self.runs) if len(self.runs["duckdb"]) % 2 == 0 else list(reversed(self.runs))
            sides = [Side(commands[side], pathlib.Path(outs[side]).parent, env) for side in order]
            for name, s in zip(order, in_turns(sides)):
                runs = [s.run]
                while s.run.wall < SHORT and len(runs) < REPEATS:
                    os.remove(outs[name])
                    runs += [again.run for again in in_turns([Side(s.command, s.folder, env)])]
                self.runs[name].append(Run(*(statistics.median(x) for x in zip(*map(astuple, runs)))))
            step = GROUP if self.rows <= 2_000_000 else 10 * GROUP
            if check and subprocess.call([sys.executable, "-c", EQUAL, *outs.values(), str(step), str(GROUP), *NAMES]):
                sys.exit(f"{self.rows} rows, {self.name}: the two made different tables")

    def least(self, side, figure):
        return min(getattr(run, figure) for run in self.runs[side])

    def record(self, side):
        """One line of --out."""
        runs = self.runs[side]
        r = {"suite": "pipeline", "case": [["job", "mask-parquet"], ["columns-of-20", self.name], ["threads", str(self.threads)], ["rows", str(self.rows)]],
             "side": side, "unit": "s", "min": self.least(side, "wall"), "median": statistics.median(run.wall for run in runs), "rounds": len(runs),
             "extra": {"cpu_s": self.least(side, "cpu"), "peak_mb": max(run.memory for run in runs)}}
        if side != "arrowmask":
            r["ratio"] = r["min"] / self.least("arrowmask", "wall")
            r["extra"] |= {"cpu_ratio": r["extra"]["cpu_s"] / self.least("arrowmask", "cpu"), "process_s": self.least(side, "process"),
                           "ratio_median": statistics.median(y.wall / x.wall for x, y in zip(self.runs["arrowmask"], runs))}
        return json.dumps(r)

    def line(self):
        text = f"{self.rows:10}{self.name:>14}{self.threads:9}"
        for side in self.runs:
            text += f"{self.least(side, 'wall'):14.2f}{self.least(side, 'cpu'):8.2f}{max(r.memory for r in self.runs[side]):7.0f}"
        return text + "".join(f"{self.least('duckdb', x) / self.least('arrowmask', x):12.2f}" for x in ("wall", "cpu"))


HEAD = f"{'rows':>10}{'masked of 20':>14}{'threads':>9}{'wall s':>14}{'CPU s':>8}{'MB':>7}{'DuckDB wall s':>14}{'CPU s':>8}{'MB':>7}{'wall ratio':>12}{'CPU ratio':>12}"


def options():
    env = os.environ.get
    p = argparse.ArgumentParser()
    p.add_argument("arrowmask")
    p.add_argument("--rows", type=int, default=int(env("BENCH_ROWS", "2000000")))
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--rounds", type=int, default=int(env("BENCH_ROUNDS", "5")))
    p.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), help="what to mask; all when left out")
    p.add_argument("--job", nargs="+", action="append", metavar="X", help="ROWS ROUNDS CASE...: instead of --rows, --rounds and --cases; may be given several times")
    p.add_argument("--check", action="store_true", help="only say whether there is room for the files")
    p.add_argument("--out", default=env("BENCH_OUT"), help="file to append the records to")
    p.add_argument("--input", default=env("BENCH_INPUT"), help="the file to mask, of --rows rows: made when it is not there, and kept")
    o = p.parse_args()
    if o.job and o.input:
        p.error("--job and --input exclude each other")
    try:
        o.job = [(int(rows), int(rounds), cases) for rows, rounds, *cases in o.job or [(o.rows, o.rounds, *o.cases)]]
    except ValueError:
        p.error("--job: ROWS ROUNDS CASE...")
    if unknown := {c for _, _, cases in o.job for c in cases} - set(CASES):
        p.error(f"unknown cases: {' '.join(sorted(unknown))}")
    return o


def check_room(jobs):
    """Exits with a message where the disk is too small for a file and what both sides make of it."""
    files = sum(140 * rows for rows in {rows for rows, _, _ in jobs})
    results = max(2 * rows * (150 + 56 * len(CASES[name])) for rows, _, names in jobs for name in names)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < files + results:
        sys.exit(f"{max(jobs)[0]} rows take {(files + results) / 1e9:.1f} GB in {tempfile.gettempdir()}, where {free / 1e9:.1f} are free")


def main():
    o = options()
    check_room(o.job)
    if o.check:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # not before the sides and the files are gone
    cases = [Case(rows, rounds, name, threads) for rows, rounds, names in o.job for name in names for threads in o.threads]
    with tempfile.TemporaryDirectory() as tmp:
        start, files = time.monotonic(), {}
        for rows in dict.fromkeys(c.rows for c in cases):
            a = files[rows] = pathlib.Path(o.input or f"{tmp}/{rows}.parquet").resolve()
            if not a.exists():
                # In another process: a child's peak memory counts from that of its parent.
                maker = multiprocessing.get_context("spawn").Process(target=make, args=(a, rows))
                maker.start()
                maker.join()
                if maker.exitcode:
                    sys.exit(f"{rows} rows: no file could be made")
                with open(a, "rb") as f:
                    os.fsync(f.fileno())  # not while a side is timed
            print(f"{time.monotonic() - start:4.0f} s: {rows} rows, {a.stat().st_size / 1e6:.0f} MB", flush=True)
        sweeps = max(c.rounds for c in cases)
        for sweep in range(sweeps):
            for i, c in enumerate(cases):
                if sweep in c.due(i, sweeps):
                    number = len(c.runs["duckdb"])
                    c.round(o.arrowmask, files[c.rows], check=number == 0 and c.threads == o.threads[0])
                    now = ", ".join(f"{side} {runs[-1].wall:.2f} s" for side, runs in c.runs.items())
                    print(f"{time.monotonic() - start:4.0f} s: round {number + 1} of {c.rounds}, {c.rows} rows, {c.name} of 20, threads {c.threads}: {now}", flush=True)
    print(HEAD)
    for c in cases:
        print(c.line())
    if o.out:
        with open(o.out, "a", encoding="utf-8") as f:
            for c in cases:
                for side in c.runs:
                    print(c.record(side), file=f)


if __name__ == "__main__":
    main()
