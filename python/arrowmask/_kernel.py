"""Kernels: a function of a column, or of several, of any type."""

from __future__ import annotations

import ctypes
import json
import re
import threading
from ctypes import c_void_p
from typing import Any, Mapping, Sequence

from . import _abi, _capsule


class Keyring(_abi.Handle):
    """Keys for hmac and mask_hmac, by name. The keys are copied into the library
    and never shown; expressions and options carry only their names."""

    def __init__(self, keys: dict[str, bytes] | None = None) -> None:
        super().__init__(lambda lib, out: lib.arrowmask_keyring_new(out))
        for name, key in (keys or {}).items():
            self.add(name, key)

    def add(self, name: str, key: bytes) -> None:
        """Adds a key of at least 14 bytes."""
        self.check(_abi.library().arrowmask_keyring_add(self.value, name.encode(), key, len(key)))


#: Text in quotes, and columns in braces, as the grammar of expressions has them.
_TOKENS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\{([^{}]+)\}")


def column_names(expr: str) -> tuple[str, ...]:
    """The columns that an expression names, each once, in order of first use."""
    return tuple(dict.fromkeys(m[1] for m in _TOKENS.finditer(expr) if m[1]))


class _Bound(_abi.Handle):
    """A kernel bound to the types of its columns."""

    def __init__(self, options: bytes, keys: Keyring | None, schemas: Sequence[int]) -> None:
        super().__init__(lambda lib, out: lib.arrowmask_kernel_new(options, keys.value if keys else 0, out))
        self.schema = _abi.Schema()
        self.arrow_type: Any = None  # pyarrow's, where it is used
        self._pointers = c_void_p * len(schemas)
        self.check(_abi.library().arrowmask_kernel_bind(self.value, self._pointers(*schemas), None, len(schemas), ctypes.addressof(self.schema)))

    def run(self, arrays: Sequence[int], out: int) -> None:
        self.check(_abi.library().arrowmask_kernel_execute(self.value, self._pointers(*arrays), len(arrays), -1, out))

    def __del__(self) -> None:
        super().__del__()
        if hasattr(self, "schema"):
            _abi.release(self.schema)


