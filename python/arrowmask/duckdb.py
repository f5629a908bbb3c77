"""The functions in DuckDB, as vectorized scalar functions.

>>> import arrowmask.duckdb
>>> con = arrowmask.duckdb.connect()
>>> con.sql("SELECT am_sha2(email, 256), am_mask_show_last_n(card, 4) FROM customers")

There are two ways in. The native one is the library as a DuckDB extension: the
functions run inside DuckDB, on its own vectors. DuckDB loads it only where
unsigned extensions are allowed, which is decided when a database is opened. The
other one goes through Arrow and Python, and works on every connection.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, Mapping

from . import _engine
from ._abi import Error, extension_path
from ._kernel import literal


def connect(database: Any = ":memory:", read_only: bool = False, config: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """`duckdb.connect` with unsigned extensions allowed, and the functions
    registered (options are those of `register`)."""
    import duckdb

    con = duckdb.connect(database, read_only=read_only, config={**(config or {}), "allow_unsigned_extensions": "true"})
    register(con, **options)
    return con


def register(con: Any, *, prefix: str = "am_", functions: Mapping[str, _engine.Spec] | None = None, native: bool | None = None, **options: Any) -> list[str]:
    """Adds the functions of text to a connection under their names with a prefix
    (DuckDB has md5 and sha1 of its own), and expressions over {col} under names of
    yours: `functions={"mask_card": "mask_show_last_n({col}, 4)"}`. Returns the
    names. A name that is taken is an Error. Numbers must be the same for every row.

    An expression may name several columns, which are the arguments in that order.
    Columns of other types than text are given as `("mask({col})", "int64")`, or
    `("hash_row({id}, {born})", {"born": "date", "id": "bigint"})`, which also says
    the order of the arguments. Types are pyarrow's, or names of pyarrow's or of SQL.
    The type of the answer follows from them.

    The native way is taken where it can be; `native` tells which it was. native=True
    makes it an Error where it cannot, native=False never tries. It cannot where
    unsigned extensions are not allowed, and with `keys`, which stay in this process.
    Natively the functions of the prefix "am_" without options belong to the database,
    all others, as macros, to the connection. What is not of one text, or answers
    something else, goes through Arrow and Python on either way.
    """
    if native is None or native:
        why = _load(con) if options.get("keys") is None else "keys are not for SQL"
        if why is None:
            return _register_native(con, prefix, functions or {}, options)
        if native:
            raise Error(95, "not the native way: " + why)
    added = _engine.declared(prefix, functions, options)
    _check_free(con, [f.name for f in added])
    for f in added:
        _create(con, f)
    return [f.name for f in added]


def native(con: Any) -> bool:
    """Whether the functions run inside DuckDB on this connection's database."""
    return _ask(con.cursor(), "SELECT count(*) FROM duckdb_functions() WHERE function_name = 'am_eval' AND function_type = 'scalar'") > 0


def _ask(con: Any, sql: str, parameters: Any = ()) -> Any:
    """The one value that a query answers."""
    return con.execute(sql, parameters).fetchall()[0][0]


def _load(con: Any) -> str | None:
    """Loads the extension; why not, where it cannot."""
    if native(con):
        return None
    if not _ask(con, "SELECT current_setting('allow_unsigned_extensions')"):
        return "the database was opened without allow_unsigned_extensions"
    path = extension_path()
    if path is None:
        return "the library does not lie under the name of an extension"
    import duckdb

    try:
        con.execute(f"LOAD {literal(path)}")
    except duckdb.Error as e:
        return str(e)
    return None


def _register_native(con: Any, prefix: str, functions: Mapping[str, _engine.Spec], options: dict[str, Any]) -> list[str]:
    """The extension has the plain functions; others are macros over am_eval."""
    own = ["am_" + name for name in (*_engine.UNARY, *_engine.WITH_NUMBER)]
    options = {k: v for k, v in options.items() if k != "keys"}
    tail = f", {literal(json.dumps(options))}" if options else ""
    macros: dict[str, tuple[str, str]] = {}
    if options or prefix != "am_":
        for name in _engine.UNARY:
            macros[prefix + name] = "x", literal(name + "({col})")
        for name in _engine.WITH_NUMBER:
            macros[prefix + name] = "x, n", f"'{name}({{col}}, ' || coalesce(CAST(CAST(n AS BIGINT) AS VARCHAR), 'NULL') || ')'"
    through_arrow = []
    for name, spec in functions.items():
        f = _engine.own(name, spec, options)
        if _type(f.result) == "VARCHAR" and isinstance(spec, str) and not f.call.f.over_table:
            macros[name] = "x", literal(spec)
        else:
            through_arrow.append(f)
    _check_free(con, [name for name in (*macros, *(f.name for f in through_arrow)) if name not in own])
    for f in through_arrow:
        _create(con, f)
    for name, (parameters, expr) in macros.items():
        con.execute(f'CREATE TEMP MACRO "{name.replace(chr(34), chr(34) * 2)}"({parameters}) AS am_eval(x, {expr}{tail})')
    return [prefix + name for name in (*_engine.UNARY, *_engine.WITH_NUMBER)] + list(functions)


def _check_free(con: Any, names: list[str]) -> None:
    """DuckDB would quietly put a function beside or before one that it has."""
    marks = ", ".join("?" * len(names))
    taken = _ask(con, f"SELECT min(function_name) FROM duckdb_functions() WHERE function_name IN ({marks})", names) if names else None
    if taken is not None:
        raise Error(22, f"a function of that name exists: {taken}")


def _create(con: Any, f: _engine.Function) -> None:
    """DuckDB counts the parameters of a function. Columns come as chunked arrays of
    one chunk."""

    def call(*columns: Any) -> Any:
        return f.call(*map(_chunk, columns))

    one = inspect.Parameter.POSITIONAL_ONLY
    call.__signature__ = inspect.Signature([inspect.Parameter(f"x{i}", one) for i in range(len(f.types))])
    con.create_function(f.name, call, [_type(t) for t in f.types], _type(f.result), type="arrow", null_handling="special")


#: DuckDB's types by pyarrow's names.
_TYPES = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT", "float": "REAL", "double": "DOUBLE",
    "string": "VARCHAR", "large_string": "VARCHAR", "string_view": "VARCHAR", "binary": "BLOB", "large_binary": "BLOB", "binary_view": "BLOB",
    "date32[day]": "DATE", "timestamp[s]": "TIMESTAMP_S", "timestamp[ms]": "TIMESTAMP_MS", "timestamp[us]": "TIMESTAMP", "timestamp[ns]": "TIMESTAMP_NS",
}  # fmt: skip


def _type(t: Any) -> str:
    name = str(t)
    if name.startswith("decimal128("):
        return name.replace("decimal128", "DECIMAL")
    if name not in _TYPES:
        raise TypeError(f"DuckDB has no type for {name}")
    return _TYPES[name]


def _chunk(x: Any) -> Any:
    return x.chunk(0) if x.num_chunks == 1 else x
