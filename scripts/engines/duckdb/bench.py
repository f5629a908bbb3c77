"""Time of sha2(x, 256) in DuckDB, all ways in turns in one run. Each query is the
maximum of the results, so that no result is printed; what the scan and the maximum
cost is measured by queries of their own.

usage: bench.py FLOOR_EXTENSION [ROWS [ROUNDS [THREADS]]]

BENCH_CPU=1 counts processor time instead of time on the clock: for a machine that
others use, and one thread.
"""

import os
import statistics
import sys
import time

import arrowmask
import arrowmask.duckdb
import duckdb
import pyarrow as pa

floor = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
threads = int(sys.argv[4]) if len(sys.argv) > 4 else 1
clock = time.process_time if os.environ.get("BENCH_CPU") == "1" else time.perf_counter


def table():
    raw = os.urandom(16 * rows).hex()
    offsets = pa.array(range(0, 32 * rows + 1, 32), pa.int64())
    return pa.table({"x": pa.LargeStringArray.from_buffers(rows, offsets.buffers()[1], pa.py_buffer(raw.encode()))})


native = arrowmask.duckdb.connect()
native.execute(f"LOAD '{floor}'")
arrow = duckdb.connect()
arrowmask.duckdb.register(arrow, native=False)
t = table()
for con in native, arrow:
    con.execute(f"SET threads = {threads}")
    con.execute("CREATE TABLE t AS SELECT * FROM t")
ways = {
    "the scan": (native, "x"),
    "no work: answer NULL": (native, "floor_call(x)"),
    "no work: 64 characters, a call a row": (native, "floor_rows(x)"),
    "no work: 64 characters, a call a chunk": (native, "floor_block(x)"),
    "DuckDB's sha256": (native, "sha256(x)"),
    "am_sha2, extension": (native, "am_sha2(x, 256)"),
    "am_sha2, Arrow and Python": (arrow, "am_sha2(x, 256)"),
}
times = {way: [] for way in ways}
results = set()
for _ in range(rounds):
    for way, (con, f) in ways.items():
        start = clock()
        answer = con.execute(f"SELECT max({f}) FROM t").fetchall()
        times[way].append((clock() - start) * 1e9 / rows)
        if "sha2" in f:
            results.add(answer[0][0])
assert len(results) == 1, "the ways differ"
own, scan = times["DuckDB's sha256"], times["the scan"]
print(f"DuckDB {duckdb.__version__}, {rows} rows of 32 bytes, {threads} threads, {rounds} rounds in turns, {'processor' if clock is time.process_time else 'clock'} time; backend {arrowmask.report()['backends'].get('sha256')}")
print("| | ns a row, least | median | times faster: least to least | median of rounds | without the scan |")
print("| --- | ---: | ---: | ---: | ---: | ---: |")
for way, ours in times.items():
    ratio = statistics.median(o / u for o, u in zip(own, ours))
    rest = min(ours) - min(scan)
    net = f"{(min(own) - min(scan)) / rest:.2f}" if rest > 1 else ""
    print(f"| {way} | {min(ours):.1f} | {statistics.median(ours):.1f} | {min(own) / min(ours):.2f} | {ratio:.2f} | {net} |")