class Kernel:
    """A function of columns, ready to be called any number of times and from any
    thread: `Kernel("mask_show_last_n({col}, 4)")(column)`. An expression may name
    several columns: `Kernel("hash_row({id}, {born})")(ids, dates)`; `columns` has
    their names, in the order in which they are given.

    Parameters are the expression and, by name: `dialect` ("safe"), `threads` (1),
    `backend`, `large` (64-bit offsets for text results), `keys` (a Keyring).

    It can be pickled unless it has keys: what is loaded stays behind.
    """

    def __init__(self, expr: str, *, keys: Keyring | None = None, **options: Any) -> None:
        self.expr, self.keys, self.options = expr, keys, options
        self.columns = column_names(expr) or ("col",)
        self._bound: dict[Any, _Bound] = {}
        self._lock = threading.Lock()

    @property
    def over_table(self) -> bool:
        """Whether the expression names columns other than {col}."""
        return self.columns != ("col",)

    @property
    def json(self) -> str:
        """The options of the C interface, for a column or a table."""
        return json.dumps({"expr": self.expr, **self.options})

    def _json_of_columns(self) -> bytes:
        listed = {"columns": self.columns} if self.over_table else {}
        return json.dumps({"expr": self.expr, **listed, **self.options}).encode()

    def __repr__(self) -> str:
        return f"Kernel({self.expr!r})"

    def __reduce__(self):
        if self.keys is not None:
            raise TypeError("keys are not pickled")
        return _make, (self.expr, self.options)

    def _bind(self, key: Any, schemas: Sequence[int]) -> _Bound:
        with self._lock:
            found = self._bound.get(key)
            if found is None:
                found = _Bound(self._json_of_columns(), self.keys, schemas)
                self._bound[key] = found
        return found

    def __call__(self, *columns: Any) -> Any:
        """The function of its columns, in the order of `columns`: objects with
        `__arrow_c_array__` or `__arrow_c_stream__`. Instead of them there may be one
        mapping of names to columns, or one table. The result is a column of the
        library that they are of."""
        if len(columns) == 1:
            x = columns[0]
            if isinstance(x, Mapping):
                columns = tuple(x[name] for name in self.columns)
            elif self.over_table and (len(self.columns) > 1 or hasattr(x, "columns")):
                return self._of_table(x)
        if len(columns) != len(self.columns):
            raise TypeError(f"{len(columns)} columns given, the expression names {len(self.columns)}: {', '.join(self.columns)}")
        x = columns[0]
        modules = {type(c).__module__.partition(".")[0] for c in columns}
        if modules == {"pyarrow"}:
            import pyarrow as pa

            if all(isinstance(c, pa.Array) for c in columns):
                return self._pyarrow(columns)
            if all(isinstance(c, pa.Scalar) for c in columns):
                return self._pyarrow([pa.array([c.as_py()], type=c.type) for c in columns])[0]
            if len(columns) == 1 and isinstance(x, pa.ChunkedArray):
                return pa.chunked_array([self._pyarrow([c]) for c in x.chunks], type=self._pyarrow_bound([x.type]).arrow_type)
            if len(columns) > 1:
                rows = max(len(c) for c in columns if not isinstance(c, pa.Scalar))
                parts = [pa.repeat(c, rows) if isinstance(c, pa.Scalar) else c for c in columns]
                return self._of_table(pa.table(parts, names=list(self.columns)))
        if modules == {"polars"} and len(columns) > 1:
            import polars as pl

            return self._of_table(pl.DataFrame(dict(zip(self.columns, columns))))
        if all(hasattr(c, "__arrow_c_array__") for c in columns):
            return _capsule.like(self._of_capsules([c.__arrow_c_array__() for c in columns], self._json_of_columns()), x)
        if len(columns) > 1:
            raise TypeError("columns that come in chunks: give a table")
        return _capsule.like(self._stream(x, self._json_of_columns()), x)

    def _of_table(self, x: Any) -> Any:
        """The function of columns that a table has."""
        module = type(x).__module__.partition(".")[0]
        if module == "pyarrow":
            import pyarrow as pa

            if isinstance(x, pa.RecordBatch):
                return self._pyarrow([x.column(name) for name in self.columns])
            if isinstance(x, pa.Table):
                x = x.select(list(self.columns))
                out = [self._pyarrow(batch.columns) for batch in x.to_batches()]
                return pa.chunked_array(out, type=self._pyarrow_bound(x.schema.types).arrow_type)
            if isinstance(x, pa.RecordBatchReader):
                return pa.chunked_array(self.stream(x))
        if module == "polars" and hasattr(x, "get_column"):
            x = x.select(self.columns)
            return _capsule.like(self.stream(x), x.to_series())
        if hasattr(x, "__arrow_c_array__"):
            return _capsule.like(self._of_capsules([x.__arrow_c_array__()], self.json.encode()), x)
        return self.stream(x)

    def _of_capsules(self, columns: Sequence[tuple[object, object]], options: bytes) -> _capsule.Array:
        bound = _Bound(options, self.keys, [ctypes.addressof(_capsule.pointer(schema, _abi.Schema)) for schema, _ in columns])
        out = _abi.Array()
        bound.run([ctypes.addressof(_capsule.pointer(array, _abi.Array)) for _, array in columns], ctypes.addressof(out))
        own, bound.schema = bound.schema, _abi.Schema()
        return _capsule.Array(own, out)

    def stream(self, x: Any) -> _capsule.Stream:
        """The function of a column, or of a table, that comes in chunks, evaluated
        as they are asked for."""
        return self._stream(x, self.json.encode())

    def _stream(self, x: Any, options: bytes) -> _capsule.Stream:
        source, capsule = _capsule.take_stream(x)
        handle = _abi.Handle(lambda lib, out: lib.arrowmask_kernel_new(options, self.keys.value if self.keys else 0, out))
        out = _abi.Stream()
        handle.check(_abi.library().arrowmask_stream(handle.value, ctypes.addressof(source), ctypes.addressof(out)))
        del capsule
        return _capsule.Stream(out)

    def result_type(self, types: Sequence[Any]) -> Any:
        """pyarrow's type of the result for those of the columns."""
        return self._pyarrow_bound(types).arrow_type

    def _pyarrow_bound(self, types: Sequence[Any]) -> _Bound:
        key = tuple(types)
        found = self._bound.get(key)
        if found is None:
            import pyarrow as pa

            schemas = [_abi.Schema() for _ in key]
            try:
                for schema, dtype in zip(schemas, key):
                    pa.field("", dtype)._export_to_c(ctypes.addressof(schema))
                found = self._bind(key, [ctypes.addressof(schema) for schema in schemas])
            finally:
                for schema in schemas:
                    _abi.release(schema)
            if found.arrow_type is None:
                found.arrow_type = pa.DataType._import_from_c(ctypes.addressof(found.schema))
        return found

    def _pyarrow(self, columns: Sequence[Any]) -> Any:
        """pyarrow's own way across, without capsules: it costs least for the small
        batches of engines."""
        import pyarrow as pa

        bound = self._pyarrow_bound([c.type for c in columns])
        arrays, out = [_abi.Array() for _ in columns], _abi.Array()
        try:
            for array, c in zip(arrays, columns):
                c._export_to_c(ctypes.addressof(array))
            bound.run([ctypes.addressof(array) for array in arrays], ctypes.addressof(out))
        finally:
            for array in arrays:
                _abi.release(array)
        return pa.Array._import_from_c(ctypes.addressof(out), bound.arrow_type)


def _make(expr: str, options: dict[str, Any]) -> Kernel:
    return Kernel(expr, **options)


_kernels: dict[tuple[Any, ...], Kernel] = {}


def kernel(expr: str, keys: Keyring | None = None, **options: Any) -> Kernel:
    """A Kernel, kept for the next call with the same expression and options."""
    if keys is not None:
        return Kernel(expr, keys=keys, **options)
    key = (expr, *sorted(options.items()))
    found = _kernels.get(key)
    if found is None:
        if len(_kernels) > 1000:
            _kernels.clear()
        found = _kernels[key] = Kernel(expr, **options)
    return found


def literal(value: Any) -> str:
    """A Python value as a literal of the expression grammar."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise TypeError(f"an argument is text, an integer, a boolean or None, not {type(value).__name__}")


def expression(name: str, *args: Any) -> str:
    """The call of a function on {col}."""
    return f"{name}({', '.join(['{col}', *map(literal, args)])})"


