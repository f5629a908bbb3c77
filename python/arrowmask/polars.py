"""The functions as Polars expressions, through the plugin in the library: no
Python runs per batch.

>>> import arrowmask.polars as am
>>> df.with_columns(am.sha2("email", 256), am.mask_show_last_n("card", 4))

The column is a name or an expression; options are those of `arrowmask.Kernel`.
Polars runs the plugin in this process: the keys of `keys` never leave it.
"""

from __future__ import annotations

from typing import Any

from . import _abi
from ._kernel import Kernel, Keyring, column_names, expression

#: Keyrings of expressions that may still be collected.
_keyrings: list[Keyring] = []


def eval(expr: str, column: Any = None, *, keys: Keyring | None = None, **given: Any) -> Any:
    """Any expression over {col}, as a Polars expression of a column. Over several
    columns, these go by name, `eval("hash_row({a}, {b})", a="id", b=pl.col("born"))`,
    and the result has the name of the first; or column is a struct that has them. A
    name that the expression has in braces is a column, other names are options."""
    from polars.plugins import register_plugin_function

    columns = {name: given.pop(name) for name in column_names(expr) if name in given}
    if (column is None) == (not columns):
        raise TypeError("either one column, or columns by the names that the expression has in braces")
    if columns == {"col": columns.get("col")}:
        column = columns["col"]
    elif columns:
        column = _struct(columns)
    if keys is not None and keys not in _keyrings:
        _keyrings.append(keys)
    text = f"{keys.value if keys else 0} {Kernel(expr, **given).json}"
    return register_plugin_function(
        plugin_path=_abi.library_path(),
        function_name="arrowmask_eval",
        args=[column],
        kwargs={"options": text},
        is_elementwise=True,
        use_abs_path=True,
    )


def _struct(columns: dict[str, Any]) -> Any:
    """The columns as one, since Polars then cuts them into the same chunks, and
    repeats literals for every row."""
    import polars as pl

    parts = [c if isinstance(c, pl.Expr) else pl.col(c) for c in columns.values()]
    together = pl.struct([part.alias(name) for name, part in zip(columns, parts)])
    name = parts[0].meta.output_name(raise_if_undetermined=False)
    return together if name is None else together.alias(name)


def _named(name: str, args: tuple[Any, ...], column: Any, options: dict[str, Any]) -> Any:
    return eval(expression(name, *args), column, **options)


def md5(column: Any, **options: Any) -> Any:
    """See `arrowmask.md5`."""
    return _named("md5", (), column, options)


def sha1(column: Any, **options: Any) -> Any:
    """See `arrowmask.sha1`."""
    return _named("sha1", (), column, options)


def sha2(column: Any, bits: int | None = 256, **options: Any) -> Any:
    """See `arrowmask.sha2`."""
    return _named("sha2", (bits,), column, options)


def mask_hash(column: Any, **options: Any) -> Any:
    """See `arrowmask.mask_hash`."""
    return _named("mask_hash", (), column, options)


def mask_hmac(column: Any, key: str | None = None, **options: Any) -> Any:
    """See `arrowmask.mask_hmac`."""
    return _named("mask_hmac", () if key is None else (key,), column, options)


def mask_null(column: Any, **options: Any) -> Any:
    """See `arrowmask.mask_null`."""
    return _named("mask_null", (), column, options)


def mask(column: Any, *args: Any, **options: Any) -> Any:
    """See `arrowmask.mask`."""
    return _named("mask", args, column, options)


def mask_first_n(column: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """See `arrowmask.mask_first_n`."""
    return _named("mask_first_n", (n, *args), column, options)


def mask_last_n(column: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """See `arrowmask.mask_last_n`."""
    return _named("mask_last_n", (n, *args), column, options)


def mask_show_first_n(column: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """See `arrowmask.mask_show_first_n`."""
    return _named("mask_show_first_n", (n, *args), column, options)


def mask_show_last_n(column: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """See `arrowmask.mask_show_last_n`."""
    return _named("mask_show_last_n", (n, *args), column, options)
