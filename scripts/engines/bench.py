"""Time of sha2(x, 256) against the engine's own SHA-256 as hexadecimal text, over
rows of 32 bytes, one thread, both in turns in one run. The query is the maximum of
the digests, so that no result is printed. Where an engine has none of its own, the
rival is a loop over hashlib.

usage: bench.py [ROWS [ROUNDS [ENGINE...]]]

BENCH_CPU=1 counts the processor time of this process instead of the time on the
clock: for a machine that others use, and for engines in this process.
"""

import hashlib
import os
import statistics
import sys
import time

import arrowmask
import pyarrow as pa
import pyarrow.compute as pc

CPU = os.environ.get("BENCH_CPU") == "1"
clock = time.process_time if CPU else time.perf_counter
ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
ENGINES = sys.argv[3:] or ["pyarrow", "polars", "duckdb", "datafusion", "spark"]


def table():
    raw = os.urandom(16 * ROWS).hex()
    offsets = pa.array(range(0, 32 * ROWS + 1, 32), pa.int32())
    x = pa.StringArray.from_buffers(ROWS, offsets.buffers()[1], pa.py_buffer(raw.encode()))
    return pa.table({"x": x})


def race(engine, version, rival, ours, own):
    """Times both in turns and prints the medians and the ratio."""
    assert str(ours()) == str(own()), engine
    times = {ours: [], own: []}
    for _ in range(ROUNDS):
        for f in (own, ours):
            t = clock()
            f()
            times[f].append(clock() - t)
    a, b = statistics.median(times[ours]), statistics.median(times[own])
    ratios = sorted(o / u for u, o in zip(times[ours], times[own]))
    print(
        f"| {engine} {version} | {rival} | {b * 1e9 / ROWS:.0f} | {a * 1e9 / ROWS:.0f} | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |",
        flush=True,
    )


def hashlib_loop(values):
    return pa.array([hashlib.sha256(v.encode()).hexdigest() for v in values])


def bench_pyarrow(t):
    x = t["x"].combine_chunks()
    # A long column, as one batch.
    race("pyarrow", pa.__version__, "hashlib, row by row", lambda: pc.max(arrowmask.sha2(x)), lambda: pc.max(hashlib_loop(x.to_pylist())))


def bench_polars(t):
    import polars as pl

    import arrowmask.polars as am

    df = pl.from_arrow(t)
    race(
        "Polars", pl.__version__, "hashlib, map_elements",
        lambda: df.select(am.sha2("x").max()).item(),
        lambda: df.select(pl.col("x").map_elements(lambda v: hashlib.sha256(v.encode()).hexdigest(), return_dtype=pl.String).max()).item(),
    )


def bench_duckdb(t):
    import duckdb

    import arrowmask.duckdb

    con = duckdb.connect()
    con.execute("SET threads = 1")
    arrowmask.duckdb.register(con)
    con.execute("CREATE TABLE t AS SELECT * FROM t")
    race("DuckDB", duckdb.__version__, "sha256(x)", lambda: con.execute("SELECT max(am_sha256(x)) FROM t").fetchall(), lambda: con.execute("SELECT max(sha256(x)) FROM t").fetchall())


def bench_datafusion(t):
    import datafusion

    import arrowmask.datafusion

    ctx = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    arrowmask.datafusion.register(ctx)
    view = t.set_column(0, "x", t["x"].cast(pa.string_view()))
    ctx.register_record_batches("t", [view.to_batches(max_chunksize=8192)])
    run = lambda q: ctx.sql(q).to_arrow_table()[0][0]
    race("DataFusion", datafusion.__version__, "encode(sha256(x), 'hex')", lambda: run("SELECT max(am_sha256(x)) FROM t"), lambda: run("SELECT max(encode(sha256(x), 'hex')) FROM t"))


def bench_spark(t):
    import tempfile

    import pyarrow.parquet as pq
    import pyspark
    from pyspark.sql import SparkSession

    import arrowmask.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
        .getOrCreate()
    )
    try:
        with tempfile.TemporaryDirectory() as work:
            pq.write_table(t, work + "/t.parquet")
            spark.read.parquet(work + "/t.parquet").cache().createOrReplaceTempView("t")
            spark.sql("SELECT count(*) FROM t").collect()
            arrowmask.spark.register(spark)
            race("Spark", pyspark.__version__, "sha2(x, 256)", lambda: spark.sql("SELECT max(am_sha256(x)) FROM t").collect()[0][0], lambda: spark.sql("SELECT max(sha2(x, 256)) FROM t").collect()[0][0])
    finally:
        spark.stop()


print(f"{ROWS} rows of 32 bytes, {ROUNDS} rounds in turns, one thread, {'processor' if CPU else 'clock'} time; backend {arrowmask.report()['backends'].get('sha256')}")
print("| engine | its own | ns a row | arrowmask, ns a row | times faster: median (least to most) |")
print("| --- | --- | ---: | ---: | --- |")
data = table()
for engine in ENGINES:
    try:
        globals()["bench_" + engine](data)
    except ImportError as e:
        print(f"NOT RUN: {engine}: {e}")
