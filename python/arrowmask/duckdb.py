"""The functions in DuckDB, as vectorized scalar functions.

>>> import arrowmask.duckdb
>>> arrowmask.duckdb.register(con)
>>> con.sql("SELECT am_sha2(email, 256), am_mask_show_last_n(card, 4) FROM customers")
"""

from __future__ import annotations

from typing import Any, Mapping

from . import _engine


def register(con: Any, *, prefix: str = "am_", functions: Mapping[str, str] | None = None, **options: Any) -> list[str]:
    """Adds the functions of text to a connection under their names with a prefix
    (DuckDB has md5 and sha1 of its own), and expressions over {col} under names of
    yours: `functions={"mask_card": "mask_show_last_n({col}, 4)"}`. Returns the
    names. Numbers must be the same for every row."""
    names = []
    for name, arity, f in _engine.functions(prefix, functions, options):
        types = ["VARCHAR", "INTEGER"][:arity]
        con.create_function(name, _function(f, arity), types, "VARCHAR", type="arrow", null_handling="special")
        names.append(name)
    return names


def _function(f: Any, arity: int) -> Any:
    """DuckDB counts the parameters of a function. Columns come as chunked arrays of
    one chunk."""
    if arity == 1:
        return lambda x: f(_chunk(x))
    return lambda x, number: f(_chunk(x), number)


def _chunk(x: Any) -> Any:
    return x.chunk(0) if x.num_chunks == 1 else x
