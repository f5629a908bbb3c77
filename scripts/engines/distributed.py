"""Spark with two executors masks a Parquet data set by a Ranger policy plan that is
made once, here, and shipped to the executors by its encoding. Checks every row
against the same mask in this process.

usage: distributed.py POLICIES [ROWS]
"""

import os
import sys
import tempfile
import time

import arrowmask
import arrowmask.spark
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

policies = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
part = 500_000
os.environ["PYSPARK_PYTHON"] = sys.executable


def customers(first, n):
    ids = pa.array(range(first, first + n), pa.int64())
    text = pc.cast(ids, pa.string())
    null = pa.scalar(None, pa.string())
    return pa.table({
        "id": ids,
        "name": pc.if_else(pc.equal(pc.bit_wise_and(ids, 7), 0), null, pc.binary_join_element_wise("Anne Müller", text, "")),
        "email": pc.binary_join_element_wise(text, "example.com", "@"),
        "phone": pc.binary_join_element_wise("+49", text, " "),
        "card": pc.binary_join_element_wise("4111-1111", text, "-"),
        "birth_date": pc.cast(pc.cast(pc.bit_wise_and(ids, 16383), pa.int32()), pa.date32()),
        "country": pc.if_else(pc.equal(pc.bit_wise_and(ids, 1), 0), "Germany", "Norway"),
        "note": pc.if_else(pc.equal(pc.bit_wise_and(ids, 3), 0), null, text),
    })


spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.log.level", "ERROR")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
try:
    with tempfile.TemporaryDirectory() as work:
        raw, out = work + "/raw", work + "/masked"
        os.mkdir(raw)
        for first in range(0, rows, part):
            pq.write_table(customers(first, min(part, rows - first)), f"{raw}/{first:09}.parquet")
        who = dict(user="sam", groups=["support"], attrs={"country": "Germany"}, table="shop.customers")
        start = time.time()
        seen = arrowmask.spark.mask(spark.read.parquet(raw), policies, **who)
        seen.write.parquet(out)
        took = time.time() - start
        want_rows = bad = 0
        here = arrowmask.Masker(policies, **who)
        got = pq.read_table(out).sort_by("id")
        for first in range(0, rows, part):
            want = here.mask(pq.read_table(f"{raw}/{first:09}.parquet"))
            have = got.slice(want_rows, want.num_rows)
            bad += sum(not have[c].combine_chunks().equals(want[c].combine_chunks().cast(have[c].type)) for c in want.column_names)
            want_rows += want.num_rows
        print(f"{rows} rows masked in {took:.1f} s by two executors; {got.num_rows} may be seen, {want_rows} expected; {bad} columns of parts differ")
        sys.exit(got.num_rows != want_rows or bad > 0)
finally:
    spark.stop()
