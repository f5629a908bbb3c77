"""The functions in DataFusion, as scalar functions.

>>> import arrowmask.datafusion
>>> arrowmask.datafusion.register(ctx)
>>> ctx.sql("SELECT am_sha2(email, 256) FROM customers")
"""

from __future__ import annotations

from typing import Any, Mapping

from . import _engine


def register(ctx: Any, *, prefix: str = "am_", functions: Mapping[str, _engine.Spec] | None = None, **options: Any) -> list[str]:
    """Adds the functions of text to a session context, see `arrowmask.duckdb.register`.
    Text goes in and comes out with offsets: DataFusion turns its views into that in
    less time than views take here to be checked and made."""
    from datafusion import udf

    added = _engine.declared(prefix, functions, options)
    for f in added:
        ctx.register_udf(udf(f.call, list(f.types), f.result, "immutable", f.name))
    return [f.name for f in added]
