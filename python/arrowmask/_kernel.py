"""Kernels: one function over columns of any type."""

from __future__ import annotations

import ctypes
import json
import threading
from ctypes import c_void_p
from typing import Any

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


class _Bound(_abi.Handle):
    """A kernel bound to the type of its column."""

    def __init__(self, options: bytes, keys: Keyring | None, schema: int) -> None:
        super().__init__(lambda lib, out: lib.arrowmask_kernel_new(options, keys.value if keys else 0, out))
        self.schema = _abi.Schema()
        self.arrow_type: Any = None  # pyarrow's, where it is used
        pointers = (c_void_p * 1)(schema)
        self.check(_abi.library().arrowmask_kernel_bind(self.value, pointers, None, 1, ctypes.addressof(self.schema)))

    def run(self, array: int, out: int) -> None:
        self.check(_abi.library().arrowmask_kernel_execute(self.value, (c_void_p * 1)(array), 1, -1, out))

    def __del__(self) -> None:
        super().__del__()
        if hasattr(self, "schema"):
            _abi.release(self.schema)


class Kernel:
    """A function of one column, ready to be called any number of times and from
    any thread: `Kernel("mask_show_last_n({col}, 4)")(column)`.

    Parameters are the expression and, by name: `dialect` ("safe"), `threads` (1),
    `backend`, `large` (64-bit offsets for text results), `keys` (a Keyring).

    It can be pickled unless it has keys: what is loaded stays behind.
    """

    def __init__(self, expr: str, *, keys: Keyring | None = None, **options: Any) -> None:
        self.expr, self.keys, self.options = expr, keys, options
        self._bound: dict[Any, _Bound] = {}
        self._lock = threading.Lock()

    @property
    def json(self) -> str:
        return json.dumps({"expr": self.expr, **self.options})

    def __repr__(self) -> str:
        return f"Kernel({self.expr!r})"

    def __reduce__(self):
        if self.keys is not None:
            raise TypeError("keys are not pickled")
        return _make, (self.expr, self.options)

    def _bind(self, key: Any, schema: int) -> _Bound:
        with self._lock:
            found = self._bound.get(key)
            if found is None:
                found = _Bound(self.json.encode(), self.keys, schema)
                if key is not None:
                    self._bound[key] = found
        return found

    def __call__(self, x: Any) -> Any:
        """The function of a column: any object with `__arrow_c_array__` or
        `__arrow_c_stream__`. The result is of the library that x is of."""
        module = type(x).__module__
        if module.startswith("pyarrow"):
            import pyarrow as pa

            if isinstance(x, pa.Array):
                return self._pyarrow(x)
            if isinstance(x, pa.ChunkedArray):
                return pa.chunked_array([self._pyarrow(c) for c in x.chunks], type=self._pyarrow_bound(x.type).arrow_type)
            if isinstance(x, pa.Scalar):
                return self._pyarrow(pa.array([x.as_py()], type=x.type))[0]
        if hasattr(x, "__arrow_c_array__"):
            schema, array = x.__arrow_c_array__()
            bound = self._bind(None, ctypes.addressof(_capsule.pointer(schema, _abi.Schema)))
            out = _abi.Array()
            bound.run(ctypes.addressof(_capsule.pointer(array, _abi.Array)), ctypes.addressof(out))
            own, bound.schema = bound.schema, _abi.Schema()
            return _capsule.like(_capsule.Array(own, out), x)
        return _capsule.like(self.stream(x), x)

    def stream(self, x: Any) -> _capsule.Stream:
        """The function of a column that comes in chunks, evaluated as they are
        asked for."""
        source, capsule = _capsule.take_stream(x)
        handle = _abi.Handle(lambda lib, out: lib.arrowmask_kernel_new(self.json.encode(), self.keys.value if self.keys else 0, out))
        out = _abi.Stream()
        handle.check(_abi.library().arrowmask_stream(handle.value, ctypes.addressof(source), ctypes.addressof(out)))
        del capsule
        return _capsule.Stream(out)

    def _pyarrow_bound(self, dtype: Any) -> _Bound:
        found = self._bound.get(dtype)
        if found is None:
            import pyarrow as pa

            schema = _abi.Schema()
            pa.field("", dtype)._export_to_c(ctypes.addressof(schema))
            try:
                found = self._bind(dtype, ctypes.addressof(schema))
            finally:
                _abi.release(schema)
            if found.arrow_type is None:
                found.arrow_type = pa.DataType._import_from_c(ctypes.addressof(found.schema))
        return found

    def _pyarrow(self, x: Any) -> Any:
        """pyarrow's own way across, without capsules: it costs least for the small
        batches of engines."""
        import pyarrow as pa

        bound = self._pyarrow_bound(x.type)
        array, out = _abi.Array(), _abi.Array()
        x._export_to_c(ctypes.addressof(array))
        try:
            bound.run(ctypes.addressof(array), ctypes.addressof(out))
        finally:
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


