"""The functions in Spark, as Arrow functions that run in the Python workers.

>>> import arrowmask.spark
>>> arrowmask.spark.register(spark)
>>> spark.sql("SELECT am_sha2(email, 256) FROM customers")

The package must be installed where the executors run. The library is loaded in
each worker at its first batch, never in the daemon that forks the workers.
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from . import _engine
from .policy import Masker


def register(spark: Any, *, prefix: str = "am_", functions: Mapping[str, _engine.Spec] | None = None, **options: Any) -> list[str]:
    """Adds the functions of text to a session (Spark 4.1 or newer), see
    `arrowmask.duckdb.register`."""
    from pyspark.sql.functions import arrow_udf
    from pyspark.sql.pandas.types import from_arrow_type

    added = _engine.declared(prefix, functions, options)
    for f in added:
        spark.udf.register(f.name, arrow_udf(_function(f.call), from_arrow_type(f.result)))
    return [f.name for f in added]


def _function(f: Any) -> Any:
    """A function with the annotations that Spark looks for."""
    import pyarrow as pa

    def call(*columns: pa.Array) -> pa.Array:
        return f(*columns)

    call.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return call


def mask(df: Any, policy: Any = None, *, plan: bytes | None = None, **request: Any) -> Any:
    """A data frame as a policy lets it be seen. The plan is made here, once, and
    shipped to the executors as bytes. See `arrowmask.Masker` for the arguments."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    schema = to_arrow_schema(df.schema)
    if plan is None:
        plan = Masker(policy, **request).plan(schema)
    masker = Masker(plan=plan)

    def batches(source: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        return iter(masker.mask(pa.RecordBatchReader.from_batches(schema, (b.cast(schema) for b in source))))

    out = masker.mask(schema.empty_table()).schema
    return df.mapInArrow(batches, from_arrow_schema(out))
