"""The functions of the expression grammar over columns.

Each takes a column (any object with `__arrow_c_array__` or `__arrow_c_stream__`)
and returns one as long, in the library of its input. NULL stays NULL. Options of
`Kernel` go by name: `dialect`, `threads`, `backend`, `large`, `keys`.
"""

from __future__ import annotations

from typing import Any

from ._kernel import column_names, expression, kernel


def _call(name: str, x: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return kernel(expression(name, *args), **options)(x)


def eval(expr: str, x: Any = None, **given: Any) -> Any:
    """Any expression over {col}: `eval("mask_show_last_n({col}, 4)", cards)`. Over
    several columns, they go by name, `eval("hash_row({a}, {b})", a=ids, b=dates)`,
    or x is a table that has them, or a mapping. Options are as everywhere; a name
    that the expression has in braces is a column."""
    columns = {name: given.pop(name) for name in column_names(expr) if name in given}
    if columns and x is not None:
        raise TypeError("columns by name, or a table, not both")
    return kernel(expr, **given)(columns or x)


def md5(x: Any, **options: Any) -> Any:
    """MD5 as lower-case hexadecimal."""
    return _call("md5", x, (), options)


def sha1(x: Any, **options: Any) -> Any:
    """SHA-1 as lower-case hexadecimal."""
    return _call("sha1", x, (), options)


def sha2(x: Any, bits: int | None = 256, **options: Any) -> Any:
    """SHA-2 of 224, 256, 384 or 512 bits as lower-case hexadecimal; 0 is 256, any
    other number NULL, as in Hive and Spark."""
    return _call("sha2", x, (bits,), options)


def sha256(x: Any, **options: Any) -> Any:
    """SHA-256 as lower-case hexadecimal."""
    return _call("sha256", x, (), options)


def sha512(x: Any, **options: Any) -> Any:
    """SHA-512 as lower-case hexadecimal."""
    return _call("sha512", x, (), options)


def digest(x: Any, alg: str, **options: Any) -> Any:
    """The raw digest, as fixed-size binary."""
    return _call("digest", x, (alg,), options)


def hex(x: Any, **options: Any) -> Any:
    """The bytes as upper-case hexadecimal."""
    return _call("hex", x, (), options)


def hmac(x: Any, key: str, alg: str = "sha256", **options: Any) -> Any:
    """HMAC under a key of `keys`, by its name, as lower-case hexadecimal."""
    return _call("hmac", x, (key, alg), options)


def mask_hmac(x: Any, key: str | None = None, **options: Any) -> Any:
    """A keyed pseudonym of text; NULL for other types."""
    return _call("mask_hmac", x, () if key is None else (key,), options)


def mask_hash(x: Any, **options: Any) -> Any:
    """SHA-256 of text as lower-case hexadecimal; NULL for other types."""
    return _call("mask_hash", x, (), options)


def mask_null(x: Any, **options: Any) -> Any:
    """NULL, in the type of the column."""
    return _call("mask_null", x, (), options)


def mask(x: Any, *args: Any, **options: Any) -> Any:
    """Every character by its class: upper, lower, digit, other."""
    return _call("mask", x, args, options)


def mask_first_n(x: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """The first n characters masked."""
    return _call("mask_first_n", x, (n, *args), options)


def mask_last_n(x: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """The last n characters masked."""
    return _call("mask_last_n", x, (n, *args), options)


def mask_show_first_n(x: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """All but the first n characters masked."""
    return _call("mask_show_first_n", x, (n, *args), options)


def mask_show_last_n(x: Any, n: int = 4, *args: Any, **options: Any) -> Any:
    """All but the last n characters masked."""
    return _call("mask_show_last_n", x, (n, *args), options)
