"""Time of sha2(x, 256) against the engine's own SHA-256 as hexadecimal text, over
rows of 32 bytes, one thread, both in turns in one run. The query is the maximum of
the digests, so that no result is printed. Where an engine has none of its own, the
rival is a loop over hashlib. Where functions go to Python as Arrow arrays, one that
hands its column back shows what the way alone costs.

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


def race(engine, version, rival, ours, own, nothing=None):
    """Times them in turns and prints the medians and the ratio."""
    assert str(ours()) == str(own()), engine
    ways = [own, ours] + [nothing] * (nothing is not None)
    times = {f: [] for f in ways}
    for _ in range(ROUNDS):
        for f in ways:
            t = clock()
            f()
            times[f].append((clock() - t) * 1e9 / ROWS)
    a, b = statistics.median(times[ours]), statistics.median(times[own])
    ratios = sorted(o / u for u, o in zip(times[ours], times[own]))
    way = f"{statistics.median(times[nothing]):.0f}" if nothing else ""
    print(f"| {engine} {version} | {rival} | {b:.0f} | {a:.0f} | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | {way} |", flush=True)


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

    for way in "extension", "Arrow":
        con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        con.execute("SET threads = 1")
        arrowmask.duckdb.register(con, native=way == "extension")
        con.create_function("nothing", lambda x: x, ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special")
        con.execute("CREATE TABLE t AS SELECT * FROM t")
        run = lambda f: con.execute(f"SELECT max({f}) FROM t").fetchall()
        race("DuckDB", f"{duckdb.__version__}, {way}", "sha256(x)", lambda: run("am_sha256(x)"), lambda: run("sha256(x)"), None if way == "extension" else lambda: run("nothing(x)"))


def bench_datafusion(t):
    import datafusion

    import arrowmask.datafusion

    ctx = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    arrowmask.datafusion.register(ctx)
    ctx.register_udf(datafusion.udf(lambda x: x, [pa.string()], pa.string(), "immutable", "nothing"))
    view = t.set_column(0, "x", t["x"].cast(pa.string_view()))
    ctx.register_record_batches("t", [view.to_batches(max_chunksize=8192)])
    run = lambda f: ctx.sql(f"SELECT max({f}) FROM t").to_arrow_table()[0][0]
    race("DataFusion", datafusion.__version__, "encode(sha256(x), 'hex')", lambda: run("am_sha256(x)"), lambda: run("encode(sha256(x), 'hex')"), lambda: run("nothing(x)"))


def bench_spark(t):
    import tempfile

    import pyarrow.parquet as pq
    import pyspark
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import arrow_udf

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

            def nothing(x: pa.Array) -> pa.Array:
                return x

            spark.udf.register("nothing", arrow_udf(nothing, "string"))
            run = lambda f: spark.sql(f"SELECT max({f}) FROM t").collect()[0][0]
            race("Spark", pyspark.__version__, "sha2(x, 256)", lambda: run("am_sha256(x)"), lambda: run("sha2(x, 256)"), lambda: run("nothing(x)"))
    finally:
        spark.stop()


print(f"{ROWS} rows of 32 bytes, {ROUNDS} rounds in turns, one thread, {'processor' if CPU else 'clock'} time; backend {arrowmask.report()['backends'].get('sha256')}")
print("| engine | its own | ns a row | arrowmask, ns a row | times faster: median (least to most) | no work, ns a row |")
print("| --- | --- | ---: | ---: | --- | ---: |")
data = table()
for engine in ENGINES:
    try:
        globals()["bench_" + engine](data)
    except ImportError as e:
        print(f"NOT RUN: {engine}: {e}")
